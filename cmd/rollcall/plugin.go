package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// isPlugin tells whether the program is called as kubectl's plugin: kubectl looks for
// kubectl-rollcall on the PATH (Kubernetes, "Extend kubectl with plugins").
func isPlugin(called string) bool {
	name := strings.TrimSuffix(filepath.Base(called), ".exe")
	return name == "kubectl-rollcall"
}

// asPlugin has the command speak of itself as a person types it.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl rollcall"}
	var words []string
	for _, c := range root.Commands() {
		plain := fmt.Sprintf("%s %s", root.Name(), c.Name())
		words = append(words, plain, "kubectl "+plain)
	}
	typed := strings.NewReplacer(words...)
	for _, c := range root.Commands() {
		c.Example, c.Long = typed.Replace(c.Example), typed.Replace(c.Long)
	}
}
