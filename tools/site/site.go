// Command site writes the generated pages of the documentation, and holds the site that
// docs/site makes of all of them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rollcall/infra/specs"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/gather"
	"rollcall/stage/program"
	"rollcall/tools/site/page"
)

const usage = `Run it from the repository's root.

  go run ./tools/site generate           write the pages that follow from the code
  go run ./tools/site check build/site   see whether each link of the built site leads somewhere
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "generate":
		err = write(ctx)
	case len(args) == 2 && args[0] == "check":
		err = check("docs", args[1])
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the pages of the checks, with what is posted about a world of each, and of
// the command, the roles, the alarms, and what texts mean.
func write(ctx context.Context) error {
	checks, worlds, err := checksIn(".")
	if err != nil {
		return err
	}
	examples := make([]string, len(checks.List))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, c := range checks.List {
		g.Go(func() error {
			e, found, err := exampleOf(ctx, c.ID, worlds[c.ID])
			if err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
			examples[i] = page.ExampleSection(c, e, found)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	pages, err := pagesOf(".", checks, func(i int) (string, error) { return examples[i], nil })
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
	return nil
}

// checksIn is what the pages of the checks are made of, and the broken worlds of each; root
// is the repository.
func checksIn(root string) (page.Checks, map[checkid.ID][]string, error) {
	broken, all, err := worldsOf(filepath.Join(root, "stage/worlds/corpus"))
	return page.Checks{List: checks.All(), Permissions: gather.Permissions, Worlds: all}, broken, err
}

// pasted are the files of texts that people met.
func pasted() []string {
	return []string{"shared/node/text/testdata/known.json", "shared/node/text/testdata/heldout.json", "shared/node/text/testdata/heldout-2.json",
		"shared/node/text/testdata/heldout-3.json", "shared/node/text/testdata/heldout-4.json"}
}

// pagesOf are all generated pages by their place below docs; exampleOf gives the example of
// the check at a place of the list.
func pagesOf(root string, p page.Checks, exampleOf func(i int) (string, error)) (map[string]string, error) {
	rights, err := page.Rights(specs.All())
	if err != nil {
		return nil, fmt.Errorf("what each role may: %w", err)
	}
	pages := map[string]string{
		"checks/README.md": p.Index(),
		"permissions.md":   rights,
		"command.md":       page.Command(commands()),
	}
	for i, c := range p.List {
		text, err := exampleOf(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		pages["checks/"+page.Path(c.ID)] = p.Check(c, text)
	}
	var texts []page.Pasted
	for _, file := range pasted() {
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("read texts: %w", err)
		}
		list, err := page.ReadPasted(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		texts = append(texts, list...)
	}
	codes, err := os.ReadFile(filepath.Join(root, "shared/node/text/testdata/codes.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the codes: %w", err)
	}
	pages["texts.md"] = p.Texts(texts, slices.Concat(page.ReadCodes(string(codes)), page.IssueCodes()))
	template, err := os.ReadFile(filepath.Join(root, "infra/Rollcall.template.json"))
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	pages["alarms.md"], err = page.Alarms(template)
	return pages, err
}

// commands are the command line, with what only rollcall-stage has.
func commands() *cobra.Command { return program.Root("rollcall") }
