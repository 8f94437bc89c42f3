package simclock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rollcall/local/simclock"
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
		if got, want := c.At(wallStart.Add(tt.wall)), stageStart.Add(tt.want); !got.Equal(want) {
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
	again, err := simclock.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Env(); got != want {
		t.Errorf("after Parse: got %q, want %q", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, env := range []string{"", "a,b", "x,1,1", "2026-11-20T14:59:00Z,x,1", "2026-11-20T14:59:00Z,1,x",
		"2026-11-20T14:59:00Z,1,0", "2026-11-20T14:59:00Z,1,-1", "2026-11-20T14:59:00Z,1,NaN", "2026-11-20T14:59:00Z,1,Inf"} {
		if c, err := simclock.Parse(env); err == nil {
			t.Errorf("Parse(%q): got %q, want an error", env, c.Env())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("2026-11-20T14:59:00.123456789Z,1893553445000000000,12.5")
	f.Fuzz(func(t *testing.T, env string) {
		c, err := simclock.Parse(env)
		if err != nil {
			return
		}
		again, err := simclock.Parse(c.Env())
		if err != nil || again.Env() != c.Env() {
			t.Fatalf("Parse(Env()) = %v, %v; want %q", again, err, c.Env())
		}
	})
}
