// SPDX-License-Identifier: MIT

// Package dashboard is a live page for a running call: rates, ratios and delays
// of one or several controllers over one time axis, served by the application
// itself. It fetches nothing from elsewhere and needs nothing but the standard
// library.
//
//	app ── Push, Event, SetStatus ──▶ history (bounded) ◀── 10 times a second ── one stream a page ──▶ page
//	                                   one mutex                                  /events (SSE)
//
// A stream looks at the history when it is ready for more, so a page that is
// slow, asleep or gone costs the application nothing: Push only ever writes into
// the history. A page that comes late, or comes back, first gets all of it.
//
//	d, err := dashboard.New("My call", []dashboard.Panel{{
//		Title: "Rate", Unit: "Mbit/s",
//		Series: []dashboard.Series{
//			{Key: "link.capacity", Label: "capacity", Color: dashboard.Grey, Fill: true},
//			{Key: "gbrcc.target", Label: "target", Color: dashboard.Blue},
//		},
//	}})
//	go http.Serve(listener, d.Handler())
//	d.Push(time.Now(), map[string]float64{"gbrcc.target": 2.4})
//
// Keys have the form name.quantity: the status called "gbrcc" and a summary row
// that opens with it are shown in the colour of the first series so named.
//
//	dashboard.go  what an application uses
//	history.go    the ring of values
//	stream.go     what a page has not seen yet, as JSON
//	handler.go    HTTP
//	assets/       the page; uPlot draws the charts (see NOTICE)
//
// Values are in the units the panels name; times are shown in seconds since the
// first one. All methods are safe for concurrent use.
package dashboard
