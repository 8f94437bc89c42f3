// Command rollcall tells why EC2 instances did not become nodes of their EKS cluster.
// It is one program without other parts: it needs no clone of the repository, no Go
// and no Node.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"rollcall/command"
	"rollcall/shared/lambda"
	"rollcall/shared/version"
	"rollcall/stage/programs"
)

func main() {
	if p, ok := programs.Called(os.Args[0]); ok { // on the stage of rollcall demo
		lambda.Start(p.Name, p.Variables, p.Build)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := command.Run(ctx, root(os.Args[0]), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// root is the command with all that it does, called by a program's path.
func root(called string) *cobra.Command {
	c := &cobra.Command{
		Use:     "rollcall",
		Short:   "Why did an EC2 instance not become an EKS node?",
		Long:    "rollcall tells why EC2 instances did not become nodes of their EKS cluster,\nand what to do about it.",
		Version: version.Current(),
	}
	c.AddCommand(command.Commands()...)
	if isPlugin(called) {
		asPlugin(c)
	}
	return c
}

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
