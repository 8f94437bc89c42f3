package correlate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 12, minute, 0, 0, time.UTC)
}

const (
	subnet = "subnet-0ab1"
	leak   = checkid.IPLeakedInterfaces
	empty  = checkid.IPSubnetExhausted
	runway = checkid.IPRunway
	route  = checks.ID("route/no-egress")
)

// open is an incident of a resource, seen in minute 5.
func open(check checks.ID, resource string, changes ...func(*incident.Update)) *incident.Update {
	u := &incident.Update{Incident: incident.Incident{
		Key: report.Key{Cluster: "prod", Check: check, Resource: resource}, State: incident.Open, Number: 1, Began: at(3), Opened: at(4), Seen: at(5), Covers: []string{resource},
	}}
	u.Cause = diagnose.Cause{Check: check, Resource: resource, Confidence: checks.Certain, Title: string(check)}
	for _, change := range changes {
		change(u)
	}
	return u
}

func state(s incident.State, cleared int) func(*incident.Update) {
	return func(u *incident.Update) {
		if u.State = s; cleared > 0 {
			u.Cleared = at(cleared)
		}
	}
}

func sure(c checks.Confidence) func(*incident.Update) {
	return func(u *incident.Update) { u.Cause.Confidence = c }
}

func effect(e incident.Effect) func(*incident.Update) {
	return func(u *incident.Update) { u.Effects = append(u.Effects, e) }
}

func launched(status report.LaunchStatus, ids ...string) func(*incident.Update) {
	return func(u *incident.Update) {
		for _, id := range ids {
			u.AddAffected(report.Launch{Instance: id, Subnet: subnet, Status: status})
		}
	}
}

func with(u *incident.Update, changes ...func(*incident.Update)) *incident.Update {
	c := *u
	c.Incident = u.Clone()
	for _, change := range changes {
		change(&c)
	}
	return &c
}

// look is an observation of minute 9, on its way through incidents.
func look(o report.Observation, updates ...*incident.Update) *Look {
	o.At = at(9)
	return &Look{Observation: o, Now: at(10), Policy: incident.Policy{ProofTime: time.Hour}, Updates: updates}
}

func passes(check checks.ID, covers ...string) report.Observation {
	return report.Observation{Diagnosis: diagnose.Diagnosis{Passed: []diagnose.Passed{{Check: check, Covers: covers}}}}
}

func TestWhatExplainsUnreadyNodes(t *testing.T) {
	held := diagnose.Cause{Check: leak, Confidence: checks.Certain, Resource: subnet}
	block := diagnose.Cause{Check: checkid.IPFragmented, Confidence: checks.Certain, Resource: "subnet-pods", Resources: []string{subnet}}
	own := block
	own.Resource, own.Resources = subnet, nil
	likely, other := held, held
	likely.Confidence, other.Check = checks.Likely, empty
	node := diagnose.Cause{Check: checkid.NodeNotReady}
	behind := func(ids ...checks.ID) diagnose.Cause {
		return diagnose.Cause{Check: checkid.NodeCNINotReady, Behind: append([]checks.ID{}, ids...)}
	}
	for name, test := range map[string]struct {
		cause, unready diagnose.Cause
		subnet         string
		want           bool
	}{
		"a leak in its subnet":               {held, node, subnet, true},
		"a leak elsewhere":                   {held, node, "subnet-0", false},
		"a likely leak":                      {likely, node, subnet, false},
		"a node in no known subnet":          {diagnose.Cause{Check: leak, Confidence: checks.Certain}, node, "", false},
		"what is no symptom of addresses":    {held, diagnose.Cause{Check: "node/not-registered"}, subnet, false},
		"no block in the pods' subnet":       {block, node, subnet, true},
		"no block in the node's own":         {own, node, subnet, true},
		"no block elsewhere":                 {block, node, "subnet-0", false},
		"what explains no node":              {other, node, subnet, false},
		"only a leak explains it":            {held, behind(leak), subnet, true},
		"only something else explains it":    {held, behind(checkid.IPFragmented), subnet, false},
		"nothing explains it":                {held, behind(), subnet, false},
		"only a block, and there is none":    {own, behind(leak, checkid.IPFragmented), subnet, true},
		"whatever comes before explains it":  {held, diagnose.Cause{Check: checkid.NodeCNINotReady}, subnet, true},
		"a leak that its own look sees only": {diagnose.Cause{}, node, subnet, false},
	} {
		if got := ExplainsUnready(test.cause, test.unready, test.subnet); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	// Of an incident its own key counts, whatever its newest cause says.
	u := open(leak, subnet, func(u *incident.Update) { u.Cause.Check, u.Cause.Resource = "ip/other", "subnet-0" })
	if !explainsUnready(u, node, report.Launch{Subnet: subnet}) {
		t.Error("an incident does not explain by its own key")
	}
}

// What a look says of how failures belong together, the newest last.
func TestRelationsOfALook(t *testing.T) {
	cause := diagnose.Cause{
		Check: leak, Resource: subnet, Hidden: []diagnose.Hidden{{Check: empty}, {Check: route}, {Check: leak}}, Contributing: []checks.ID{runway}, Symptoms: []checks.ID{checkid.NodeNotReady},
	}
	o := report.Observation{Diagnosis: diagnose.Diagnosis{Causes: []diagnose.Cause{
		cause, {Check: checkid.IPScaleOutWillNotFit, Resource: subnet}, {Check: checkid.SpotBurstExceedsSubnet, Resource: "subnet-0"}, {Check: route, Resource: subnet}, {Check: checkid.NodeCNINotReady, Resource: subnet},
	}}}
	u := open(leak, subnet, effect(incident.Effect{Check: runway, Told: at(8), Apart: true}), effect(incident.Effect{Check: empty, Told: at(9)}))
	look(o).RecordRelations(u, cause)
	want := []incident.Effect{
		{Check: runway, Told: at(9)}, {Check: checkid.IPScaleOutWillNotFit, Told: at(9), Apart: true}, {Check: empty, Told: at(9)}, {Check: checkid.NodeNotReady, Told: at(9)},
	}
	if diff := cmp.Diff(want, u.Effects); diff != "" || !u.Touched {
		t.Errorf("touched %t (-want +got):\n%s", u.Touched, diff)
	}
	again := with(u)
	again.Touched = false
	if look(o).RecordRelations(again, cause); again.Touched {
		t.Error("the same look changes it again")
	}
	// A look without a time says that it does not know; what is new is kept.
	undated := look(o)
	undated.Observation.At = time.Time{}
	fresh := open(leak, subnet)
	if undated.RecordRelations(fresh, cause); len(fresh.Effects) != 4 || !fresh.Touched {
		t.Errorf("%+v", fresh.Effects)
	}
	other := open(route, "rtb-1")
	if look(o).RecordRelations(other, diagnose.Cause{Check: route, Hidden: cause.Hidden}); len(other.Effects) != 0 {
		t.Errorf("a route has %+v", other.Effects)
	}
}

// Since when an incident explains what another check finds in the same subnet.
func TestClaims(t *testing.T) {
	told := func(check checks.ID, minute int, apart bool) func(*incident.Update) {
		return effect(incident.Effect{Check: check, Told: at(minute), Apart: apart})
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		check  checks.ID
		minute int // 0: it does not
	}{
		"its own":                                    {open(leak, subnet, told(leak, 6, false)), leak, 0},
		"nothing by what is only foreseen":           {open(runway, subnet, told(empty, 6, false)), empty, 0},
		"a runway by a leak":                         {open(leak, subnet), runway, 5},
		"a runway by a shortage":                     {open(empty, subnet), runway, 5},
		"a runway by no block":                       {open(checkid.IPFragmented, subnet), runway, 0},
		"a scale-out by a leak":                      {open(leak, subnet), checkid.IPScaleOutWillNotFit, 5},
		"a scale-out by a shortage":                  {open(empty, subnet), checkid.IPScaleOutWillNotFit, 0},
		"what was told to be apart":                  {open(leak, subnet, told(empty, 5, true)), empty, 0},
		"what was told to be apart before":           {open(leak, subnet, told(empty, 4, true)), empty, 5},
		"a shortage by a certain leak":               {open(leak, subnet), empty, 5},
		"a shortage that was told of since":          {open(leak, subnet, told(empty, 6, false)), empty, 6},
		"a shortage by a likely leak":                {open(leak, subnet, sure(checks.Likely)), empty, 0},
		"a shortage that was told of a likely leak":  {open(leak, subnet, sure(checks.Likely), told(empty, 4, false)), empty, 4},
		"a shortage by another":                      {open(checkid.IPFragmented, subnet), empty, 0},
		"what is no shortage, by a certain leak":     {open(leak, subnet), checkid.IPFragmented, 0},
		"what a look told of":                        {open(checkid.IPFragmented, subnet, told(empty, 4, false)), empty, 4},
		"what a look told to be apart, before":       {open(checkid.IPFragmented, subnet, told(empty, 4, true)), empty, 0},
		"what no look told of, but one saw":          {open(checkid.IPFragmented, subnet, effect(incident.Effect{Check: empty, Last: at(4)})), empty, 0},
		"what was told to be apart, and seen before": {open(checkid.IPFragmented, subnet, told(empty, 6, true)), empty, 0},
	} {
		got, does := claimsSince(test.u, test.check)
		if does != (test.minute > 0) || does && !got.Equal(at(test.minute)) {
			t.Errorf("%s: %t, since %s", name, does, got)
		}
	}
	undated := open(leak, subnet, func(u *incident.Update) { u.Seen = time.Time{} })
	if _, does := claimsSince(undated, empty); !does {
		t.Error("of an incident without a time nothing is known to be apart")
	}
}

// Of two incidents of one subnet, which one says what both do.
func TestWhichIncidentClaims(t *testing.T) {
	told := func(check checks.ID, minute int) func(*incident.Update) {
		return effect(incident.Effect{Check: check, Told: at(minute)})
	}
	block := checkid.IPFragmented
	for name, test := range map[string]struct {
		u, other   *incident.Update
		claims, is bool // the first the second, and back
	}{
		"a leak a runway":                       {open(leak, subnet), open(runway, subnet), true, false},
		"elsewhere it does not":                 {open(leak, subnet), open(runway, "subnet-0"), false, false},
		"what is no address's":                  {open(leak, subnet, told(route, 6)), open(route, subnet), false, false},
		"what is no address's, by itself":       {open(route, subnet, told(leak, 6)), open(leak, subnet), false, false},
		"the newer look":                        {open(block, subnet, told(empty, 7)), open(empty, subnet, told(block, 6)), true, false},
		"of two at one time neither":            {open(block, subnet, told(empty, 6)), open(empty, subnet, told(block, 6)), false, false},
		"of two at one time the leak":           {open(leak, subnet, told(block, 6)), open(block, subnet, told(leak, 6)), true, false},
		"the newer look, also against the leak": {open(leak, subnet, told(block, 5)), open(block, subnet, told(leak, 6)), false, true},
		"neither has said so":                   {open(block, subnet), open(empty, subnet), false, false},
	} {
		if claims, is := claimsIncident(test.u, test.other), claimsIncident(test.other, test.u); claims != test.claims || is != test.is {
			t.Errorf("%s: %t, and back %t", name, claims, is)
		}
	}
	if u := open(leak, subnet, told(leak, 6)); claimsIncident(u, u) {
		t.Error("an incident claims itself")
	}
}

func TestWhatPassesNow(t *testing.T) {
	advice := func(check checks.ID, resource string, c checks.Confidence) report.Observation {
		return report.Observation{Diagnosis: diagnose.Diagnosis{Causes: []diagnose.Cause{{Check: check, Resource: resource, Confidence: c}}}}
	}
	verdict := func(minute int) func(*incident.Update) {
		return func(u *incident.Update) { u.RecordVerdict(subnet, incident.Failing, at(minute)) }
	}
	for name, test := range map[string]struct {
		u    *incident.Update
		o    report.Observation
		want bool
	}{
		"it passes":                         {open(leak, subnet), passes(leak, "subnet-0", subnet), true},
		"it passes elsewhere":               {open(leak, subnet), passes(leak, "subnet-0"), false},
		"another check passes":              {open(leak, subnet), passes(empty, subnet), false},
		"it passes at the time of the last": {open(leak, subnet, verdict(9)), passes(leak, subnet), true},
		"a newer look is known":             {open(leak, subnet, verdict(10)), passes(leak, subnet), false},
		"it only advises":                   {open(leak, subnet), advice(leak, subnet, checks.Advice), true},
		"it advises elsewhere":              {open(leak, subnet), advice(leak, "subnet-0", checks.Advice), false},
		"another check advises":             {open(leak, subnet), advice(empty, subnet, checks.Advice), false},
		"it fails":                          {open(leak, subnet), advice(leak, subnet, checks.Likely), false},
		"what is no address's advises":      {open(route, "rtb-1"), advice(route, "rtb-1", checks.Advice), false},
	} {
		if got := look(test.o).passesNow(test.u); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
