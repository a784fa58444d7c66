// SPDX-License-Identifier: MIT

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// parseReport checks that a page is well-formed and fetches nothing, and
// returns its data.
func parseReport(t *testing.T, dir string) (page string, data charts) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	page = string(text)
	// Scripts and styles are not markup.
	markup := regexp.MustCompile(`(?s)(<(?:script|style)[^>]*>).*?(</(?:script|style)>)`).ReplaceAllString(page, "$1$2")
	var open []string
	ids, links := map[string]bool{}, map[string]bool{}
	attribute := regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
	for _, tag := range regexp.MustCompile(`<(/?)([a-z0-9]+)([^<>]*)>`).FindAllStringSubmatch(markup, -1) {
		if tag[1] == "/" {
			if len(open) == 0 || open[len(open)-1] != tag[2] {
				t.Fatalf("</%s> closes %v", tag[2], open)
			}
			open = open[:len(open)-1]

			continue
		}
		if tag[2] != "meta" {
			open = append(open, tag[2])
		}
		for _, a := range attribute.FindAllStringSubmatch(tag[3], -1) {
			switch key, value := a[1], a[2]; {
			case key == "src" || key == "srcset" || tag[2] == "link":
				t.Errorf("%s fetches", tag[0])
			case key == "href" && !strings.HasPrefix(value, "#"):
				t.Errorf("a link to %q", value)
			case key == "href":
				links[value[1:]] = true
			case key == "id" && ids[value]:
				t.Errorf("id %q twice", value)
			case key == "id":
				ids[value] = true
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
	for l := range links {
		if !ids[l] {
			t.Errorf("a link to #%s, which is nowhere", l)
		}
	}
	_, raw, _ := strings.Cut(page, `id="charts">`)
	raw, _, _ = strings.Cut(raw, "</script>")
	if err := json.Unmarshal([]byte(raw), &data); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(raw, `":null`) {
		t.Error("a list in the data is null, which the script takes for a list")
	}
	// An address in a comment of a library is not fetched; anything else is.
	rest := strings.ReplaceAll(page, "/*! https://github.com/leeoniya/uPlot (v1.6.32) */", "")
	if m := regexp.MustCompile(`https?:|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|EventSource`).FindString(rest); m != "" {
		t.Errorf("%q in the page", m)
	}
	if !strings.Contains(page, `content="default-src 'none'; script-src 'unsafe-inline';`) {
		t.Error("no content policy")
	}
	if strings.Contains(page, "ZgotmplZ") || strings.Contains(page, "no value") {
		t.Error("the template has swallowed something")
	}

	return page, data
}
