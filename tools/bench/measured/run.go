package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"rollcall/tools/bench/harness"
	"rollcall/tools/binaries"
)

// plays is how often the route story is played beside once among all stories.
const plays = 5

// Generated worlds: so many healthy ones, and so many for each fault.
const (
	seeds = 500
	each  = 12
)

func measure(ctx context.Context) (*result, error) {
	m := &result{machine: thisMachine()}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"the programs' sizes", m.programs},
		{"how long rollcall takes to start", m.starts},
		{"the benchmarks", m.benchmarks},
		{"all stories", m.stories},
		{"each story by itself", m.byItself},
		{"the route story", m.launches},
		{"the generated worlds", m.generated},
	} {
		fmt.Println(step.what, "…")
		if err := step.do(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	return m, nil
}

// programs measures the packages, and one program as it would be with what the linker
// keeps when code looks up methods by a name that it cannot know.
func (m *result) programs(ctx context.Context) (err error) {
	if m.sizes, err = sizes(deployed); err != nil {
		return err
	}
	if m.rollcall, err = harness.Rollcall(ctx); err != nil {
		return err
	}
	if m.command, err = os.Stat(m.rollcall); err != nil {
		return fmt.Errorf("look at the program: %w", err)
	}
	if m.functionsAt, err = binaries.Build("."); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rollcall-measured-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	root, err := filepath.Abs(".")
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	source, overlay, out := filepath.Join(dir, "reflects.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "bootstrap")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, "functions", reflecting, "reflects.go"): source}})
	if err != nil {
		return fmt.Errorf("write the overlay: %w", err)
	}
	if err := errors.Join(os.WriteFile(source, []byte(reflects), 0o600), os.WriteFile(overlay, files, 0o600)); err != nil {
		return fmt.Errorf("write the overlay: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-overlay", overlay, "-o", out, "./functions/"+reflecting)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s with reflection: %w\n%s", reflecting, err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		return fmt.Errorf("look at %s: %w", reflecting, err)
	}
	m.reflected = info.Size()
	return nil
}

// reflecting is the function that is built with reflection, and reflects the file that
// does it: a method's name that is not known when it is linked.
const (
	reflecting = "launch-watch"
	reflects   = `package main

import (
	"os"
	"reflect"
)

func init() {
	if len(os.Args) > 2 {
		reflect.ValueOf(os.Stdout).MethodByName(os.Args[1]).Call(nil)
	}
}
`
)

// starts runs rollcall --version many times.
func (m *result) starts(ctx context.Context) error {
	for range 50 {
		began := time.Now()
		if out, err := exec.CommandContext(ctx, m.rollcall, "--version").CombinedOutput(); err != nil {
			return fmt.Errorf("%s --version: %w\n%s", m.rollcall, err, out)
		}
		m.version = append(m.version, time.Since(began).Seconds()*1000)
	}
	return nil
}

var benchmark = regexp.MustCompile(`(?m)^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+(\d+) B/op\s+(\d+) allocs/op$`)

func (m *result) benchmarks(ctx context.Context) error {
	out, err := output(ctx, "go", "test", "-run", "^$", "-bench", "^(BenchmarkEval|BenchmarkDiagnose|BenchmarkTally)$", "-benchmem", "-count", "5",
		"./shared/checks", "./shared/diagnose", "./shared/network/address")
	if err != nil {
		return err
	}
	m.benches, err = readBenchmarks(out)
	return err
}

// bench is the median of a benchmark's runs.
type bench struct {
	name           string
	ms, kb, allocs float64
}

func readBenchmarks(out string) (list []bench, err error) {
	runs := map[string][][3]float64{}
	var order []string
	for _, f := range benchmark.FindAllStringSubmatch(out, -1) {
		var r [3]float64
		for i := range r {
			if r[i], err = strconv.ParseFloat(f[i+2], 64); err != nil {
				return nil, fmt.Errorf("read %q: %w", f[0], err)
			}
		}
		if runs[f[1]] == nil {
			order = append(order, f[1])
		}
		runs[f[1]] = append(runs[f[1]], r)
	}
	for _, name := range order {
		var columns [3][]float64
		for _, r := range runs[name] {
			for i := range r {
				columns[i] = append(columns[i], r[i])
			}
		}
		list = append(list, bench{name, quantile(columns[0], 0.5) / 1e6, quantile(columns[1], 0.5) / 1e3, quantile(columns[2], 0.5)})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no benchmark ran:\n%s", out)
	}
	return list, nil
}

// stories plays all of them with the functions' own binaries, as they are deployed.
func (m *result) stories(ctx context.Context) error {
	logs := filepath.Join("out", "figures.log")
	began := time.Now()
	if _, err := output(ctx, m.rollcall, "demo", "--functions", m.functionsAt, "--logs", logs); err != nil {
		return err
	}
	m.all = time.Since(began)
	raw, err := os.ReadFile(logs)
	if err != nil {
		return fmt.Errorf("read what the functions wrote: %w", err)
	}
	m.functions, err = readReports(raw)
	return err
}

// ran is what Lambda reports of a function.
type ran struct {
	inits  []float64 // ms
	memory float64   // MB, at most
}

var report = regexp.MustCompile(`rollcall-([a-z-]+).*REPORT RequestId: .*Max Memory Used: (\d+) MB(?:.*Init Duration: ([\d.]+) ms)?`)

func readReports(logs []byte) (map[string]*ran, error) {
	all := map[string]*ran{}
	for line := range bytes.Lines(logs) {
		f := report.FindSubmatch(bytes.ReplaceAll(line, []byte(`\t`), []byte(" ")))
		if f == nil {
			continue
		}
		r := all[string(f[1])]
		if r == nil {
			r = &ran{}
			all[string(f[1])] = r
		}
		memory, err := strconv.ParseFloat(string(f[2]), 64)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", line, err)
		}
		r.memory = max(r.memory, memory)
		if len(f[3]) == 0 {
			continue
		}
		init, err := strconv.ParseFloat(string(f[3]), 64)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", line, err)
		}
		r.inits = append(r.inits, init)
	}
	if len(all) == 0 {
		return nil, errors.New("the functions' logs have no REPORT")
	}
	return all, nil
}

var posted = regexp.MustCompile(`Slack, ([\d.]+) s after the first launch event`)

// launches plays the route story, which times its message.
func (m *result) launches(ctx context.Context) error {
	for range plays {
		out, err := output(ctx, m.rollcall, "demo", "route", "--functions", m.functionsAt, "--logs", filepath.Join("out", "figures.log"))
		if err != nil {
			return err
		}
		f := posted.FindStringSubmatch(out)
		if f == nil {
			return fmt.Errorf("the route story does not tell how soon its message came:\n%s", out)
		}
		s, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return fmt.Errorf("read %q: %w", f[0], err)
		}
		m.posts = append(m.posts, s)
	}
	return nil
}

// generated plays the worlds made from seeds; each that is played has passed.
func (m *result) generated(ctx context.Context) error {
	out, err := output(ctx, "go", "test", "./stage/worldgen", "-count=1", "-v", "-timeout", "60m", "-run", "^(TestHealthyWorlds|TestOneFault)$",
		"-args", "-seeds", strconv.Itoa(seeds), "-each", strconv.Itoa(each))
	if err != nil {
		return err
	}
	m.healthy, m.broken = countWorlds(out)
	if m.healthy == 0 || m.broken == 0 {
		return fmt.Errorf("%d healthy and %d broken worlds were played", m.healthy, m.broken)
	}
	return nil
}

func countWorlds(out string) (healthy, broken int) {
	return len(regexp.MustCompile(`(?m)^ +--- PASS: TestHealthyWorlds/seed`).FindAllString(out, -1)),
		len(regexp.MustCompile(`(?m)^ +--- PASS: TestOneFault/.+/seed`).FindAllString(out, -1))
}

// output runs a program, and gives what it says.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, out[max(0, len(out)-4000):])
	}
	return string(out), nil
}

// quantile is the value below which a share of the list is.
func quantile(list []float64, share float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
