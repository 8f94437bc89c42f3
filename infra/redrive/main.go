// Command redrive shows what a deployment's dead-letter queues hold, and moves it
// back with -move: presses, runs, outcomes and observations that were given up
// while something that Rollcall needs was away.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/infra/deadletters"
	"rollcall/shared/awsconf"
)

func main() {
	prefix := flag.String("prefix", "rollcall", "what the names of the deployment's queues begin with")
	move := flag.Bool("move", false, "move them back; without it they are only shown")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *prefix, *move); err != nil {
		fmt.Fprintln(os.Stderr, "redrive:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, to io.Writer, prefix string, move bool) error {
	cfg, err := config.LoadDefaultConfig(ctx, awsconf.WithMFA(ctx, awsconf.AtTerminal(os.Stdin, os.Stderr)))
	if err != nil {
		return fmt.Errorf("read the AWS settings: %w", err)
	}
	return redrive(ctx, to, sqs.NewFromConfig(cfg), prefix, move, wait)
}

// redrive says what there is, and moves what can be moved.
func redrive(ctx context.Context, to io.Writer, client deadletters.Client, prefix string, move bool, wait func(context.Context, time.Duration) error) error {
	list, err := deadletters.Find(ctx, client, prefix)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintf(to, "the dead-letter queues of %s are empty\n", prefix)
		return nil
	}
	var wrong []error
	movable := 0
	for _, l := range list {
		if !l.Movable() {
			fmt.Fprintf(to, "%s: %d, stay: they are events that reached no queue, and SQS moves only what a queue gave up; what they were about is found by the next sweep, and an approval among them runs out and can be asked for again\n", l.Queue, l.Messages)
			continue
		}
		movable++
		if !move {
			fmt.Fprintf(to, "%s: %d, would go back to %s\n", l.Queue, l.Messages, l.Source)
			continue
		}
		moved, err := deadletters.Move(ctx, client, l, wait)
		fmt.Fprintf(to, "%s: %d of about %d went back to %s\n", l.Queue, moved, l.Messages, l.Source)
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	if !move && movable > 0 {
		fmt.Fprintln(to, "Nothing was moved. Mend first why they were given up, then: make redrive MOVE=1")
	}
	return errors.Join(wrong...)
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
