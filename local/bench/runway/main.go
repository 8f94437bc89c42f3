// Command runway plays months of simulated subnets, asks the forecast that
// Rollcall uses at each look, and writes docs/runway.md: how long before a subnet
// is empty that is said, and how often it is said for nothing. Run it from the
// root of the repository. The same seed gives the same page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Exit codes.
const (
	exitBad   = 1 // the page could not be made
	exitUsage = 2
	exitBound = 3 // a bound does not hold
)

func main() {
	// A month is soon forgotten: collecting less often halves the time.
	debug.SetGCPercent(800)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, say io.Writer) int {
	flags := flag.NewFlagSet("runway", flag.ContinueOnError)
	flags.SetOutput(say)
	flags.Usage = func() {
		fmt.Fprint(say, "Plays months of subnets and writes how long before they are empty Rollcall says so,\nand how often it says so for nothing.\n\n  go run ./local/bench/runway [flags]\n\n")
		flags.PrintDefaults()
		fmt.Fprint(say, "\nExit codes: 0 all within the bounds, 1 the page could not be made, 2 wrong flags,\n3 more false alarms than the bound, or clean leaks told too late.\n")
	}
	subnets := flags.Int("subnets", 150, "subnets of each kind, a month of each")
	seed := flags.Uint64("seed", 2, "seed of the subnets; the thresholds were chosen with 1")
	path := flags.String("page", "docs/runway.md", "file to write, its picture beside it in pictures; - for standard output, without picture")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case *subnets < 1 || flags.NArg() > 0:
		flags.Usage()
		return exitUsage
	}
	r, err := all(ctx, *subnets, *seed, say)
	if err == nil {
		err = write(*path, r)
	}
	if err != nil {
		fmt.Fprintln(say, "runway:", err)
		return exitBad
	}
	if what, over := r.over(); over {
		fmt.Fprintln(say, "runway:", what)
		return exitBound
	}
	return 0
}

// results are what all kinds came to.
type results struct {
	subnets  int
	seed     uint64
	harmless []measured
	falling  []measured
}

// The bounds: false alarms in a month of a subnet over all harmless kinds
// together, and the share of clean leaks of more than a day that are told twelve
// hours before the end.
const (
	mostWrong  = 0.1
	leastEarly = 0.99
)

// over is the first bound that does not hold.
func (r results) over() (string, bool) {
	if n := r.wrong(); n > mostWrong {
		return fmt.Sprintf("%.3f false alarms in a month of a subnet, the bound is %.1f", n, mostWrong), true
	}
	for _, m := range r.falling {
		if m.clean && m.slowly().warned(12*time.Hour) < leastEarly {
			return fmt.Sprintf("%s: %.1f %% were told twelve hours before, the bound is %.0f %%", m.name, 100*m.slowly().warned(12*time.Hour), 100*leastEarly), true
		}
	}
	return "", false
}

// wrong is how many false alarms there are in a month of a harmless subnet.
func (r results) wrong() float64 {
	n, months := 0, 0.0
	for _, m := range r.harmless {
		n, months = n+m.wrong, months+m.months
	}
	return float64(n) / max(months, 1)
}

func all(ctx context.Context, subnets int, seed uint64, say io.Writer) (results, error) {
	r := results{subnets: subnets, seed: seed}
	add := func(to *[]measured, k kind) error {
		began := time.Now()
		var played atomic.Int64
		m, err := measure(ctx, k, subnets, seed, func() {
			if p := played.Add(1); p%int64(max(1, subnets/10)) == 0 {
				fmt.Fprintf(say, "\r%-40s %3d %%", k.name, 100*p/int64(subnets))
			}
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(say, "\r%-40s %d subnets in %s, %d false alarms\n", k.name, subnets, time.Since(began).Round(time.Second/10), m.wrong)
		*to = append(*to, m)
		return nil
	}
	for _, k := range harmless() {
		if err := add(&r.harmless, k); err != nil {
			return results{}, err
		}
	}
	for _, k := range falling() {
		if err := add(&r.falling, k); err != nil {
			return results{}, err
		}
	}
	return r, nil
}

func write(path string, r results) error {
	if path == "-" {
		_, err := io.WriteString(os.Stdout, page(r, ""))
		return err
	}
	picture, alt, err := example(r.seed)
	if err != nil {
		return err
	}
	name := filepath.Join("pictures", "runway.png")
	if err := os.MkdirAll(filepath.Join(filepath.Dir(path), "pictures"), 0o755); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), picture, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	if err := os.WriteFile(path, []byte(page(r, fmt.Sprintf("![%s](%s)\n", alt, filepath.ToSlash(name)))), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
