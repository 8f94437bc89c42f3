// Command probe is the function that the tests of the runtime run: it does
// what its event says.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do   string
	For  time.Duration
	Name string
}

type answer struct {
	PID       int
	RequestID string
	ARN       string
	Left      time.Duration // until the deadline
	Value     string
	Child     int
}

func handle(ctx context.Context, e event) (answer, error) {
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	a := answer{PID: os.Getpid(), RequestID: lc.AwsRequestID, ARN: lc.InvokedFunctionArn, Left: time.Until(deadline)}
	switch e.Do {
	case "error":
		return a, errors.New("as told")
	case "panic":
		panic("as told")
	case "exit":
		os.Exit(3)
	case "sleep":
		time.Sleep(e.For)
	case "env":
		a.Value = os.Getenv(e.Name)
	case "log":
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
	case "child":
		c := exec.Command("/bin/sleep", "600")
		if err := c.Start(); err != nil {
			return a, err
		}
		a.Child = c.Process.Pid
	}
	return a, nil
}

func main() {
	if os.Getenv("PROBE_INIT") == "exit" {
		os.Exit(4)
	}
	lambda.Start(handle)
}
