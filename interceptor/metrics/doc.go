// SPDX-License-Identifier: MIT

// Package metrics shows the estimators of an application to Prometheus.
//
//	factory, err := interceptor.NewInterceptor(...)
//	prometheus.MustRegister(metrics.NewCollector(factory.Estimators))
//
//	                       GetStats, when scraped
//	/metrics ──> Collector ──────────────────────> Estimator of each open PeerConnection
//
// Nothing is counted here and nothing costs anything per packet: every scrape
// reads [interceptor.Estimator.GetStats] of each Estimator once. Series have the
// label "peer", the PeerConnection's ID, and end with it. Names follow
// Prometheus' practice: prefix gbrcc_, base units (seconds, bytes, ratios), _total
// for what only grows; rates stay bit/s (_bps), as everywhere in this module. What is
// unknown is not shown, rather than 0.
//
// Files: doc.go; collector.go (Collector); series.go (which stat is which series).
//
// A Collector is safe for concurrent use.
//
// Why client_golang (Apache-2.0, maintained by the Prometheus project) and not
// OpenTelemetry: the state is there to be read, which is what a collector does;
// SFUs written in Go have a /metrics already; and OpenTelemetry reads it through
// its bridge (go.opentelemetry.io/contrib/bridges/prometheus). The other way
// round an application would have to bring an SDK and an exporter.
package metrics
