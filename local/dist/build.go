package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"rollcall/shared/version"
)

// platform is what a program runs on.
type platform struct{ os, arch string }

// name is as in the archives' names.
func (p platform) name() string { return p.os + "_" + p.arch }

func allPlatforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

func platformOf(name string) (platform, error) {
	if !slices.Contains(allPlatforms(), name) {
		return platform{}, fmt.Errorf("%q is no platform; there are: %s", name, strings.Join(allPlatforms(), ", "))
	}
	system, arch, _ := strings.Cut(name, "/")
	return platform{system, arch}, nil
}

func platformNames(list []platform) string {
	var names []string
	for _, p := range list {
		names = append(names, p.os+"/"+p.arch)
	}
	return strings.Join(names, ",")
}

// program is what goes into one archive.
type program struct {
	name     string // of the archive
	platform platform
	dir      string   // where its files are
	binaries []string // in dir
	infos    []*debug.BuildInfo
}

// version is that which Go wrote into it.
func (p program) version() string { return version.Of(p.infos[0]) }

// buildAll builds the command for each platform, and the functions.
func buildAll(o options, work string) ([]program, error) {
	var all []program
	for _, platform := range o.platforms {
		p := program{name: "rollcall", platform: platform, dir: filepath.Join(work, platform.name()), binaries: []string{"rollcall"}}
		if platform.os == "windows" {
			p.binaries = []string{"rollcall.exe"}
		}
		if err := p.build(p.binaries[0], "./cmd/rollcall", "-tags", "lambda.norpc"); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if o.functions {
		p, err := buildFunctions(work)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// buildFunctions builds them as make build does (Makefile, LAMBDA).
func buildFunctions(work string) (program, error) {
	p := program{name: "rollcall-functions", platform: platform{"linux", "arm64"}, dir: filepath.Join(work, "functions")}
	mains, err := filepath.Glob("functions/*/main.go")
	if err != nil || len(mains) == 0 {
		return p, fmt.Errorf("no functions here: %v", err)
	}
	for _, main := range mains {
		folder := filepath.Dir(main)
		binary := filepath.Join(filepath.Base(folder), "bootstrap")
		p.binaries = append(p.binaries, binary)
		if err := p.build(binary, "./"+folder, "-tags", "lambda.norpc"); err != nil {
			return p, err
		}
	}
	return p, nil
}

// build builds one program. No C, no paths of this machine, no random id: the same commit
// gives the same file (https://go.dev/blog/rebuild).
func (p *program) build(binary, pkg string, more ...string) error {
	path := filepath.Join(p.dir, binary)
	args := append([]string{"build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w -buildid=", "-o", path}, more...)
	c := exec.Command("go", append(args, pkg)...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+p.platform.os, "GOARCH="+p.platform.arch, "GOAMD64=v1", "GOARM64=v8.0")
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("build %s for %s: %w", pkg, p.platform.name(), err)
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what %s was built of: %w", path, err)
	}
	p.infos = append(p.infos, info)
	return nil
}

// modules are what a program was built of, each once, sorted by path.
func (p program) modules() []debug.Module {
	seen := map[string]debug.Module{}
	for _, info := range p.infos {
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			seen[m.Path] = *m
		}
	}
	var list []debug.Module
	for _, m := range seen {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// goVersion is that of the compiler and the standard library.
func (p program) goVersion() string { return p.infos[0].GoVersion }
