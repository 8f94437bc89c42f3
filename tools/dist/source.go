package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// ownModule is the name of our module, which is not an address: no owner is known here, and `go
// install` takes only what a module says of itself (https://go.dev/ref/mod#go-install).
const ownModule = "rollcall"

// moduleOf is the address below which the command's source is tagged: with a tag cmd/v1.2.3 it is
// a module in a subdirectory (https://go.dev/ref/mod#vcs-version), and the command's package is
// where anybody expects it, in cmd/rollcall.
func moduleOf(repository string) string { return "github.com/" + repository + "/cmd" }

// writeSource writes the command's source as a module of the repository's address. The workflow
// tags it.
func writeSource(out, repository, version string, at time.Time) error {
	members, err := source(moduleOf(repository))
	if err != nil {
		return fmt.Errorf("write the command's source: %w", err)
	}
	var b bytes.Buffer
	if err := writeTarGzip(&b, members, at); err != nil {
		return fmt.Errorf("pack the command's source: %w", err)
	}
	return os.WriteFile(filepath.Join(out, "rollcall-source_"+version+".tar.gz"), b.Bytes(), 0o644)
}

// source returns the packages that the command links on any platform, imported by another module's
// path, in its folder cmd.
func source(module string) ([]member, error) {
	folders, modules, err := linked("./cmd/rollcall")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for folder, embedded := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) == ".go" && !strings.HasSuffix(e.Name(), "_test.go") {
				embedded = append(embedded, e.Name())
			}
		}
		for _, name := range embedded {
			data, err := os.ReadFile(filepath.Join(folder, name))
			if err == nil && path.Ext(name) == ".go" {
				data, err = readdressed(data, module)
			}
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", name, folder, err)
			}
			files[path.Join(placeOf(folder), name)] = data
		}
	}
	if files["go.mod"], err = goMod(module, modules); err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "go.sum"} {
		if files[name], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	var members []member
	for name, data := range files {
		members = append(members, member{name: "cmd/" + name, data: data})
	}
	return members, nil
}

// placeOf is where a package's folder is below the module: all of them where they are here, but
// that the module is the folder cmd itself.
func placeOf(folder string) string { return strings.TrimPrefix(folder, "cmd/") }

// linked returns the folders of our packages that a program links on any platform of a release,
// with the files that they embed, and the paths of the modules that it links.
func linked(program string) (folders map[string][]string, modules []string, err error) {
	folders = map[string][]string{}
	for _, name := range allPlatforms() {
		p, err := platformOf(name)
		if err != nil {
			return nil, nil, err
		}
		c := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{.Path}}|{{$.ImportPath}}|{{join $.EmbedFiles " "}}{{end}}`, program)
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
		text, err := c.Output()
		if err != nil {
			return nil, nil, fmt.Errorf("list what %s links: %w", program, err)
		}
		for line := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '\n' }) {
			module, rest, _ := strings.Cut(line, "|")
			imported, embedded, _ := strings.Cut(rest, "|")
			if module != ownModule {
				modules = append(modules, module)
				continue
			}
			folders[path.Join(".", strings.TrimPrefix(strings.TrimPrefix(imported, ownModule), "/"))] = strings.Fields(embedded)
		}
	}
	slices.Sort(modules)
	return folders, slices.Compact(modules), nil
}

// readdressed is a file whose imports of our packages are of another module.
func readdressed(data []byte, module string) ([]byte, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", data, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, i := range slices.Backward(f.Imports) {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		if name != ownModule && !strings.HasPrefix(name, ownModule+"/") {
			continue
		}
		folder := strings.TrimPrefix(strings.TrimPrefix(name, ownModule), "/")
		from, to := files.Position(i.Path.Pos()).Offset, files.Position(i.Path.End()).Offset
		data = slices.Concat(data[:from], []byte(strconv.Quote(path.Join(module, placeOf(folder)))), data[to:])
	}
	return data, nil
}

// goMod is our go.mod for another module, with the requirements of some modules alone, and no
// replacement: `go install` takes none.
func goMod(module string, modules []string) ([]byte, error) {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	if err := f.AddModuleStmt(module); err != nil {
		return nil, err
	}
	for _, r := range f.Replace {
		if slices.Contains(modules, r.Old.Path) {
			return nil, fmt.Errorf("the command links %s, which go.mod replaces: go install does not take it", r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, r := range f.Require {
		if !slices.Contains(modules, r.Mod.Path) {
			if err := f.DropRequire(r.Mod.Path); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range f.Ignore {
		if err := f.DropIgnore(i.Path); err != nil {
			return nil, err
		}
	}
	f.Cleanup()
	return f.Format()
}
