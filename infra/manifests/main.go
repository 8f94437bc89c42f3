// Command manifests writes the Kubernetes manifests in deploy/, which are made
// from the functions' specs:
//
//	go run ./infra/manifests
package main

import (
	"flag"
	"fmt"
	"os"

	"rollcall/infra/clusterrole"
	"rollcall/infra/specs"
)

func main() {
	out := flag.String("out", "deploy/clusterrole.yaml", "where the ClusterRole goes")
	flag.Parse()
	manifest, err := clusterrole.Manifest(specs.All())
	if err == nil {
		err = os.WriteFile(*out, manifest, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
}
