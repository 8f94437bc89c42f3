package incident_test

import (
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

func TestSeverity(t *testing.T) {
	with := func(check checks.ID, c checks.Confidence, standings ...report.LaunchStatus) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, State: incident.Open, Affected: len(standings)}
		inc.Cause.Confidence = c
		for _, s := range standings {
			inc.Launches = append(inc.Launches, report.Launch{Status: s})
		}
		return inc
	}
	in := func(inc incident.Incident, s incident.State, e incident.Resolution) incident.Incident {
		inc.State, inc.Resolution = s, e
		return inc
	}
	short := with(checkid.IPLeakedInterfaces, checks.Certain)
	short.Effects = []incident.Effect{{Check: checkid.IPSubnetExhausted, Told: incidenttest.At(1)}}
	foreseen := with(checkid.IPLeakedInterfaces, checks.Certain)
	foreseen.Effects = []incident.Effect{{Check: checkid.IPRunway, Told: incidenttest.At(1)}}
	starved := with(checkid.IPLeakedInterfaces, checks.Certain, report.Joined, report.Joined)
	starved.Effects = short.Effects
	waited := with("zone/nodegroup-gap", checks.Certain)
	waited.Cause.Pods = []string{"redash/redis-0"}
	unlikely, advised := waited, waited
	unlikely.Cause.Confidence, advised.Cause.Confidence = checks.Likely, checks.Advice
	crowd := with("route/no-egress", checks.Certain, report.Joined)
	crowd.Affected = 500
	unnamed := with("dns/dhcp-options", checks.Likely)
	unnamed.Affected = 5
	idle := with("launch/unauthorized", checks.Certain)
	idle.Cause.Idle = true
	half := with("launch/subnet-full", checks.Certain, report.Joined, report.Missed)
	effectOf := func(check, effect checks.ID) incident.Incident {
		inc := with(check, checks.Certain)
		inc.Effects = []incident.Effect{{Check: effect, Told: incidenttest.At(1)}}
		return inc
	}
	past := effectOf(checkid.IPLeakedInterfaces, checkid.IPSubnetExhausted)
	past.Effects[0].Over = incidenttest.At(2)
	podsOf := with("ip/runway", checks.Likely)
	podsOf.Cause.Pods = waited.Cause.Pods
	for name, test := range map[string]struct {
		inc  incident.Incident
		want incident.Severity
	}{
		"likely, and none is named":                {unnamed, incident.Critical},
		"one launch of two came":                   {half, incident.Critical},
		"all that is ahead of a leak: a leak":      {effectOf(checkid.IPRunway, checkid.IPLeakedInterfaces), incident.Warning},
		"all that is ahead of a leak: a scale-out": {effectOf(checkid.IPLeakedInterfaces, checkid.IPScaleOutWillNotFit), incident.Warning},
		"all that is ahead of a leak: its cause":   {effectOf(checkid.IPLeakedInterfaces, "ip/leak-cause"), incident.Warning},
		"an effect of what is no address":          {effectOf("route/no-egress", checkid.IPSubnetExhausted), incident.Warning},
		"a leak that had reached launches":         {past, incident.Warning},
		"pods that wait for no zone":               {podsOf, incident.Warning},
		"open again after it was given up on":      {in(with("route/no-egress", checks.Advice), incident.Open, incident.GivenUpOn), incident.Info},
		"certain, not due yet":                     {with("route/no-egress", checks.Certain, report.Waiting), incident.Critical},
		"likely, not due yet":                      {with("dns/dhcp-options", checks.Likely, report.Waiting), incident.Warning},
		"possible, not due yet":                    {with("dns/dhcp-options", checks.Possible, report.Waiting), incident.Warning},
		"symptom, not due yet":                     {with("node/not-registered", checks.Symptom, report.Waiting), incident.Warning},
		"possible, missed":                         {with("dns/dhcp-options", checks.Possible, report.Missed, report.Waiting), incident.Critical},
		"symptom, missed":                          {with("node/not-registered", checks.Symptom, report.Missed), incident.Critical},
		"a standing that nobody knows":             {with("dns/dhcp-options", checks.Likely, "lost"), incident.Critical},
		"all joined":                               {with("route/no-egress", checks.Certain, report.Joined), incident.Warning},
		"one joined, the rest not named":           {crowd, incident.Critical},
		"nobody affected":                          {with("route/no-egress", checks.Certain), incident.Warning},
		"advice":                                   {with("route/no-egress", checks.Advice, report.Missed), incident.Info},
		"ended early":                              {with(checkid.InstanceEndedEarly, checks.Certain, report.Gone), incident.Critical},
		"cannot look":                              {with(incident.CannotLook, checks.Possible), incident.Warning},
		"launches refused that nothing waits for":  {idle, incident.Warning},
		"launches refused, no instance":            {with("launch/subnet-full", checks.Certain), incident.Critical},
		"addon degraded":                           {with("addon/degraded", checks.Certain), incident.Warning},
		"a leak that reached launches":             {short, incident.Critical},
		"a leak that is only foreseen":             {foreseen, incident.Warning},
		"nodes joined, and none is left":           {starved, incident.Critical},
		"all joined, of a leak":                    {with(checkid.IPLeakedInterfaces, checks.Certain, report.Joined), incident.Warning},
		"launches that came in the end":            {with("launch/subnet-full", checks.Certain, report.Joined), incident.Warning},
		"a pod waits for a zone":                   {waited, incident.Critical},
		"a pod may wait for a zone":                {unlikely, incident.Critical},
		"a zone, and advice":                       {advised, incident.Info},
		"a zone, and nobody waits":                 {with("zone/nodegroup-gap", checks.Likely), incident.Warning},
		"a pod waits, it is over":                  {in(waited, incident.Closed, incident.Proved), incident.Info},
		"cleared":                                  {in(with("route/no-egress", checks.Certain, report.Missed), incident.Cleared, ""), incident.Info},
		"proved":                                   {in(with("route/no-egress", checks.Certain, report.Missed), incident.Closed, incident.Proved), incident.Info},
		"given up on":                              {in(with("node/not-ready", checks.Symptom, report.GivenUp), incident.Closed, incident.GivenUpOn), incident.Critical},
	} {
		if got := test.inc.Severity(); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
