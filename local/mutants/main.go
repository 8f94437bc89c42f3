// Mutants changes the code of packages in small ways, one at a time, and sees
// that a test fails each time. The score is how many of 100 changes a test
// notices; a change that no test reaches is not noticed.
//
//	go run ./local/mutants shared/network/leak functions/eni-cleanup:200+functions/eni-cleanup/handler
//
// tries all mutants of leak with leak's own tests, and 200 of eni-cleanup's with
// its own and the handler's. A package with all its mutants is compiled once, and
// each is chosen when the tests are run; only the tests that it makes a
// difference to are run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var errScore = errors.New("under the least score")

// options are what a run is asked for.
type options struct {
	Least   float64 // score, of 100
	Workers int
	Seed    uint64
	All     bool // no samples
	Excused string
	Listing bool // only list the mutants
	// Only are the mutants that are tried, and Tests the tests that are run; nil: all.
	Only, Tests *regexp.Regexp
}

func main() {
	var o options
	flag.Float64Var(&o.Least, "least", 95, "the least `score` of each package, of 100")
	flag.IntVar(&o.Workers, "workers", 2, "how many tests run at a time")
	flag.Uint64Var(&o.Seed, "seed", 1, "what samples are drawn by")
	flag.BoolVar(&o.All, "all", false, "try all mutants where a sample is named")
	flag.StringVar(&o.Excused, "excused", "local/mutants/excused.yaml", "the `file` of mutants that nothing can notice")
	flag.BoolVar(&o.Listing, "list", false, "only list the mutants")
	flag.Func("only", "try only mutants whose line in the list matches this `expression`, as act.go; no other counts", expression(&o.Only))
	flag.Func("tests", "run only tests whose names match this `expression`: the quick ones show what the slow ones must notice", expression(&o.Tests))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := mutants(ctx, o, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

func expression(into **regexp.Regexp) func(string) error {
	return func(s string) (err error) {
		*into, err = regexp.Compile(s)
		return err
	}
}

// target is a package to change, and how.
type target struct {
	Name   string
	Sample int      // 0 is all
	By     []string // whose tests are to notice, itself first
}

// parseTarget reads "package[:sample][+package of tests]...".
func parseTarget(s string) (target, error) {
	name, by, _ := strings.Cut(s, "+")
	t := target{}
	name, sample, sampled := strings.Cut(name, ":")
	t.Name = filepath.Clean(name)
	t.By = []string{t.Name}
	if sampled {
		n, err := strconv.Atoi(sample)
		if err != nil || n < 1 {
			return t, fmt.Errorf("%q: the sample is no number of mutants", s)
		}
		t.Sample = n
	}
	if by != "" {
		t.By = append(t.By, strings.Split(by, "+")...)
	}
	return t, nil
}

func mutants(ctx context.Context, o options, names []string, out io.Writer) error {
	if len(names) == 0 {
		return errors.New("no packages are named")
	}
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	list, err := excuses(filepath.Join(root, o.Excused))
	if err != nil {
		return err
	}
	var scores []score
	for _, name := range names {
		t, err := parseTarget(name)
		if err != nil {
			return err
		}
		s, err := one(ctx, o, root, t, list, out)
		if err != nil {
			return err
		}
		scores = append(scores, s)
	}
	if o.Listing {
		return nil
	}
	printScores(out, scores, o)
	for _, s := range scores {
		if s.Of100() < o.Least {
			return fmt.Errorf("%s: %.1f of 100 is %w, %.0f", s.Package, s.Of100(), errScore, o.Least)
		}
	}
	return nil
}

// one tries the mutants of one package.
func one(ctx context.Context, o options, root string, t target, list []*excuse, out io.Writer) (score, error) {
	began := time.Now()
	pkg, err := load(ctx, root, t.Name)
	if err != nil {
		return score{}, err
	}
	changed, err := mutate(pkg, root, t.Name)
	if err != nil {
		return score{}, err
	}
	chosen := choose(changed.Mutants, t.Sample, o)
	s := score{Package: t.Name, All: len(changed.Mutants)}
	if o.Listing {
		for _, m := range chosen {
			fmt.Fprintln(out, m)
		}
		return s, nil
	}
	fmt.Fprintf(out, "== %s: %d mutants", t.Name, len(changed.Mutants))
	if len(chosen) < len(changed.Mutants) {
		fmt.Fprintf(out, ", a sample of %d by seed %d", len(chosen), o.Seed)
	}
	fmt.Fprintf(out, "; noticed by the tests of %s\n", strings.Join(t.By, ", "))
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(scratch)
	binaries, err := compile(ctx, root, scratch, changed.Files, t.By)
	if err != nil {
		return s, err
	}
	fmt.Fprintf(out, "   compiled (%s so far)\n", since(began))
	tests, err := record(ctx, binaries, scratch, o)
	if err != nil {
		return s, err
	}
	fmt.Fprintf(out, "   %d tests pass without a mutant (%s so far)\n", len(tests), since(began))
	results, err := tryAll(ctx, o, chosen, tests, began, out)
	if err != nil {
		return s, err
	}
	if err := excused(results, changed.Mutants, list, t.Name); err != nil {
		return s, err
	}
	for _, r := range results {
		s.add(r)
		if r.Fate == lived && r.Reason == "" {
			fmt.Fprintf(out, "   LIVED %s (%s)\n", r.mutant, seen(r.Tests))
		}
	}
	s.Took = time.Since(began)
	fmt.Fprintf(out, "   %s\n", s)
	return s, nil
}

// choose draws a sample; the same seed draws the same.
func choose(list []mutant, sample int, o options) []mutant {
	if o.Only != nil {
		return slices.DeleteFunc(slices.Clone(list), func(m mutant) bool { return !o.Only.MatchString(m.String()) })
	}
	if sample == 0 || o.All || sample >= len(list) {
		return list
	}
	r := rand.New(rand.NewPCG(o.Seed, 0))
	drawn := r.Perm(len(list))[:sample]
	slices.Sort(drawn)
	out := make([]mutant, 0, sample)
	for _, i := range drawn {
		out = append(out, list[i])
	}
	return out
}

func tryAll(ctx context.Context, o options, list []mutant, tests []*test, began time.Time, out io.Writer) ([]result, error) {
	results := make([]result, len(list))
	var mu sync.Mutex
	done, alive, said := 0, 0, time.Now()
	err := each(o.Workers, len(list), func(i int) error {
		r, err := try(ctx, list[i], tests)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		results[i] = r
		done++
		if r.Fate == lived {
			alive++
		}
		if time.Since(said) >= progress {
			said = time.Now()
			fmt.Fprintf(out, "   %d of %d tried, %d not noticed (%s so far)\n", done, len(list), alive, since(began))
		}
		return nil
	})
	return results, err
}

// progress is how often a run says how far it is.
const progress = 10 * time.Second

func since(t time.Time) string { return time.Since(t).Round(time.Second).String() }

func seen(tests int) string {
	switch tests {
	case 0:
		return "it makes no difference in any test"
	case 1:
		return "one test passes with it"
	}
	return fmt.Sprintf("%d tests pass with it", tests)
}
