// Command spot plays simulated histories of launches, looks at each
// every hour with the test that Rollcall uses, and writes docs/spot.md: how
// often a healthy pool is accused, and after how many launches a faulty one is
// named. Run it from the root of the repository. The same seed gives the same
// page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Exit codes.
const (
	exitBad   = 1 // the page could not be made
	exitUsage = 2
	exitBound = 3 // a healthy pool was accused in more histories than the bound allows
)

func main() {
	// A history is soon forgotten: collecting less often halves the time.
	debug.SetGCPercent(800)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, say io.Writer) int {
	flags := flag.NewFlagSet("spot", flag.ContinueOnError)
	flags.SetOutput(say)
	flags.Usage = func() {
		fmt.Fprint(say, "Plays histories of Spot launches and writes how often a healthy pool is accused,\nand after how many launches a faulty one is named.\n\n  go run ./local/bench/spot [flags]\n\n")
		flags.PrintDefaults()
		fmt.Fprint(say, "\nExit codes: 0 all within the bound, 1 the page could not be made, 2 wrong flags,\n3 a healthy pool was accused in more than 1 % of the histories of a kind.\n")
	}
	histories := flags.Int("histories", 10000, "histories of each kind with healthy pools; a tenth as many of each with a faulty one")
	seed := flags.Uint64("seed", 1, "seed of the histories")
	out := flags.String("out", "docs/spot.md", "file to write; - for standard output")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case *histories < 1 || flags.NArg() > 0:
		flags.Usage()
		return exitUsage
	}
	r, err := all(ctx, *histories, *seed, say)
	if err == nil {
		err = write(*out, page(r))
	}
	if err != nil {
		fmt.Fprintln(say, "spot:", err)
		return exitBad
	}
	if name, over := r.over(); over {
		fmt.Fprintf(say, "spot: %s: more than 1 %% of the histories accuse a healthy pool\n", name)
		return exitBound
	}
	return 0
}

// results are what all kinds of histories came to.
type results struct {
	seed   uint64
	well   []measured
	faulty []measured
}

// over is the first kind in which healthy pools are accused too often.
func (r results) over() (string, bool) {
	for _, m := range append(append([]measured(nil), r.well...), r.faulty...) {
		if m.accused*100 > m.histories {
			return m.scenario.name, true
		}
	}
	return "", false
}

func all(ctx context.Context, histories int, seed uint64, say io.Writer) (results, error) {
	r := results{seed: seed}
	add := func(to *[]measured, s scenario, n int) error {
		began := time.Now()
		var played atomic.Int64
		m, err := measure(ctx, s, n, seed, func() {
			if p := played.Add(1); p%int64(max(1, n/10)) == 0 {
				fmt.Fprintf(say, "\r%-50s %3d %%", s.name, 100*p/int64(n))
			}
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(say, "\r%-50s %d histories in %s, %d with a healthy pool accused\n", s.name, n, time.Since(began).Round(time.Second/10), m.accused)
		*to = append(*to, m)
		return nil
	}
	for _, s := range wellScenarios() {
		if err := add(&r.well, s, histories); err != nil {
			return results{}, err
		}
	}
	for _, s := range faultyScenarios() {
		if err := add(&r.faulty, s, max(1, histories/10)); err != nil {
			return results{}, err
		}
	}
	return r, nil
}

func write(path, text string) error {
	if path == "-" {
		_, err := io.WriteString(os.Stdout, text)
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
