package remediate

import (
	"context"
	"errors"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
)

// brittle is a table one of whose writes fails once: before it is written, or
// with its answer lost.
type brittle struct {
	Memory
	write string
	lost  bool
	used  bool
}

var errTable = errors.New("the table does not answer")

func (b *brittle) fails(write string, lost bool) bool {
	if b.used || b.write != write || b.lost != lost {
		return false
	}
	b.used = true
	return true
}

func (b *brittle) ClaimRun(ctx context.Context, d remedy.Run) (remedy.Run, bool, error) {
	if b.fails("claim", false) {
		return remedy.Run{}, false, errTable
	}
	there, claimed, err := b.Memory.ClaimRun(ctx, d)
	if b.fails("claim", true) {
		return remedy.Run{}, false, errTable
	}
	return there, claimed, err
}

func (b *brittle) SaveRun(ctx context.Context, d remedy.Run) (remedy.Run, error) {
	if b.fails("record", false) {
		return remedy.Run{}, errTable
	}
	saved, err := b.Memory.SaveRun(ctx, d)
	if b.fails("record", true) {
		return remedy.Run{}, errTable
	}
	return saved, err
}

func (b *brittle) CountRun(ctx context.Context, d remedy.Run, most int) (room time.Time, err error) {
	if b.fails("count", false) {
		return time.Time{}, errTable
	}
	room, err = b.Memory.CountRun(ctx, d, most)
	if b.fails("count", true) {
		return time.Time{}, errTable
	}
	return room, err
}

// Whichever write of an approval's way fails, before or after it is written:
// once the queue delivers again, the run is done once at most, and what is
// recorded and told of it is what the world says.
func TestEveryWriteMayFail(t *testing.T) {
	for _, test := range []struct {
		write string
		lost  bool
		calls int
		want  action.Status
	}{
		{"count", false, 1, action.Done},
		{"count", true, 1, action.Done}, // counted once, by its id
		{"claim", false, 1, action.Done},
		{"claim", true, 0, action.Uncertain}, // it may have been done, for all that is known
		{"record", false, 1, action.Done},
		{"record", true, 1, action.Done},
	} {
		name := test.write
		if test.lost {
			name += ", its answer lost"
		}
		s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson, "ROLLCALL_REMEDY_LIMIT", "1")})
		s.approve(s.offered())
		b := &brittle{Memory: s.h.memory, write: test.write, lost: test.lost}
		s.h.memory = b
		if n := s.tell(approval); n != 1 || !b.used {
			t.Errorf("%s: %d messages came back, failed %v", name, n, b.used)
		}
		s.Advance(lease + time.Second)
		for range 2 {
			if n := s.tell(approval); n != 0 {
				t.Errorf("%s: %d messages came back: %s", name, n, s.Logs())
			}
		}
		_, runs := s.said()
		if len(runs) == 0 {
			t.Errorf("%s: nothing is told", name)
		}
		for _, d := range runs {
			if d.Result != test.want || d.ID != runs[0].ID {
				t.Errorf("%s: told %+v, want %s", name, d, test.want)
			}
		}
		kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
		if err != nil || len(kept) != 1 || kept[0].Result != test.want || kept[0].Ended.IsZero() {
			t.Errorf("%s: audit %+v, %v", name, kept, err)
		}
		if n := s.Calls()["ec2:CreateRoute"]; n != test.calls || (len(s.routes()) == 2) != (test.calls == 1) {
			t.Errorf("%s: %d calls, routes %v", name, n, s.routes())
		}
	}
}
