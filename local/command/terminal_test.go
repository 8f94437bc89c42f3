package command

import (
	"bytes"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What is no terminal gets no colors.
func TestColorsOnATerminalAlone(t *testing.T) {
	var out bytes.Buffer
	if colored(&out) || onTerminal(&out) {
		t.Error("what is no terminal gets colors")
	}
}

// What takes more than a second shows what it is at, and leaves nothing behind; what is
// over before shows nothing.
func TestWaitingIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var calls atomic.Int32
		asked := func() int { return int(calls.Add(7)) }
		end := show(&out, "looking", asked, silent, redrawn)
		time.Sleep(silent - time.Millisecond)
		end()
		if out.Len() > 0 {
			t.Errorf("shown within a second: %q", out.String())
		}
		end = show(&out, "looking", asked, silent, redrawn)
		time.Sleep(silent + redrawn + time.Millisecond)
		end()
		if got, want := out.String(), "\rlooking: 1 s, 7 calls \rlooking: 1 s, 14 calls \r\033[K"; got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
		out.Reset()
		waiting(&out, "looking", asked)()
		if out.Len() > 0 {
			t.Errorf("what is no terminal is shown %q", out.String())
		}
	})
}
