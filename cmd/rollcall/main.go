// Command rollcall tells why EC2 instances did not become nodes of their EKS cluster.
// It needs no clone of the repository, no Go and no Node. Worlds and stories are played by
// rollcall-stage, which it starts where it lies beside.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rollcall/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := command.Run(ctx, command.Root(os.Args[0], command.Stage{}), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
