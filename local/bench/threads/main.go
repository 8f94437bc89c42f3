// Command threads writes docs/threads.md: what people met in public threads, and what
// Rollcall says of it. Run it from the root of the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"rollcall/local/bench/diagnosed"
)

const usage = `Lets Rollcall look at the worlds and the texts of local/bench/threads/threads.yaml,
and writes what it says first. Half a minute; run it from the repository's root.

  make threads
  go run ./local/bench/threads

Exit status: 0 it was written, 1 it could not be, 2 wrong use.

`

const (
	source = "local/bench/threads/threads.yaml"
	corpus = "local/worlds/corpus"
	out    = "docs/threads.md"
)

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "threads:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context) error {
	rows, err := read(source)
	if err != nil {
		return err
	}
	diagnose, remove, err := diagnosed.Build(ctx)
	if err != nil {
		return err
	}
	defer remove()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i := range rows {
		if rows[i].World == "" {
			continue
		}
		g.Go(func() error {
			d, err := diagnose.Ask(ctx, filepath.Join(corpus, rows[i].World+".yaml"))
			if err != nil {
				return fmt.Errorf("%s: %w", rows[i].World, err)
			}
			if len(d.Incidents) > 0 {
				rows[i].first = d.Incidents[0]
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(page(rows)), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
