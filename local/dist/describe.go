package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/module"
)

// describe writes what a program is made of: CycloneDX 1.6, from what Go wrote into it.
func (p program) describe(out, version string, at time.Time) error {
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(p.bom(version, at), cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("write what %s is made of: %w", p.name, err)
	}
	return os.WriteFile(filepath.Join(out, p.fileName(version)+".cdx.json"), b.Bytes(), 0o644)
}

func (p program) bom(version string, at time.Time) *cdx.BOM {
	bom := cdx.NewBOM()
	purl := "pkg:golang/rollcall@" + version
	bom.Metadata = &cdx.Metadata{
		Timestamp: at.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeApplication, Name: p.name, Version: version, PackageURL: purl,
			Properties: &[]cdx.Property{{Name: "platform", Value: p.platform.os + "/" + p.platform.arch}},
		},
	}
	standard := "pkg:golang/std@" + strings.TrimPrefix(p.goVersion(), "go")
	components := []cdx.Component{{BOMRef: standard, Type: cdx.ComponentTypeLibrary, Name: "std", Version: p.goVersion(), PackageURL: standard}}
	needs := []string{standard}
	for _, m := range p.modules() {
		ref := "pkg:golang/" + m.Path + "@" + m.Version
		c := cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: ref}
		if sum, ok := moduleSum(m); ok {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
		}
		components = append(components, c)
		needs = append(needs, ref)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: purl, Dependencies: &needs}}
	return bom
}

// moduleSum is a module's sum in go.sum, which is SHA-256 of the list of its files, in
// base64 after "h1:" (go help module-auth).
func moduleSum(m debug.Module) (string, bool) {
	text, ok := strings.CutPrefix(m.Sum, "h1:")
	if !ok {
		return "", false
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return "", false
	}
	return hex.EncodeToString(raw), true
}

// licences are the texts of all that is in a program. A module without one may not be
// given on.
func (p program) licences() ([]byte, error) {
	cache, err := goEnv("GOMODCACHE")
	if err != nil {
		return nil, err
	}
	root, err := goEnv("GOROOT")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := appendLicences(&b, "The Go standard library, "+p.goVersion(), root); err != nil {
		return nil, err
	}
	for _, m := range p.modules() {
		dir, err := moduleDir(cache, m)
		if err != nil {
			return nil, err
		}
		if err := appendLicences(&b, m.Path+" "+m.Version, dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// moduleDir is where a module's files are.
func moduleDir(cache string, m debug.Module) (string, error) {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, filepath.FromSlash(path)+"@"+version), nil
}

var errNoLicence = errors.New("there is no licence")

// appendLicences adds the licences and notices that a folder holds.
func appendLicences(b *bytes.Buffer, what, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !isLicence(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		found = true
		fmt.Fprintf(b, "%s\n%s: %s\n\n%s\n\n", strings.Repeat("=", 80), what, e.Name(), bytes.TrimSpace(text))
	}
	if !found {
		return fmt.Errorf("%s: %w", what, errNoLicence)
	}
	return nil
}

func isLicence(name string) bool {
	if slices.Contains([]string{".go", ".mod", ".sum"}, filepath.Ext(name)) {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"license", "licence", "copying", "notice", "patents"}, func(s string) bool { return strings.HasPrefix(name, s) })
}

// writeChangelog tells the commits since the release before.
func writeChangelog(out, version string, at time.Time) error {
	commits := "HEAD"
	if before, err := git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"); err == nil {
		commits = before + "..HEAD"
	}
	subjects, err := git("log", "--no-merges", "--format=%s", commits)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "CHANGELOG.md"), []byte(changelog(version, at, subjects)), 0o644)
}

func changelog(version string, at time.Time, subjects string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n", version, at.Format(time.DateOnly))
	for line := range strings.Lines(subjects) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	return b.String()
}
