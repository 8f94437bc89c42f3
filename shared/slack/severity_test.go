package slack

import (
	"testing"

	"rollcall/shared/report"
)

// The colour of a message and the severity by which people are called are one
// judgement.
func TestColourIsSeverity(t *testing.T) {
	for _, s := range scenes() {
		colour, _ := verdict(s.incident)
		want := report.Info
		switch colour {
		case red:
			want = report.Critical
		case orange:
			want = report.Warning
		}
		if got := s.incident.Severity(); got != want {
			t.Errorf("%s is %s and %s", s.name, colour, got)
		}
	}
}
