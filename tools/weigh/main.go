// Command weigh prints what the repository weighs: lines and bytes of Go by area, its tests,
// tracked files, packages, test data, what could only have been moved elsewhere, and how much
// of our code some functions link.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const usage = `Prints what the tracked files weigh. Run it at the repository's root.

  go run ./tools/weigh [-reach]

-reach adds the lines of our code that notify-targets, slack-actions and the command link,
and the size of the programs (it asks go list, and builds them: half a minute).

Exit status: 0 printed, 1 it could not be, 2 wrong use.

`

func main() {
	reach := flag.Bool("reach", false, "")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(".", *reach, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		os.Exit(1)
	}
}

// area is what a part of the tree is for; the first whose folder holds a file counts.
type area struct {
	name    string
	folders []string
}

// areas are those of the plan by which the code is kept small.
func areas() []area {
	return []area{
		{"checks", []string{"shared/checks", "shared/checkid", "shared/catalog"}},
		{"node", []string{"shared/node"}},
		{"gather, kube, snapshot", []string{"shared/gather", "shared/kube", "shared/snapshot"}},
		{"network", []string{"shared/network"}},
		{"incident, diagnose, report", []string{"shared/incident", "shared/diagnose", "shared/diagnosis", "shared/report"}},
		{"store, notify, outbox", []string{"shared/store", "shared/notify", "shared/outbox"}},
		{"slack", []string{"shared/slack"}},
		{"remedy, preflight", []string{"shared/remedy", "shared/preflight"}},
		{"rest of shared", []string{"shared"}},
		{"functions, cmd, events", []string{"functions", "cmd", "events"}},
		{"infra", []string{"infra"}},
		{"simulated AWS and Kubernetes", []string{"stage/simaws", "stage/simclock"}},
		{"platform", []string{"stage/platform"}},
		{"stand-ins for Slack and targets", []string{"stage/fakeslack", "stage/faketargets"}},
		{"stage, worldgen, demo", []string{"stage"}},
		{"bench", []string{"tools/bench"}},
		{"the command", []string{"command"}},
		{"tools", []string{""}},
	}
}

// weight is what an area, or all of it, weighs.
type weight struct {
	lines, bytes, tests int // lines of Go and their bytes, lines of tests
	files               int // of Go
	packages            map[string]bool
}

func (w *weight) add(file string, data []byte) {
	n := bytes.Count(data, []byte("\n"))
	w.files++
	if w.packages == nil {
		w.packages = map[string]bool{}
	}
	w.packages[path.Dir(file)] = true
	if strings.HasSuffix(file, "_test.go") {
		w.tests += n
		return
	}
	w.lines, w.bytes = w.lines+n, w.bytes+len(data)
}

// table is what all tracked files weigh.
type table struct {
	areas    []weight // as areas
	all      weight
	tracked  int
	largest  int            // bytes of the largest file
	testdata int            // bytes
	others   map[string]int // lines of YAML, JSON, scripts and text, by ending
}

// weigh reads what git tracks under a folder.
func weigh(root string) (table, error) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		return table{}, fmt.Errorf("list what is tracked: %w", err)
	}
	t := table{areas: make([]weight, len(areas())), others: map[string]int{}}
	for file := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, file))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return table{}, err
		}
		t.add(file, data)
	}
	return t, nil
}

func (t *table) add(file string, data []byte) {
	t.tracked++
	t.largest = max(t.largest, len(data))
	if slices.Contains(strings.Split(path.Dir(file), "/"), "testdata") {
		t.testdata += len(data)
	}
	switch ext := path.Ext(file); ext {
	case ".go":
		t.all.add(file, data)
		t.areas[areaOf(file)].add(file, data)
	case ".yaml", ".yml", ".json", ".sh", ".mjs", ".mts", ".ts", ".py", ".txt", ".txtar":
		t.others[ext] += bytes.Count(data, []byte("\n"))
	}
}

func areaOf(file string) int {
	list := areas()
	return slices.IndexFunc(list, func(a area) bool {
		return slices.ContainsFunc(a.folders, func(f string) bool { return f == "" || strings.HasPrefix(file, f+"/") })
	})
}

func run(root string, reach bool, out *os.File) error {
	t, err := weigh(root)
	if err != nil {
		return err
	}
	fmt.Fprint(out, t)
	if !reach {
		return nil
	}
	for _, program := range []string{"functions/notify-targets", "functions/slack-actions", "cmd/rollcall"} {
		n, err := reached(root, "./"+program)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-34s %9d lines of ours are linked\n", program, n)
	}
	return programs(root, out)
}

// programs prints how large the programs are that a release has for a person.
func programs(root string, out *os.File) error {
	dir, err := os.MkdirTemp("", "rollcall-weigh-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", dir+string(filepath.Separator), "./cmd/...")
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, text)
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-34s %9d bytes, stripped\n", "cmd/"+e.Name(), info.Size())
	}
	return nil
}

func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %9s %9s %9s %7s %9s\n", "", "lines", "bytes", "tests", "files", "packages")
	row := func(name string, w weight) {
		fmt.Fprintf(&b, "%-34s %9d %9d %9d %7d %9d\n", name, w.lines, w.bytes, w.tests, w.files, len(w.packages))
	}
	for i, a := range areas() {
		row(a.name, t.areas[i])
	}
	row("all Go", t.all)
	fmt.Fprintf(&b, "%-34s %9d\n%-34s %9d bytes\n", "tracked files", t.tracked, "in testdata", t.testdata)
	for _, ext := range []string{".yaml", ".yml", ".json", ".sh", ".mjs", ".mts", ".ts", ".py", ".txt", ".txtar"} {
		if n := t.others[ext]; n > 0 {
			fmt.Fprintf(&b, "%-34s %9d lines\n", "not Go: "+ext, n)
		}
	}
	return b.String()
}

// reached counts the lines of our code that a program links.
func reached(root, program string) (int, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, program)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("list what %s links: %w", program, err)
	}
	n := 0
	for file := range strings.FieldsSeq(string(out)) {
		data, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		n += bytes.Count(data, []byte("\n"))
	}
	return n, nil
}
