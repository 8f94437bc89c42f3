package remediate

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/incident"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
)

// conform holds the events on Rollcall's bus against the published schema, and
// tells how many there are.
func (s *harness) conform() (n int) {
	s.t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../../events/schema/rollcall-incident.json")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range s.Events() {
		if p.Bus == "default" {
			continue
		}
		n++
		e, err := jsonschema.UnmarshalJSON(strings.NewReader(string(p.Event)))
		if err != nil {
			s.t.Fatal(err)
		}
		if err := schema.Validate(e); err != nil {
			s.t.Errorf("%s: %v", p.Event, err)
		}
	}
	return n
}

// What this function itself puts on the bus is as published.
func TestEventsConform(t *testing.T) {
	for _, x := range tales() {
		s := x.open(t, optin.Approve)
		x.press(s, x.propose(s))
		x.act(s)
		if n := s.conform(); n != 1 {
			t.Errorf("%s: %d events, want one", x.remedy, n)
		}
	}
}

// What an interrupted run left is told, but nobody is asked to look at what is over.
func TestClosedIsNotLookedAt(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	s.h.do = &executor{Executor: s.h.do, after: func(action.Result) action.Result { panic("killed") }}
	killed(s, opened)
	s.Advance(lease * 2)
	s.inc.State, s.inc.Resolved = incident.Closed, s.Now()
	s.save(s.inc)
	s.said()
	if n := s.tell("Rollcall Incident Changed"); n != 0 {
		t.Errorf("%d messages came back", n)
	}
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != action.Done || s.conform() != 0 {
		t.Errorf("runs %+v, %d events", runs, s.conform())
	}
}
