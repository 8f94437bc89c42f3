package command

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// onTerminal tells that what is written is read by a person as it comes.
func onTerminal(w io.Writer) bool {
	f, ok := terminalOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colored tells that colors are wanted: on a terminal, unless NO_COLOR is set to
// anything (no-color.org) or the terminal has none.
func colored(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && onTerminal(w)
}

const (
	// silent is how long nothing is said of what goes on: most looks are over by then.
	silent = time.Second
	// redrawn is how often the line is written anew.
	redrawn = 200 * time.Millisecond
)

// waiting shows on a terminal that something goes on that takes more than a second:
// what it is, for how long, and how many calls were made. The returned function takes
// the line away.
func waiting(to io.Writer, what string, calls func() int) (end func()) {
	if !onTerminal(to) {
		return func() {}
	}
	f, _ := terminalOf(to)
	return show(f, what, calls, silent, redrawn)
}

// show writes the line after a while, again and again.
func show(to io.Writer, what string, calls func() int, after, every time.Duration) (end func()) {
	over, began := make(chan struct{}), time.Now()
	var done sync.WaitGroup
	done.Go(func() {
		wait := time.NewTimer(after)
		defer wait.Stop()
		written := false
		for {
			select {
			case <-over:
				if written {
					fmt.Fprint(to, "\r\033[K")
				}
				return
			case <-wait.C:
				fmt.Fprintf(to, "\r%s: %d s, %d calls ", what, int(time.Since(began).Seconds()), calls())
				written = true
				wait.Reset(every)
			}
		}
	})
	return func() {
		close(over)
		done.Wait()
	}
}
