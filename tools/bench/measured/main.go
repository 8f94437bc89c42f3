// Command measured measures what hangs on the machine and on no page of its own: how long
// a launch event takes to be a message, how large the programs are and how soon they are
// there, how fast the checks are; and plays the generated worlds. It writes
// docs/measured.md.
package main

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/tools/bench/harness"
)

const usage = `Measures what hangs on the machine (eleven minutes), and writes docs/measured.md.

  make build && go run ./tools/bench/measured
  make build && go run ./tools/bench/measured -check    hold the page's sizes against the programs that are built
`

func main() {
	check := flag.Bool("check", false, "hold the sizes on the page against the programs in build/arm64")
	harness.Main(usage, harness.Always, func(ctx context.Context) error {
		if *check {
			return held(page)
		}
		m, err := measure(ctx)
		if err != nil {
			return err
		}
		return harness.Page(page, m.text())
	})
}

// Where things are, below the repository's root, in which this is run.
const (
	page     = "docs/measured.md"
	deployed = "build/arm64" // make build
)

// length is how long a story takes.
type length struct {
	story string
	took  time.Duration
}

// byItself plays each story by itself, as a user does who wants that one: the program that
// make demo builds, with the functions that are in it.
func (m *result) byItself(ctx context.Context) error {
	page, err := os.ReadFile("docs/stories.md")
	if err != nil {
		return fmt.Errorf("read which stories there are: %w", err)
	}
	for _, story := range storiesOf(string(page)) {
		began := time.Now()
		if _, err := output(ctx, m.rollcall, "demo", story, "--logs", filepath.Join("out", "figures.log")); err != nil {
			return err
		}
		l := length{story, time.Since(began)}
		fmt.Printf("  %s: %.1f s\n", l.story, l.took.Seconds())
		m.lengths = append(m.lengths, l)
	}
	return nil
}

// storiesOf are the stories that their page tells.
func storiesOf(page string) (list []string) {
	for _, m := range regexp.MustCompile("(?m)^`make demo STORY=([a-z]+)`, ").FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

const lengthsHeading = "## Each story\n"

// lengthsSection is the section of the page that has them.
func lengthsSection(list []length) string {
	var b strings.Builder
	b.WriteString(lengthsHeading + `
Each by itself, as ` + "`make demo STORY=…`" + ` plays it, from the program's start to its end.

| story | s |
|---|---|
`)
	for _, l := range list {
		fmt.Fprintf(&b, "| %s | %.1f |\n", l.story, l.took.Seconds())
	}
	return b.String()
}

// result is what was measured.
type result struct {
	machine         string
	sizes           []size
	rollcall        string // the command, built
	functionsAt     string // folder of the functions, built for this machine
	command         fs.FileInfo
	reflected       int64
	version         []float64 // ms
	benches         []bench
	all             time.Duration
	lengths         []length
	functions       map[string]*ran
	posts           []float64 // s
	healthy, broken int
}

// thisMachine is the page's description of it.
func thisMachine() string {
	kind := runtime.GOARCH
	if raw, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := regexp.MustCompile(`(?m)^model name\s*: (.+)$`).FindSubmatch(raw); m != nil {
			kind = string(m[1]) + ", " + kind
		}
	}
	return fmt.Sprintf("%d cores (%s, %s)", runtime.NumCPU(), kind, runtime.GOOS)
}

// text is docs/measured.md.
func (m *result) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<!-- Written by go run ./tools/bench/measured. Do not edit. -->
# Measured on one machine

On %s, with whole cores and calls over loopback; other work beside it makes it slower. What hangs on the machine and has no page of its own is here;
`+"`go run ./tools/bench/measured`"+` measures it again, and writes this page.

## The stories

All stories: %.0f s, as `+"`make demo STORY=all`"+` plays them. The route story once more, %d times; the message's time is that from the launch event on the bus to the call of Slack:

| | from launch event to message, s |
|---|---|
`, m.machine, m.all.Seconds(), len(m.posts))
	for i, s := range m.posts {
		fmt.Fprintf(&b, "| play %d | %.2f |\n", i+1, s)
	}
	b.WriteString("\n" + lengthsSection(m.lengths))
	m.writeFunctions(&b)
	m.writeCommand(&b)
	b.WriteString("\n## Benchmarks\n\nMedians of five runs.\n\n| benchmark | ms | allocated, KB | allocations |\n|---|---|---|---|\n")
	for _, x := range m.benches {
		fmt.Fprintf(&b, "| %s | %.1f | %.0f | %.0f |\n", x.name, x.ms, x.kb, x.allocs)
	}
	fmt.Fprintf(&b, `
## Generated worlds

Made from seeds (`+"`go test ./stage/worldgen -seeds %d -each %d`"+`), all as they must be: no certain finding in one that is healthy, the fault named first in one that has it.

| | worlds |
|---|---|
| healthy | %d |
| one fault each | %d |
`, seeds, each, m.healthy, m.broken)
	return b.String()
}

// writeFunctions tells how large each function is, how soon it is there, and what it takes.
func (m *result) writeFunctions(b *strings.Builder) {
	b.WriteString(`
## Functions

Packages and programs are those that Lambda gets (arm64). Times and memory are of the same programs for this machine in all stories: from the start of the process until it
asks for its first event, and its largest resident size. A function that no story wakes has none.

| function | package, MB | program, MB | starts | process start to first event, ms | nine of ten within | memory, MB |
|---|---|---|---|---|---|---|
`)
	var all []float64
	for _, s := range m.sizes {
		fmt.Fprintf(b, "| %s | %.1f | %.1f |", s.function, float64(s.zipped)/1e6, float64(s.program)/1e6)
		r := m.functions[s.function]
		if r == nil || len(r.inits) == 0 {
			b.WriteString(" 0 | – | – | – |\n")
			continue
		}
		all = append(all, r.inits...)
		fmt.Fprintf(b, " %d | %.1f | %.1f | %.0f |\n", len(r.inits), quantile(r.inits, 0.5), quantile(r.inits, 0.9), r.memory)
	}
	fmt.Fprintf(b, "| **all** | | | %d | %.1f | %.1f | |\n", len(all), quantile(all, 0.5), quantile(all, 0.9))
	at := slices.IndexFunc(m.sizes, func(s size) bool { return s.function == reflecting })
	fmt.Fprintf(b, "\nBuilt with reflection, `%s` is %.1f MB instead of %.1f: the linker then keeps every method of every client.\n", reflecting,
		float64(m.reflected)/1e6, float64(m.sizes[at].program)/1e6)
}

func (m *result) writeCommand(b *strings.Builder) {
	fmt.Fprintf(b, "\n## The command\n\n| | ms | MB |\n|---|---|---|\n| `rollcall --version`, from its start to its end; the program | %.0f | %.1f |\n",
		quantile(m.version, 0.5), float64(m.command.Size())/1e6)
}

// size is how large a program is, and its package.
type size struct {
	function        string
	program, zipped int64
}

// sizes are those of the functions in a folder, as make build has built them.
func sizes(folder string) ([]size, error) {
	programs, err := filepath.Glob(filepath.Join(folder, "*", "bootstrap"))
	if err != nil {
		return nil, fmt.Errorf("list the functions: %w", err)
	}
	var list []size
	for _, path := range programs {
		name := filepath.Base(filepath.Dir(path))
		if _, err := os.Stat(filepath.Join("functions", name)); errors.Is(err, os.ErrNotExist) {
			continue // of a build before it was taken away
		}
		s, err := measureSize(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.function = name
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no function: make build", folder)
	}
	return list, nil
}

func measureSize(path string) (size, error) {
	f, err := os.Open(path)
	if err != nil {
		return size{}, fmt.Errorf("open a program: %w", err)
	}
	defer f.Close()
	var out counter
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	w, err := z.Create("bootstrap")
	if err != nil {
		return size{}, fmt.Errorf("make a package: %w", err)
	}
	n, err := io.Copy(w, f)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return size{}, fmt.Errorf("zip a program: %w", err)
	}
	return size{program: n, zipped: int64(out)}, nil
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// tolerance is by how much a size may be another than the page's before the page is to be
// written anew: of Go's patch releases and of small changes to the code a page need not
// tell.
const tolerance = 0.05

// held holds the sizes on a page against the programs that are built.
func held(page string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	built, err := sizes(deployed)
	if err != nil {
		return err
	}
	return compare(string(raw), built)
}

// compare holds each function's row against what it is.
func compare(page string, built []size) error {
	rows := regexp.MustCompile(`(?m)^\| ([a-z-]+) \| ([\d.]+) \| ([\d.]+) \|`).FindAllStringSubmatch(page, -1)
	said := map[string][]string{}
	for _, row := range rows {
		said[row[1]] = row[2:]
	}
	var faults []error
	for _, b := range built {
		row, known := said[b.function]
		if !known {
			faults = append(faults, fmt.Errorf("%s is not on the page", b.function))
			continue
		}
		delete(said, b.function)
		for i, is := range []int64{b.zipped, b.program} {
			n, err := strconv.ParseFloat(row[i], 64)
			// A tenth of a MB is what the page tells.
			if err != nil || n*1e6 < float64(is)*(1-tolerance)-1e5 || n*1e6 > float64(is)*(1+tolerance)+1e5 {
				faults = append(faults, fmt.Errorf("%s: the page says %s MB, it is %.1f", b.function, row[i], float64(is)/1e6))
			}
		}
	}
	for name := range said {
		faults = append(faults, fmt.Errorf("%s is on the page, and is not built", name))
	}
	if len(faults) > 0 {
		return fmt.Errorf("go run ./tools/bench/measured: %w", errors.Join(faults...))
	}
	return nil
}
