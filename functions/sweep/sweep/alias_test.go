package sweep

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// said is an account that tells its alias, and remembers what was written of it.
type said struct {
	alias  string
	denied bool
	failed *snapshot.Failure
	asked  int
	saved  []string
	known  store.Alias
	err    error
}

func (s *said) ask(context.Context) (string, bool, *snapshot.Failure) {
	s.asked++
	return s.alias, s.denied, s.failed
}

func (s *said) Alias(context.Context) (store.Alias, bool, error) {
	return s.known, !s.known.At.IsZero(), nil
}

func (s *said) SaveAlias(_ context.Context, a store.Alias) error {
	if s.err == nil {
		s.saved, s.known = append(s.saved, a.Alias), a
	}
	return s.err
}

// The alias is asked for once a day, whichever process has the tick; where there is none, what
// did not answer or could not be written is tried again in an hour. What did not answer
// writes nothing over what was known; that it is denied is written: people then see the
// account's number.
func TestAliasIsAskedOnceADay(t *testing.T) {
	for name, x := range map[string]struct {
		said
		again  time.Duration
		writes string
	}{
		"told":              {said{alias: "shop"}, 24 * time.Hour, "shop"},
		"none":              {said{}, time.Hour, ""},
		"denied":            {said{denied: true}, time.Hour, ""},
		"no answer":         {said{failed: &snapshot.Failure{Call: "iam:ListAccountAliases", Reason: snapshot.TimedOut}}, time.Hour, "-"},
		"could not be kept": {said{alias: "shop", err: errors.New("throttled")}, time.Hour, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnit(fine)
			u.naming = &naming{ask: x.ask, names: &x.said}
			u.alias(t.Context())
			u.alias(t.Context())
			if x.known.At == u.now { // what another process of the function does
				u.naming = &naming{ask: x.ask, names: &x.said}
				u.alias(t.Context())
			}
			u.now = u.now.Add(x.again - time.Second)
			u.alias(t.Context())
			if x.asked != 1 {
				t.Errorf("asked %d times within %s", x.asked, x.again)
			}
			u.now = u.now.Add(time.Second)
			u.alias(t.Context())
			if x.asked != 2 {
				t.Errorf("asked %d times, want again after %s", x.asked, x.again)
			}
			want := []string{x.writes, x.writes}
			if x.writes == "-" {
				want = nil
			}
			if strings.Join(x.said.saved, ",") != strings.Join(want, ",") || len(x.said.saved) != len(want) {
				t.Errorf("written %q, want %q", x.said.saved, want)
			}
		})
	}
}

const listAliases = "iam:ListAccountAliases"

// A hub alone asks for no alias, nor one whose account the settings name; where other
// accounts are watched it is asked for with a tick, by the function's own permission, and
// never again with the next; that it is refused fails no tick.
func TestAliasOfTheHubsOwn(t *testing.T) {
	const over = "IAM: {AccountAliases: [acme-shop]}"
	for name, x := range map[string]struct {
		spokes string
		deny   bool
		asked  int
		known  bool
		alias  string
	}{
		"alone":             {spokes: "none"},
		"alone, named":      {spokes: "111122223333/us-west-2=platform"},
		"named":             {spokes: "111122223333/us-west-2=platform,222233334444/us-west-2=payments"},
		"one beside others": {spokes: "222233334444/us-west-2=payments", asked: 1, known: true, alias: "acme-shop"},
		"denied":            {spokes: "222233334444/us-west-2=payments", deny: true, asked: 1, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{Over: over, Settings: map[string]string{"ROLLCALL_SPOKES": x.spokes, "ROLLCALL_EXTERNAL_ID": "rollcall-stage-1"}}
			if x.deny {
				o.Faults = []simaws.FaultRule{{Call: listAliases, Deny: true}}
			}
			b := bench(t, o)
			for range 2 {
				if _, err := b.Handle(b.Schedule()); err != nil {
					t.Fatal(err)
				}
			}
			if n := b.Calls()[listAliases]; n != x.asked {
				t.Errorf("asked %d times, want %d", n, x.asked)
			}
			a, known, err := b.Store.Alias(t.Context())
			if err != nil || known != x.known || a.Alias != x.alias {
				t.Errorf("written: %t, %q, %v; want %t, %q", known, a.Alias, err, x.known, x.alias)
			}
		})
	}
}
