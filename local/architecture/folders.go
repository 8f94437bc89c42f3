package main

import (
	"maps"
	"slices"
	"strings"
)

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
