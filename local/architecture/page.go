package main

import (
	"fmt"
	"slices"
	"strings"
)

const (
	begin = "<!-- written by make architecture: what stands between these two lines is replaced -->"
	end   = "<!-- end of what make architecture writes -->"
)

// page puts the generated part into a page, between its two marks.
func page(text string, list []Folder) (string, error) {
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("the page lacks its marks %q and %q", begin, end)
	}
	return before + begin + "\n\n" + generated(list) + "\n" + end + after, nil
}

// generated is the picture of what is deployed, that of what is local, and the
// table of both.
func generated(list []Folder) string {
	var b strings.Builder
	deployed := slices.DeleteFunc(slices.Clone(list), func(f Folder) bool { return local(f.Name) })
	b.WriteString("What is deployed. An arrow is an import; one that a longer way implies is left out.\n\n")
	picture(&b, deployed)
	b.WriteString("\nWhat runs on a developer's machine alone, with all else as one box.\n\n")
	picture(&b, around(list))
	if c := circles(list); len(c) > 0 {
		b.WriteString("\nFolders that import each other around a circle:\n\n")
		for _, group := range c {
			fmt.Fprintf(&b, "- %s\n", strings.Join(group, ", "))
		}
	} else {
		b.WriteString("\nNo folders import each other around a circle.\n")
	}
	b.WriteString("\n| folder | packages | what it is |\n|---|---|---|\n")
	for _, f := range list {
		fmt.Fprintf(&b, "| [%s](%s) | %d | %s |\n", f.Name, f.Name, f.Packages, strings.ReplaceAll(f.Doc, "|", "\\|"))
	}
	b.WriteString("\nWithout tests, and without the programs in shared that write generated files.\n")
	return b.String()
}

// local tells what is never deployed. The command is: it runs the functions over a
// simulated account.
func local(name string) bool { return strings.HasPrefix(name, "local/") || name == "cmd" }

// picture draws folders as a Mermaid flow chart, top to bottom.
func picture(b *strings.Builder, list []Folder) {
	b.WriteString("```mermaid\nflowchart TD\n")
	drawn := essential(list)
	for _, layer := range layers(drawn) {
		for _, name := range layer {
			fmt.Fprintf(b, "  %s[\"%s\"]\n", node(name), strings.TrimPrefix(strings.TrimPrefix(name, "shared/"), "local/"))
		}
	}
	for _, f := range drawn {
		for _, to := range f.Imports {
			if slices.ContainsFunc(drawn, func(g Folder) bool { return g.Name == to }) {
				fmt.Fprintf(b, "  %s --> %s\n", node(f.Name), node(to))
			}
		}
	}
	b.WriteString("```\n")
}

func node(name string) string {
	return strings.NewReplacer("/", "_", "-", "_", ", ", "_").Replace(name)
}

// around are the folders of local, with all that is deployed as one.
func around(list []Folder) []Folder {
	const deployed = "shared, functions, infra, events"
	out := []Folder{{Name: deployed}}
	for _, f := range list {
		if !local(f.Name) {
			continue
		}
		var imports []string
		for _, to := range f.Imports {
			if !local(to) {
				to = deployed
			}
			if !slices.Contains(imports, to) {
				imports = append(imports, to)
			}
		}
		f.Imports = imports
		out = append(out, f)
	}
	return out
}
