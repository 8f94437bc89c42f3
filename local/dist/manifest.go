package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

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
func pluginManifest(repository, version string, archives []archive) manifest {
	home := "https://github.com/" + repository
	m := manifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: manifestMetadata{"rollcall"},
		Spec: manifestSpec{
			Version: "v" + version, Homepage: home,
			ShortDescription: "Why did an EC2 instance not become an EKS node?",
			Description:      "Tells why EC2 instances did not become nodes of their EKS cluster, from a live cluster or a capture of it, and what to do about it. It only reads.\n",
		},
	}
	for _, a := range archives {
		if a.program != "rollcall" {
			continue
		}
		m.Spec.Platforms = append(m.Spec.Platforms, manifestPlatform{
			Selector: manifestSelector{map[string]string{"os": a.platform.os, "arch": a.platform.arch}},
			URI:      home + "/releases/download/v" + version + "/" + a.file, SHA256: a.sum, Bin: a.binary,
		})
	}
	return m
}

func writeManifest(out, repository, version string, archives []archive) error {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(pluginManifest(repository, version, archives)); err != nil {
		return fmt.Errorf("write the plugin's manifest: %w", err)
	}
	return os.WriteFile(filepath.Join(out, "rollcall.yaml"), b.Bytes(), 0o644)
}
