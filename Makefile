# make test runs everything in its short form; the other verbs are its parts
# and the tools beside it. Loops live in .ci/, so there is no logic here.

GOLANGCI_LINT := v2.15.0
GOTESTSUM     := v1.13.0

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
.PHONY: help test tidy vet lint cross unit browser race fuzz bench golden evidence proto

help:
	@echo 'make test    everything below down to race, in its short form'
	@echo 'make tidy    go.mod and go.sum are what the imports need'
	@echo 'make vet     go vet'
	@echo 'make lint    golangci-lint $(GOLANGCI_LINT), formatting included'
	@echo 'make cross   builds for the phone and for other hosts'
	@echo 'make unit    all tests, goldens and fuzz corpora included'
	@echo 'make browser qoe and gcc against headless Chromium, which it installs on Debian'
	@echo 'make race    the packages with concurrency under the race detector'
	@echo 'make fuzz    every fuzz target for T=$(T)'
	@echo 'make bench   benchmarks matching B=$(B), N=$(N) times'
	@echo 'make golden  rewrite goldens, then show what changed'
	@echo 'make evidence the long forms: fuzzing, benchmarks, all scenarios; into out/'
	@echo 'make proto   generate the code of the GBR interface; needs protoc'

test: tidy vet lint cross unit browser race

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

browser:
	.ci/browser

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

proto:
	.ci/proto $(BIN)/proto

$(BIN)/golangci-lint-$(GOLANGCI_LINT):
	.ci/tool $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)

$(BIN)/gotestsum-$(GOTESTSUM):
	.ci/tool $@ gotest.tools/gotestsum@$(GOTESTSUM)
