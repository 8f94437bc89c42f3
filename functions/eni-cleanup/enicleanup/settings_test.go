package enicleanup

import (
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
)

// handleWith lets a quarter of an hour pass, and runs a function with other
// settings over the same world and table.
func (s *harness) handleWith(change func(*handler)) {
	s.t.Helper()
	s.Advance(cadence)
	s.handleNow(change, 0)
}

// handleNow runs it with a clock that is wrong by so much.
func (s *harness) handleNow(change func(*handler), wrong time.Duration) {
	s.t.Helper()
	e := s.Env()
	right := e.Now
	e.Now = func() time.Time { return right().Add(wrong) }
	h := assemble(e, readerOf(e))
	if change != nil {
		change(&h)
	}
	if _, err := h.handle(s.t.Context(), s.Sweep()); err != nil {
		s.t.Fatal(err)
	}
}

func in(mode leak.Mode) func(*handler) {
	return func(c *handler) { c.modes = func(string) leak.Mode { return mode } }
}

// TestModeChanges: what was seen in mode report may be deleted by the first run
// in mode delete; back in report nothing is; a cluster that is no longer
// watched is another's.
func TestModeChanges(t *testing.T) {
	s := open(t, stagetest.Options{})
	first := s.make(s.left())
	s.handleWith(in(leak.Report))
	s.handleWith(in(leak.Report))
	if !s.there(first) {
		t.Fatal("deleted in mode report")
	}
	s.handleWith(in(leak.Delete))
	if s.there(first) || len(s.audits()) != 1 || len(s.told()) != 1 {
		t.Errorf("there: %v, %d records", s.there(first), len(s.audits()))
	}
	second := s.make(s.left())
	s.handleWith(in(leak.Delete))
	s.handleWith(in(leak.Report))
	s.handleWith(func(c *handler) { c.Clusters = []string{"another"} })
	s.handleWith(func(c *handler) { c.Clusters = []string{} })
	s.handleWith(func(c *handler) { c.limit = 0 })
	s.handleWith(func(c *handler) { c.share = 0 })
	if !s.there(second) || len(s.audits()) != 1 {
		t.Errorf("there: %v, %d records", s.there(second), len(s.audits()))
	}
}

// TestWrongClocks: a clock that is wrong, either way, deletes nothing early,
// and once it is right nothing is held back for long.
func TestWrongClocks(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"an hour back": -time.Hour, "a year back": -365 * 24 * time.Hour, "an hour ahead": time.Hour, "a year ahead": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			id := s.make(s.left())
			s.Advance(cadence)
			s.handleNow(nil, wrong)
			s.handleNow(nil, wrong)
			if !s.there(id) {
				t.Fatal("deleted by the run that saw it first")
			}
			for range 3 {
				s.handleWith(nil)
			}
			if s.there(id) || len(s.audits()) != 1 {
				t.Errorf("with the right time it is held back; %d records", len(s.audits()))
			}
		})
	}
	// One run's clock goes back after the other's was right.
	s := open(t, stagetest.Options{})
	id := s.make(s.left())
	s.handleWith(nil)
	s.Advance(cadence)
	s.handleNow(nil, -time.Hour)
	if !s.there(id) {
		t.Error("deleted by a run that was before the one that saw it first")
	}
}

// TestStrangers: an operator who says that all of a VPC is watched is wrong
// where an interface names another cluster, even one that is attached: by the
// VPC CNI's tag, or in the words of a control plane, which bears none.
func TestStrangers(t *testing.T) {
	for name, theirs := range map[string]made{
		"a node's":          {description: "theirs", tags: map[string]string{leak.TagCluster: "theirs"}, subnet: subnet},
		"the control plane": {description: "Amazon EKS theirs", subnet: subnet},
	} {
		t.Run(name, func(t *testing.T) { strangers(t, theirs) })
	}
}

func strangers(t *testing.T, theirs made) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": vpc}})
	m := s.left()
	delete(m.tags, leak.TagCluster)
	untagged, named := s.make(m), s.make(s.left())
	stranger := s.make(theirs)
	s.taken(stranger)
	for range 4 {
		s.sweep()
	}
	if !s.there(untagged) || s.there(named) {
		t.Errorf("there: untagged %v, want it; of the cluster %v, want it gone", s.there(untagged), s.there(named))
	}
	_, summaries := s.sent()
	if len(summaries) != 1 || summaries[0].Cleanup.Kept[string(leak.Strangers)] != 1 {
		t.Errorf("summaries %+v", summaries)
	}
	s.others("ec2:DetachNetworkInterface", `{"AttachmentId":"`+s.attachment(stranger)+`"}`)
	s.others("ec2:DeleteNetworkInterface", `{"NetworkInterfaceId":"`+stranger+`"}`)
	for range 2 {
		s.sweep()
	}
	if s.there(untagged) {
		t.Error("it is still there after the other cluster is gone")
	}
}

// TestStopIsOverWhenItIs: that the cleanup goes on is told once it does, even
// if nothing is deleted; a new day does not end a stop.
func TestStopIsOverWhenItIs(t *testing.T) {
	s := open(t, stagetest.Options{})
	s.make(s.left())
	s.sweep()
	s.sweep()
	if len(s.audits()) != 1 {
		t.Fatal("nothing was deleted before the stop")
	}
	for range 10 {
		s.make(s.left())
	}
	little := func(c *handler) { c.share = 1 }
	s.Advance(8*time.Hour + 15*time.Minute - cadence) // until a quarter of an hour before midnight
	s.handleWith(little)
	s.sent()
	for range 3 { // past midnight
		s.handleWith(little)
	}
	_, summaries := s.sent()
	for _, x := range summaries {
		if x.Cleanup.Stopped == nil {
			t.Errorf("%s is told without a stop while the cleanup is stopped", x.ID)
		}
	}
	if len(summaries) != 1 {
		t.Errorf("%d summaries of the new day, want the stop", len(summaries))
	}
	for range 2 {
		s.handleWith(func(c *handler) { c.limit = 0 })
	}
	_, summaries = s.sent()
	var over []string
	for _, x := range summaries {
		if x.Cleanup.Stopped == nil {
			over = append(over, x.Cleanup.Day.Format(time.DateOnly))
		}
	}
	if len(over) != 2 || over[0] != "2026-11-20" || over[1] != "2026-11-21" {
		t.Errorf("told that it goes on: %v, want once for each day", over)
	}
}
