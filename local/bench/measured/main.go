// Command measured measures what hangs on the machine and on no page of its own: how long
// a launch event takes to be a message, how large the programs are and how soon they are
// there, how fast the checks are; and plays the generated worlds. It writes
// docs/measured.md, of which docs/figures.md and README.md are filled.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Measures what hangs on the machine.

  make figures                            measure, write docs/measured.md, and fill the pages that have figures of it
  make figures ONLY=stories               measure how long each story takes, and leave the rest of docs/measured.md as it is
  go run ./local/bench/measured           measure, and write docs/measured.md; -only stories as above
  go run ./local/bench/measured -check    hold the page's sizes against the programs that are built

Exit status: 0 done, 1 something failed, or a size is another, 2 wrong use.

`

func main() {
	check := flag.Bool("check", false, "hold the sizes on the page against the programs in build/")
	only := flag.String("only", "", "measure one part alone: stories")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *only != "" && *only != "stories" {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *check, *only); err != nil {
		fmt.Fprintln(os.Stderr, "measured:", err)
		stop()
		os.Exit(1)
	}
}

// Where things are, below the repository's root, in which this is run.
const (
	page     = "docs/measured.md"
	deployed = "build/arm64"    // make build
	here     = "build/local"    // make build-local
	command  = "build/rollcall" // make demo
)

func run(ctx context.Context, check bool, only string) error {
	switch {
	case check:
		return held(page)
	case only != "":
		return lengthsAlone(ctx, page)
	}
	m, err := measure(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(m.text()), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
