// SPDX-License-Identifier: MIT

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gbrcc/gbrcc/interceptor"
)

// Collector is a [prometheus.Collector] over all estimators of an application.
type Collector struct {
	estimators func() map[string]*interceptor.Estimator
	series     []series
	descs      []*prometheus.Desc
}

// NewCollector returns a Collector over what estimators returns at each scrape,
// by a unique name; Estimators of an [interceptor.PeerFactory] is meant.
func NewCollector(estimators func() map[string]*interceptor.Estimator) *Collector {
	c := &Collector{estimators: estimators, series: all()}
	for _, s := range c.series {
		labels := []string{"peer"}
		if s.label != "" {
			labels = append(labels, s.label)
		}
		c.descs = append(c.descs, prometheus.NewDesc("gbrcc_"+s.name, s.help, labels, nil))
	}

	return c
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for id, e := range c.estimators() {
		stats := e.GetStats()
		for i, s := range c.series {
			labels := []string{id}
			v := 0.0
			switch stat := stats[s.stat].(type) {
			case int:
				v = float64(stat)
			case int64:
				v = float64(stat)
			case float64:
				v = stat
			case string:
				v = 1
				labels = append(labels, stat)
			default:
				continue
			}
			if s.positive && v <= 0 || s.known && v < 0 {
				continue
			}
			if s.scale != 0 {
				v *= s.scale
			}
			out <- prometheus.MustNewConstMetric(c.descs[i], s.kind, v, labels...)
		}
	}
}
