package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/tools/expect"
)

// The page has the length of each story that there is, and of no other.
func TestEachStoryIsOnThePage(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/measured.md")
	expect.OK(t, err)
	_, section, _ := strings.Cut(string(raw), "\n"+lengthsHeading)
	section, _, _ = strings.Cut(section, "\n## ")
	var told []string
	for line := range strings.Lines(section) {
		if name, _, is := strings.Cut(strings.TrimPrefix(line, "| "), " | "); is && strings.HasPrefix(line, "| ") && name != "story" {
			told = append(told, name)
		}
	}
	stories, err := os.ReadFile("../../../docs/stories.md")
	expect.OK(t, err)
	// That these are all is held where the page is (tools/site).
	if diff := cmp.Diff(storiesOf(string(stories)), told); diff != "" {
		t.Errorf("run go run ./tools/bench/measured (-stories +page):\n%s", diff)
	}
}

func TestReadReports(t *testing.T) {
	logs := `21:05:00.000 rollcall-report START RequestId: 1 Version: $LATEST
21:05:00.000 rollcall-report REPORT RequestId: 1	Duration: 40.53 ms	Billed Duration: 64 ms	Memory Size: 256 MB	Max Memory Used: 69 MB	Init Duration: 23.38 ms
21:05:01.000 rollcall-report REPORT RequestId: 2	Duration: 1.00 ms	Billed Duration: 1 ms	Memory Size: 256 MB	Max Memory Used: 71 MB
21:05:02.000 rollcall-launch-watch REPORT RequestId: 3	Duration: 1.00 ms	Billed Duration: 1 ms	Memory Size: 256 MB	Max Memory Used: unknown
`
	got, err := readReports([]byte(logs))
	expect.OK(t, err)
	expect.Same(t, "got", got, map[string]*ran{"report": {inits: []float64{23.38}, memory: 71}}, cmp.AllowUnexported(ran{}))
	if _, err := readReports([]byte("nothing")); err == nil {
		t.Error("logs without a report are no measurement")
	}
}

func TestReadBenchmarks(t *testing.T) {
	out := `goos: linux
BenchmarkEval-2   	       1	1300000000 ns/op	 9000000 B/op	  100 allocs/op
BenchmarkEval-2   	       1	1200000000 ns/op	 8000000 B/op	  110 allocs/op
BenchmarkEval-2   	       1	1100000000 ns/op	 7000000 B/op	  120 allocs/op
BenchmarkTally/1000-2 	    1000	   90000 ns/op	  133000 B/op	   32 allocs/op
BenchmarkTally/100000-2	     100	 9000000 ns/op	  133000 B/op	   32 allocs/op
PASS
`
	got, err := readBenchmarks(out)
	want := []bench{{"BenchmarkEval", 1200, 8000, 110}, {"BenchmarkTally/1000", 0.09, 133, 32}, {"BenchmarkTally/100000", 9, 133, 32}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(bench{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := readBenchmarks("PASS\n"); err == nil || !strings.Contains(err.Error(), "no benchmark ran") {
		t.Errorf("no benchmark: %v", err)
	}
}

func TestCountWorlds(t *testing.T) {
	healthy, broken := countWorlds(`--- PASS: TestHealthyWorlds (0.11s)
    --- PASS: TestHealthyWorlds/seed_0 (0.01s)
    --- PASS: TestHealthyWorlds/seed_1 (0.01s)
--- PASS: TestOneFault (0.00s)
    --- PASS: TestOneFault/no_route (0.02s)
        --- PASS: TestOneFault/no_route/seed_7 (0.01s)
        --- SKIP: TestOneFault/no_route/seed_8 (0.01s)
`)
	if healthy != 2 || broken != 1 {
		t.Errorf("%d and %d, want 2 and 1", healthy, broken)
	}
}

// What the page says of a package is what it is, within what a page need not tell.
func TestCompare(t *testing.T) {
	const page = "| function | package, MB | program, MB | starts |\n|---|---|---|---|\n| report | 5.0 | 15.0 | 3 |\n| sweep | 8.0 | 26.0 | 3 |\n"
	for what, tt := range map[string]struct {
		built []size
		says  string
	}{
		"the same":        {[]size{{"report", 15_000_000, 5_000_000}, {"sweep", 26_400_000, 8_200_000}}, ""},
		"larger":          {[]size{{"report", 15_000_000, 5_600_000}, {"sweep", 26_000_000, 8_000_000}}, "report: the page says 5.0 MB, it is 5.6"},
		"smaller":         {[]size{{"report", 15_000_000, 5_000_000}, {"sweep", 14_000_000, 8_000_000}}, "sweep: the page says 26.0 MB, it is 14.0"},
		"one is new":      {[]size{{"report", 15_000_000, 5_000_000}, {"sweep", 26_000_000, 8_000_000}, {"relay", 1, 1}}, "relay is not on the page"},
		"one is gone":     {[]size{{"report", 15_000_000, 5_000_000}}, "sweep is on the page, and is not built"},
		"nothing is left": {nil, "report is on the page"},
	} {
		err := compare(page, tt.built)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", what, err, tt.says)
		}
	}
}

// A package is a program zipped, and as small as zip makes it.
func TestMeasureSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bootstrap")
	expect.OK(t, os.WriteFile(file, []byte(strings.Repeat("rollcall ", 100_000)), 0o600))
	got, err := measureSize(file)
	if err != nil || got.program != 900_000 || got.zipped < 200 || got.zipped > 10_000 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := sizes(t.TempDir()); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("a folder with nothing built: %v", err)
	}
}

// The page that is written is the one that compare reads.
func TestPage(t *testing.T) {
	info, err := os.Stat("main.go")
	expect.OK(t, err)
	m := result{
		machine: "2 cores (a kind, amd64, linux)", command: info, reflected: 44_000_000, version: []float64{20, 22, 24}, all: 200 * time.Second,
		lengths:   []length{{"route", 20 * time.Second}},
		sizes:     []size{{"launch-watch", 15_000_000, 5_000_000}, {"relay", 8_000_000, 3_000_000}},
		functions: map[string]*ran{"launch-watch": {inits: []float64{8, 9, 30}, memory: 31}},
		posts:     []float64{0.14, 0.2}, healthy: 500, broken: 1332,
		benches: []bench{{"BenchmarkEval", 1200, 8000, 110}},
	}
	text := m.text()
	for _, want := range []string{
		"On 2 cores (", "All stories: 200 s,", "| play 2 | 0.20 |", "\n\n## Each story\n", "| route | 20.0 |\n\n## Functions\n",
		"| launch-watch | 5.0 | 15.0 | 3 | 9.0 | 30.0 | 31 |", "| relay | 3.0 | 8.0 | 0 | – | – | – |",
		"| **all** | | | 3 | 9.0 | 30.0 | |", "`launch-watch` is 44.0 MB instead of 15.0", "| BenchmarkEval | 1200.0 | 8000 | 110 |", "| healthy | 500 |", "| one fault each | 1332 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if err := compare(text, m.sizes); err != nil {
		t.Error(err)
	}
	if q := quantile([]float64{3, 1, 2}, 0.5); q != 2 {
		t.Errorf("median %g", q)
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("there is a median of nothing")
	}
}

// The page was written by this program as it is: as many plays and worlds, and all
// functions that there are. How large they are is held where they are built (-check).
func TestPageIsWhole(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/measured.md")
	expect.OK(t, err)
	folders, err := os.ReadDir("../../../functions")
	expect.OK(t, err)
	want := []string{fmt.Sprintf("-seeds %d -each %d`", seeds, each), fmt.Sprintf("| play %d |", plays), fmt.Sprintf("once more, %d times;", plays)}
	for _, f := range folders {
		want = append(want, "\n| "+f.Name()+" | ")
	}
	for _, w := range want {
		if !strings.Contains(string(raw), w) {
			t.Errorf("docs/measured.md has no %q: run go run ./tools/bench/measured", w)
		}
	}
}
