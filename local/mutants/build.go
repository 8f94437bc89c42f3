package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// binary is a compiled test of a package, with the mutants in it.
type binary struct {
	Package string // its import path
	Path    string
	Dir     string // where its tests expect to run
}

// load reads a package with its types. The name is a path below the module, as
// the go command takes it.
func load(ctx context.Context, root, name string) (*packages.Package, error) {
	list, err := packages.Load(&packages.Config{
		Context: ctx, Dir: root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo,
	}, "./"+name)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("load %s: %d packages, want one", name, len(list))
	}
	for _, e := range list[0].Errors {
		return nil, fmt.Errorf("load %s: %w", name, e)
	}
	return list[0], nil
}

// compile builds the tests of packages with the changed files in the place of
// those on the disk.
func compile(ctx context.Context, root, into string, files map[string][]byte, tested []string) ([]binary, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		copied := filepath.Join(into, fmt.Sprintf("%d-%s", len(overlay.Replace), filepath.Base(path)))
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[path] = copied
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	overlayPath := filepath.Join(into, "overlay.json")
	if err := os.WriteFile(overlayPath, list, 0o600); err != nil {
		return nil, err
	}
	var out []binary
	for i, name := range tested {
		b := binary{Package: name, Path: filepath.Join(into, fmt.Sprintf("test%d", i)), Dir: filepath.Join(root, name)}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlayPath, "-o", b.Path, "./"+name)
		cmd.Dir = root
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("compile the tests of %s with its mutants: %w\n%s", name, err, said)
		}
		if _, err := os.Stat(b.Path); err != nil {
			return nil, fmt.Errorf("%s has no tests", name)
		}
		out = append(out, b)
	}
	return out, nil
}

// moduleRoot is the directory of go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
