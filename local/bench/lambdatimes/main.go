// Command lambdatimes measures what each function takes on a core of Lambda's
// size: its real program, held to the share of a core that its memory gives it,
// with 40 ms on every call of AWS and Kubernetes, cold and warm, at several
// sizes of memory. It writes the page from which the memory is chosen.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"rollcall/local/platform/lambdaruntime"
)

const usage = `Measures each function with the CPU share of its memory and 40 ms a call.

  make lambda-times                      all functions at their own memory and others; writes docs/lambda.md
  go run ./local/bench/lambdatimes -own        at their own memory alone, printed
  go run ./local/bench/lambdatimes -rounds 9   more rounds

Exit status: 0 measured, 1 a function failed, or slack-actions took too long, 2 wrong use.

`

// latency is what a call takes on its way, there and back: between a function
// and the AWS APIs of its region 10 to 40 ms are usual; the upper end is taken.
const latency = 40 * time.Millisecond

// answerWithin is how long Slack waits for the answer to a press (docs.slack.dev,
// "Handling user interaction": 3 seconds).
const answerWithin = 3 * time.Second

// sizes are the sizes of memory, in MB, that are tried for each function.
func sizes() []int { return []int{128, 256, 512, 1024, lambdaruntime.MemoryOfOneCPU} }

type options struct {
	own      bool
	rounds   int
	page     string
	template string
	binaries string
}

func main() {
	var o options
	flag.BoolVar(&o.own, "own", false, "at each function's own memory alone")
	flag.IntVar(&o.rounds, "rounds", 5, "cold starts, and as many warm invocations, of each function")
	flag.StringVar(&o.page, "page", "", "write the page here, too")
	flag.StringVar(&o.template, "template", "infra/Rollcall.template.json", "the synthesised template")
	flag.StringVar(&o.binaries, "binaries", "build/local", "folder of the functions' binaries (make build-local)")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "lambdatimes:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	limiter := lambdaruntime.NewCPULimiter()
	var all []measured
	try := sizes()
	if o.own {
		try = nil
	}
	for _, memory := range append([]int{0}, try...) { // 0 is each function's own
		if memory == 0 {
			fmt.Printf("each function at its own memory …\n")
		} else {
			fmt.Printf("all at %d MB …\n", memory)
		}
		list, err := measure(ctx, o, limiter, memory)
		if err != nil {
			return err
		}
		all = append(all, list...)
	}
	page := write(all, limiter.How(), o.rounds)
	fmt.Print(page)
	if o.page != "" {
		if err := os.WriteFile(o.page, []byte(page), 0o644); err != nil {
			return fmt.Errorf("write the page: %w", err)
		}
	}
	return inTime(all)
}

// inTime holds that slack-actions answers within Slack's time at its own memory,
// cold, each time.
func inTime(all []measured) error {
	i := slices.IndexFunc(all, func(m measured) bool { return m.own && m.function == "slack-actions" })
	if i < 0 {
		return errors.New("slack-actions was not measured")
	}
	if slowest := slices.Max(all[i].cold); slowest > answerWithin {
		return fmt.Errorf("slack-actions took %s from a cold start: Slack waits for %s", slowest.Round(time.Millisecond), answerWithin)
	}
	return nil
}
