// Command rollcall tells why EC2 instances did not become nodes of their EKS cluster.
// It is one program without other parts: it needs no clone of the repository, no Go
// and no Node.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"rollcall/local/command"
	"rollcall/local/programs"
	"rollcall/shared/lambda"
	"rollcall/shared/version"
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
