package simclock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rollcall/shared/config"
	"rollcall/stage/simclock"
)

var (
	stageStart = time.Date(2026, 11, 20, 14, 59, 0, 123456789, time.UTC)
	wallStart  = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
)

func TestRunsAtItsRate(t *testing.T) {
	c := simclock.New(stageStart, wallStart, 60)
	for _, tt := range []struct{ wall, want time.Duration }{
		{0, 0}, {time.Second, time.Minute}, {-time.Second, -time.Minute}, {24 * time.Hour, 60 * 24 * time.Hour},
	} {
		if got, want := c.StageTime(wallStart.Add(tt.wall)), stageStart.Add(tt.want); !got.Equal(want) {
			t.Errorf("after %v: got %v, want %v", tt.wall, got, want)
		}
	}
	if got, want := c.Wall(time.Hour), time.Minute; got != want {
		t.Errorf("Wall: got %v, want %v", got, want)
	}
	if got, want := c.Stage(time.Minute), time.Hour; got != want {
		t.Errorf("Stage: got %v, want %v", got, want)
	}
}

func TestSleepIsScaled(t *testing.T) {
	c := simclock.New(stageStart, time.Now(), 3600)
	began := time.Now()
	before := c.Now()
	if err := c.Sleep(context.Background(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if got := c.Now().Sub(before); got < time.Minute {
		t.Errorf("stage time passed: got %v, want at least a minute", got)
	}
	if got := time.Since(began); got > 10*time.Second {
		t.Errorf("wall time passed: got %v, want about 17 ms", got)
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	c := simclock.NewManual(stageStart)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if got := c.Waiting(); got != 0 {
		t.Errorf("timers left: got %d, want 0", got)
	}
}

func TestManual(t *testing.T) {
	c := simclock.NewManual(stageStart)
	late, early, stopped := c.After(2*time.Minute), c.After(time.Minute), c.NewTimer(time.Minute)
	if !stopped.Stop() || stopped.Stop() {
		t.Error("Stop: want true once, then false")
	}
	c.Advance(90 * time.Second)
	if got, want := <-early, stageStart.Add(time.Minute); !got.Equal(want) {
		t.Errorf("fired at %v, want %v", got, want)
	}
	select {
	case at := <-late:
		t.Errorf("fired at %v, want not yet", at)
	default:
	}
	c.Advance(30 * time.Second)
	<-late
	if got, want := c.Now(), stageStart.Add(2*time.Minute); !got.Equal(want) {
		t.Errorf("Now: got %v, want %v", got, want)
	}
	if got, want := c.Until(stageStart.Add(5*time.Minute)), 3*time.Minute; got != want {
		t.Errorf("Until: got %v, want %v", got, want)
	}
}

func TestEnv(t *testing.T) {
	c := simclock.New(stageStart, wallStart, 12.5)
	const want = "2026-11-20T14:59:00.123456789Z,1893553445000000000,12.5"
	if got := c.Env(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func patient(t *testing.T, rate, slow float64) *simclock.Clock {
	t.Helper()
	c, err := simclock.NewPatient(stageStart, time.Now(), rate, slow, filepath.Join(t.TempDir(), "clock"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pace is how far the clock gets in a second of the wall, if nothing changes.
func pace(c *simclock.Clock) time.Duration {
	now := time.Now()
	return c.StageTime(now.Add(time.Second)).Sub(c.StageTime(now)).Round(time.Millisecond)
}

func TestPatientClockIsSlowWhileAnybodyWorks(t *testing.T) {
	c := patient(t, 600, 10)
	for _, step := range []struct {
		what string
		do   func() func()
		want time.Duration
	}{
		{"nobody works", func() func() { return func() {} }, 600 * time.Second},
		{"one", c.Work, 10 * time.Second},
		{"and one more", c.Work, 10 * time.Second},
	} {
		before := c.Now()
		defer step.do()()
		if got := pace(c); got != step.want {
			t.Errorf("%s: %v of the stage a second, want %v", step.what, got, step.want)
		}
		if now := c.Now(); now.Before(before) {
			t.Errorf("%s: the time went from %v back to %v", step.what, before, now)
		}
	}
	if got := c.Rate(); got != 600 {
		t.Errorf("its rate is %v, want 600", got)
	}
}

func TestPatientClockIsFastAgainWhenTheLastHasEnded(t *testing.T) {
	c := patient(t, 600, 10)
	one, two := c.Work(), c.Work()
	one()
	one() // twice is once
	if got := pace(c); got != 10*time.Second {
		t.Errorf("one of two has ended: %v a second, want 10 s", got)
	}
	two()
	if got := pace(c); got != 10*time.Minute {
		t.Errorf("both have ended: %v a second, want 10 min", got)
	}
}

// TestSetPace: a new pace begins when no work is held, and goes on from the same time.
func TestSetPace(t *testing.T) {
	c := patient(t, 600, 10)
	done := c.Work()
	c.SetPace(1, 1)
	if got := pace(c); got != 10*time.Second {
		t.Errorf("while one works that reads its pace: %v a second, want 10 s", got)
	}
	before := c.Now()
	done()
	if got := pace(c); got != time.Second {
		t.Errorf("afterwards: %v a second, want 1 s", got)
	}
	if after := c.Now(); after.Before(before) || after.Sub(before) > 10*time.Second {
		t.Errorf("the time went from %v to %v", before, after)
	}
	c.SetPace(600, 700)
	if got := pace(c); got != 10*time.Minute {
		t.Errorf("while no work is held: %v a second at once, want 10 min", got)
	}
	defer c.Work()()
	if got := pace(c); got != 10*time.Minute {
		t.Errorf("work makes it faster: %v a second, want 10 min", got)
	}
}

func TestPatientClockIsNeverFasterForWork(t *testing.T) {
	c := patient(t, 5, 10)
	defer c.Work()()
	if got := pace(c); got != 5*time.Second {
		t.Errorf("%v a second, want 5 s", got)
	}
}

// TestTimersOfAPatientClock: a timer that was set in one pace fires at its time
// in the other.
func TestTimersOfAPatientClock(t *testing.T) {
	c := patient(t, 1e6, 1)
	done := c.Work()
	at := c.Now().Add(time.Hour)
	timer, stopped := c.NewTimer(time.Hour), c.NewTimer(time.Hour)
	if !stopped.Stop() || stopped.Stop() {
		t.Error("a timer that has not fired is stopped once")
	}
	done()
	if fired := <-timer.C; fired.Before(at) {
		t.Errorf("fired at %v, before its time %v", fired, at)
	}
	if timer.Stop() {
		t.Error("stopped after it fired")
	}
	defer c.Work()()
	late := c.NewTimer(time.Hour)
	defer late.Stop()
	select {
	case <-late.C:
		t.Error("an hour has passed in step with the wall")
	default:
	}
}

func TestSleepersOfAPatientClockEndWithTheirContext(t *testing.T) {
	c := patient(t, 2, 1)
	defer c.Work()()
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	if err := c.Sleep(ctx, time.Hour); err != context.Canceled {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestFunctionsFollowAPatientClock: what a function reads of its environment is
// the stage's time, whenever it works.
func TestFunctionsFollowAPatientClock(t *testing.T) {
	c := patient(t, 3600, 20)
	conf, err := config.Load(func(name string) string {
		if name == simclock.EnvName {
			return c.Env()
		}
		return ""
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		done := c.Work()
		before, got, after := c.Now(), conf.Clock.Now(), c.Now()
		// The line's anchor is written in nanoseconds, its slope multiplies them.
		if got.Before(before.Add(-time.Microsecond)) || got.After(after.Add(time.Microsecond)) {
			t.Errorf("the function's time is %v, the stage's %v to %v", got, before, after)
		}
		if err := conf.Clock.Sleep(t.Context(), time.Second); err != nil || c.Now().Sub(after) < time.Second {
			t.Errorf("it slept for %v of the stage: %v", c.Now().Sub(after), err)
		}
		done()
		if err := c.Sleep(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPatientClockLeavesNoFile(t *testing.T) {
	c := patient(t, 60, 1)
	file := c.Env()[1:]
	if _, err := os.Stat(file); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if _, err := simclock.NewPatient(stageStart, time.Now(), 60, 1, filepath.Join(t.TempDir(), "no", "such")); err == nil {
		t.Error("a file that cannot be written, and no error")
	}
}
