// Command peers applies the rules by which others delete network interfaces,
// and Rollcall's, to one world of 500 interfaces in every state, and counts
// what each deletes wrongly and leaves wrongly.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// seed makes the world of the page.
const seed = 1

func start() time.Time { return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC) }

const usage = `Applies the rules by which others delete network interfaces, and Rollcall's, to
one world of 500 interfaces, and prints what each deletes and keeps wrongly.

  make peers
  go run ./local/bench/peers [-page FILE]

Exit status: 0 it was written, 1 it could not be, 2 wrong use.

`

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	file := flag.String("page", "", "file for the result as a page; empty prints it")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	text := page(build(seed, start()), start())
	if *file == "" {
		fmt.Print(text)
		return
	}
	if err := os.WriteFile(*file, []byte(text), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}
