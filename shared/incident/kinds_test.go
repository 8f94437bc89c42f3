package incident_test

import (
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

func TestChecksOfAddresses(t *testing.T) {
	type is struct{ shortage, starvation, addresses bool }
	for check, want := range map[checks.ID]is{
		checkid.IPLeakedInterfaces:     {addresses: true},
		checkid.IPRunway:               {addresses: true},
		checkid.IPSubnetExhausted:      {shortage: true, addresses: true},
		checkid.SpotBurstExceedsSubnet: {shortage: true, addresses: true},
		checkid.LaunchSubnetFull:       {shortage: true, addresses: true},
		checkid.NodeCNINotReady:        {starvation: true},
		checkid.NodeNotReady:           {starvation: true},
		"route/no-egress":              {},
		"spot/pool-failing":            {},
	} {
		if got := (is{incident.IsShortage(check), incident.IsStarvationSymptom(check), incident.OfAddresses(check)}); got != want {
			t.Errorf("%s: %+v, want %+v", check, got, want)
		}
	}
}

// What needs no node as a proof.
func TestByItself(t *testing.T) {
	for check, want := range map[checks.ID][2]bool{ // with nobody affected, and with one instance
		"zone/nodegroup-gap":         {true, true},
		"addon/degraded":             {true, true},
		"cluster/health":             {true, true},
		"nodegroup/status":           {true, true},
		"spot/pool-failing":          {true, true},
		"spot/other":                 {false, false},
		"route/no-egress":            {false, false},
		checkid.IPLeakedInterfaces:   {true, false},
		checkid.IPSubnetExhausted:    {false, false},
		incident.CannotLook:          {false, false},
		"launch/subnet-full":         {false, false},
		"node/cni-not-ready":         {false, false},
		"instance/ended-early":       {false, false},
		"spot/burst-exceeds-subnet":  {false, false},
		"ip/scale-out-will-not-fit":  {true, false},
		"nodegroups/of-another-name": {false, false},
	} {
		for affected, want := range want {
			if got := (incident.Incident{Key: report.Key{Check: check}, Affected: affected}).ByItself(); got != want {
				t.Errorf("%s, %d affected: %t", check, affected, got)
			}
		}
	}
}

// A cause of pods on Ready nodes has no launch to wait for, until one fails for it too.
func TestPodsNeedNoNode(t *testing.T) {
	pods := diagnose.Cause{Check: checkid.InstanceMaxPods, Symptoms: []checks.ID{checkid.IPPodWithoutAddress}}
	for affected, want := range []bool{true, false} {
		inc := incident.Incident{Key: report.Key{Check: pods.Check}, Cause: pods, Affected: affected}
		if got := inc.ByItself(); got != want {
			t.Errorf("%d launches affected: %t", affected, got)
		}
	}
}

func TestExplains(t *testing.T) {
	for _, test := range []struct {
		check      checks.ID
		confidence checks.Confidence
		want       bool
	}{
		{"route/no-egress", checks.Certain, true},
		{"route/no-egress", checks.Likely, true},
		{"route/no-egress", checks.Possible, false},
		{"node/not-ready", checks.Symptom, false},
		{"route/no-egress", checks.Advice, false},
		{incident.CannotLook, checks.Certain, false},
	} {
		inc := incident.Incident{Key: report.Key{Check: test.check}}
		inc.Cause.Confidence = test.confidence
		if got := inc.Explains(); got != test.want {
			t.Errorf("%s, %s: %t", test.check, test.confidence, got)
		}
	}
}

// An incident has another picture where it is elsewhere in its life, and a new one
// each time it opens.
func TestPhaseOfAPicture(t *testing.T) {
	with := func(check checks.ID, number int, state incident.State, c checks.Confidence, end incident.Resolution) incident.Incident {
		inc := incident.Incident{Key: report.Key{Check: check}, Number: number, State: state, Resolution: end}
		inc.Cause.Confidence = c
		return inc
	}
	const ip = checkid.IPLeakedInterfaces
	for _, test := range []struct {
		inc  incident.Incident
		want string
	}{
		{with(ip, 1, incident.Open, checks.Certain, ""), "1 open short"},
		{with(ip, 1, incident.Open, checks.Likely, ""), "1 open"},
		{with(ip, 2, incident.Cleared, checks.Certain, ""), "2 cleared"},
		{with(ip, 2, incident.Closed, checks.Certain, incident.Proved), "2 proved"},
		{with(ip, 2, incident.Closed, checks.Likely, incident.Unproved), "2 unproved"},
		{with(ip, 2, incident.Closed, checks.Likely, incident.Withdrawn), ""},
		{with(ip, 2, incident.Pending, checks.Likely, incident.Proved), ""},
		{with(ip, 2, incident.Pending, checks.Certain, ""), ""},
		{with(ip, 0, incident.Open, checks.Certain, ""), ""},
		{with("route/no-egress", 1, incident.Open, checks.Certain, ""), ""},
	} {
		if got := test.inc.Phase(); got != test.want {
			t.Errorf("%s, %s %s, the time %d: %q, want %q", test.inc.Key.Check, test.inc.State, test.inc.Resolution, test.inc.Number, got, test.want)
		}
	}
}

func TestPicturesAndFilesThatWait(t *testing.T) {
	var none *incident.Chart
	for name, test := range map[string]struct {
		chart *incident.Chart
		want  bool
	}{
		"none":              {none, false},
		"drawn":             {&incident.Chart{PNG: []byte("p")}, true},
		"given to Slack":    {&incident.Chart{Next: "F1"}, true},
		"shown":             {&incident.Chart{File: "F1"}, false},
		"a new one drawn":   {&incident.Chart{PNG: []byte("p"), File: "F1"}, true},
		"there can be none": {&incident.Chart{Missing: "no room", PNG: []byte{}}, false},
	} {
		if got := test.chart.Due(); got != test.want {
			t.Errorf("a picture, %s: %t", name, got)
		}
	}
	sent := incident.Note{ID: "opened", Count: 3}.SentShortened("1.2")
	if sent.TS != "1.2" || sent.ID != "opened" || sent.Count != 3 || !sent.Owes() || sent.Attach.Tries != 0 {
		t.Errorf("shortened: %+v", sent)
	}
	if (incident.Note{Attach: &incident.Attach{}}).Owes() {
		t.Error("it owes a file to what Slack does not have")
	}
	if (incident.Note{TS: "1.2"}).Owes() {
		t.Error("what was not shortened owes a file")
	}
}

// A cause that no check confirms any more is not there.
func TestEffects(t *testing.T) {
	at := incidenttest.At
	for name, test := range map[string]struct {
		e    incident.Effect
		want bool
	}{
		"seen":                               {incident.Effect{Last: at(1)}, true},
		"told to belong":                     {incident.Effect{Told: at(1)}, true},
		"told to be apart":                   {incident.Effect{Told: at(1), Apart: true}, false},
		"told to be apart, and seen since":   {incident.Effect{Told: at(1), Apart: true, Last: at(2)}, true},
		"seen, and told to be apart since":   {incident.Effect{Told: at(2), Apart: true, Last: at(1)}, false},
		"it passed":                          {incident.Effect{Told: at(1), Over: at(2)}, false},
		"it passed, and was seen again":      {incident.Effect{Told: at(1), Over: at(2), Last: at(3)}, true},
		"it passed, and was told of again":   {incident.Effect{Last: at(1), Over: at(2), Told: at(3)}, true},
		"seen at the minute in which it was": {incident.Effect{Last: at(2), Over: at(2)}, true},
	} {
		if got := test.e.Here(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	var inc incident.Incident
	for i, check := range []checks.ID{"ip/c", "ip/a", "ip/b", "ip/a"} {
		e, known := inc.EffectOf(check)
		if known != (i == 3) || e.Check != check || e != &inc.Effects[map[checks.ID]int{"ip/a": 0, "ip/b": min(i, 1), "ip/c": 0}[check]] {
			t.Errorf("%s, known %t: %+v of %+v", check, known, e, inc.Effects)
		}
		e.Title = string(check)
	}
	for _, check := range []checks.ID{"ip/a", "ip/b", "ip/c", "ip/d"} {
		want := check != "ip/d"
		if e, known := inc.KnownEffect(check); known != want || want && e.Title != string(check) || !want && e != (incident.Effect{}) {
			t.Errorf("%s: %+v, known %t", check, e, known)
		}
	}
	if len(inc.Effects) != 3 {
		t.Errorf("%+v", inc.Effects)
	}
}
