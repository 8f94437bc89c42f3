// Command generate writes the pages of the documentation that follow from the code: those
// of the checks, with what is posted about a world of each, and of the command, the roles,
// the alarms, and what texts mean. Run it from the root of the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"

	"rollcall/tools/site"
	"rollcall/tools/site/example"
	"rollcall/tools/site/figures"
	"rollcall/tools/site/page"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "site/generate:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context) error {
	checks, worlds, err := site.Checks(".")
	if err != nil {
		return err
	}
	examples := make([]string, len(checks.List))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, c := range checks.List {
		g.Go(func() error {
			e, found, err := example.Of(ctx, c.ID, worlds[c.ID])
			if err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
			examples[i] = page.Example(c, e, found)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	pages, err := site.Pages(".", checks, func(i int) (string, error) { return examples[i], nil })
	if err != nil {
		return err
	}
	// A check that is gone has no page.
	if err := os.RemoveAll("docs/checks"); err != nil {
		return err
	}
	for name, text := range pages {
		file := filepath.Join("docs", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return figures.Fill(".")
}
