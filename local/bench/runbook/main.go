// Command runbook writes docs/runbook.md: what AWSSupport-TroubleshootEKSWorkerNode
// says of each world of the corpus, as documented, beside what Rollcall says.
// Run it from the root of the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

const usage = `Lets AWS's own runbook, as documented, and Rollcall look at each world of the
corpus, and writes both side by side. Some minutes; run it from the repository's root.

  make runbook
  go run ./local/bench/runbook [-worlds DIR] [-out FILE]

Exit status: 0 it was written, 1 it could not be, 2 wrong use.

`

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	worlds := flag.String("worlds", "local/worlds/corpus", "folder of the worlds")
	out := flag.String("out", "docs/runbook.md", "file to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx, *worlds, *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "runbook:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context, folder, out string) error {
	files, err := worldsOf(folder)
	if err != nil {
		return err
	}
	diagnose, remove, err := build(ctx)
	if err != nil {
		return err
	}
	defer remove()
	rows := make([]row, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, file := range files {
		g.Go(func() error {
			var err error
			if rows[i], err = look(ctx, file); err != nil {
				return fmt.Errorf("%s: the runbook: %w", file, err)
			}
			if rows[i].ours, err = diagnose.ask(ctx, file); err != nil {
				return fmt.Errorf("%s: Rollcall: %w", file, err)
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

// worldsOf are the worlds of the corpus; unseen.yaml lists what none retells.
func worldsOf(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list the worlds: %w", err)
	}
	files = slices.DeleteFunc(files, func(path string) bool { return filepath.Base(path) == "unseen.yaml" })
	if len(files) == 0 {
		return nil, fmt.Errorf("no worlds in %s", folder)
	}
	return files, nil
}
