// Command manifests writes what is made from the functions' specs and the settings: the
// Kubernetes manifest, the settings file's sample and its JSON schema in deploy/, and
// docs/settings.md:
//
//	go run ./infra/manifests
package main

import (
	"errors"
	"fmt"
	"os"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/settingsfile"
)

func main() {
	manifest, err := clusterrole.Manifest(specs.All())
	schema, noSchema := settingsfile.Schema(settings.ForFile())
	sample, noSample := settingsfile.Sample(settings.ForFile())
	if err = errors.Join(err, noSchema, noSample); err == nil {
		err = errors.Join(os.WriteFile("deploy/clusterrole.yaml", manifest, 0o644), os.WriteFile("docs/settings.md", []byte(settings.Page()), 0o644),
			os.WriteFile("deploy/rollcall.schema.json", schema, 0o644), os.WriteFile("deploy/rollcall.yaml", []byte(sample), 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}
