package config

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/spec"
)

// StageClock makes a function live in the time of the local stage, where an
// hour may pass in a minute. A deployment never sets it; a test over the
// template holds that.
const StageClock spec.Variable = "ROLLCALL_STAGE_CLOCK"

// Clock tells the time. The zero Clock is the wall clock.
type Clock struct {
	stage time.Time // the stage's time at anchor
	wall  time.Time
	rate  float64
	// follows holds the other three while a function works: a stage that is fast only
	// while all wait writes them before it wakes one.
	follows *os.File
}

// Now is the time, in UTC.
func (c Clock) Now() time.Time {
	c = c.line()
	if c.rate == 0 {
		return time.Now().UTC()
	}
	passed := time.Since(c.wall)
	return c.stage.Add(time.Duration(float64(passed) * c.rate)).UTC()
}

// line is the line on which the time runs now. It is the wall's where the stage is
// gone: nobody is left to be told a time.
func (c Clock) line() Clock {
	if c.follows == nil {
		return c
	}
	var b [24]byte
	if _, err := c.follows.ReadAt(b[:], 0); err != nil {
		return Clock{}
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
	return Clock{stage: time.Unix(0, int64(at(0))), wall: time.Unix(0, int64(at(8))), rate: math.Float64frombits(at(16))}
}

// Slower tells a stage's time that runs slower than the wall's, where a wait of a second
// may be one of minutes.
func (c Clock) Slower() bool {
	c = c.line()
	return c.rate > 0 && c.rate < 1
}

// Sleep waits for so long, or until the context ends, whose error it gives then.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c = c.line(); c.rate > 0 {
		d = time.Duration(float64(d) / c.rate)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func parseClock(text string) (Clock, error) {
	if text == "" {
		return Clock{}, nil
	}
	if path, ok := strings.CutPrefix(text, "@"); ok {
		file, err := os.Open(path)
		if err != nil {
			return Clock{}, fmt.Errorf("the stage's clock: %w", err)
		}
		return Clock{follows: file}, nil
	}
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return Clock{}, errClock
	}
	stage, err := time.Parse(time.RFC3339Nano, parts[0])
	if err != nil {
		return Clock{}, fmt.Errorf("%w: %w", errClock, err)
	}
	nanos, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return Clock{}, fmt.Errorf("%w: %w", errClock, err)
	}
	rate, err := strconv.ParseFloat(parts[2], 64)
	if err != nil || !(rate > 0) || rate > 1e6 {
		return Clock{}, fmt.Errorf("%w: rate %q", errClock, parts[2])
	}
	return Clock{stage: stage, wall: time.Unix(0, nanos), rate: rate}, nil
}
