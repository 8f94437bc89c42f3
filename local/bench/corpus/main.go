// Command corpus diagnoses every world of the corpus with the functions' real
// binaries, and prints what was expected against what was found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

const usage = `Diagnoses every world of the corpus and prints what was expected against what
was found: causes named first, false alarms, and what could not be told.

  make corpus
  go run ./local/bench/corpus [-run route] [-j 4]

Exit status: 0 all as expected; 1 something else was found; 2 wrong use, or the
corpus could not be run.

`

type options struct {
	dir, run string
	parallel int
}

func main() {
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

func command(args []string, out, errs io.Writer) int {
	var o options
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.dir, "dir", "local/worlds/corpus", "folder of the worlds")
	flags.StringVar(&o.run, "run", "", "only worlds whose name has this in it")
	flags.IntVar(&o.parallel, "j", runtime.NumCPU(), "how many worlds at once")
	flags.Usage = func() {
		fmt.Fprint(errs, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	wrong, err := run(ctx, o, out, errs)
	switch {
	case err != nil:
		fmt.Fprintln(errs, "corpus:", err)
		return 2
	case wrong > 0:
		return 1
	}
	return 0
}

func run(ctx context.Context, o options, out, errs io.Writer) (wrong int, err error) {
	c, err := read(o.dir)
	if err != nil {
		return 0, err
	}
	worlds := c.Worlds[:0]
	for _, w := range c.Worlds {
		if strings.Contains(w.Name, o.run) {
			worlds = append(worlds, w)
		}
	}
	binary, err := build(ctx, errs)
	if err != nil {
		return 0, err
	}
	verdicts := diagnose(ctx, binary, worlds, o.parallel, func(done int) {
		fmt.Fprintf(errs, "\r%d of %d worlds", done, len(worlds))
	})
	fmt.Fprintln(errs)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	print(out, verdicts)
	if o.run == "" {
		printUnseen(out, c.Unseen)
		printRemembered(out, c.Remembered)
	}
	for _, v := range verdicts {
		if v.Wrong != "" {
			wrong++
		}
	}
	return wrong, nil
}
