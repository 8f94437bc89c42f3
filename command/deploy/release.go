package deploy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Names in a release's folder.
const (
	sumsFile      = "SHA256SUMS"
	clusterRole   = "clusterrole.yaml"
	HubTemplate   = "RollcallStandard.template.json"
	SpokeTemplate = "RollcallSpoke.template.json"
	RelayTemplate = "RollcallRelay.template.json"
)

// Release is an unpacked release of which every file has its sum.
type Release struct {
	Dir, Version string
	files        map[string][]byte
}

// ReadRelease reads an unpacked release. A file that its SHA256SUMS does not name is not read, and
// one that differs ends it.
func ReadRelease(dir, version string) (Release, error) {
	r := Release{Dir: dir, Version: version, files: map[string][]byte{}}
	list, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s holds no release: it has no %s. Unpack the release's functions archive as a whole, and name its folder with --release", dir, sumsFile)
	}
	if err != nil {
		return r, fmt.Errorf("read the release: %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if name = strings.TrimPrefix(name, "./"); !ok || !filepath.IsLocal(name) {
			return r, fmt.Errorf("%s: %q is not a sum and a file's name", filepath.Join(dir, sumsFile), lines.Text())
		}
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return r, fmt.Errorf("read the release: %w", err)
		}
		if is := sha256.Sum256(body); hex.EncodeToString(is[:]) != sum {
			return r, fmt.Errorf("%s is not what the release contains: its SHA-256 is not the one in %s. Nothing was uploaded; unpack the release again", filepath.Join(dir, name), sumsFile)
		}
		r.files[name] = body
	}
	return r, nil
}

// File is a file of the release.
func (r Release) File(name string) ([]byte, error) {
	body, ok := r.files[name]
	if !ok {
		return nil, fmt.Errorf("the release in %s has no %s with a sum in %s: unpack it again", r.Dir, name, sumsFile)
	}
	return body, nil
}

// Packages are the functions' packages by their names, "launch-watch.zip".
func (r Release) Packages() map[string][]byte {
	list := map[string][]byte{}
	for name, body := range r.files {
		if path.Dir(name) == "functions" && path.Ext(name) == ".zip" {
			list[path.Base(name)] = body
		}
	}
	return list
}

// Prefix begins the keys of the packages. It differs with their contents: Lambda takes new code
// only under another key (CloudFormation template reference, AWS::Lambda::Function Code).
func (r Release) Prefix() string {
	packages, all := r.Packages(), sha256.New()
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		sum := sha256.Sum256(packages[name])
		fmt.Fprintf(all, "%s %x\n", name, sum)
	}
	// "development build" is a version, too, and keys with blanks are quoted everywhere.
	version := strings.ReplaceAll(r.Version, " ", "-")
	return fmt.Sprintf("rollcall/%s-%s/", version, hex.EncodeToString(all.Sum(nil))[:12])
}

// templateKey is where a template is in the bucket: another one for another text.
func templateKey(name string, body []byte) string {
	sum := sha256.Sum256(body)
	return "rollcall/templates/" + hex.EncodeToString(sum[:])[:12] + "/" + name
}

// objects are what goes into the bucket for a template, by key: the packages that it names.
func (r Release) objects(template, codeKey string) (map[string][]byte, error) {
	body, err := r.File(template)
	if err != nil {
		return nil, err
	}
	list := map[string][]byte{templateKey(template, body): body}
	for name, body := range r.Packages() {
		// A spoke has no functions, and a relay has its own alone.
		if key := r.Prefix() + name; template == HubTemplate || key == codeKey {
			list[key] = body
		}
	}
	if len(list) == 1 && template != SpokeTemplate {
		return nil, fmt.Errorf("the release in %s has no packages of functions with a sum in %s: unpack it again", r.Dir, sumsFile)
	}
	return list, nil
}
