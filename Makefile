# make test runs everything in its short form; the other verbs are its parts
# and the tools beside it. Loops live in .ci/, so there is no logic here.

GOLANGCI_LINT := v2.15.0
GOTESTSUM     := v1.13.0
APIDIFF       := v0.0.0-20261113113407-e3970619a1a4
LIVEKIT       := v1.11.0

BIN := $(CURDIR)/.bin

# Fuzzing time per target, benchmarks to run and how often.
T ?= 10s
B ?= .
N ?= 1

# No clock, no goroutine, no lock: nothing for the race detector to find.
PURE := qoe gcc gcc/pacing gbr modemlink/diag modemlink/diag/rrc modemlink/ratio e2e/cell e2e/media e2e/sim e2e/tcp
# Calls in real time: one at a time, or they disturb each other.
REALTIME := e2e examples/call

export PURE REALTIME

.NOTPARALLEL:
.PHONY: help test tidy vet lint cross unit codec browser test-livekit race compat apidiff fuzz bench golden evidence soak proto

help:
	@echo 'make test    everything below down to race, in its short form'
	@echo 'make tidy    go.mod and go.sum are what the imports need'
	@echo 'make vet     go vet'
	@echo 'make lint    golangci-lint $(GOLANGCI_LINT), formatting included'
	@echo 'make cross   builds for the phone and for other hosts'
	@echo 'make unit    all tests, goldens and fuzz corpora included'
	@echo 'make compat  a call of the next webrtc, in a module of its own; 32 bits'
	@echo 'make codec   what needs a real encoder, whose libraries it installs on Debian'
	@echo 'make browser what needs headless Chromium, which it installs on Debian'
	@echo 'make test-livekit the client of LiveKit against LiveKit $(LIVEKIT), which it builds'
	@echo 'make race    the packages with concurrency under the race detector'
	@echo 'make fuzz    every fuzz target for T=$(T)'
	@echo 'make apidiff what changed in the API since the last tag'
	@echo 'make bench   benchmarks matching B=$(B), N=$(N) times'
	@echo 'make golden  rewrite goldens, then show what changed'
	@echo 'make evidence the long forms: fuzzing, benchmarks, all scenarios; into out/'
	@echo 'make soak    24 simulated hours, and five minutes of chaos in real time'
	@echo 'make proto   generate the code of the GBR interface; needs protoc'

test: tidy vet lint cross unit compat codec browser test-livekit race

tidy:
	go mod tidy -diff

vet:
	go vet ./...

lint: $(BIN)/golangci-lint-$(GOLANGCI_LINT)
	$< run ./...

cross:
	.ci/cross

unit: $(BIN)/gotestsum-$(GOTESTSUM)
	.ci/unit $<

compat:
	.ci/compat

apidiff:
	.ci/apidiff $(BIN)/apidiff-$(APIDIFF)

codec: $(BIN)/golangci-lint-$(GOLANGCI_LINT)
	.ci/codec $<

browser:
	.ci/browser

test-livekit: $(BIN)/livekit-server-$(LIVEKIT)
	.ci/livekit $<

race: $(BIN)/gotestsum-$(GOTESTSUM)
	.ci/unit $< -race

fuzz:
	.ci/fuzz $(T)

bench:
	go test -run '^$$' -bench '$(B)' -benchmem -count $(N) ./...

golden:
	.ci/golden

evidence:
	.ci/evidence

soak:
	GBRCC_SOAK_HOURS=24 go test -v -count 1 -timeout 30m -run '^TestSoak$$' ./e2e
	GBRCC_CHAOS=5m go test -v -count 1 -timeout 15m -run '^TestChaos$$' ./e2e

proto:
	.ci/proto $(BIN)/proto

$(BIN)/golangci-lint-$(GOLANGCI_LINT):
	.ci/tool $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)

$(BIN)/gotestsum-$(GOTESTSUM):
	.ci/tool $@ gotest.tools/gotestsum@$(GOTESTSUM)

$(BIN)/livekit-server-$(LIVEKIT):
	.ci/tool $@ github.com/livekit/livekit-server/cmd/server@$(LIVEKIT)
