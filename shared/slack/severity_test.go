package slack

import (
	"testing"

	"rollcall/shared/incident"
)

// The colour of a message and the severity by which people are called are one
// judgement.
func TestColourIsSeverity(t *testing.T) {
	for _, s := range scenes() {
		colour, _ := verdict(s.incident)
		want := incident.Info
		switch colour {
		case red:
			want = incident.Critical
		case orange:
			want = incident.Warning
		}
		if got := s.incident.Severity(); got != want {
			t.Errorf("%s is %s and %s", s.name, colour, got)
		}
	}
}
