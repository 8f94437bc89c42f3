package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

var at = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

func members() []member {
	return []member{{name: "rollcall", data: []byte("program"), exec: true}, {name: "LICENSE", data: []byte("text")}, {name: "kubectl-rollcall", link: "rollcall"}}
}

// TestSameArchive: an archive is of its files and the commit's time, in whatever order
// the files come.
func TestSameArchive(t *testing.T) {
	for name, write := range map[string]func(io.Writer, []member, time.Time) error{"tar": writeTarGzip, "zip": writeZip} {
		turned := members()
		slices.Reverse(turned)
		var first, second bytes.Buffer
		if err := errors.Join(write(&first, members(), at), write(&second, turned, at)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: the same files give other bytes", name)
		}
	}
}

func TestTar(t *testing.T) {
	var b bytes.Buffer
	if err := writeTarGzip(&b, members(), at); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(z)
	var got []string
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(r)
		got = append(got, strings.Join([]string{h.Name, h.FileInfo().Mode().String(), h.Linkname, string(data), h.Uname, h.ModTime.UTC().Format(time.RFC3339)}, " "))
	}
	want := []string{"LICENSE -rw-r--r--  text  2026-11-23T08:00:00Z", "kubectl-rollcall Lrwxrwxrwx rollcall   2026-11-23T08:00:00Z", "rollcall -rwxr-xr-x  program  2026-11-23T08:00:00Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestZip(t *testing.T) {
	var b bytes.Buffer
	if err := writeZip(&b, members()[:2], at); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.File {
		got = append(got, f.Name+" "+f.Mode().String())
	}
	if diff := cmp.Diff([]string{"LICENSE -rw-r--r--", "rollcall -rwxr-xr-x"}, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

// TestDeployment: an unpacked release is all that a deployment takes, and its sums are of all of
// it. Lambda runs bootstrap, which has to be executable (AWS Lambda developer guide, "Building an
// OS-only runtime").
func TestDeployment(t *testing.T) {
	programs := []member{{name: "sweep/bootstrap", data: []byte("sweep"), exec: true}, {name: "launch-watch/bootstrap", data: []byte("launch"), exec: true}}
	got, err := deployment("../..", programs, "https://example.com/docs", at)
	if err != nil {
		t.Fatal(err)
	}
	again, err := deployment("../..", programs, "https://example.com/docs", at)
	if err != nil || !cmp.Equal(got, again, cmp.AllowUnexported(member{})) {
		t.Errorf("%v: the same files give another deployment", err)
	}
	content := map[string][]byte{}
	for _, m := range got {
		content[m.name] = m.data
	}
	for _, name := range []string{"functions/sweep.zip", "functions/launch-watch.zip", "RollcallStandard.template.json", "RollcallSpoke.template.json", "RollcallRelay.template.json", "rollcall.yaml", "rollcall.schema.json", "clusterrole.yaml", "slack-app.yaml", "slack-app-actions.yaml", "pages"} {
		sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(content[name]), name)
		if len(content[name]) == 0 || !strings.Contains(string(content[sumsFile]), sum) {
			t.Errorf("%s: %d bytes, and not in the sums\n%s", name, len(content[name]), content[sumsFile])
		}
	}
	if n := strings.Count(string(content[sumsFile]), "\n"); n != len(got)-1 {
		t.Errorf("%d sums of %d files", n, len(got)-1)
	}
	r, err := zip.NewReader(bytes.NewReader(content["functions/sweep.zip"]), int64(len(content["functions/sweep.zip"])))
	if err != nil || len(r.File) != 1 || r.File[0].Name != "bootstrap" || r.File[0].Mode() != 0o755 || !r.File[0].Modified.Equal(at) {
		t.Fatalf("%v: %+v", err, r)
	}
	if _, err := deployment(t.TempDir(), programs, "", at); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "RollcallStandard.template.json") {
		t.Errorf("without the templates: %v", err)
	}
}

// made is a program of two modules, of which one is replaced.
func made() program {
	return program{
		name: "rollcall", platform: platform{"linux", "arm64"},
		infos: []*debug.BuildInfo{{
			GoVersion: "go1.26.8", Main: debug.Module{Path: "rollcall", Version: "v1.2.3"},
			Deps: []*debug.Module{
				{Path: "z.example/Old", Version: "v1.0.0", Replace: &debug.Module{Path: "z.example/New", Version: "v1.5.1"}},
				{Path: "a.example/lib", Version: "v0.1.0", Sum: "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},
			},
		}},
	}
}

// TestBOM: the program, the standard library and each module as it was built, with its sum.
func TestBOM(t *testing.T) {
	dir := t.TempDir()
	if err := made().describe(dir, "1.2.3", at); err != nil {
		t.Fatal(err)
	}
	data := testfile.Read(t, filepath.Join(dir, "rollcall_1.2.3_linux_arm64.cdx.json"))
	var bom struct {
		BOMFormat, SpecVersion, SerialNumber string
		Metadata                             struct{ Timestamp string }
		Components                           []struct {
			Purl   string
			Hashes []struct{ Alg, Content string }
		}
		Dependencies []struct{ DependsOn []string }
	}
	testfile.Parse(t, data, &bom)
	var refs []string
	for _, c := range bom.Components {
		refs = append(refs, c.Purl)
	}
	want := []string{"pkg:golang/std@1.26.8", "pkg:golang/a.example/lib@v0.1.0", "pkg:golang/z.example/New@v1.5.1"}
	if diff := cmp.Diff(want, refs); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if bom.BOMFormat != "CycloneDX" || bom.SpecVersion != "1.6" || bom.SerialNumber != "" || bom.Metadata.Timestamp != "2026-11-23T08:00:00Z" {
		t.Errorf("head %+v: a number or a time of its own would make it another each time", bom)
	}
	if h := bom.Components[1].Hashes; len(h) != 1 || h[0].Alg != "SHA-256" || h[0].Content != strings.Repeat("00", 32) {
		t.Errorf("hashes %+v", h)
	}
	if len(bom.Dependencies) != 1 || !cmp.Equal(want, bom.Dependencies[0].DependsOn) {
		t.Errorf("dependencies %+v", bom.Dependencies)
	}
}

// TestLicences: licences and notices, no code; what has none stops the release.
func TestLicences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"LICENSE.txt": "licence text\n", "NOTICE": "a notice", "license.go": "package x", "README": "no"} {
		testfile.Write(t, filepath.Join(dir, name), []byte(text))
	}
	var b bytes.Buffer
	if err := appendLicences(&b, "lib v1", dir); err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80) + "\n"
	if diff := cmp.Diff(line+"lib v1: LICENSE.txt\n\nlicence text\n\n"+line+"lib v1: NOTICE\n\na notice\n\n", b.String()); diff != "" {
		t.Errorf("licences (-want +got):\n%s", diff)
	}
	if err := appendLicences(&b, "bare v1", t.TempDir()); !errors.Is(err, errNoLicence) || !strings.Contains(err.Error(), "bare v1") {
		t.Errorf("a module without a licence: %v", err)
	}
}

// TestEveryDependencyHasALicence holds it of what the command is built of today.
func TestEveryDependencyHasALicence(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "rollcall/cmd/rollcall").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Compact(slices.Sorted(strings.Lines(string(out))))
	n := 0
	for _, line := range lines {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		n++
		if err := appendLicences(new(bytes.Buffer), path, dir); err != nil {
			t.Error(err)
		}
	}
	if n < 10 {
		t.Errorf("%d modules: this test looks for the wrong thing", n)
	}
}

// TestChangelog: what a person has to know stands before the commits, and the first release has
// none to list.
func TestChangelog(t *testing.T) {
	page := "# Changelog\n\n## v1.2.3\n\nNew:\n- a\n\n## v1.2\n\nOld\n"
	for want, got := range map[string]string{
		"# 1.2.3, 2026-11-23\n\nNew:\n- a\n\n- one\n- two\n": changelog("1.2.3", at, sectionOf(page, "v1.2.3"), "one\ntwo\n"),
		"# 1.2, 2026-11-23\n\nOld\n":                         changelog("1.2", at, sectionOf(page, "v1.2"), ""),
		"# 1.3, 2026-11-23\n\n- one\n":                       changelog("1.3", at, sectionOf(page, "v1.3"), "one\n"),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changelog (-want +got):\n%s", diff)
		}
	}
	t.Chdir("../..")
	if err := writeChangelog(t.TempDir(), "9.9.9", at); err == nil || err.Error() != `CHANGELOG.md has no section "## v9.9.9"` {
		t.Errorf("a release of which nothing is said: %v", err)
	}
}

// TestSums: sums as sha256sum writes them, and two releases that differ are named.
func TestSums(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for dir, text := range map[string]string{first: "x", second: "y"} {
		for name, data := range map[string]string{"a": "same", "b": text} {
			testfile.Write(t, filepath.Join(dir, name), []byte(data))
		}
		if err := writeSums(dir); err != nil {
			t.Fatal(err)
		}
	}
	sums := testfile.Read(t, filepath.Join(first, sumsFile))
	const x = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  b"
	if lines := strings.Split(strings.TrimSpace(string(sums)), "\n"); len(lines) != 2 || lines[1] != x {
		t.Errorf("sums %q", lines)
	}
	if err := sameSums(filepath.Join(first, sumsFile), filepath.Join(first, sumsFile)); err != nil {
		t.Error(err)
	}
	if err := sameSums(filepath.Join(first, sumsFile), filepath.Join(second, sumsFile)); err == nil || err.Error() != "built again, and not the same:\n"+x {
		t.Errorf("two releases that differ: %v", err)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-platforms", "linux/arm64,windows/amd64"})
	if diff := cmp.Diff([]string{"linux_arm64", "windows_amd64"}, []string{o.platforms[0].name(), o.platforms[1].name()}); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := parse([]string{"-platforms", "plan9/386"}); err == nil || !strings.Contains(err.Error(), `"plan9/386" is no platform; there are: linux/amd64`) {
		t.Errorf("a platform that there is not: %v", err)
	}
}

// TestPortable: what the programs hold of the system's own calls is there on each system.
// Packages that hold the EC2 client are left to make release: it takes minutes to compile.
// So do the others for the first time, which is why make test leaves them to make test-full.
func TestPortable(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("played by make test-full")
	}
	const form = `{{if not .Standard}}{{.ImportPath}} {{.Imports}}{{.IgnoredGoFiles}}|{{.Deps}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", form, "rollcall/cmd/rollcall", "rollcall/cmd/rollcall-stage").Output()
	if err != nil {
		t.Fatal(err)
	}
	var native []string
	for line := range strings.Lines(string(out)) {
		own, deps, _ := strings.Cut(line, "|")
		name, imports, _ := strings.Cut(own, " ")
		uses := slices.Contains(strings.FieldsFunc(imports, func(r rune) bool { return strings.ContainsRune(" []", r) }), "syscall") || strings.Contains(imports, ".go]")
		if strings.HasPrefix(name, "rollcall/") && uses && !strings.Contains(deps, "aws-sdk-go-v2/service/ec2") {
			native = append(native, name)
		}
	}
	if !slices.Contains(native, "rollcall/stage/platform/lambdaruntime") {
		t.Fatalf("packages %s: this test looks for the wrong thing", native)
	}
	for _, system := range []string{"windows", "darwin"} {
		c := exec.Command("go", append([]string{"vet"}, native...)...)
		c.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", system, err, out)
		}
	}
}

func TestPagesOf(t *testing.T) {
	if got := pagesOf("", "0123"); got != "" {
		t.Errorf("of no repository: %q", got)
	}
	if got := pagesOf("owner/name", "0123"); got != "https://github.com/owner/name/blob/0123/docs" {
		t.Errorf("%q", got)
	}
}
