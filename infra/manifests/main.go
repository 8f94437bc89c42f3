// Command manifests writes what is made from the functions' specs and the settings: the
// Kubernetes manifest in deploy/, and docs/settings.md:
//
//	go run ./infra/manifests
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
)

func main() {
	out := flag.String("out", "deploy/clusterrole.yaml", "where the ClusterRole goes")
	flag.Parse()
	manifest, err := clusterrole.Manifest(specs.All())
	if err == nil {
		err = errors.Join(os.WriteFile(*out, manifest, 0o644), os.WriteFile("docs/settings.md", []byte(settings.Page()), 0o644))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}
