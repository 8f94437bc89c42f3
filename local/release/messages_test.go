package release

import (
	"encoding/json"
	"strings"
	"testing"

	"rollcall/shared/event"
	"rollcall/shared/report"
)

// resultsQueue has Rollcall's own messages; all others have events.
const resultsQueue = "rollcall-results.fifo"

// TestMessagesOfEachReleaseAreRead holds that what waited in a queue while
// Rollcall was upgraded is read, and says all that it said.
func TestMessagesOfEachReleaseAreRead(t *testing.T) {
	for _, name := range releases(t) {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]bool{}
			for _, m := range samples(t, name).Messages {
				kinds[m.Kind()] = true
				if m.Queue == resultsQueue {
					readResult(t, m)
					continue
				}
				trigger, err := event.Parse(m.Body)
				if err != nil {
					t.Errorf("%s: %v\n%s", m.Kind(), err, m.Body)
				} else if trigger.Kind == event.Foreign {
					t.Errorf("%s: nothing is done with it any more: %s", m.Kind(), trigger.Why)
				}
			}
			if len(kinds) < 15 {
				t.Errorf("samples of %d kinds of message, want at least 15: %v", len(kinds), sortedKeys(kinds))
			}
		})
	}
}

// readResult reads a message of the results queue, and compares.
func readResult(t *testing.T, m Message) {
	t.Helper()
	read, err := report.DecodeMessage(m.Body)
	if err != nil {
		t.Errorf("%s: %v", m.Kind(), err)
		return
	}
	again, err := json.Marshal(content(read))
	if err != nil {
		t.Fatal(err)
	}
	if lost := Lost(m.Body, again); len(lost) > 0 {
		t.Errorf("%s: what is read says nothing of\n%s", m.Kind(), strings.Join(lost, "\n"))
	}
}

// content is the one thing that a message holds.
func content(m report.Message) any {
	switch {
	case m.Observation != nil:
		return m.Observation
	case m.Summary != nil:
		return m.Summary
	case m.Press != nil:
		return m.Press
	case m.Proposal != nil:
		return m.Proposal
	case m.RemedyResult != nil:
		return m.RemedyResult
	case m.Changes != nil:
		return m.Changes
	}
	return nil
}
