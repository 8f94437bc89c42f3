package config

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/fn"
)

// StageClock makes a function live in the time of the local stage, where an
// hour may pass in a minute. A deployment never sets it; a test over the
// template holds that.
const StageClock fn.Variable = "ROLLCALL_STAGE_CLOCK"

// Clock tells the time. The zero Clock is the wall clock.
type Clock struct {
	stage time.Time // the stage's time at anchor
	wall  time.Time
	rate  float64
}

// Now is the time, in UTC.
func (c Clock) Now() time.Time {
	if c.rate == 0 {
		return time.Now().UTC()
	}
	passed := time.Since(c.wall)
	return c.stage.Add(time.Duration(float64(passed) * c.rate)).UTC()
}

// Sleep waits for so long, or until the context ends, whose error it gives then.
func (c Clock) Sleep(ctx context.Context, d time.Duration) error {
	if c.rate > 0 {
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
