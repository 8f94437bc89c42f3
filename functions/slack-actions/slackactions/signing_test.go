package slackactions

import (
	"errors"
	"testing"
	"time"

	"rollcall/shared/interaction"
	"rollcall/shared/slack/slackapi"
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
	if err := b.verify(90 * time.Second); err != nil || b.reads != 2 {
		t.Errorf("one that was read just now is read again: %v, %d reads", err, b.reads)
	}
}

// TestTheSecretBeforeCountsNoMore: a warm process that knows the old secret, and
// meets nothing that contradicts it, gives it up a minute after it was rotated.
// Whoever has the old secret would else be let in as long as the process lives.
func TestTheSecretBeforeCountsNoMore(t *testing.T) {
	b := newBench(t)
	if err := b.verify(0); err != nil {
		t.Fatal(err)
	}
	b.secret = "0000000000000000000000000000001f" // rotated; the requests are signed with the one before
	if err := b.verify(59 * time.Second); err != nil || b.reads != 1 {
		t.Errorf("within the minute: %v, %d reads", err, b.reads)
	}
	for range 20 {
		if err := b.verify(time.Minute); !forged(err) || b.reads != 2 {
			t.Fatalf("the old secret fits still: %v, %d reads", err, b.reads)
		}
	}
	if err := b.verify(-time.Hour); !forged(err) || b.reads != 3 {
		t.Errorf("after the clock was set back: %v, %d reads", err, b.reads)
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
	if err := wrong(4 * time.Minute); !errors.Is(err, slackapi.ErrNoSigning) {
		t.Errorf("got %v", err)
	}
	if err := b.verify(4 * time.Minute); !errors.Is(err, slackapi.ErrNoSigning) {
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

// TestASecretThatCannotBeReadIsKeptForAnHour: an outage of Secrets Manager stops
// nobody, and a permission that is gone does not make a secret good for ever.
func TestASecretThatCannotBeReadIsKeptForAnHour(t *testing.T) {
	b := newBench(t)
	if err := b.verify(0); err != nil {
		t.Fatal(err)
	}
	denied := errors.New("AccessDeniedException")
	b.secretErr = denied
	for minute := range 60 {
		if err := b.verify(time.Duration(minute) * time.Minute); err != nil {
			t.Fatalf("minute %d: %v", minute, err)
		}
	}
	if err := b.verify(time.Hour); !errors.Is(err, denied) {
		t.Errorf("after an hour: %v", err)
	}
	b.secretErr = nil
	if err := b.verify(time.Hour + lookAgain); err != nil {
		t.Errorf("when it can be read again: %v", err)
	}
}
