// Command rollcall-stage is rollcall with the stage: it plays worlds and stories, and is started by
// rollcall for them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"rollcall/command"
	"rollcall/shared/lambda/runtime"
	"rollcall/stage/program"
	"rollcall/stage/programs"
)

func main() {
	if p, ok := programs.Called(os.Args[0]); ok { // on the stage of rollcall demo
		runtime.Start(p.Name, p.Variables, p.Build)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := command.Run(ctx, program.Root(os.Args[0]), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
