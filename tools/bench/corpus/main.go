// Command corpus diagnoses every world of the corpus with the functions' real
// binaries, and prints what was expected against what was found.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/bench/harness"
)

const usage = `Diagnoses every world of the corpus and prints what was expected against what
was found: causes named first, false alarms, and what could not be told. It fails if
something else was found.

  go run ./tools/bench/corpus [-run route] [-j 4]
`

func main() {
	only := flag.String("run", "", "only worlds whose name has this in it")
	parallel := flag.Int("j", runtime.NumCPU(), "how many worlds at once")
	harness.Main(usage, func() bool { return *parallel > 0 }, func(ctx context.Context) error { return run(ctx, *only, *parallel) })
}

func run(ctx context.Context, only string, parallel int) error {
	c, err := read("stage/worlds/corpus")
	if err != nil {
		return err
	}
	worlds := c.Worlds[:0]
	for _, w := range c.Worlds {
		if strings.Contains(w.Name, only) {
			worlds = append(worlds, w)
		}
	}
	binary, err := harness.Rollcall(ctx)
	if err != nil {
		return err
	}
	verdicts := diagnose(ctx, binary, worlds, parallel, func(done int) {
		fmt.Fprintf(os.Stderr, "\r%d of %d worlds", done, len(worlds))
	})
	fmt.Fprintln(os.Stderr)
	if err := ctx.Err(); err != nil {
		return err
	}
	print(os.Stdout, verdicts)
	if only == "" {
		printUnseen(os.Stdout, c.Unseen)
		printRemembered(os.Stdout, c.Remembered)
	}
	wrong := 0
	for _, v := range verdicts {
		if v.Wrong != "" {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d worlds are not as expected", wrong, len(verdicts))
	}
	return nil
}

// found is what the command diagnose printed of a world, as far as it is
// judged here.
type found struct {
	Healthy   bool
	Incidents []incident
	Unknown   []struct{ Check, Resource, Reason string }
	status    int
}

type incident struct {
	Cause, Confidence     string
	Resources             []string
	Contributing          []string
	Hidden                []struct{ Check, Because string }
	Nodegroups, Instances []string
}

// diagnose runs the command over the worlds, several at once.
func diagnose(ctx context.Context, binary string, worlds []subject, parallel int, progress func(done int)) []verdict {
	verdicts := make([]verdict, len(worlds))
	var (
		mu   sync.Mutex
		done int
		g    errgroup.Group
	)
	g.SetLimit(max(parallel, 1))
	for i, w := range worlds {
		g.Go(func() error {
			var f found
			var err error
			if f.status, err = harness.Diagnose(ctx, binary, w.Path, &f); err != nil {
				verdicts[i] = verdict{subject: w, Wrong: err.Error()}
			} else {
				verdicts[i] = judge(w, f)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done)
			return nil
		})
	}
	_ = g.Wait()
	return verdicts
}

// verdict is what was found of a world against what was expected.
type verdict struct {
	subject
	Found found
	// Named is set where the first cause is the expected one; Alarms are causes
	// that the world does not have; Blind is set where it could not be determined.
	Named  bool
	Alarms []string
	Blind  bool
	// Wrong is what is not as expected; empty if all is.
	Wrong string
}

// Healthy worlds have no incident but advice.
func (w subject) healthy() bool { return w.Expect.Healthy }

func judge(w subject, f found) verdict {
	v := verdict{subject: w, Found: f, Blind: f.status == 2}
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	want := w.Expect.Incidents
	for _, i := range f.Incidents {
		switch {
		case i.Confidence == "advice" && w.Check == i.Cause && !slices.Contains(w.Expect.Advice, i.Cause):
			// Advice about something else is no alarm: it works, and is said to.
			bad("advises %s, which is not expected", i.Cause)
		case i.Confidence == "advice":
		case !slices.ContainsFunc(want, func(e worldfile.ExpectedIncident) bool { return is(i, e) }):
			v.Alarms = append(v.Alarms, i.Cause)
			bad("%s (%s) is not in this world", i.Cause, i.Confidence)
		}
	}
	for n, e := range want {
		k := slices.IndexFunc(f.Incidents, func(i incident) bool { return is(i, e) && i.Confidence != "advice" })
		if k < 0 {
			bad("%s is not named", e.Cause)
			continue
		}
		if n == 0 && k > 0 {
			bad("%s comes first, not %s", f.Incidents[0].Cause, e.Cause)
		}
		lacks(f.Incidents[k], e, bad)
	}
	for _, id := range w.Expect.Advice {
		if !slices.ContainsFunc(f.Incidents, func(i incident) bool { return i.Cause == id && i.Confidence == "advice" }) {
			bad("does not advise %s", id)
		}
	}
	v.Named = len(want) > 0 && len(f.Incidents) > 0 && is(f.Incidents[0], want[0])
	switch {
	case w.Expect.Unknown && f.status != 2:
		bad("exit status %d, and it cannot be told", f.status)
	case w.Expect.Unknown:
	case v.Blind && len(want) == 0:
		bad("could not tell: %s", reasons(f))
	case w.healthy() && !f.Healthy:
		bad("not called healthy")
	case !w.healthy() && f.Healthy:
		bad("called healthy")
	}
	v.Wrong = strings.Join(wrong, "; ")
	return v
}

func is(i incident, e worldfile.ExpectedIncident) bool {
	return i.Cause == e.Cause || slices.Contains(e.Or, i.Cause)
}

// lacks says what an incident does not tell that it should.
func lacks(i incident, e worldfile.ExpectedIncident, bad func(string, ...any)) {
	for _, id := range e.Resources {
		if !slices.Contains(i.Resources, id) && !slices.Contains(i.Instances, id) && !slices.Contains(i.Nodegroups, id) {
			bad("%s does not name %s, but %s", i.Cause, id, strings.Join(i.Resources, " "))
		}
	}
	if e.Confidence != "" && i.Confidence != e.Confidence {
		bad("%s is %s, not %s", i.Cause, i.Confidence, e.Confidence)
	}
	for _, id := range e.Contributing {
		if !slices.Contains(i.Contributing, id) {
			bad("%s does not contribute to %s", id, i.Cause)
		}
	}
	for _, id := range e.Hidden {
		if !slices.ContainsFunc(i.Hidden, func(h struct{ Check, Because string }) bool { return h.Check == id }) {
			bad("%s is not hidden behind %s", id, i.Cause)
		}
	}
}

func reasons(f found) string {
	var list []string
	for _, u := range f.Unknown {
		list = append(list, fmt.Sprintf("%s %s: %s", u.Check, u.Resource, u.Reason))
	}
	if len(list) > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", len(list)-3))
	}
	return strings.Join(list, ", ")
}

// print writes a line for each world, and a table by group.
func print(out io.Writer, verdicts []verdict) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tworld\texpected\tfound")
	for _, v := range verdicts {
		mark := "ok"
		if v.Wrong != "" {
			mark = "WRONG"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", mark, v.Name, expected(v.subject), findings(v.Found))
	}
	w.Flush()
	for _, v := range verdicts {
		if v.Wrong != "" {
			fmt.Fprintf(out, "\nWRONG %s: %s\n", v.Name, v.Wrong)
		}
	}
	fmt.Fprintln(out)
	printGroups(out, verdicts)
}

func expected(s subject) string {
	var names []string
	for _, e := range s.Expect.Incidents {
		names = append(names, strings.Join(append([]string{e.Cause}, e.Or...), " or "))
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case s.Expect.Unknown:
		return "cannot be told"
	}
	return "healthy"
}

func findings(f found) string {
	var names []string
	for _, i := range f.Incidents {
		if i.Confidence != "certain" {
			i.Cause += " (" + i.Confidence + ")"
		}
		names = append(names, i.Cause)
	}
	switch {
	case len(names) > 0:
		return strings.Join(names, ", ")
	case f.status == 2:
		return "could not tell"
	}
	return "healthy"
}

// tally counts a group of checks.
type tally struct {
	broken, named, healthy, alarms, blind int
}

func printGroups(out io.Writer, verdicts []verdict) {
	groups := map[string]*tally{}
	var all tally
	for _, v := range verdicts {
		name, _, _ := strings.Cut(v.Check, "/")
		if name == "" {
			name = "(several)"
		}
		if groups[name] == nil {
			groups[name] = &tally{}
		}
		for _, t := range []*tally{groups[name], &all} {
			t.count(v)
		}
	}
	var names []string
	for name := range groups {
		names = append(names, name)
	}
	slices.Sort(names)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "group\tbroken worlds\tcause named first\thealthy worlds\tfalse alarms\tcould not tell\t")
	for _, name := range names {
		groups[name].print(w, name)
	}
	all.print(w, "all")
	w.Flush()
}

func (t *tally) count(v verdict) {
	switch {
	case v.Expect.Unknown:
		t.blind++
	case v.healthy():
		t.healthy++
	default:
		t.broken++
		if v.Named {
			t.named++
		}
	}
	if v.Blind && !v.Expect.Unknown {
		t.blind++
	}
	t.alarms += len(v.Alarms)
}

func (t *tally) print(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, t.broken, t.named, t.healthy, t.alarms, t.blind)
}

// printUnseen lists the reports that no world retells, and why.
func printUnseen(out io.Writer, list []unseen) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, "\nReports whose cause no API shows, or that are not judged yet:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, u := range list {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", u.ID, u.Why, u.URL)
	}
	w.Flush()
}

func printRemembered(out io.Writer, list []remembered) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(out, "\nChecks of what Rollcall remembers, which these worlds cannot show, and what does:")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", r.Check, r.Why, strings.Join(r.Proof, ", "))
	}
	w.Flush()
}

// corpus is the worlds, and the public reports that none of them retells.
type corpus struct {
	Worlds []subject
	// Cases are the ids of all reports that were looked at.
	Cases  []string
	Unseen []unseen
	// Remembered are the checks that no world that stands still can show.
	Remembered []remembered
}

// subject is one world of the corpus.
type subject struct {
	Name, Path string
	Check      string
	Cases      []string
	Expect     worldfile.Expect
}

// unseen is a report whose cause no API can show, or that is about what
// Rollcall does not judge yet.
type unseen struct {
	ID, URL, Why string
}

// remembered is a check of what Rollcall itself remembers: the corpus has no
// history of launches. Proof are the worlds that show it on the running stage,
// and files in which made-up histories do.
type remembered struct {
	Check, Why string
	Proof      []string
}

// casesFile lists the reports; every other file of the folder is a world.
const casesFile = "unseen.yaml"

func read(dir string) (corpus, error) {
	var c corpus
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return c, fmt.Errorf("list the worlds: %w", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		if filepath.Base(path) == casesFile {
			if err := readCases(path, &c); err != nil {
				return c, err
			}
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			return c, fmt.Errorf("read the world %s: %w", name, err)
		}
		c.Worlds = append(c.Worlds, subject{Name: name, Path: path, Check: file.Check, Cases: file.Cases, Expect: file.Expect})
	}
	if len(c.Worlds) == 0 {
		return c, fmt.Errorf("%s has no worlds: run it from the repository's root", dir)
	}
	return c, nil
}

func readCases(path string, c *corpus) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the reports: %w", err)
	}
	var file struct {
		All        []string
		Unseen     []unseen
		Remembered []remembered
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("read the reports in %s: %w", path, err)
	}
	c.Cases, c.Unseen, c.Remembered = file.All, file.Unseen, file.Remembered
	return nil
}
