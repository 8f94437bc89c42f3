package main

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// result is what was measured.
type result struct {
	machine         string
	sizes           []size
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

// thisMachine is what the page tells of it.
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
	fmt.Fprintf(&b, `<!-- Written by make figures. Do not edit. -->
# Measured on one machine

On %s, with whole cores and calls over loopback; other work beside it makes it slower. What hangs on the machine and has no page of its own is here;
`+"`make figures`"+` measures it again, and writes this page, [the figures](figures.md) and those of other pages.

## The stories

All stories: %.0f s, as `+"`make demo`"+` plays them. The route story once more, %d times; the message's time is that from the launch event on the bus to the call of Slack:

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

Made from seeds (`+"`go test ./local/worldgen -seeds %d -each %d`"+`), all as they must be: no certain finding in one that is healthy, the fault named first in one that has it.

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
