package correlate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

const symptom = checks.ID("node/not-registered")

// Which symptoms need no message of their own.
func TestExplainedSymptoms(t *testing.T) {
	of := func(check checks.ID, c checks.Confidence, ids ...string) diagnose.Cause {
		return diagnose.Cause{Check: check, Confidence: c, Instances: ids}
	}
	covers := diagnose.Cause{Check: symptom, Confidence: checks.Symptom, Covers: []string{"i-1"}}
	named := of(symptom, checks.Symptom, "i-1")
	named.Covers = []string{"i-1", "i-9"}
	cause := func(changes ...func(*incident.Update)) *incident.Update {
		return open(route, "rtb-1", append(changes, launched(report.Missed, "i-1", "i-2"))...)
	}
	ended := func(how incident.Resolution, minute int) func(*incident.Update) {
		return func(u *incident.Update) { u.State, u.Resolution, u.Resolved = incident.Closed, how, at(minute) }
	}
	node := open(symptom, "workers", sure(checks.Symptom), launched(report.Missed, "i-1"))
	group := open("nodegroup/status", "workers", sure(checks.Symptom), launched(report.Missed, "i-1"))
	one := of(symptom, checks.Symptom, "i-1")
	for name, test := range map[string]struct {
		u     *incident.Update
		cause diagnose.Cause
		want  bool
	}{
		"of one instance":                   {cause(), one, true},
		"of both":                           {cause(), of(symptom, checks.Symptom, "i-1", "i-2"), true},
		"of one that is not affected":       {cause(), of(symptom, checks.Symptom, "i-1", "i-9"), false},
		"of what it covers":                 {cause(), covers, true},
		"of those that it names":            {cause(), named, true},
		"of nobody":                         {cause(), of(symptom, checks.Symptom), false},
		"what is no symptom":                {cause(), of(symptom, checks.Certain, "i-1"), false},
		"by what is only possible":          {cause(sure(checks.Possible)), one, false},
		"by what is likely":                 {cause(sure(checks.Likely)), one, true},
		"by what is gone":                   {cause(state(incident.Cleared, 8)), one, true},
		"by what is pending":                {cause(state(incident.Pending, 0)), one, false},
		"by what was proved to be gone":     {cause(ended(incident.Proved, 9)), one, true},
		"by what was proved an hour ago":    {cause(ended(incident.Proved, -50)), one, false},
		"by what was proved almost so":      {cause(ended(incident.Proved, -49)), one, true},
		"by what ended otherwise":           {cause(ended(incident.Withdrawn, 9)), one, false},
		"by another symptom":                {node, one, false},
		"what EKS says of their nodegroup":  {node, of("nodegroup/health", checks.Symptom, "i-1"), true},
		"by what EKS says of the nodegroup": {group, of("nodegroup/health", checks.Symptom, "i-1"), false},
		"by what is possible, of EKS":       {cause(sure(checks.Possible)), of("nodegroup/health", checks.Symptom, "i-1"), false},
	} {
		if got := look(report.Observation{}, test.u).Explained(test.cause); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !look(report.Observation{}, open(leak, subnet)).Explained(diagnose.Cause{Check: runway, Resource: subnet}) {
		t.Error("what belongs to an incident of addresses is told of by itself")
	}
	starved := report.Observation{Launches: []report.Launch{{Instance: "i-1", Subnet: subnet}}}
	if !look(starved, open(leak, subnet)).Explained(of(checkid.NodeNotReady, checks.Certain, "i-1")) {
		t.Error("nodes that starve are told of by themselves")
	}
}

// Which incident gives way to which.
func TestSupersededBy(t *testing.T) {
	node := func(changes ...func(*incident.Update)) *incident.Update {
		return open(symptom, "workers", append([]func(*incident.Update){sure(checks.Symptom), launched(report.Missed, "i-1"), launched(report.Joined, "i-2")}, changes...)...)
	}
	cause := func(changes ...func(*incident.Update)) *incident.Update {
		return open(route, "rtb-1", append([]func(*incident.Update){launched(report.Missed, "i-1")}, changes...)...)
	}
	ready := func(changes ...func(*incident.Update)) *incident.Update {
		return open("node/other", "workers", append([]func(*incident.Update){sure(checks.Symptom), launched(report.Missed, "i-1")}, changes...)...)
	}
	blind := open(incident.CannotLook, "ec2:DescribeVpcs", sure(checks.Symptom), launched(report.Missed, "i-1"))
	gone := state(incident.Cleared, 8)
	seen := func(minute int) func(*incident.Update) { return func(u *incident.Update) { u.Seen = at(minute) } }
	hides := func(id checks.ID) func(*incident.Update) {
		return func(u *incident.Update) { u.Cause.Hidden = []diagnose.Hidden{{Check: "x"}, {Check: id}} }
	}
	degraded, issue := checks.ID("nodegroup/status"), checks.ID("nodegroup/health")
	cni := func(changes ...func(*incident.Update)) *incident.Update {
		return open(checkid.NodeCNINotReady, "aws-node", append([]func(*incident.Update){launched(report.Missed, "i-1")}, changes...)...)
	}
	held := func(changes ...func(*incident.Update)) *incident.Update {
		return open(leak, subnet, append([]func(*incident.Update){launched(report.Missed, "i-1")}, changes...)...)
	}
	for name, test := range map[string]struct {
		u, o *incident.Update
		want bool
	}{
		"a symptom to its cause":                  {node(), cause(), true},
		"a symptom to a cause of others":          {node(), open(route, "rtb-1", launched(report.Missed, "i-2")), false},
		"a symptom of two to a cause of one":      {node(launched(report.Missed, "i-3")), cause(), false},
		"a symptom to what is possible":           {node(), cause(sure(checks.Possible)), false},
		"a symptom to what is gone":               {node(), cause(gone), false},
		"a symptom that waits for nobody":         {open(symptom, "workers", sure(checks.Symptom), launched(report.Joined, "i-1")), cause(), false},
		"a cause to another":                      {cause(), open("dns/x", "vpc-1", launched(report.Missed, "i-1")), false},
		"a cause that is gone to another":         {cause(gone), open("dns/x", "vpc-1", launched(report.Missed, "i-1")), true},
		"a cause that is gone to a symptom":       {cause(gone), ready(), false},
		"a symptom to another":                    {node(), ready(), false},
		"a symptom that is gone to the next":      {node(gone), ready(), true},
		"a symptom that is gone to a possibility": {node(gone), cause(sure(checks.Possible)), false},
		"a symptom that is over":                  {node(state(incident.Closed, 8)), cause(), false},
		"a symptom that is pending":               {node(state(incident.Pending, 0)), cause(), false},
		"what cannot be seen":                     {blind, cause(), false},

		"a status to its issue":                {open(degraded, "workers", seen(8)), open(issue, "workers", seen(9), hides(degraded)), true},
		"a status to the same look's":          {open(degraded, "workers", seen(9)), open(issue, "workers", seen(9), hides(degraded)), false},
		"a status to an older look's":          {open(degraded, "workers", seen(7)), open(issue, "workers", seen(8), hides(degraded)), false},
		"a status to another's issue":          {open(degraded, "workers", seen(8)), open(issue, "others", seen(9), hides(degraded)), false},
		"a status to what does not explain it": {open(degraded, "workers", seen(8)), open(issue, "workers", seen(9), hides("y")), false},
		"a status to what is over":             {open(degraded, "workers", seen(8)), open(issue, "workers", seen(9), hides(degraded), state(incident.Closed, 8)), false},
		"a status that is over":                {open(degraded, "workers", seen(8), state(incident.Pending, 0)), open(issue, "workers", seen(9), hides(degraded)), false},
		"what is not by itself, to its issue":  {open("dns/x", "workers", seen(8)), open(issue, "workers", seen(9), hides("dns/x")), false},
		"a runway to a leak":                   {open(runway, subnet), open(leak, subnet), true},
		"a runway to a leak that is gone":      {open(runway, subnet), open(leak, subnet, gone), false},

		"a leak that is gone to what is short still":  {open(leak, subnet, gone), open(empty, subnet, seen(8)), true},
		"a leak that is gone to what was short":       {open(leak, subnet, gone), open(empty, subnet, seen(7)), false},
		"a leak that is gone to a shortage elsewhere": {open(leak, subnet, gone), open(empty, "subnet-0", seen(8)), false},
		"a leak that is gone to what is over":         {open(leak, subnet, gone), open(empty, subnet, seen(8), gone), false},
		"a leak that is gone to no shortage":          {open(leak, subnet, gone), open(checkid.IPFragmented, subnet, seen(8)), false},
		"a leak that is there to a shortage":          {open(leak, subnet), open(empty, subnet, seen(8)), false},
		"no block, that is gone, to a shortage":       {open(checkid.IPFragmented, subnet, gone), open(empty, subnet, seen(8)), false},

		"a plugin that starves":                  {cni(), held(), true},
		"a plugin that starves, and is over":     {cni(gone, launched(report.Missed, "i-3")), held(), false},
		"a plugin that starves, and is pending":  {cni(state(incident.Pending, 0)), held(), false},
		"nodes that starve, of another check":    {open(checkid.NodeNotReady, "workers", launched(report.Missed, "i-1")), held(), false},
		"a plugin that starves for what is gone": {cni(), held(gone), false},
		"a plugin that starves elsewhere too": {cni(func(u *incident.Update) {
			u.AddAffected(report.Launch{Instance: "i-0", Subnet: "subnet-0", Status: report.Missed})
		}), held(launched(report.Missed, "i-0")), false},
		"a plugin that starves what is not its":    {cni(launched(report.Missed, "i-0")), held(), false},
		"a plugin that starved":                    {open(checkid.NodeCNINotReady, "aws-node", launched(report.Joined, "i-1")), held(), false},
		"a plugin that starves, and one that did":  {cni(launched(report.Joined, "i-0")), held(), true},
		"a plugin that starves the first of three": {cni(launched(report.Missed, "i-3", "i-4")), held(launched(report.Missed, "i-4")), false},
	} {
		want := with(test.u)
		if test.want {
			want.Apply(incident.SupersededBy(test.o.Key, at(9)), at(10))
		}
		look(report.Observation{}, test.u, test.o).Supersede(test.u)
		if diff := cmp.Diff(want, test.u); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A symptom is no explanation of itself.
	alone := node(func(u *incident.Update) { u.Cause.Confidence = checks.Symptom }, gone)
	if look(report.Observation{}, alone).Supersede(alone); alone.State != incident.Cleared {
		t.Errorf("alone it is %s by %v", alone.State, alone.By)
	}
	own := open(degraded, "workers", seen(8), hides(degraded))
	if look(report.Observation{}, own).Supersede(own); own.State != incident.Open {
		t.Errorf("alone it is %s by %v", own.State, own.By)
	}
}

// The launches that still wait go over to what is short still.
func TestHandOver(t *testing.T) {
	u := open(leak, subnet, launched(report.Missed, "i-1", "i-3"), launched(report.Joined, "i-2"), state(incident.Cleared, 8))
	for name, test := range map[string]struct {
		o        *incident.Update
		affected []string
		reasons  []incident.Reason
	}{
		"those that wait":    {open(empty, subnet, func(u *incident.Update) { u.Seen = at(8) }), []string{"i-1", "i-3"}, []incident.Reason{incident.MoreAffected}},
		"those that it has":  {open(empty, subnet, launched(report.Missed, "i-1", "i-3"), func(u *incident.Update) { u.Seen = at(8) }), []string{"i-1", "i-3"}, nil},
		"none, if it is old": {open(empty, subnet, repeated, func(u *incident.Update) { u.Seen = at(8) }), nil, nil},
	} {
		given := with(u)
		look(report.Observation{}, given, test.o).Supersede(given)
		var affected []string
		for _, l := range test.o.Launches {
			affected = append(affected, l.Instance)
		}
		if diff := cmp.Diff(test.affected, affected); diff != "" || given.By == nil || *given.By != test.o.Key {
			t.Errorf("%s: by %v, affected (-want +got):\n%s", name, given.By, diff)
		}
		if diff := cmp.Diff(test.reasons, test.o.Reasons); diff != "" {
			t.Errorf("%s: reasons (-want +got):\n%s", name, diff)
		}
	}
}
