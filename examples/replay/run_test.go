// SPDX-License-Identifier: MIT

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/modemlink/diag"
)

// Every kind of output of a capture made by hand.
func TestByHand(t *testing.T) {
	path := write(t, "hand.hdlc", hdlc(byHand(t)))
	for _, tc := range []struct{ name, flag string }{
		{"summary", ""}, {"samples", "-json"}, {"records", "-records"}, {"stats", "-stats"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := []string{path}
			if tc.flag != "" {
				args = []string{tc.flag, path}
			}
			r := execute(t, args...)
			if r.status != 0 || r.errors != "" {
				t.Fatalf("status %d, %s", r.status, r.errors)
			}
			if lines := strings.SplitAfter(r.out, "\n"); len(lines) > 120 { // as in -records
				r.out = strings.Join(lines[:60], "") + fmt.Sprintf("... %d lines\n", len(lines)-1)
			}
			golden.Assert(t, tidy(r.out, path), tc.name+".golden")
		})
	}
}

// The same packets give the same samples, however they are packed.
func TestFormats(t *testing.T) {
	packets := byHand(t)[:60]
	stream := diag.AppendHDLC(nil, []byte{0x79, 1, 2, 3}) // the wrong start for DLF
	var frames, dlf, mess []byte
	for _, p := range packets {
		log := diag.AppendLog(nil, p.code, p.logged(), p.body)
		stream = diag.AppendHDLC(stream, log)
		frames = diag.AppendRouter(frames, log)
		dlf = diag.AppendDLF(dlf, p.code, p.logged(), p.body)
		mess = append(append(mess, "some header of a vendor "...), log...)
	}
	want := execute(t, "-json", write(t, "a", stream))
	if want.status != 0 || strings.Count(want.out, "\n") < 10 {
		t.Fatalf("%+v", want)
	}
	for name, data := range map[string][]byte{
		"router":        frames,
		"qmdl2_hdlc":    append(diag.AppendQMDL2Header(nil, diag.FormatHDLC), stream...),
		"qmdl2_router":  append(diag.AppendQMDL2Header(nil, diag.FormatRouter), frames...),
		"dlf":           dlf,
		"scan":          mess,
		"gzip":          zip(t, stream),
		"gzip_members":  append(zip(t, stream[:1000]), zip(t, stream[1000:])...),
		"gzip_of_qmdl2": zip(t, append(diag.AppendQMDL2Header(nil, diag.FormatRouter), frames...)),
	} {
		if got := execute(t, "-json", write(t, "a", data)); got != want {
			t.Errorf("%s: status %d, %q, %d lines; want %d lines", name, got.status, got.errors,
				strings.Count(got.out, "\n"), strings.Count(want.out, "\n"))
		}
	}
}

// What other tools read from real captures is what -records prints.
func TestRecordsGolden(t *testing.T) {
	type key struct{ file, k string }
	got := map[key][]map[string]any{}
	for _, path := range captures(t) {
		r := execute(t, "-records", path)
		if r.status != 0 || r.errors != "" {
			t.Fatalf("%s: status %d, %s", path, r.status, r.errors)
		}
		for line := range strings.Lines(r.out) {
			if !strings.HasPrefix(line, `{"file":"`+filepath.Base(path)+`","code":"0xb`) {
				t.Fatalf("a line begins with %.60s", line)
			}
			m := decode(t, []byte(line))
			k := key{m["file"].(string), m["k"].(string)}
			got[k] = append(got[k], m)
		}
	}
	text, err := os.ReadFile(dataset.File(t, "diag", "golden.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	at, n := map[key]int{}, 0
	for line := range bytes.Lines(text) {
		want := decode(t, line)
		k := key{want["file"].(string), want["k"].(string)}
		if at[k] == len(got[k]) {
			t.Fatalf("%v: only %d records", k, at[k])
		}
		m := got[k][at[k]]
		at[k]++
		n++
		for name, v := range want {
			if !reflect.DeepEqual(m[name], v) {
				t.Errorf("%v %d: %s is %v, want %v", k, at[k], name, m[name], v)
			}
		}
	}
	if n != 291 {
		t.Errorf("%d lines compared, want 291", n)
	}
}

func decode(tb testing.TB, line []byte) map[string]any {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber() // time stamps have more than 53 bits
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		tb.Fatalf("%v in %s", err, line)
	}

	return m
}

// -stats accounts for every frame and packet of real captures.
func TestStatsAddUp(t *testing.T) {
	frames := regexp.MustCompile(`frames: +(\d+) = (\d+) log packets \+ (\d+) other messages \+ (\d+) encrypted \+ (\d+) malformed`)
	rows := regexp.MustCompile(`(?m)^0x[0-9A-F]{4} +\S+ +\S+ +(\d+) +(\d+) +\d+ +(\d+)`)
	number := func(s string) (n int) {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}

		return n
	}
	for _, path := range append(captures(t), write(t, "hand.hdlc", hdlc(byHand(t)))) {
		r := execute(t, "-stats", path)
		if r.status != 0 || strings.Contains(r.out, "NOT ACCOUNTED") {
			t.Errorf("%s: %+v", path, r)
		}
		m := frames.FindStringSubmatch(r.out)
		if m == nil {
			t.Fatalf("no line about frames in\n%s", r.out)
		}
		all, logs, encrypted := number(m[1]), number(m[2]), number(m[4])
		if all == 0 || all != logs+number(m[3])+encrypted+number(m[5]) {
			t.Errorf("%s: %s", path, m[0])
		}
		sum := 0
		for _, row := range rows.FindAllStringSubmatch(r.out, -1) {
			sum += number(row[1])
			if number(row[1]) != number(row[2])+number(row[3]) {
				t.Errorf("%s: %s", path, row[0])
			}
		}
		if sum != logs+encrypted {
			t.Errorf("%s: %d packets in rows, %d log packets", path, sum, logs+encrypted)
		}
	}
}

// T of a real network, by all who know it.
func TestTimersAgree(t *testing.T) {
	r := execute(t, "-stats", dataset.File(t, "diag", "mi_att.hdlc"))
	if !strings.Contains(r.out, "periodicBSR-Timer (lte): agree") || !strings.Contains(r.out, "observed  5 ms") {
		t.Error(r.out)
	}
}

// What -json prints is itself a recording, of the same samples.
func TestSamplesReadBack(t *testing.T) {
	hand := write(t, "hand.hdlc", hdlc(byHand(t)))
	for _, path := range append(captures(t), hand) {
		first := execute(t, "-json", path)
		if first.out == "" {
			if !strings.Contains(first.errors, "no sample") {
				t.Errorf("%s: %+v", path, first)
			}

			continue
		}
		if again := execute(t, "-json", write(t, "a.jsonl", []byte(first.out))); again != first {
			t.Errorf("%s: %d lines, read back %d; %s", path, strings.Count(first.out, "\n"), strings.Count(again.out, "\n"), again.errors)
		}
	}
}

// Each file on its own, its name with it; a bad one does not keep the others.
func TestSeveralFiles(t *testing.T) {
	hand := write(t, "hand.hdlc", hdlc(byHand(t)))
	missing := filepath.Join(filepath.Dir(hand), "missing")
	r := execute(t, "-json", hand, missing, hand)
	if r.status != 1 || r.errors != fmt.Sprintf("replay: %s: no such file or directory\n", missing) {
		t.Errorf("status %d, %q", r.status, r.errors)
	}
	one := execute(t, "-json", hand)
	want := strings.ReplaceAll(one.out, `{"t_ms"`, `{"file":"hand.hdlc","t_ms"`)
	if r.out != want+want {
		t.Errorf("got %d lines, want twice %d", strings.Count(r.out, "\n"), strings.Count(one.out, "\n"))
	}
	r = execute(t, hand, missing, hand)
	if n := strings.Count(r.out, hand+": modem capture (hdlc)\n"); r.status != 1 || n != 2 {
		t.Errorf("status %d, %d summaries", r.status, n)
	}
}

// Bad inputs cost one clear line, and nothing is printed of them.
func TestBadInputs(t *testing.T) {
	stream := hdlc(byHand(t))
	gz := zip(t, stream)
	damaged := bytes.Clone(gz)
	damaged[len(damaged)-6] ^= 1 // the checksum
	recording := `{"t_ms":1,"bsr_bytes":10,"grant_bytes":5}` + "\n"
	event := `{"time":0,"name":"log:started","data":{"wall":"2024-05-06T07:08:09Z"}}` + "\n"
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "is empty"},
		{"empty_gzip", zip(t, nil), "is empty"},
		{"junk", bytes.Repeat([]byte("junk without an end "), 9999), "neither a modem capture nor a recording"},
		{"zeros", make([]byte, 1<<20), "neither a modem capture nor a recording"},
		{"no_log_packet", bytes.Repeat(diag.AppendHDLC(nil, []byte{0x79, 1, 2}), 30), "no log packet in 30 frames"},
		{"cut_gzip", gz[:len(gz)/2], "gzip data are cut off"},
		{"short_gzip", gz[:5], "gzip data are cut off"},
		{"damaged_gzip", damaged, "gzip data are damaged"},
		{"other_json", []byte(`{"a":1}` + "\n"), "line 1 is of no recording"},
		{"json_array", []byte(`[1,2,3]`), "neither a modem capture nor a recording"},
		{"half_json", []byte(`{"t_ms":1,"bsr`), "line 1 is no JSON object"},
		{"huge_line_1", append([]byte(`{"t_ms":1,"x":"`), make([]byte, 1<<20)...), "line 1 is longer"},
		{"huge_line", []byte(recording + `{"x":"` + strings.Repeat("x", 1<<17) + `"}`), "longer than 64 KiB"},
		{"huge_event", []byte(event + `{"x":"` + strings.Repeat("x", 5<<20) + `"}`), "longer than 4096 KiB"},
		{"bad_line", []byte(recording + "\n" + `{"t_ms":2,"bsr_bytes":-1,"grant_bytes":0}`), "line 3: bsr_bytes is -1"},
		{"wrong_type", []byte(recording + `{"t_ms":"x"}`), "line 2: t_ms cannot be a string"},
		{"no_grant", []byte(recording + `{"t_ms":2,"bsr_bytes":1}`), "line 2: a sample needs"},
		{"binary_line", []byte(recording + "\x00\x01\n"), "line 2: not JSON"},
		{"only_unknown", []byte(`{"t_ms":1,"kind":"x"}`), "nothing in this recording"},
		{"bad_event", []byte(event + `{"time":1,"name":"gbr:telemetry","data":{"telemetry":7}}`), "line 2: gbr:telemetry: telemetry cannot be a number"},
		{"wild_event", []byte(event + `{"time":1,"name":"gbr:telemetry","data":{"telemetry":{"Grants":[{"Bytes":-1}]}}}`), "line 2: gbr:telemetry: a grant is out of range"},
	} {
		path := write(t, tc.name, tc.data)
		svg := filepath.Join(t.TempDir(), "a.svg")
		for _, args := range [][]string{{path}, {"-json", path}, {"-stats", path}, {"-records", path}, {"-plot", svg, path}} {
			r := execute(t, args...)
			if args[0] == "-records" && !strings.Contains(r.errors, tc.want) && strings.Contains(r.errors, "needs a capture") {
				r.errors = "replay: " + path + ": " + tc.want + "\n"
			}
			if r.status != 1 || r.out != "" || strings.Count(r.errors, "\n") != 1 ||
				!strings.HasPrefix(r.errors, "replay: "+path+": ") || !strings.Contains(r.errors, tc.want) || len(r.errors) > 400 {
				t.Errorf("%s %v: status %d, %d bytes out, %q, want %q", tc.name, args[0], r.status, len(r.out), r.errors, tc.want)
			}
		}
		if left, err := os.ReadDir(filepath.Dir(svg)); err != nil || len(left) != 0 {
			t.Errorf("%s leaves %v, %v", tc.name, left, err)
		}
	}
	dir := t.TempDir()
	if r := execute(t, dir); r.status != 1 || r.errors != fmt.Sprintf("replay: %s: is a directory\n", dir) {
		t.Errorf("directory: %+v", r)
	}
}

func TestBadFlags(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "which FILE?"},
		{[]string{"-json", "-stats", "a"}, "-json and -stats: choose one"},
		{[]string{"-plot", "a.png", "a"}, "ends in .svg"},
		{[]string{"-plot", "a.svg", "a", "b"}, "one FILE"},
		{[]string{"a", "-json"}, "flags go before"},
		{[]string{"-nonsense", "a"}, "-nonsense"},
		{[]string{"-bounds", "1,2,3", "a"}, "-bounds is for -decisions"},
		{[]string{"-decisions", "-bounds", "3,2,1", "a"}, "ascending"},
		{[]string{"-decisions", "-bounds", "x,2,1", "a"}, "not a number"},
		{[]string{"-decisions", "-tolerance", "NaN", "a"}, "0 to 1"},
		{[]string{"-decisions", "-cc", "x", "a"}, "unknown algorithm"},
	} {
		r := execute(t, tc.args...)
		if r.status != 2 || strings.Count(r.errors, "\n") != 1 || !strings.Contains(r.errors, tc.want) {
			t.Errorf("%v: %+v, want %q", tc.args, r, tc.want)
		}
	}
	if r := execute(t, "-h"); r.status != 0 || !strings.Contains(r.errors, "Usage: replay") {
		t.Errorf("-h: %+v", r)
	}
}

// A reader that has seen enough, such as head, is no error.
func TestClosedPipe(t *testing.T) {
	hand := write(t, "hand.hdlc", hdlc(byHand(t)))
	for _, flag := range []string{"-json", "-records", "-stats"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		if status := run([]string{flag, hand, hand}, w, &errs); status != 0 || errs.Len() > 0 {
			t.Errorf("%s: status %d, %s", flag, status, &errs)
		}
		_ = w.Close()
	}
}

// A disk that is full is one.
func TestBrokenOutput(t *testing.T) {
	hand := write(t, "hand.hdlc", hdlc(byHand(t)))
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close() //nolint:errcheck // nothing can be written
	var errs bytes.Buffer
	if status := run([]string{"-records", hand}, full, &errs); status != 1 || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("status %d, %s", status, &errs)
	}
}

// A clock that leaps by decades, as before the network has told the time, and
// back, costs the windows around it and nothing else.
func TestClockLeaps(t *testing.T) {
	var data []byte
	for i, p := range byHand(t) {
		at := p.logged()
		if i > 40 && i < 80 {
			at = diag.TimestampOf(at.Time().AddDate(20, 0, 0))
		}
		data = diag.AppendHDLC(data, diag.AppendLog(nil, p.code, at, p.body))
	}
	r := execute(t, "-stats", write(t, "a", data))
	if r.status != 0 || !strings.Contains(r.out, "2 leaps of the modem's clock") {
		t.Errorf("%+v", r)
	}
	r = execute(t, write(t, "a", data))
	if !regexp.MustCompile(`time +[12]\.\d s by the log's`).MatchString(r.out) {
		t.Error(r.out)
	}
}

// FuzzReader: nothing that a file holds makes more than one line of trouble.
func FuzzReader(f *testing.F) {
	stream := hdlc(byHand(f)[:4])
	f.Add(stream)
	f.Add(zip(f, stream))
	f.Add(append(diag.AppendQMDL2Header(nil, diag.FormatHDLC), stream...))
	f.Add([]byte(`{"t_ms":1,"bsr_bytes":10,"grant_bytes":5}` + "\n" + `{"t_ms":2,"kind":"report","bsr_bytes_low":3}`))
	f.Add([]byte(`{"t_ms":1,"kind":"config","rat":"nr","period_ms":5,"lag_ms":8,"pci":3}` + "\n" + `{"t_ms":-9e9,"kind":"grant","grant_bytes":5}`))
	f.Add([]byte(`{"time":0,"name":"log:started","data":{"wall":"2024-05-06T07:08:09Z"}}` + "\n" +
		`{"time":1.5,"name":"gbr:telemetry","data":{"telemetry":{"Samples":[{"At":"2024-05-06T07:08:09Z","Window":5000000,"Granted":5,"Reported":9}]}}}` + "\n" +
		`{"time":2,"name":"gbr:packet_sent","data":{"packet":{"Seq":1,"Size":1200,"At":"2024-05-06T07:08:09Z"}}}` + "\n" +
		`{"time":30,"name":"gbr:feedback","data":{"packets":[{"Seq":1,"Size":1200,"At":"2024-05-06T07:08:09Z","Received":true,"Arrival":77}]}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, fmt.Sprintf("%d", os.Getpid()))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"-json", "-records", "-stats", "-decisions"} {
			r := execute(t, flag, path)
			if r.status < 0 || r.status > 1 || strings.Count(r.errors, "\n") > 1 || strings.Contains(r.out, "NOT ACCOUNTED") {
				t.Fatalf("%s: status %d, %q", flag, r.status, r.errors)
			}
			if flag == "-stats" || flag == "-decisions" {
				continue
			}
			for line := range strings.Lines(r.out) {
				if !json.Valid([]byte(line)) {
					t.Fatalf("%s printed %q", flag, line)
				}
			}
		}
	})
}
