// Package site is the site of the documentation, as far as it follows from the code: its
// generated pages, and what reads them back. The pages themselves are docs/*.md, and what
// makes a site of them is docs/site.
package site

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"rollcall/infra/specs"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/gather"
	"rollcall/stage/program"
	"rollcall/tools/site/example"
	"rollcall/tools/site/page"
)

// Checks is what the pages of the checks are made of, and the broken worlds of each; root
// is the repository.
func Checks(root string) (page.Checks, map[checkid.ID][]string, error) {
	broken, all, err := example.Worlds(filepath.Join(root, "stage/worlds/corpus"))
	return page.Checks{List: checks.All(), Permissions: gather.Permissions, Worlds: all}, broken, err
}

// pasted are the files of texts that people met.
func pasted() []string {
	return []string{"shared/node/text/testdata/known.json", "shared/node/text/testdata/heldout.json", "shared/node/text/testdata/heldout-2.json",
		"shared/node/text/testdata/heldout-3.json", "shared/node/text/testdata/heldout-4.json"}
}

// Pages are all generated pages by their place below docs; exampleOf gives the example of
// the check at a place of the list.
func Pages(root string, p page.Checks, exampleOf func(i int) (string, error)) (map[string]string, error) {
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
