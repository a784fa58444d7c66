// SPDX-License-Identifier: MIT

//go:build browser && codec

package browser

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	imagedraw "golang.org/x/image/draw"

	"github.com/gbrcc/gbrcc/e2e/browser/headless"
	"github.com/gbrcc/gbrcc/e2e/cell"
	"github.com/gbrcc/gbrcc/e2e/dataset"
	"github.com/gbrcc/gbrcc/e2e/video"
)

//go:embed pair.html
var pairPage string

var (
	pairs      = flag.Int("pairs", 1, "rounds of all senders on each trace")
	pairFor    = flag.Duration("pair-for", 20*time.Second, "length of each run, warm-up included")
	pairTraces = flag.String("pair-traces", "TMobile", "parts of names, comma separated; all: every one")
	pairSize   = flag.String("pair-size", "1280x720", "of the source")
	pairCC     = flag.String("pair-cc", "gbrcc,pion", "senders: gbrcc, gbrcc-budget (its encoder gets frame budgets), pion, chromium")
	pairWarmUp = flag.Duration("pair-warm-up", 5*time.Second, "not counted")
)

// uplink is a recorded capacity.
type uplink struct {
	name, file, leg string
	meanMbps        float64 // scaled to; 0: as recorded
}

func uplinks() []uplink {
	return []uplink{
		{"Verizon-LTE", "Verizon-LTE-short.up", "", 0},
		{"TMobile-LTE", "TMobile-LTE-short.up", "", 0},
		{"korea-NSA, NR leg at 6 Mbit/s", "korea_nsa_static_LGU_20220330_1334.csv", "nr", 6},
	}
}

// load reads the trace, from the beginning.
func (u uplink) load(t *testing.T, length time.Duration) cell.Trace {
	t.Helper()
	data, err := os.ReadFile(dataset.File(t, "traces", u.file))
	if err != nil {
		t.Fatal(err)
	}
	data, _ = cell.DropNoLimit(data)
	trace, err := cell.ParseTraceLeg(u.name, data, u.leg)
	if err != nil {
		t.Fatal(err)
	}
	if u.meanMbps == 0 {
		return trace
	}
	scale := u.meanMbps * 1e6 / float64(trace.MeanBps(0, length))
	scaled, left := make([]int, length.Milliseconds()), 0.0
	for i := range scaled {
		left += float64(trace.At(int64(i))) * scale
		scaled[i] = int(left)
		left -= float64(scaled[i])
	}
	if trace, err = cell.NewTrace(u.name, scaled); err != nil {
		t.Fatal(err)
	}

	return trace
}

// viewing is what one run was like, for the time after the warm-up. Rates are
// Mbit/s, times ms, shares 0..1.
type viewing struct {
	Trace, CC        string
	Run              int
	Capacity         float64 // mean of the trace
	Allowed          float64 // mean of what capacity and the cap allow, each second
	Received         float64 // payload
	Link             float64 // the same with the headers, which capacity and cap count too
	Frames           float64 // decoded a second
	Freezes          int
	Frozen, Outages  float64 // of the time; Outages: frozen whoever sends
	JitterBuffer     float64 // a frame
	PlayoutP50       float64 // capture to display
	PlayoutP95       float64
	SSIM             float64 // mean of pictures twice a second, at the source's size
	Pictures, Unread int
	Encoder          video.Stats // since the start; none of Chromium's
	LagMs            float64     // of the emulated cell, at worst: the machine's

	MidSplit, LateSplit split // of frames around PlayoutP50 and PlayoutP95
	Sizes               sizes
	Target              float64 // mean when a frame was captured, Mbit/s; not of Chromium's
	// Aim is what the jitter buffer aims at, ms, every few seconds.
	Aim []float64
	// frames are all, since before the warm-up.
	frames []played
	since  float64 // when that ended, ms since 1970
}

// sizes are of encoded frames, kB, the largest ones before the warm-up too; not
// of Chromium's.
type sizes struct {
	Mean, P95, P99, Largest float64
	LargestKey              float64
	Keys                    int
}

type inboundStats struct {
	Timestamp                                            float64
	BytesReceived, HeaderBytesReceived, PacketsReceived  int
	FramesDecoded, FreezeCount, JitterBufferEmittedCount int
	TotalFreezesDuration, JitterBufferDelay              float64
}

// stage is the browser with its pages, and what both sides show.
type stage struct {
	viewer, sender context.Context // sender is nil without Chromium as one
	pattern        *video.Pattern

	mu    sync.Mutex
	ssim  []float64
	fault error
}

func newStage(t *testing.T, w, h int, chromium bool) *stage {
	t.Helper()
	s := &stage{}
	var err error
	if s.pattern, err = video.NewPattern(w, h, 1); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, pairPage)
	})
	mux.HandleFunc("GET /pattern", func(w http.ResponseWriter, _ *http.Request) {
		for n := range s.pattern.Frames() {
			p, _ := s.pattern.Picture(n)
			for _, plane := range [][]byte{p.Y, p.Cb, p.Cr} {
				_, _ = w.Write(plane)
			}
		}
	})
	mux.HandleFunc("POST /picture", s.picture)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	browser := headless.Start(t, nil)
	s.viewer = headless.Tab(t, browser, server.URL)
	if chromium {
		s.sender = headless.Tab(t, browser, server.URL)
		if n, err := call[int](s.sender, "film", w, h); err != nil || n != s.pattern.Frames() {
			t.Fatalf("%d pictures, %v", n, err)
		}
	}

	return s
}

// picture compares what the page shows with the source.
func (s *stage) picture(w http.ResponseWriter, r *http.Request) {
	v, err := s.compare(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.fault = err
		http.Error(w, err.Error(), http.StatusBadRequest)

		return
	}
	s.ssim = append(s.ssim, v)
}

func (s *stage) compare(r *http.Request) (float64, error) {
	var v [3]int
	for i, name := range []string{"n", "w", "h"} {
		var err error
		if v[i], err = strconv.Atoi(r.URL.Query().Get(name)); err != nil {
			return 0, err
		}
	}
	n, w, h := v[0], v[1], v[2]
	luma, err := io.ReadAll(r.Body)
	if err != nil || len(luma) != w*h || w < 100 || h < 50 {
		return 0, fmt.Errorf("browser: a picture of %d bytes, %d x %d: %w", len(luma), w, h, err)
	}
	original, err := s.pattern.Picture(n)
	if err != nil {
		return 0, err
	}
	shown, want := &image.Gray{Pix: luma, Stride: w, Rect: image.Rect(0, 0, w, h)}, video.Luma(original)
	if shown.Rect != want.Rect {
		full := image.NewGray(want.Rect)
		imagedraw.ApproxBiLinear.Scale(full, full.Rect, shown, shown.Rect, imagedraw.Src, nil)
		shown = full
	}
	// Below the stamp, and half of it, to save time.
	part := image.Rect(0, want.Rect.Dy()/4, want.Rect.Dx(), want.Rect.Dy()*3/4)
	a, _ := shown.SubImage(part).(*image.Gray)
	b, _ := want.SubImage(part).(*image.Gray)

	return video.SSIM(a, b)
}

// run has one sender film for a time.
func (s *stage) run(ctx context.Context, u uplink, trace cell.Trace, who string, round int) (v viewing, err error) {
	v = viewing{Trace: u.name, CC: who, Run: round}
	path, err := newCellPath(trace, uint64(round+1))
	if err != nil {
		return v, err
	}
	began := time.Now()
	defer func() { err = errors.Join(err, path.close()) }()
	var from filmer = &chromiumFilmer{s.sender}
	if who != "chromium" {
		if from, err = newPionFilmer(who, path.link, s.pattern); err != nil {
			return v, err
		}
	}
	dialing, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := s.connect(dialing, path, from, who+" on "+u.name); err != nil {
		return v, err
	}
	start := time.Now()
	if err := sleep(ctx, start.Add(*pairWarmUp)); err != nil {
		return v, err
	}
	first, err := s.mark()
	if err != nil {
		return v, err
	}
	s.mu.Lock()
	s.ssim = s.ssim[:0]
	s.mu.Unlock()
	if err := sleep(ctx, start.Add(*pairFor)); err != nil {
		return v, err
	}
	last, err := s.mark()
	if err != nil {
		return v, err
	}
	v.LagMs = float64(path.link.Stats().MaxLag) / float64(ms)
	if f, ok := from.(*pionFilmer); ok {
		v.Encoder = f.pilot.Stats()
	}
	text, err := call[string](s.viewer, "finish")
	if err != nil {
		return v, err
	}
	frames, err := from.finish(ctx)
	if err != nil {
		return v, err
	}
	v.between(first, last)
	v.ofTrace(trace, start.Add(*pairWarmUp).Sub(began), start.Add(*pairFor).Sub(began))

	return v, s.sum(&v, text, frames, path.departures(), time.UnixMicro(int64(first.Timestamp*1000)))
}

func (s *stage) connect(ctx context.Context, path *cellPath, from filmer, title string) error {
	offer, err := from.offer(ctx)
	if err != nil {
		return err
	}
	if offer, err = lead(offer, path.back); err != nil {
		return err
	}
	answer, err := call[string](s.viewer, "play", title, offer)
	if err != nil {
		return err
	}
	if answer, err = lead(answer, path.front); err != nil {
		return err
	}

	return from.accept(ctx, answer)
}

func (s *stage) mark() (m inboundStats, err error) {
	text, err := call[string](s.viewer, "mark")
	if err == nil {
		err = json.Unmarshal([]byte(text), &m)
	}

	return m, err
}

// between takes what getStats says.
func (v *viewing) between(a, b inboundStats) {
	seconds := (b.Timestamp - a.Timestamp) / 1000
	v.Received = float64(b.BytesReceived-a.BytesReceived) * 8 / seconds / 1e6
	// RTP's are in headerBytesReceived; IPv4 20, UDP 8, SRTP 10.
	headers := b.HeaderBytesReceived - a.HeaderBytesReceived + 38*(b.PacketsReceived-a.PacketsReceived)
	v.Link = v.Received + float64(headers)*8/seconds/1e6
	v.Frames = float64(b.FramesDecoded-a.FramesDecoded) / seconds
	v.Freezes = b.FreezeCount - a.FreezeCount
	v.Frozen = (b.TotalFreezesDuration - a.TotalFreezesDuration) / seconds
	if n := b.JitterBufferEmittedCount - a.JitterBufferEmittedCount; n > 0 {
		v.JitterBuffer = (b.JitterBufferDelay - a.JitterBufferDelay) / float64(n) * 1000
	}
}

// ofTrace takes what anybody could have had.
func (v *viewing) ofTrace(trace cell.Trace, from, to time.Duration) {
	v.Capacity = float64(trace.MeanBps(from, to)) / 1e6
	n := 0
	for at := from; at+time.Second <= to; at += time.Second {
		v.Allowed += min(float64(trace.MeanBps(at, at+time.Second)), pairMaxBps) / 1e6
		n++
	}
	v.Allowed /= float64(max(n, 1))
	// A freeze is an interval of 150 ms more than usual, that is 183 ms at 30 fps,
	// and counts whole: qoe's FreezeDetector.
	const freeze = 183
	silent, frozen := 0, 0
	for i := from.Milliseconds(); i < to.Milliseconds(); i++ {
		if trace.At(i) > 0 {
			if silent > freeze {
				frozen += silent
			}
			silent = 0

			continue
		}
		silent++
	}
	v.Outages = float64(frozen) / float64((to - from).Milliseconds())
}

// sum takes what the page has seen since a time.
func (s *stage) sum(v *viewing, text string, frames map[int]filmed, left map[uint32]time.Time, since time.Time) error {
	var got struct {
		Shown  [][5]float64
		Marks  [][3]float64 // time, jitterBufferTargetDelay and jitterBufferEmittedCount
		Unread int
		Error  string
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got.Error != "" || s.fault != nil {
		return fmt.Errorf("browser: the page: %s %w", got.Error, s.fault)
	}
	for _, f := range got.Shown {
		shown, received := time.UnixMicro(int64(f[1]*1000)), time.UnixMicro(int64(f[3]*1000))
		from, ok := frames[int(f[0])]
		if !ok {
			continue
		}
		p := played{filmed: from, Captured: since1970(from.captured), Playout: since1970(shown) - since1970(from.captured), Width: int(f[2])}
		if from.encoded.IsZero() {
			from.encoded = from.captured
		}
		p.Encoding = since1970(from.encoded) - since1970(from.captured)
		if f[3] > 0 {
			p.Way = since1970(received) - since1970(from.encoded)
			if at, ok := left[uint32(f[4])]; ok {
				p.Sender = since1970(at) - since1970(from.encoded)
			}
			p.Buffer = since1970(shown) - since1970(received)
		}
		v.frames = append(v.frames, p)
	}
	if len(v.frames) == 0 {
		return errors.New("browser: nothing was shown")
	}
	v.since = since1970(since)
	late := slices.DeleteFunc(slices.Clone(v.frames), func(p played) bool { return p.Captured+p.Playout < v.since })
	if len(late) == 0 {
		return errors.New("browser: nothing was shown after the warm-up")
	}
	slices.SortFunc(late, func(a, b played) int { return cmp.Compare(a.Playout, b.Playout) })
	v.PlayoutP50, v.PlayoutP95 = late[len(late)/2].Playout, late[len(late)*95/100].Playout
	around := func(q float64) split {
		return splitOf(late[int((q-0.03)*float64(len(late))):max(int((q+0.03)*float64(len(late))), 1)])
	}
	v.MidSplit, v.LateSplit = around(0.50), around(0.95)
	v.Unread = got.Unread
	v.sizes(frames, since)
	v.Aim = aims(got.Marks)
	for _, x := range s.ssim {
		v.SSIM += x / float64(len(s.ssim))
	}
	v.Pictures = len(s.ssim)

	return nil
}

// sizes takes what was sent since a time; the largest of all, as the viewer's
// jitter buffer does not forget them.
func (v *viewing) sizes(frames map[int]filmed, since time.Time) {
	var all []float64
	for _, f := range frames {
		kB := float64(f.bytes) / 1000
		v.Sizes.Largest = max(v.Sizes.Largest, kB)
		if f.key {
			v.Sizes.LargestKey = max(v.Sizes.LargestKey, kB)
		}
		if f.bytes == 0 || f.captured.Before(since) {
			continue
		}
		all = append(all, kB)
		v.Sizes.Mean += kB
		v.Target += float64(f.target) / 1e6
		if f.key {
			v.Sizes.Keys++
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	n := len(all)
	v.Sizes.Mean /= float64(n)
	v.Target /= float64(n)
	v.Sizes.P95, v.Sizes.P99 = all[n*95/100], all[n*99/100]
}

// aims are mean jitter buffer targets in ms, of five seconds each.
func aims(marks [][3]float64) (out []float64) {
	for i := 10; i < len(marks); i += 10 {
		if n := marks[i][2] - marks[i-10][2]; n > 0 {
			out = append(out, math.Round((marks[i][1]-marks[i-10][1])/n*1000))
		}
	}

	return out
}

// summary is a line of a run, for who waits.
func (v viewing) summary(t *testing.T) {
	t.Helper()
	t.Logf("%s, %s: %.2f Mbit/s, playout %.0f and %.0f ms, SSIM %.3f, %+v", v.CC, v.Trace, v.Received, v.PlayoutP50, v.PlayoutP95, v.SSIM, v.Encoder)
}

// played is a frame that was shown; times are ms, Captured since 1970.
type played struct {
	Captured float64
	Playout  float64 // from capture to display
	// Encoding, the way from there to the browser, and the time in it: jitter
	// buffer, decoder, display. Sender is how much of the way was before the uplink:
	// the pacer's, and of Chromium's sender all of the encoder's.
	Encoding, Sender, Way, Buffer float64
	Width                         int
	filmed
}

func since1970(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// split is where the time goes, ms, means over some frames.
type split struct{ Encoding, Sender, Way, Buffer float64 }

func splitOf(frames []played) (s split) {
	n := float64(len(frames))
	for _, f := range frames {
		s.Encoding += f.Encoding / n
		s.Sender += f.Sender / n
		s.Way += f.Way / n
		s.Buffer += f.Buffer / n
	}

	return s
}

// frameList is all frames, a line each.
func frameList(all []viewing) string {
	var b strings.Builder
	b.WriteString("trace,run,sender,captured_s,width,encoding_ms,pacer_ms,way_ms,browser_ms,playout_ms,bytes,key,target_kbps\n")
	for _, v := range all {
		for _, f := range v.frames {
			fmt.Fprintf(&b, "%s,%d,%s,%.3f,%d,%.1f,%.1f,%.1f,%.1f,%.1f,%d,%t,%d\n", strings.ReplaceAll(v.Trace, ",", ""), v.Run+1, v.CC,
				(f.Captured-v.since)/1000, f.Width, f.Encoding, f.Sender, f.Way, f.Buffer, f.Playout, f.bytes, f.key, f.target/1000)
		}
	}

	return b.String()
}

// splitTable is where the milliseconds of the frames around the median and around
// the 95th percentile go.
func splitTable(all []viewing) string {
	var b strings.Builder
	b.WriteString("| trace | run | sender | around p50: encoder, pacer, uplink, browser ms | around p95 ms | kB mean, p95, p99, largest | key frames, largest kB | resizes | target Mbit/s, sent of it | jitter buffer's aim, ms |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, v := range all {
		m, l := v.MidSplit, v.LateSplit
		sender := "- | - | - | -"
		if v.Target > 0 {
			sender = fmt.Sprintf("%.1f, %.1f, %.1f, %.1f | %d, %.1f | %d | %.2f, %.2f", v.Sizes.Mean, v.Sizes.P95, v.Sizes.P99, v.Sizes.Largest,
				v.Sizes.Keys, v.Sizes.LargestKey, v.Encoder.Resizes, v.Target, v.Received/v.Target)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %.0f, %.0f, %.0f, %.0f | %.0f, %.0f, %.0f, %.0f | %s | %.0f |\n", v.Trace, v.Run+1, v.CC,
			m.Encoding, m.Sender, m.Way-m.Sender, m.Buffer, l.Encoding, l.Sender, l.Way-l.Sender, l.Buffer, sender, v.Aim)
	}

	return b.String()
}

func pairTable(all []viewing) string {
	var b strings.Builder
	b.WriteString("| trace | run | sender | capacity, allowed Mbit/s | received, with headers | frames/s | freezes | frozen, outages % | jitter buffer ms | playout p50 | p95 ms | SSIM | cell late, ms |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, v := range all {
		fmt.Fprintf(&b, "| %s | %d | %s | %.2f, %.2f | %.2f, %.2f | %.1f | %d | %.1f, %.1f | %.0f | %.0f | %.0f | %.3f | %.0f |\n",
			v.Trace, v.Run+1, v.CC, v.Capacity, v.Allowed, v.Received, v.Link, v.Frames, v.Freezes, 100*v.Frozen, 100*v.Outages,
			v.JitterBuffer, v.PlayoutP50, v.PlayoutP95, v.SSIM, v.LagMs)
	}

	return b.String()
}

// middle is the median of a sender's runs on a trace.
func middle(all []viewing, trace, who string, of func(viewing) float64) float64 {
	var v []float64
	for _, x := range all {
		if x.Trace == trace && x.CC == who {
			v = append(v, of(x))
		}
	}
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)

	return v[len(v)/2]
}

// unique is what is there, in order of appearance.
func unique(all []viewing, of func(viewing) string) []string {
	var out []string
	for _, v := range all {
		if !slices.Contains(out, of(v)) {
			out = append(out, of(v))
		}
	}

	return out
}

// versus is what GBR-CC's viewer has in comparison, medians of the runs, and
// whether that is what is wanted.
func versus(all []viewing) string {
	var b strings.Builder
	b.WriteString("| trace | against | rate, of theirs | with headers, of what is allowed | playout p50, of theirs | p95, of theirs | frozen beyond outages, theirs and ours % | SSIM, theirs and ours |\n|---|---|---|---|---|---|---|---|\n")
	for _, trace := range unique(all, func(v viewing) string { return v.Trace }) {
		for _, who := range unique(all, func(v viewing) string { return v.CC }) {
			if who == "gbrcc" {
				continue
			}
			c := against(all, trace, who)
			fmt.Fprintf(&b, "| %s | %s | %.2f %s | %.2f %s | %.2f | %.2f %s | %.1f, %.1f %s | %.3f, %.3f %s |\n", trace, who,
				c.rate, verdict(c.rateOK()), c.allowed, verdict(c.rateOK()), c.p50, c.p95, verdict(c.p95 <= maxP95),
				c.frozen[0], c.frozen[1], c.freezes(), c.ssim[0], c.ssim[1], verdict(c.ssim[1] > c.ssim[0]))
		}
	}
	fmt.Fprintf(&b, "\nWanted: at least %.2g of their rate or %.2g of what trace and cap allow; p95 at most %.2g of theirs; where theirs is frozen for more than %.2g points beyond what nobody can avoid, at most %.2g of that; a higher SSIM.\n",
		minRate, minAllowed, maxP95, someFrozen, maxFrozen)

	return b.String()
}

// What is wanted of GBR-CC, see versus.
const (
	minRate, minAllowed   = 1.5, 0.85
	maxP95                = 1.1
	someFrozen, maxFrozen = 0.5, 0.4 // percentage points; of theirs
)

// margin is GBR-CC against another sender on a trace: ratios, or theirs and ours.
type margin struct {
	rate, allowed, p50, p95 float64
	frozen, ssim            [2]float64
}

func against(all []viewing, trace, who string) margin {
	both := func(of func(viewing) float64) [2]float64 {
		return [2]float64{middle(all, trace, who, of), middle(all, trace, "gbrcc", of)}
	}
	ratio := func(of func(viewing) float64) float64 { v := both(of); return v[1] / v[0] }

	return margin{
		rate:    ratio(func(v viewing) float64 { return v.Received }),
		allowed: both(func(v viewing) float64 { return v.Link / v.Allowed })[1],
		p50:     ratio(func(v viewing) float64 { return v.PlayoutP50 }),
		p95:     ratio(func(v viewing) float64 { return v.PlayoutP95 }),
		frozen:  both(func(v viewing) float64 { return 100 * max(v.Frozen-v.Outages, 0) }),
		ssim:    both(func(v viewing) float64 { return v.SSIM }),
	}
}

func (c margin) rateOK() bool { return c.rate >= minRate || c.allowed >= minAllowed }

func (c margin) freezes() string {
	if c.frozen[0] <= someFrozen {
		return "-"
	}

	return verdict(c.frozen[1] <= maxFrozen*c.frozen[0])
}

func verdict(ok bool) string {
	if ok {
		return "PASS"
	}

	return "MISSED"
}

// Senders with a real encoder, one after the other, over the same cell and trace,
// to a real decoder: what the viewer gets.
func TestPairsInChromium(t *testing.T) {
	dir := artefacts(t)
	var w, h int
	if n, _ := fmt.Sscanf(*pairSize, "%dx%d", &w, &h); n != 2 {
		t.Fatalf("-pair-size %s", *pairSize)
	}
	senders := strings.Split(*pairCC, ",")
	s := newStage(t, w, h, slices.Contains(senders, "chromium"))
	var all []viewing
	for _, u := range uplinks() {
		if *pairTraces != "all" && !slices.ContainsFunc(strings.Split(*pairTraces, ","), func(p string) bool { return strings.Contains(u.name, p) }) {
			continue
		}
		trace := u.load(t, *pairFor+5*time.Second)
		for round := range *pairs {
			for i := range senders {
				who := senders[(i+round)%len(senders)] // nobody always goes first
				v, err := s.run(s.viewer, u, trace, who, round)
				if err != nil {
					t.Fatalf("%s on %s: %v", who, u.name, err)
				}
				all = append(all, v)
				v.summary(t)
			}
		}
	}
	if len(all) == 0 {
		t.Fatalf("no trace %q", *pairTraces)
	}
	screenshot(t, s.viewer, filepath.Join(dir, "pair.png"))
	table := pairTable(all) + "\n" + splitTable(all) + "\n" + versus(all)
	write(t, filepath.Join(dir, "pairs.md"), []byte(table))
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "pairs.json"), append(bytes.TrimSpace(data), '\n'))
	write(t, filepath.Join(dir, "pair-frames.csv"), []byte(frameList(all)))
	t.Log("\n" + table)
	judgePairs(t, all)
}

// judgePairs holds GBR-CC against the others, trace by trace.
func judgePairs(t *testing.T, all []viewing) {
	t.Helper()
	for _, v := range all {
		if v.Frames < 5 || v.Pictures < 3 || v.Unread > len(all)*100 {
			t.Errorf("%s on %s: %.1f frames a second, %d pictures compared, %d not read", v.CC, v.Trace, v.Frames, v.Pictures, v.Unread)
		}
	}
	received := func(v viewing) float64 { return v.Received }
	for _, trace := range unique(all, func(v viewing) string { return v.Trace }) {
		ours, theirs := middle(all, trace, "gbrcc", received), middle(all, trace, "pion", received)
		share := middle(all, trace, "gbrcc", func(v viewing) float64 { return v.Link / v.Allowed })
		if ours > 0 && ours < minRate*theirs && share < minAllowed {
			t.Errorf("%s: %.2f Mbit/s, Pion's GCC has %.2f, and with headers it is %.2f of what is allowed", trace, ours, theirs, share)
		}
	}
}
