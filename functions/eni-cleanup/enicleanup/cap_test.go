package enicleanup

import (
	"context"
	"errors"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/event"
	"rollcall/shared/network/leak"
)

// TestCapOfARun: the cap is the run's, not each VPC's.
func TestCapOfARun(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_CAP": "2"}})
	for range 5 {
		s.make(s.left())
	}
	s.sweep()
	s.Advance(cadence)
	h := assemble(s.Env(), readerOf(s.Env()))
	r := &tour{handler: h, work: t.Context(), id: "run", left: h.limit}
	for range 3 { // the same VPC stands for three
		places, err := h.places(t.Context(), event.Trigger{})
		if err != nil || len(places) != 1 {
			t.Fatal(places, err)
		}
		if err := r.clean(t.Context(), places[0]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.audits()); n != 2 {
		t.Errorf("%d deleted in three VPCs by a run that may delete 2", n)
	}
}

// newer has sightings of which some were written by a newer version.
type newer struct{ Memory }

func (n newer) Sightings(ctx context.Context, vpc string) (map[string]leak.Sighting, error) {
	list, err := n.Memory.Sightings(ctx, vpc)
	return list, errors.Join(err, errors.New("written by a newer version"))
}

// TestSightingsUnread: what cannot be read of them may hold an interface back,
// or be a delete on its way: none of the others is deleted either.
func TestSightingsUnread(t *testing.T) {
	s := open(t, stagetest.Options{})
	id := s.make(s.left())
	s.sweep()
	s.sent()
	for range 3 {
		s.Advance(cadence)
		h := assemble(s.Env(), readerOf(s.Env()))
		h.memory = newer{h.memory}
		if _, err := h.handle(t.Context(), s.Sweep()); err == nil {
			t.Error("that the sightings could not be read is no error")
		}
	}
	if obs, _ := s.sent(); !s.there(id) || len(s.audits()) > 0 || len(obs) != 3 {
		t.Errorf("it is there: %v; records %v; %d observations", s.there(id), s.audits(), len(obs))
	}
}
