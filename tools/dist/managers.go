package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// about is what the command is for, in a line of a list.
const about = "Why an EC2 instance did not become an EKS node"

func homeOf(repository string) string { return "https://github.com/" + repository }

// urlOf is where GitHub has an archive of a release.
func urlOf(repository, version string, a archive) string {
	return homeOf(repository) + "/releases/download/v" + version + "/" + a.file
}

// writeManifests writes what package managers take to install the command, with the sums of its
// archives.
func writeManifests(out, repository, version string, archives []archive) error {
	archives = slices.DeleteFunc(slices.Clone(archives), func(a archive) bool { return a.program != "rollcall" })
	for file, manifest := range map[string]func(repository, version string, archives []archive) ([]byte, error){
		"rollcall-krew.yaml": pluginManifest, "rollcall.rb": formula, "rollcall.json": scoopManifest,
	} {
		data, err := manifest(repository, version, archives)
		if err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(out, file), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manifest is a plugin of kubectl as Krew takes it (krew.googlecontainertools.github.com,
// v1alpha2). Krew makes kubectl-rollcall of it, a link to the program.
type manifest struct {
	APIVersion string           `yaml:"apiVersion"`
	Kind       string           `yaml:"kind"`
	Metadata   manifestMetadata `yaml:"metadata"`
	Spec       manifestSpec     `yaml:"spec"`
}

type manifestMetadata struct {
	Name string `yaml:"name"`
}

type manifestSpec struct {
	Version          string             `yaml:"version"`
	Homepage         string             `yaml:"homepage"`
	ShortDescription string             `yaml:"shortDescription"`
	Description      string             `yaml:"description"`
	Platforms        []manifestPlatform `yaml:"platforms"`
}

type manifestPlatform struct {
	Selector manifestSelector `yaml:"selector"`
	URI      string           `yaml:"uri"`
	SHA256   string           `yaml:"sha256"`
	Bin      string           `yaml:"bin"`
}

type manifestSelector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

// pluginManifest names the archives of the command where GitHub has them.
func pluginManifest(repository, version string, archives []archive) ([]byte, error) {
	home := homeOf(repository)
	m := manifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: manifestMetadata{"rollcall"},
		Spec: manifestSpec{
			Version: "v" + version, Homepage: home,
			ShortDescription: about,
			Description:      "Finds why EC2 instances did not become nodes of their EKS cluster, from a live cluster or a capture of it, and what to do about it. It only reads.\n",
		},
	}
	for _, a := range archives {
		m.Spec.Platforms = append(m.Spec.Platforms, manifestPlatform{
			Selector: manifestSelector{map[string]string{"os": a.platform.os, "arch": a.platform.arch}},
			URI:      urlOf(repository, version, a), SHA256: a.sum, Bin: a.binary,
		})
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(m)
	return b.Bytes(), err
}

// formulaText is a formula of Homebrew (https://docs.brew.sh/Formula-Cookbook): for a tap of one's
// own, and for a file.
const formulaText = `class Rollcall < Formula
  desc "{{.About}}"
  homepage "{{.Home}}"
  version "{{.Version}}"
  license "Apache-2.0"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Archives}}
    on_{{.Arch}} do
      url "{{.URL}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "rollcall"
    bin.install_symlink bin/"rollcall" => "kubectl-rollcall"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rollcall --version")
  end
end
`

type formulaArchive struct{ Arch, URL, Sum string }

type formulaSystem struct {
	Name     string
	Archives []formulaArchive
}

func formula(repository, version string, archives []archive) ([]byte, error) {
	var systems []formulaSystem
	for _, system := range []struct{ name, os string }{{"macos", "darwin"}, {"linux", "linux"}} {
		s := formulaSystem{Name: system.name}
		for _, a := range archives {
			if a.platform.os == system.os {
				arch := map[string]string{"amd64": "intel", "arm64": "arm"}[a.platform.arch]
				s.Archives = append(s.Archives, formulaArchive{arch, urlOf(repository, version, a), a.sum})
			}
		}
		if len(s.Archives) > 0 {
			systems = append(systems, s)
		}
	}
	t, err := template.New("formula").Parse(formulaText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"About": about, "Home": homeOf(repository), "Version": version, "Systems": systems})
	return b.Bytes(), err
}

// scoop is a manifest of Scoop for Windows (https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests).
type scoop struct {
	Version      string                  `json:"version"`
	Description  string                  `json:"description"`
	Homepage     string                  `json:"homepage"`
	License      string                  `json:"license"`
	Architecture map[string]scoopArchive `json:"architecture"`
	Bin          []any                   `json:"bin"`
	CheckVer     string                  `json:"checkver"`
	AutoUpdate   scoopUpdate             `json:"autoupdate"`
}

type scoopArchive struct {
	URL  string `json:"url"`
	Hash string `json:"hash,omitempty"`
}

type scoopUpdate struct {
	Architecture map[string]scoopArchive `json:"architecture"`
	Hash         scoopArchive            `json:"hash"`
}

func scoopManifest(repository, version string, archives []archive) ([]byte, error) {
	s := scoop{
		Version: version, Description: about, Homepage: homeOf(repository), License: "Apache-2.0",
		Architecture: map[string]scoopArchive{}, Bin: []any{"rollcall.exe", []string{"rollcall.exe", "kubectl-rollcall"}}, // the second is a name of its own
		CheckVer: "github", AutoUpdate: scoopUpdate{Architecture: map[string]scoopArchive{}, Hash: scoopArchive{URL: "$baseurl/" + sumsFile}},
	}
	for _, a := range archives {
		if a.platform.os != "windows" {
			continue
		}
		arch := map[string]string{"amd64": "64bit", "arm64": "arm64"}[a.platform.arch]
		url := urlOf(repository, version, a)
		s.Architecture[arch] = scoopArchive{URL: url, Hash: a.sum}
		s.AutoUpdate.Architecture[arch] = scoopArchive{URL: strings.ReplaceAll(url, version, "$version")}
	}
	data, err := json.MarshalIndent(s, "", "    ")
	return append(data, '\n'), err
}
