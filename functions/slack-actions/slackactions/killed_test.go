package slackactions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
)

// errKilled stands for the end of the process.
var errKilled = errors.New("the process ended")

// killedAt ends the process at its n-th write: before it, or after it took
// effect. It panics, as nothing of the function runs after that.
type killedAt struct {
	*bench
	write int // counted from 0; negative: never
	after bool
	names []string // of the writes so far
}

func (k *killedAt) at(name string, do func() error) error {
	n := len(k.names)
	k.names = append(k.names, name)
	if n == k.write && !k.after {
		panic(errKilled)
	}
	err := do()
	if n == k.write {
		panic(errKilled)
	}
	return err
}

func (k *killedAt) ClaimPress(ctx context.Context, id, by string) (first bool, err error) {
	err = k.at("ClaimPress", func() error { first, err = k.bench.ClaimPress(ctx, id, by); return err })
	return first, err
}

func (k *killedAt) PassPress(ctx context.Context, id, by, digest string) error {
	return k.at("PassPress", func() error { return k.bench.PassPress(ctx, id, by, digest) })
}

func (k *killedAt) SendPress(ctx context.Context, m report.PressMessage) error {
	return k.at("SendPress", func() error { return k.bench.SendPress(ctx, m) })
}

func (k *killedAt) RecordRefusal(ctx context.Context, r interaction.Record) (created bool, err error) {
	err = k.at("RecordRefusal", func() error { created, err = k.bench.RecordRefusal(ctx, r); return err })
	return created, err
}

// invoke calls the function, and tells whether it was killed.
func (k *killedAt) invoke(r events.LambdaFunctionURLRequest) (status int, killed bool) {
	k.t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		k.t.Fatal(err)
	}
	h := k.handler
	h.once, h.send = k, k
	h.audit = &audit{store: k, log: h.log, metrics: k.audit.metrics, told: map[interaction.Reason]*tally{}}
	defer func() {
		switch p := recover(); p {
		case nil:
		case errKilled:
			killed = true
		default:
			panic(p)
		}
	}()
	out, err := h.handle(k.t.Context(), raw)
	if err != nil {
		k.t.Fatal(err)
	}
	return out.(events.LambdaFunctionURLResponse).StatusCode, false
}

// TestKilledAtEachWrite: wherever the function ends, what was pressed is passed
// on once at most by that request, also if the request comes again, and the
// person, who sees Slack's warning sign and presses again, is heard.
func TestKilledAtEachWrite(t *testing.T) {
	undisturbed := &killedAt{bench: newBench(t), write: -1}
	undisturbed.invoke(undisturbed.request(undisturbed.body("acknowledge", undisturbed.value(""), "one")))
	if diff := cmp.Diff([]string{"ClaimPress", "PassPress", "SendPress"}, undisturbed.names); diff != "" {
		t.Fatalf("writes (-want +got):\n%s", diff)
	}
	for n, name := range undisturbed.names {
		for _, after := range []bool{false, true} {
			k := &killedAt{bench: newBench(t), write: n, after: after}
			what := name + ", before"
			if after {
				what = name + ", after"
			}
			request := k.request(k.body("acknowledge", k.value(""), "one"))
			if _, killed := k.invoke(request); !killed {
				t.Fatalf("%s: not killed", what)
			}
			k.write = -1
			first := len(k.sent)
			if want := count(name == "SendPress" && after); first != want {
				t.Errorf("%s: %d presses sent, want %d", what, first, want)
			}

			// The same request again: somebody kept a copy of it.
			status, _ := k.invoke(request)
			taken := name == "ClaimPress" && !after // nothing was written of it
			if got := len(k.sent) - first; got != count(taken) || (status == 200) != taken {
				t.Errorf("%s, the same request again: status %d, %d presses more; want it taken: %t", what, status, got, taken)
			}

			// The person presses again.
			before := len(k.sent)
			k.wallNow = k.wallNow.Add(2 * time.Second)
			if status, _ := k.invoke(k.request(k.body("acknowledge", k.value(""), "two"))); status != 200 || len(k.sent) != before+1 {
				t.Errorf("%s, pressed again: status %d, %d presses more; want one", what, status, len(k.sent)-before)
			}
			ids := map[string]bool{}
			for _, p := range k.sent {
				if ids[p.ID] {
					t.Errorf("%s: the press %s was sent twice", what, p.ID)
				}
				ids[p.ID] = true
			}
		}
	}
}

// TestKilledAtARefusal: what is not let in is not passed on, wherever the function
// ends, and is on record once when it comes again.
func TestKilledAtARefusal(t *testing.T) {
	for _, after := range []bool{false, true} {
		k := &killedAt{bench: newBench(t), after: after}
		request := k.request(k.body("acknowledge", k.value(""), "one"))
		request.Headers["x-slack-signature"] = "v0=" + strings.Repeat("a", 64)
		if _, killed := k.invoke(request); !killed || !slices.Equal(k.names, []string{"RecordRefusal"}) {
			t.Fatalf("killed %t at %q", killed, k.names)
		}
		k.write = -1
		status, _ := k.invoke(request)
		if status != 401 || len(k.sent) != 0 || len(k.names) != 2 || k.names[1] != "RecordRefusal" {
			t.Errorf("after it took effect %t: status %d, %d presses sent, writes %q", after, status, len(k.sent), k.names)
		}
		ids := map[string]bool{}
		for _, r := range k.records {
			ids[r.Request] = true
			if r.Reason != interaction.Forged {
				t.Errorf("recorded as %s", r.Reason)
			}
		}
		if len(ids) != 1 {
			t.Errorf("after it took effect %t: %d requests on record, want the one", after, len(ids))
		}
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
