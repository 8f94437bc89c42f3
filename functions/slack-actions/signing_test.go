package main

import (
	"errors"
	"testing"
	"time"

	"rollcall/shared/interaction"
	"rollcall/shared/slack"
)

// verify judges a request that the right secret signed, after a while.
func (b *bench) verify(after time.Duration) error {
	c, err := received(rawOf(b, "payload={}"))
	if err != nil {
		b.t.Fatal(err)
	}
	return b.signing.verify(b.t.Context(), c.Request, b.wallNow.Add(after))
}

func forged(err error) bool {
	var r *interaction.Refusal
	return errors.As(err, &r) && r.Reason == interaction.Forged
}

// TestARotatedSecretCounts: after a minute at the latest, and a flood does not
// read more often than that. The one before counts no more.
func TestARotatedSecretCounts(t *testing.T) {
	b := newBench(t)
	b.secret = "0000000000000000000000000000000f" // the secret before
	for range 50 {
		if err := b.verify(0); !forged(err) {
			t.Fatalf("before it was rotated: %v", err)
		}
	}
	b.secret = rightSecret
	if err := b.verify(59 * time.Second); !forged(err) || b.reads != 1 {
		t.Errorf("within the minute: %v, %d reads", err, b.reads)
	}
	if err := b.verify(61 * time.Second); err != nil || b.reads != 2 {
		t.Errorf("after it: %v, %d reads", err, b.reads)
	}
	if err := b.verify(2 * time.Hour); err != nil || b.reads != 2 {
		t.Errorf("one that fits is read again: %v, %d reads", err, b.reads)
	}
	b.secret = "0000000000000000000000000000001f"
	if err := b.verify(3 * time.Hour); err != nil {
		t.Errorf("the known one counts while nothing contradicts it: %v", err)
	}
}

// TestASecretTakenAwayCountsNoMore, but one that cannot be read now does.
func TestASecretTakenAwayCountsNoMore(t *testing.T) {
	b := newBench(t)
	if err := b.verify(0); err != nil {
		t.Fatal(err)
	}
	b.secretErr = errors.New("ThrottlingException")
	wrong := func(after time.Duration) error {
		c, err := received(rawOf(b, "payload={}"))
		if err != nil {
			t.Fatal(err)
		}
		c.Body = []byte("payload={other}")
		return b.signing.verify(t.Context(), c.Request, b.wallNow.Add(after))
	}
	if err := wrong(2 * time.Minute); !forged(err) {
		t.Errorf("got %v", err)
	}
	if err := b.verify(2 * time.Minute); err != nil {
		t.Errorf("the known secret is gone: %v", err)
	}
	b.secretErr, b.secret = nil, ""
	if err := wrong(4 * time.Minute); !forged(err) {
		t.Errorf("got %v", err)
	}
	if err := b.verify(4 * time.Minute); !errors.Is(err, slack.ErrNoSigning) {
		t.Errorf("a secret that was taken away still counts: %v", err)
	}
	if reads := b.reads; b.verify(4*time.Minute+time.Second) == nil || b.reads != reads {
		t.Error("that there is none is asked again at once")
	}
	b.secret = rightSecret
	if err := b.verify(5 * time.Minute); err != nil {
		t.Errorf("filled in again: %v", err)
	}
}
