// Command dist builds a release: the command for each platform, the functions for Lambda,
// and what belongs to them. The same commit gives the same bytes, whoever builds it:
// -again builds it once more, in a fresh clone with an empty build cache, and compares.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"rollcall/shared/version"
)

// options are what a release is made of.
type options struct {
	out        string
	platforms  []platform
	repository string // owner/name, "" leaves out what names it
	functions  bool
	again      bool
	dirty      bool
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	f := flag.NewFlagSet("dist", flag.ContinueOnError)
	o := options{}
	f.StringVar(&o.out, "out", "build/release", "the folder to write, which is emptied first")
	f.StringVar(&o.repository, "repository", "", "owner/name on GitHub, for what names it: links, and the manifests of package managers")
	f.BoolVar(&o.functions, "functions", true, "the functions too")
	f.BoolVar(&o.again, "again", false, "build it once more elsewhere, and compare")
	f.BoolVar(&o.dirty, "dirty", false, "build although there are changes that are not committed")
	names := f.String("platforms", strings.Join(allPlatforms(), ","), "what to build the command for")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(*names, ",") {
		p, err := platformOf(name)
		if err != nil {
			return o, err
		}
		o.platforms = append(o.platforms, p)
	}
	return o, nil
}

func run(o options) error {
	if changes, err := git("status", "--porcelain"); err != nil {
		return err
	} else if changes != "" && !o.dirty {
		return fmt.Errorf("there are changes that are not committed (-dirty builds all the same):\n%s", changes)
	}
	if err := release(o); err != nil {
		return err
	}
	if !o.again {
		return nil
	}
	return compareAgain(o)
}

// release builds and writes everything.
func release(o options) error {
	text, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("the commit's time: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(o.out); err != nil {
		return err
	}
	work := filepath.Join(o.out, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	programs, err := buildAll(o, work)
	if err != nil {
		return err
	}
	version := programs[0].version()
	var archives []archive
	for _, p := range programs {
		fmt.Printf("%s %s\n", version, p.name)
		if err := p.describe(o.out, version, at); err != nil {
			return err
		}
		a, err := p.pack(o.out, version, pagesOf(o.repository, commit), at)
		if err != nil {
			return err
		}
		archives = append(archives, a)
	}
	if err := writeImage(o.out, o.repository, version, commit, programs, at); err != nil {
		return err
	}
	if err := writeChangelog(o.out, version, at); err != nil {
		return err
	}
	if o.repository != "" {
		if err := writeManifests(o.out, o.repository, version, archives); err != nil {
			return err
		}
		if err := writeSource(o.out, o.repository, version, at); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return writeSums(o.out)
}

// compareAgain builds the same commit from a clone, with nothing that is there.
func compareAgain(o options) error {
	dir, err := os.MkdirTemp("", "rollcall-again")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone, cache, out := filepath.Join(dir, "elsewhere", "clone"), filepath.Join(dir, "cache"), filepath.Join(dir, "out")
	if _, err := git("clone", "--quiet", ".", clone); err != nil {
		return err
	}
	args := []string{"run", "./tools/dist", "-out", out, "-repository", o.repository, "-functions=" + strconv.FormatBool(o.functions), "-platforms", platformNames(o.platforms)}
	c := exec.Command("go", args...)
	c.Dir, c.Env = clone, append(os.Environ(), "GOCACHE="+cache)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("build it again: %w", err)
	}
	return sameSums(filepath.Join(o.out, sumsFile), filepath.Join(out, sumsFile))
}

// sameSums compares the sums of two releases.
func sameSums(first, second string) error {
	a, err := os.ReadFile(first)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(second)
	if err != nil {
		return err
	}
	if string(a) == string(b) {
		fmt.Printf("built again, and the same: %d files\n", strings.Count(string(a), "\n"))
		return nil
	}
	have := strings.Split(string(b), "\n")
	var other []string
	for line := range strings.SplitSeq(string(a), "\n") {
		if !slices.Contains(have, line) {
			other = append(other, line)
		}
	}
	return errors.New("built again, and not the same:\n" + strings.Join(other, "\n"))
}

// git runs git here.
func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// member is a file of an archive, or a folder, whose name ends in a slash.
type member struct {
	name  string
	data  []byte
	exec  bool
	link  string // a symbolic link to it
	owner int    // user and group, by number
	perm  int64  // 0: by exec and name
}

// archive is one that was written.
type archive struct {
	program  string
	platform platform
	file     string // its name
	binary   string // in it
	sum      string // SHA-256, hexadecimal
}

// pack writes a program with its licences. Unix has the plugin's name too, as a link.
func (p program) pack(out, version, pages string, at time.Time) (archive, error) {
	members, err := p.read()
	if err != nil {
		return archive{}, err
	}
	folder := ""
	if p.name == functionsArchive {
		if members, err = deployment(".", members, pages, at); err != nil {
			return archive{}, err
		}
		folder = functionsFolder // unpacked beside the command, whose licenses have these names
	}
	if p.name == "rollcall" && p.platform.os != "windows" {
		members = append(members, member{name: "kubectl-rollcall", link: "rollcall"})
	}
	licenses, err := p.licenses(folder)
	if err != nil {
		return archive{}, err
	}
	members = append(members, licenses...)
	a := archive{program: p.name, platform: p.platform, file: p.fileName(version) + ".tar.gz", binary: p.binaries[0]}
	write := writeTarGzip
	if p.platform.os == "windows" {
		a.file, write = p.fileName(version)+".zip", writeZip
	}
	var b bytes.Buffer
	if err := write(&b, members, at); err != nil {
		return archive{}, fmt.Errorf("pack %s: %w", a.file, err)
	}
	sum := sha256.Sum256(b.Bytes())
	a.sum = hex.EncodeToString(sum[:])
	return a, os.WriteFile(filepath.Join(out, a.file), b.Bytes(), 0o644)
}

// read returns a program's binaries.
func (p program) read() ([]member, error) {
	var members []member
	for _, name := range p.binaries {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			return nil, err
		}
		members = append(members, member{name: filepath.ToSlash(name), data: data, exec: true})
	}
	return members, nil
}

const (
	functionsArchive = "rollcall-functions"
	functionsFolder  = "functions/"
)

// deploymentFiles are what a deployment needs beside the functions.
func deploymentFiles() []string {
	return []string{
		"infra/RollcallStandard.template.json", "infra/RollcallSpoke.template.json", "infra/RollcallRelay.template.json",
		"deploy/rollcall.yaml", "deploy/rollcall.schema.json",
		"deploy/clusterrole.yaml", "deploy/slack-app.yaml", "deploy/slack-app-actions.yaml",
	}
}

// deployment returns all that a deployment needs: each function as the ZIP file that Lambda takes,
// the templates and manifests of the clone at root, and the sums by which `make deploy PREBUILT=…`
// and `rollcall deploy` check what was unpacked.
func deployment(root string, programs []member, pages string, at time.Time) ([]member, error) {
	var members []member
	for _, p := range programs {
		name, binary := path.Split(p.name)
		var b bytes.Buffer
		if err := writeZip(&b, []member{{name: binary, data: p.data, exec: true}}, at); err != nil {
			return nil, fmt.Errorf("pack %s: %w", p.name, err)
		}
		members = append(members, member{name: functionsFolder + path.Clean(name) + ".zip", data: b.Bytes()})
	}
	for _, name := range deploymentFiles() {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, fmt.Errorf("a deployment needs it: %w", err)
		}
		members = append(members, member{name: path.Base(name), data: data})
	}
	if pages != "" {
		members = append(members, member{name: pagesFile, data: []byte(pages + "\n")})
	}
	return append(members, member{name: sumsFile, data: sumsOf(members)}), nil
}

// fileName is the name of what is written of a program, without its ending.
func (p program) fileName(version string) string {
	return p.name + "_" + version + "_" + p.platform.name()
}

func mode(m member) int64 {
	switch {
	case m.perm != 0:
		return m.perm
	case m.exec, strings.HasSuffix(m.name, "/"):
		return 0o755
	}
	return 0o644
}

// writeTarGzip writes a compressed tar.
func writeTarGzip(to io.Writer, members []member, at time.Time) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, members, at), z.Close())
}

// writeTar writes a tar in which nothing is this machine's: names in order, the commit's
// time, no owner's name.
func writeTar(to io.Writer, members []member, at time.Time) error {
	w := tar.NewWriter(to)
	for _, m := range ordered(members) {
		h := &tar.Header{Name: m.name, Mode: mode(m), Size: int64(len(m.data)), ModTime: at, Typeflag: tar.TypeReg, Uid: m.owner, Gid: m.owner, Format: tar.FormatUSTAR}
		switch {
		case m.link != "":
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, m.link, 0o777
		case strings.HasSuffix(m.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeZip(to io.Writer, members []member, at time.Time) error {
	w := zip.NewWriter(to)
	for _, m := range ordered(members) {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(mode(m)))
		f, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func ordered(members []member) []member {
	return slices.SortedFunc(slices.Values(members), func(a, b member) int { return strings.Compare(a.name, b.name) })
}

const sumsFile = "SHA256SUMS"

// pagesFile says where the pages of a release are: the default of docsUrl where its
// functions are deployed (make deploy PREBUILT=…).
const pagesFile = "pages"

// pagesOf is where GitHub shows the documentation of a commit, with a page for each check;
// empty where the repository is not known. No site has to be served for it, and the pages
// are those of the functions that link to them.
func pagesOf(repository, commit string) string {
	if repository == "" {
		return ""
	}
	return "https://github.com/" + repository + "/blob/" + commit + "/docs"
}

// sumsOf are the sums of files, as sha256sum --check takes them.
func sumsOf(members []member) []byte {
	var b bytes.Buffer
	for _, m := range ordered(members) {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(m.data), m.name)
	}
	return b.Bytes()
}

// writeSums writes the sum of each file, as sha256sum --check takes it.
func writeSums(out string) error {
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(out, sumsFile), []byte(b.String()), 0o644)
}

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
func (p program) version() string { return version.FromBuildInfo(p.infos[0]) }

// buildAll builds the command and the stage for each platform, and the functions.
func buildAll(o options, work string) ([]program, error) {
	var all []program
	for _, platform := range o.platforms {
		// The stage is an archive of its own: who has a cluster to look at needs none.
		for _, name := range []string{"rollcall", "rollcall-stage"} {
			p := program{name: name, platform: platform, dir: filepath.Join(work, platform.name()), binaries: []string{name}}
			if platform.os == "windows" {
				p.binaries = []string{name + ".exe"}
			}
			if err := p.build(p.binaries[0], "./cmd/"+name, "-tags", "lambda.norpc"); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
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
	p := program{name: functionsArchive, platform: platform{"linux", "arm64"}, dir: filepath.Join(work, "functions")}
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

// licenses returns our own license and those of all that is in a program, below a folder.
func (p program) licenses(folder string) ([]member, error) {
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	others, err := p.licences()
	if err != nil {
		return nil, err
	}
	return []member{{name: folder + "LICENSE", data: own}, {name: folder + "THIRD-PARTY-LICENSES.txt", data: others}}, nil
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

// writeChangelog writes what a person has to know of the release, and the commits since the one
// before.
func writeChangelog(out, version string, at time.Time) error {
	log, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	about := sectionOf(string(log), "v"+version)
	if released := "v" + strings.TrimSuffix(version, "+dirty"); about == "" && semver.IsValid(released) && !module.IsPseudoVersion(released) {
		return fmt.Errorf("CHANGELOG.md has no section %q", "## "+released)
	}
	subjects := ""
	if before, err := git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD^"); err == nil {
		if subjects, err = git("log", "--no-merges", "--format=%s", before+"..HEAD"); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "CHANGELOG.md"), []byte(changelog(version, at, about, subjects)), 0o644)
}

// sectionOf is what stands below a heading of the second level.
func sectionOf(page, heading string) string {
	_, rest, _ := strings.Cut(page, "\n## "+heading+"\n")
	text, _, _ := strings.Cut(rest, "\n## ")
	return strings.TrimSpace(text)
}

// changelog is a release's own; of the first there are no commits since another.
func changelog(version string, at time.Time, about, subjects string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n", version, at.Format(time.DateOnly))
	if about != "" {
		b.WriteString(about + "\n\n")
	}
	for line := range strings.Lines(subjects) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
