package report

import (
	"testing"

	"rollcall/shared/checks"
)

func TestSeverity(t *testing.T) {
	with := func(check checks.ID, c checks.Confidence, standings ...Standing) Incident {
		inc := Incident{Key: Key{Check: check}, State: Open, Affected: len(standings)}
		inc.Cause.Confidence = c
		for _, s := range standings {
			inc.Launches = append(inc.Launches, Launch{Standing: s})
		}
		return inc
	}
	in := func(inc Incident, s State, e Ending) Incident { inc.State, inc.Ending = s, e; return inc }
	short := with(leakedInterfaces, checks.Certain)
	short.Effects = []Effect{{Check: subnetExhausted, Told: at(1)}}
	foreseen := with(leakedInterfaces, checks.Certain)
	foreseen.Effects = []Effect{{Check: runway, Told: at(1)}}
	starved := with(leakedInterfaces, checks.Certain, Joined, Joined)
	starved.Effects = short.Effects
	waited := with("zone/nodegroup-gap", checks.Certain)
	waited.Cause.Pods = []string{"redash/redis-0"}
	unlikely, advised := waited, waited
	unlikely.Cause.Confidence, advised.Cause.Confidence = checks.Likely, checks.Advice
	crowd := with("route/no-egress", checks.Certain, Joined)
	crowd.Affected = 500
	for name, test := range map[string]struct {
		inc  Incident
		want Severity
	}{
		"certain, not due yet":           {with("route/no-egress", checks.Certain, Waiting), Critical},
		"likely, not due yet":            {with("dns/dhcp-options", checks.Likely, Waiting), Warning},
		"possible, not due yet":          {with("dns/dhcp-options", checks.Possible, Waiting), Warning},
		"symptom, not due yet":           {with("node/not-registered", checks.Symptom, Waiting), Warning},
		"possible, missed":               {with("dns/dhcp-options", checks.Possible, Missed, Waiting), Critical},
		"symptom, missed":                {with("node/not-registered", checks.Symptom, Missed), Critical},
		"a standing that nobody knows":   {with("dns/dhcp-options", checks.Likely, "lost"), Critical},
		"all joined":                     {with("route/no-egress", checks.Certain, Joined), Warning},
		"one joined, the rest not named": {crowd, Critical},
		"nobody affected":                {with("route/no-egress", checks.Certain), Warning},
		"advice":                         {with("route/no-egress", checks.Advice, Missed), Info},
		"ended early":                    {with(endedEarly, checks.Certain, Gone), Critical},
		"cannot look":                    {with(CannotLook, checks.Possible), Warning},
		"launches refused, no instance":  {with("launch/subnet-full", checks.Certain), Critical},
		"addon degraded":                 {with("addon/degraded", checks.Certain), Warning},
		"a leak that reached launches":   {short, Critical},
		"a leak that is only foreseen":   {foreseen, Warning},
		"nodes joined, and none is left": {starved, Critical},
		"all joined, of a leak":          {with(leakedInterfaces, checks.Certain, Joined), Warning},
		"launches that came in the end":  {with("launch/subnet-full", checks.Certain, Joined), Warning},
		"a pod waits for a zone":         {waited, Critical},
		"a pod may wait for a zone":      {unlikely, Critical},
		"a zone, and advice":             {advised, Info},
		"a zone, and nobody waits":       {with("zone/nodegroup-gap", checks.Likely), Warning},
		"a pod waits, it is over":        {in(waited, Closed, Proved), Info},
		"cleared":                        {in(with("route/no-egress", checks.Certain, Missed), Cleared, ""), Info},
		"proved":                         {in(with("route/no-egress", checks.Certain, Missed), Closed, Proved), Info},
		"given up on":                    {in(with("node/not-ready", checks.Symptom, GivenUp), Closed, GivenUpOn), Critical},
	} {
		if got := test.inc.Severity(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
