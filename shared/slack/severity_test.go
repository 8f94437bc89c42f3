package slack

import (
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
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

// TestVerdictWhereNoLaunchMetIt: a cause that keeps pods of Ready nodes from starting does
// not foretell what launches will do.
func TestVerdictWhereNoLaunchMetIt(t *testing.T) {
	const title = "metadata of i-0a is out of pods' reach"
	for _, x := range []struct {
		sure checks.Confidence
		pods []string
		want string
	}{
		{checks.Likely, nil, "new instances will probably not join: " + title},
		{checks.Possible, nil, "new instances may not join: " + title},
		{checks.Likely, []string{"shop/web-0"}, "pods wait on Ready nodes: " + title},
		{checks.Certain, []string{"shop/web-0", "shop/web-1"}, "pods wait on Ready nodes: " + title},
	} {
		i := incident.Incident{State: incident.Open, Number: 1, Key: report.Key{Cluster: "prod", Check: checkid.InstanceIMDS, Resource: "lt-0a"}}
		i.Cause.Title, i.Cause.Confidence, i.Cause.Pods = title, x.sure, x.pods
		if colour, got := verdict(i); got != x.want || colour != orange {
			t.Errorf("%s, %d pods: %s %q, want %q", x.sure, len(x.pods), colour, got, x.want)
		}
	}
}
