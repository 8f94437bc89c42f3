// Command architecture draws the folders of the module from their imports, and
// writes pictures and table into ARCHITECTURE.md.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const module = "rollcall"

func main() {
	file := flag.String("page", "ARCHITECTURE.md", "the page to write into")
	flag.Parse()
	if err := write(".", *file); err != nil {
		fmt.Fprintln(os.Stderr, "architecture:", err)
		os.Exit(1)
	}
}

func write(root, file string) error {
	list, err := read(root)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := page(string(old), list)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// read lists the module's folders with the go command.
func read(root string) ([]Folder, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var list []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		list = append(list, p)
	}
	return folders(module, list), nil
}

// A Package is one of the module, as `go list -json` tells of it, without its
// tests.
type Package struct {
	ImportPath string
	Name       string
	Doc        string // first sentence of the package comment
	Imports    []string
}

// A Folder is what is drawn as one box: a folder of shared or local with all
// that is below it, or one of the other folders at the top.
type Folder struct {
	Name     string
	Packages int
	Doc      string
	Imports  []string // folders, sorted
}

// folderOf gives the box that a package is in: two elements of its path below
// shared and local, else one.
func folderOf(name string) string {
	top, rest, deeper := strings.Cut(name, "/")
	if !deeper || top != "shared" && top != "local" {
		return top
	}
	second, _, _ := strings.Cut(rest, "/")
	return top + "/" + second
}

// folders groups packages of module.
func folders(module string, list []Package) []Folder {
	found, holds := map[string]*Folder{}, map[string][]room{}
	arrows := map[string]map[string]bool{}
	for _, p := range list {
		if p.ImportPath == module {
			continue // the root's files, which programs carry: it imports nothing
		}
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		at := folderOf(name)
		if p.Name == "main" && strings.HasPrefix(at, "shared/") {
			continue // writes generated files; nobody imports it, and it may look at all
		}
		f := found[at]
		if f == nil {
			f = &Folder{Name: at}
			found[at], arrows[at] = f, map[string]bool{}
		}
		f.Packages++
		if name == at {
			f.Doc = p.Doc
		} else {
			holds[at] = with(holds[at], strings.TrimPrefix(name, at+"/"), p.Doc)
		}
		for _, i := range p.Imports {
			if to, own := strings.CutPrefix(i, module+"/"); own && folderOf(to) != at {
				arrows[at][folderOf(to)] = true
			}
		}
	}
	var all []Folder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f := *found[name]
		f.Imports = slices.Sorted(maps.Keys(arrows[name]))
		if f.Doc == "" {
			f.Doc = inside(holds[name])
		}
		all = append(all, f)
	}
	return all
}

// A room is a folder inside a folder: its own package's comment, if it is one.
type room struct {
	name, doc string
	own       bool
}

// mostTold is of how many rooms a folder's text says what they are.
const mostTold = 6

// inside tells what a folder without a package of its own holds: the rooms, and if
// they are few what each is, by its comment.
func inside(list []room) string {
	var parts []string
	for _, r := range list {
		text := r.name
		if _, what, is := strings.Cut(r.doc, r.name+" "); is && r.own && len(list) <= mostTold {
			text += " " + strings.TrimSuffix(what, ".")
		}
		parts = append(parts, text)
	}
	if len(list) <= mostTold {
		return strings.Join(parts, "; ")
	}
	return strings.Join(parts, ", ")
}

// with adds the room of a package, once.
func with(list []room, path, doc string) []room {
	name, _, deeper := strings.Cut(path, "/")
	if slices.ContainsFunc(list, func(r room) bool { return r.name == name }) {
		return list
	}
	return append(list, room{name, doc, !deeper})
}

// circles are the groups of folders that import each other around a circle,
// each sorted. Packages cannot; folders with several packages can.
func circles(list []Folder) [][]string {
	reach := reachable(list)
	var found [][]string
	in := map[string]bool{}
	for _, f := range list {
		if in[f.Name] || !reach[f.Name][f.Name] {
			continue
		}
		var group []string
		for _, g := range list {
			if reach[f.Name][g.Name] && reach[g.Name][f.Name] {
				group, in[g.Name] = append(group, g.Name), true
			}
		}
		found = append(found, group)
	}
	return found
}

// reachable tells for each folder which others stand behind its imports.
func reachable(list []Folder) map[string]map[string]bool {
	imports := map[string][]string{}
	for _, f := range list {
		imports[f.Name] = f.Imports
	}
	all := map[string]map[string]bool{}
	for _, f := range list {
		seen := map[string]bool{}
		var walk func(string)
		walk = func(at string) {
			for _, to := range imports[at] {
				if !seen[to] {
					seen[to] = true
					walk(to)
				}
			}
		}
		walk(f.Name)
		all[f.Name] = seen
	}
	return all
}

// essential leaves out the arrows that a longer way implies, so that a picture
// of many folders can be read. It is right where there are no circles.
func essential(list []Folder) []Folder {
	reach := reachable(list)
	out := slices.Clone(list)
	for i, f := range out {
		out[i].Imports = slices.DeleteFunc(slices.Clone(f.Imports), func(to string) bool {
			return slices.ContainsFunc(f.Imports, func(via string) bool { return via != to && reach[via][to] && !reach[to][via] })
		})
	}
	return out
}

// layers orders folders so that each imports only what stands in a later
// layer. Folders of a circle never find a place, and are left out.
func layers(list []Folder) [][]string {
	importers := map[string]int{}
	for _, f := range list {
		for _, to := range f.Imports {
			importers[to]++
		}
	}
	left := slices.Clone(list)
	var out [][]string
	for len(left) > 0 {
		var layer []string
		var rest []Folder
		for _, f := range left {
			if importers[f.Name] == 0 {
				layer = append(layer, f.Name)
			} else {
				rest = append(rest, f)
			}
		}
		if len(layer) == 0 {
			return out
		}
		for _, f := range left {
			if slices.Contains(layer, f.Name) {
				for _, to := range f.Imports {
					importers[to]--
				}
			}
		}
		out, left = append(out, layer), rest
	}
	return out
}

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
