package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"rollcall/tools/testfile"
)

// TestManifests: each package manager is given the archives of its systems, by the names and sums
// of the files that are in the release, and nothing else.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	var archives []archive
	add := func(name string, p platform, file string) {
		data := []byte(file)
		testfile.Write(t, filepath.Join(dir, file), data)
		archives = append(archives, archive{program: name, platform: p, file: file, binary: name, sum: fmt.Sprintf("%x", sha256.Sum256(data))})
	}
	for _, name := range allPlatforms() {
		p, err := platformOf(name)
		if err != nil {
			t.Fatal(err)
		}
		end := ".tar.gz"
		if p.os == "windows" {
			end = ".zip"
		}
		add("rollcall", p, "rollcall_1.2.3_"+p.name()+end)
		add("rollcall-stage", p, "rollcall-stage_1.2.3_"+p.name()+end)
	}
	add(functionsArchive, platform{"linux", "arm64"}, "rollcall-functions_1.2.3_linux_arm64.tar.gz")
	if err := writeManifests(dir, "acme/rollcall", "1.2.3", archives); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]map[string]string{
		"rollcall-krew.yaml": krewArchives(t, filepath.Join(dir, "rollcall-krew.yaml")),
		"rollcall.rb":        formulaArchives(t, filepath.Join(dir, "rollcall.rb")),
		"rollcall.json":      scoopArchives(t, filepath.Join(dir, "rollcall.json")),
	} {
		for url, sum := range want {
			data := testfile.Read(t, filepath.Join(dir, path.Base(url)))
			if want := "https://github.com/acme/rollcall/releases/download/v1.2.3/" + path.Base(url); url != want {
				t.Errorf("%s: %s, want %s", file, url, want)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != sum {
				t.Errorf("%s: %s has the sum %s, want %s", file, url, sum, got)
			}
		}
	}
}

// names are the archives by their file names, apart from their folder.
func names(archives map[string]string) map[string]bool {
	list := map[string]bool{}
	for url := range maps.Keys(archives) {
		list[path.Base(url)] = true
	}
	return list
}

func krewArchives(t *testing.T, file string) map[string]string {
	t.Helper()
	var got manifest
	if err := yaml.Unmarshal(testfile.Read(t, file), &got); err != nil {
		t.Fatal(err)
	}
	if got.Spec.Version != "v1.2.3" || got.Metadata.Name != "rollcall" || got.Kind != "Plugin" {
		t.Errorf("head %+v", got)
	}
	archives := map[string]string{}
	for _, p := range got.Spec.Platforms {
		archives[p.URI] = p.SHA256
		if want := "_" + p.Selector.MatchLabels["os"] + "_" + p.Selector.MatchLabels["arch"] + "."; !strings.Contains(p.URI, want) {
			t.Errorf("%s for %s", p.URI, want)
		}
	}
	if len(archives) != len(allPlatforms()) {
		t.Errorf("archives of Krew: %v", names(archives))
	}
	return archives
}

func formulaArchives(t *testing.T, file string) map[string]string {
	t.Helper()
	text := string(testfile.Read(t, file))
	if ruby, err := exec.LookPath("ruby"); err != nil {
		t.Log("ruby is not installed: the formula is not parsed")
	} else if out, err := exec.Command(ruby, "-c", file).CombinedOutput(); err != nil {
		t.Errorf("not Ruby: %v\n%s", err, out)
	}
	archives := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)on_(\w+) do\n      url "(\S+)"\n      sha256 "(\w+)"`).FindAllStringSubmatch(text, -1) {
		archives[m[2]] = m[3]
		if want := map[string]string{"intel": "_amd64.", "arm": "_arm64."}[m[1]]; !strings.Contains(m[2], want) {
			t.Errorf("%s on %s", m[2], m[1])
		}
	}
	want := map[string]bool{"rollcall_1.2.3_darwin_amd64.tar.gz": true, "rollcall_1.2.3_darwin_arm64.tar.gz": true, "rollcall_1.2.3_linux_amd64.tar.gz": true, "rollcall_1.2.3_linux_arm64.tar.gz": true}
	if diff := cmp.Diff(want, names(archives)); diff != "" {
		t.Errorf("archives of Homebrew (-want +got):\n%s", diff)
	}
	if mac, linux := strings.Index(text, "on_macos"), strings.Index(text, "on_linux"); mac < 0 || linux < mac || strings.LastIndex(text, "darwin") > linux || strings.Index(text, "linux_") < linux {
		t.Errorf("an archive of another system:\n%s", text)
	}
	return archives
}

func scoopArchives(t *testing.T, file string) map[string]string {
	t.Helper()
	var got scoop
	testfile.Parse(t, testfile.Read(t, file), &got)
	archives := map[string]string{}
	for arch, a := range got.Architecture {
		archives[a.URL] = a.Hash
		if want := map[string]string{"64bit": "windows_amd64.zip", "arm64": "windows_arm64.zip"}[arch]; !strings.HasSuffix(a.URL, want) {
			t.Errorf("%s for %s", a.URL, arch)
		}
		if next := got.AutoUpdate.Architecture[arch].URL; strings.ReplaceAll(next, "$version", got.Version) != a.URL {
			t.Errorf("the next release of %s is looked for at %s", a.URL, next)
		}
	}
	if got.Version != "1.2.3" || len(archives) != 2 {
		t.Errorf("version %s, archives %v", got.Version, names(archives))
	}
	return archives
}
