package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"rollcall/local/fakeslack"
	"rollcall/local/stage"
)

// narrator prints a line for each step and remembers them for the timeline.
type narrator struct {
	stage *stage.Stage
	// play is the story that the stage is for.
	play  string
	began time.Time
	steps []step
	// rest lets the stage's time run: telling a story is work too, and only while
	// it waits does the time fly.
	rest func()
	// rate is how many times faster than the wall clock the stage runs while all wait.
	rate float64
	// person tells that somebody looks, and approves what a story would approve itself.
	person bool
	// tally is what the channels of the stages before this one were given.
	tally fakeslack.Tally
	// pictures is where pictures of the page go; none if it is empty.
	pictures string
	// out takes what is told; root is where the repository's files are.
	out  io.Writer
	root string
	// keep ends the watching of what the functions write, and keeps samples of it;
	// nil where that was not asked for.
	keep func() error
}

type step struct {
	play  string
	stage time.Time
	wall  time.Duration
	text  string
}

// say tells a step that has happened.
func (n *narrator) say(format string, args ...any) {
	s := step{play: n.play, stage: n.stage.Clock.Now(), wall: time.Since(n.began), text: fmt.Sprintf(format, args...)}
	n.steps = append(n.steps, s)
	fmt.Fprintf(n.out, "  ✓ %s\n", s.text)
}

// patience is how long a step may take, in wall time: many times what it
// takes on a slow machine.
const patience = 4 * time.Minute

// wait waits until something is seen. Meanwhile a line tells what is awaited.
func (n *narrator) wait(ctx context.Context, what string, seen func() (bool, error)) error {
	return n.waitFor(ctx, patience, what, seen)
}

// waitFor waits for some wall time at most; 0 is until the context ends.
func (n *narrator) waitFor(ctx context.Context, most time.Duration, what string, seen func() (bool, error)) error {
	if n.terminal() {
		fmt.Fprintf(n.out, "  … %s", what)
		defer fmt.Fprint(n.out, "\r\x1b[K") // the step's own line takes its place
	} else {
		fmt.Fprintf(n.out, "  … %s\n", what)
	}
	if most > 0 {
		within, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		ctx = within
	}
	for {
		rest := n.stage.Clock.Work()
		n.rest()
		n.rest = rest
		ok, err := seen()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if ok {
			return nil
		}
		n.rest()
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return fmt.Errorf("%s: not seen within %s: %w", what, most, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// pass lets a span of stage time go by.
func (n *narrator) pass(ctx context.Context, d time.Duration) error {
	n.rest()
	defer func() { n.rest = n.stage.Clock.Work() }()
	return n.stage.Clock.Sleep(ctx, d)
}

// terminal tells whether a person watches, or a log.
func (n *narrator) terminal() bool {
	f, ok := n.out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// timeline prints the story as it went: stage time, and the wall time that it
// took here.
func (n *narrator) timeline() {
	fmt.Fprint(n.out, "\nTimeline (stage time, wall time)\n")
	for i, s := range n.steps {
		if i > 0 && s.play != n.steps[i-1].play {
			fmt.Fprintf(n.out, "  %s, on a stage of its own\n", s.play)
		}
		fmt.Fprintf(n.out, "  %s  %5.1f s  %s\n", s.stage.Format("15:04:05"), s.wall.Seconds(), s.text)
	}
}

// picture takes a picture of the page, wide or narrow.
func (n *narrator) picture(ctx context.Context, name, query string, width, height int) error {
	if n.pictures == "" {
		return nil
	}
	file := filepath.Join(n.pictures, name+".png")
	shot := exec.CommandContext(ctx, "go", "run", "./local/fakeslack/shot", "--width", strconv.Itoa(width), "--height", strconv.Itoa(height),
		n.stage.Slack.URL()+"/?static=1"+query, file)
	if out, err := shot.CombinedOutput(); err != nil {
		return fmt.Errorf("take the picture %s: %w: %s", file, err, out)
	}
	return nil
}

// exports is what a shell needs to use the AWS CLI on the stage.
func exports(s *stage.Stage) string {
	env := s.AdminEnv()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&b, "  export %s=%s\n", name, env[name])
	}
	return b.String()
}
