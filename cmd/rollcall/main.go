// Command rollcall tells why EC2 instances did not become nodes of their EKS cluster.
// It is one program without other parts: it needs no clone of the repository, no Go
// and no Node.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"rollcall/local/diagnose"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := diagnose.Run(ctx, root(), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// root is the command with all that it does.
func root() *cobra.Command {
	c := &cobra.Command{
		Use:     "rollcall",
		Short:   "Why did an EC2 instance not become an EKS node?",
		Long:    "rollcall tells why EC2 instances did not become nodes of their EKS cluster,\nand what to do about it.",
		Version: version(),
	}
	c.AddCommand(diagnose.Commands()...)
	return c
}

// version is that of the module, or of the commit that it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return info.Main.Version + " " + s.Value
		}
	}
	return info.Main.Version
}
