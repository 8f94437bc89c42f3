package reconcile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// TestCommandsNameTheirCluster: a command to paste has the cluster's own name, quoted where
// a shell would take it for something else, and of a spoke its account and region.
func TestCommandsNameTheirCluster(t *testing.T) {
	payments := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for _, x := range []struct {
		code    string
		call    string
		cluster spoke.Cluster
		want    string
	}{
		{snapshot.RelayUnnamed, "lambda:InvokeFunction", spoke.Cluster{Name: "prod"}, "`SET=relays=prod`"},
		{snapshot.NoRelay, "kubernetes: list nodes", spoke.Cluster{Name: "prod"}, "`make deploy-relay CLUSTER=prod BUCKET=a-bucket-of-this-region`"},
		{snapshot.NoRelay, "kubernetes: list nodes", spoke.Cluster{ID: payments, Name: "prod-2"}, "`make deploy-relay CLUSTER=prod-2 BUCKET=a-bucket-of-this-region`"},
		{snapshot.RelayRefuses, "kubernetes: list nodes", spoke.Cluster{Name: "prod"}, "`make deploy-relay CLUSTER=prod BUCKET=a-bucket-of-this-region`"},
		{snapshot.RelayRefuses, "kubernetes: list nodes", spoke.Cluster{Name: "a b;c"}, "'CLUSTER=a b;c'"},
		{report.NoCleaner, deletes, spoke.Cluster{ID: payments, Name: "prod"}, "SPOKE=222233334444/eu-west-1 "},
	} {
		o := report.Observation{Format: report.Format, Cluster: x.cluster.Name, Blind: []snapshot.Failure{{Call: x.call, Code: x.code, Source: snapshot.Nodes, Reason: snapshot.Denied}}}
		causes := blindCauses(*report.Message{Observation: &o}.ForSpoke(x.cluster.ID, "").Observation)
		if len(causes) != 1 || !strings.Contains(causes[0].Fix.Text, x.want) || strings.Contains(causes[0].Fix.Text, "CLUSTER=…") {
			t.Errorf("%s of %s: %+v, want %s", x.code, x.cluster, causes, x.want)
		}
	}
}

// A delete that is denied hides nothing.
func TestDeniedDeletesAreNoBlindness(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: "leaked network interfaces", Reason: snapshot.Denied, Call: deletes}, nil, spoke.Cluster{})
	if c.Title != "cannot delete leaked interfaces: ec2:DeleteNetworkInterface is denied" || strings.Contains(c.Why, "join") {
		t.Errorf("%s: %s", c.Title, c.Why)
	}
}

// Where a spoke has no role that deletes, what to deploy is said.
func TestDeletesWithoutACleaner(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: "leaked network interfaces", Reason: snapshot.Denied, Call: deletes, Code: report.NoCleaner, Message: "User: … is not authorized"}, nil, spoke.Cluster{})
	if c.Title != "cannot delete leaked interfaces: sts:AssumeRole of this account's cleaner role is denied" || !strings.Contains(c.Fix.Text, "make deploy-spoke") || !strings.Contains(c.Fix.Text, "cleanup=") {
		t.Errorf("%s: %s", c.Title, c.Fix.Text)
	}
}

// A cluster whose role is older than the rights to Karpenter's objects gets a message
// with how to grant them, and that nothing else hangs on them.
func TestKarpenterRightsAreNamed(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: snapshot.NodePoolsOf, Reason: snapshot.Denied, Call: "kubernetes: list nodepools", Code: "Forbidden"}, []string{"karpenter/nodepool-limit"}, spoke.Cluster{})
	if c.Title != "cannot read nodepools: kubernetes: list nodepools is denied" || !strings.Contains(c.Why, "Everything else is checked as usual") ||
		!strings.Contains(c.Fix.Text, "kubectl apply -f deploy/clusterrole.yaml") || strings.Contains(c.Fix.Text, "service control policy") {
		t.Errorf("%s: %s %s", c.Title, c.Why, c.Fix.Text)
	}
	nodes := blindCause(snapshot.Failure{Source: snapshot.Nodes, Reason: snapshot.Denied, Call: "kubernetes: list nodes", Code: "Forbidden"}, nil, spoke.Cluster{})
	if strings.Contains(nodes.Fix.Text, "clusterrole.yaml") || strings.Contains(nodes.Why, "Karpenter") {
		t.Errorf("%s: %s %s", nodes.Title, nodes.Why, nodes.Fix.Text)
	}
}

// One cause for each permission, whatever hangs on it, and each failure of it once.
func TestOneCauseForEachPermission(t *testing.T) {
	fail := func(call string, source snapshot.Source, r snapshot.Reason) snapshot.Failure {
		return snapshot.Failure{Call: call, Source: source, Reason: r}
	}
	const denied, slow = snapshot.Denied, snapshot.Throttled
	a, b, c := fail("ec2:A", "tables", denied), fail("ec2:A", "subnets", slow), fail("ec2:B", "tables", denied)
	obs := report.Observation{
		Blind: []snapshot.Failure{c, a, fail("ec2:A", "tables", slow), fail("", "nodes", denied), fail("ec2:C", "zones", snapshot.NotRead)},
		Diagnosis: diagnosis.Diagnosis{Unknown: []diagnosis.Unknown{
			{Check: "route/b", Blocked: []snapshot.Failure{a}}, {Check: "route/a", Blocked: []snapshot.Failure{c, b}}, {Check: "route/b", Blocked: []snapshot.Failure{b}}, {Check: "x", Blocked: []snapshot.Failure{fail("ec2:C", "zones", snapshot.NotRead)}},
		}},
	}
	if diff := cmp.Diff([]snapshot.Failure{b, a, c, fail("", "nodes", denied)}, failures(obs)); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	type is struct{ resource, checks string }
	var got []is
	for _, cause := range blindCauses(obs) {
		i := is{resource: cause.Resource}
		if len(cause.Evidence) > 0 {
			i.checks = cause.Evidence[0].Value
		}
		got = append(got, i)
	}
	if diff := cmp.Diff([]is{{"ec2:A", "route/a, route/b"}, {"ec2:B", "route/a"}, {"nodes", ""}}, got, cmp.AllowUnexported(is{})); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]snapshot.Failure{b, a}, failuresOf(diagnosis.Cause{Resource: "ec2:A"}, obs)); diff != "" {
		t.Errorf("of one permission (-want +got):\n%s", diff)
	}
}

// What is said of what cannot be looked at, in each way in which it can fail.
func TestWordsOfWhatCannotBeLookedAt(t *testing.T) {
	const network = "Check that the function has a network path to the service, and that the service is up."
	for r, want := range map[snapshot.Reason][2]string{
		snapshot.Denied:      {"is denied", "Allow ec2:A for Rollcall's functions: redeploy the stack if the permission is missing from their roles; otherwise look for a permissions boundary or service control policy that denies it."},
		snapshot.Throttled:   {"is throttled", "Find what else in this account calls ec2:A that often, or request a higher quota."},
		snapshot.TimedOut:    {"timed out", network},
		snapshot.Unreachable: {"cannot be reached", network},
		snapshot.OverBudget:  {"is too large to read", "Check the object that the error names: it is larger, or compressed more times, than anything Rollcall is meant to read."},
		snapshot.NotShown: {"does not return everything that the cluster names",
			"Look for the instance in the other accounts that share the VPC, with --include-managed-resources. If it is gone, delete its Node object, or detach the volume."},
		snapshot.Broken: {"fails", "See the function's log for the full error."},
	} {
		got := blindCause(snapshot.Failure{Call: "ec2:A", Source: "tables", Reason: r}, nil, spoke.Cluster{})
		wanted := diagnosis.Cause{
			Check: incident.CannotLook, Confidence: catalog.Possible, Resource: "ec2:A", Covers: []string{"ec2:A"}, Title: "cannot read tables: ec2:A " + want[0],
			Why: "Whether instances can join is unknown until this can be read. Checks that depend on it are skipped, and nothing they cover is reported healthy.",
			Fix: finding.Fix{Text: want[1]},
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r, diff)
		}
	}
	for code, want := range map[string][2]string{
		snapshot.NoRelay:      {"and there is no relay for it", "Deploy the relay of this cluster, with"},
		snapshot.RelayRefuses: {"its relay rejects the requests", "Redeploy the relay of this cluster, from the same release as the hub"},
	} {
		got := blindCause(snapshot.Failure{Call: "lambda:InvokeFunction", Source: snapshot.Nodes, Reason: snapshot.Unreachable, Code: code}, nil, spoke.Cluster{})
		if !strings.HasPrefix(got.Title, "cannot read this cluster: ") || !strings.HasSuffix(got.Title, want[0]) ||
			!strings.HasPrefix(got.Fix.Text, want[1]) || !strings.Contains(got.Fix.Text, "make deploy-relay") {
			t.Errorf("%s: %s: %s", code, got.Title, got.Fix.Text)
		}
	}
	full := blindCause(snapshot.Failure{Call: deletes, Reason: snapshot.Denied, Code: "code", Message: "message"}, []string{"a", "b"}, spoke.Cluster{})
	if diff := cmp.Diff([]finding.Evidence{{What: "Checks not run", Value: "a, b"}, {What: "Error code", Value: "code"}, {What: "Answer", Value: "message"}}, full.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	if full.Title != "cannot delete leaked interfaces: ec2:DeleteNetworkInterface is denied" || full.Why != "Network interfaces of terminated nodes keep their addresses until they can be deleted. Reports on nodes do not depend on it." {
		t.Errorf("of deletes: %q, %q", full.Title, full.Why)
	}
}

// That something can be read again is known when all of it was.
func TestCouldRead(t *testing.T) {
	blind := func(sources ...snapshot.Source) *incident.Update {
		u := &incident.Update{}
		u.Cause.Resource = "ec2:A"
		for _, s := range sources {
			u.Blind = append(u.Blind, snapshot.Failure{Call: "ec2:A", Source: s})
		}
		return u
	}
	failed := []snapshot.Failure{{Call: "ec2:A", Source: "zones", Reason: snapshot.Denied}}
	for name, test := range map[string]struct {
		u    *incident.Update
		obs  report.Observation
		want bool
	}{
		"all of it":                {blind("a", "b"), report.Observation{Read: []snapshot.Source{"b", "c", "a"}}, true},
		"a part of it":             {blind("a", "b"), report.Observation{Read: []snapshot.Source{"a"}}, false},
		"nothing":                  {blind("a"), report.Observation{}, false},
		"and something else fails": {blind("a"), report.Observation{Read: []snapshot.Source{"a"}, Blind: failed}, false},
		"nobody knows what":        {blind(), report.Observation{Read: []snapshot.Source{"a"}}, false},
	} {
		rec := &reconciler{correlate.Look{Observation: test.obs}}
		if got := rec.couldRead(test.u); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Which words of a cause make it another one.
func TestDiffer(t *testing.T) {
	for name, change := range map[string]func(*diagnosis.Cause){
		"title": func(c *diagnosis.Cause) { c.Title = "x" }, "why": func(c *diagnosis.Cause) { c.Why = "x" }, "confidence": func(c *diagnosis.Cause) { c.Confidence = "x" },
		"fix": func(c *diagnosis.Cause) { c.Fix.Text = "x" }, "evidence": func(c *diagnosis.Cause) { c.Evidence = []finding.Evidence{{What: "x"}} },
		"resources": func(c *diagnosis.Cause) { c.Resources = []string{"x"} }, "contributing": func(c *diagnosis.Cause) { c.Contributing = []checkid.ID{"x"} },
		"symptoms": func(c *diagnosis.Cause) { c.Symptoms = []checkid.ID{"x"} }, "hidden": func(c *diagnosis.Cause) { c.Hidden = []diagnosis.Hidden{{Check: "x"}} },
	} {
		var a, b diagnosis.Cause
		if differ(a, b) {
			t.Fatal("the same differs")
		}
		if change(&b); !differ(a, b) {
			t.Errorf("another %s is the same", name)
		}
	}
	var a, b diagnosis.Cause
	if b.Covers, b.Instances, b.Nodegroups = []string{"x"}, []string{"x"}, []string{"x"}; differ(a, b) {
		t.Error("what it covers are words")
	}
}

// A leak is taken in first, what was only foreseen after what is there, symptoms
// last; advice is not taken in.
func TestOrderOfCauses(t *testing.T) {
	c := func(check checkid.ID, confidence catalog.Confidence) diagnosis.Cause {
		return diagnosis.Cause{Check: check, Confidence: confidence}
	}
	rec := &reconciler{correlate.Look{Observation: report.Observation{Diagnosis: diagnosis.Diagnosis{Causes: []diagnosis.Cause{
		c(checkid.NodeCNINotReady, catalog.Certain), c("node/a", catalog.Symptom), c(checkid.IPRunway, catalog.Likely), c("route/a", catalog.Certain), c("route/b", catalog.Advice), c("iam/a", catalog.Likely), c(checkid.IPLeakedInterfaces, catalog.Certain),
	}}}}}
	var got []checkid.ID
	for _, cause := range rec.causes() {
		got = append(got, cause.Check)
	}
	if diff := cmp.Diff([]checkid.ID{checkid.IPLeakedInterfaces, "route/a", "iam/a", checkid.IPRunway, checkid.NodeCNINotReady, "node/a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is said where a spoke's role cannot be assumed: its owner is in the headline,
// and what to do is said for each way in which STS refuses.
func TestWordsOfASpokeThatDoesNotLetIn(t *testing.T) {
	for code, want := range map[string]string{
		"AccessDenied":            "Redeploy the spoke in that account and region, for this hub and with this hub's externalId (`make deploy-spoke`)",
		"RegionDisabledException": "STS is deactivated for the hub's region in that account: activate it there",
	} {
		c := blindCause(snapshot.Failure{Call: "sts:AssumeRole", Source: snapshot.Clusters, Reason: snapshot.Denied, Code: code, Message: "not authorized"}, nil, spoke.Cluster{})
		if !strings.HasPrefix(c.Fix.Text, want) || c.Title != "cannot read this account and region: sts:AssumeRole of Rollcall's role there is denied" || !strings.Contains(c.Why, "Nothing is checked in this account and region") {
			t.Errorf("%s: %q, %q, %q", code, c.Title, c.Why, c.Fix.Text)
		}
	}
	for _, code := range []string{"AuthFailure", "UnrecognizedClientException", "OptInRequired"} {
		c := blindCause(snapshot.Failure{Call: "eks:ListClusters", Source: snapshot.Clusters, Reason: snapshot.Denied, Code: code}, nil, spoke.Cluster{})
		if !strings.Contains(c.Fix.Text, "If the account has not enabled the spoke's region") {
			t.Errorf("%s: %q", code, c.Fix.Text)
		}
	}
}

// TestWordsOfAWholeAPI: that a cluster does not know us is one cause, and says so.
func TestWordsOfAWholeAPI(t *testing.T) {
	fail := func(source snapshot.Source, reason snapshot.Reason, code string) snapshot.Failure {
		return snapshot.Failure{Call: snapshot.WholeKubernetesAPI, Source: source, Reason: reason, Code: code}
	}
	for _, test := range []struct {
		reason            snapshot.Reason
		code, title, text string
	}{
		{snapshot.Denied, "Unauthorized", "cannot read the cluster: its Kubernetes API rejects Rollcall's credentials", "KubernetesAccessCommand"},
		{snapshot.Denied, "Forbidden", "cannot read nodes: kubernetes: list nodes is denied", "Allow kubernetes: list nodes"},
	} {
		obs := report.Observation{Blind: []snapshot.Failure{fail(snapshot.Pods, test.reason, test.code), fail(snapshot.AWSNode, test.reason, test.code), fail(snapshot.Nodes, test.reason, test.code)}}
		got := blindCauses(obs)
		if len(got) != 1 || got[0].Resource != snapshot.WholeKubernetesAPI || got[0].Title != test.title || !strings.Contains(got[0].Fix.Text, test.text) {
			t.Errorf("%s %s: %+v", test.reason, test.code, got)
		}
	}
}

// TestWhatIsNotShownIsSaid: that EC2 does not show an instance which a node names
// is said in words of its own, with the answer to look at.
func TestWhatIsNotShownIsSaid(t *testing.T) {
	f := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotShown, Call: "ec2:DescribeInstances", Message: "node n names i-1, which EC2 does not show"}
	causes := blindCauses(report.Observation{Diagnosis: diagnosis.Diagnosis{Unknown: []diagnosis.Unknown{{Check: "node/not-registered", Covers: []string{"i-1"}, Blocked: []snapshot.Failure{f}}}}})
	if len(causes) != 1 {
		t.Fatalf("%d causes, want one", len(causes))
	}
	c := causes[0]
	if want := "cannot read instances: ec2:DescribeInstances does not return everything that the cluster names"; c.Title != want {
		t.Errorf("title %q, want %q", c.Title, want)
	}
	if n := len(c.Evidence); n != 2 || c.Evidence[1].Value != f.Message || c.Fix.Text == remedyFor(snapshot.Failure{}, spoke.Cluster{}) {
		t.Errorf("evidence %+v, fix %q", c.Evidence, c.Fix.Text)
	}
}

// What the thread gets for each reason.
func TestWhatANoteTells(t *testing.T) {
	cause, gone := []finding.Evidence{{What: "cause"}}, []finding.Evidence{{What: "gone"}}
	facts, blind := []report.Fact{{What: "known"}}, []snapshot.Failure{{Call: "known"}}
	now, nowBlind := []report.Fact{{What: "now"}}, []snapshot.Failure{{Call: "now"}}
	node := report.Launch{Instance: "i-9"}
	var launches []report.Launch
	var ids []string
	for i := range 102 {
		ids = append(ids, fmt.Sprintf("i-%03d", i))
		launches = append(launches, report.Launch{Instance: ids[i]})
	}
	helped, did := incident.Offer{State: incident.Helped, Says: "a"}, incident.Offer{State: incident.Unhelpful, Says: "b"}
	full := func() *incident.Update {
		u := open()
		u.Cause.Evidence, u.ClearedBy, u.Facts, u.Blind, u.Proof = cause, gone, facts, blind, &node
		u.Launches, u.Affected, u.Missed, u.Offers = launches, 500, ids[:101], []incident.Offer{helped, did}
		return u
	}
	opened := incident.Note{Count: 500, Instances: ids[:100], Evidence: cause, Facts: facts, Blind: blind}
	reopened := opened
	reopened.Line = true
	over := incident.Note{Evidence: gone, Launch: &node}
	for reason, want := range map[incident.Reason]incident.Note{
		incident.Opened: opened, incident.Reopened: reopened,
		incident.HasMissed:   {Count: 101, Instances: ids[:100], Facts: now, Blind: nowBlind},
		incident.FailedAgain: {Evidence: cause, Line: true},
		incident.CauseGone:   over, incident.IsProved: over, incident.IsUnproved: over,
		incident.IsVerified:  {Evidence: gone, Offer: &helped},
		incident.IsUnhelpful: {Evidence: cause, Offer: &did, Line: true},
		incident.IsWithdrawn: {},
	} {
		u := full()
		looking(report.Observation{Facts: now, Blind: nowBlind}).addNote(u, reason)
		want.ID, want.At, want.Reason, want.Times, want.Then = string(reason), at(501), reason, 1, full().ForNote()
		notes := []incident.Note{want}
		if want.Line { // a line is short, and a reply has the rest
			details := want
			details.ID, details.Line, details.Details = want.ID+"-details", false, true
			notes[0].Evidence, notes[0].Facts, notes[0].Blind = nil, nil, nil
			notes = append(notes, details)
		}
		if diff := cmp.Diff(notes, u.Delivery.Notes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	muted := full()
	muted.Mute = &incident.Mute{Until: at(600)}
	if looking(report.Observation{}).addNote(muted, incident.HasMissed); len(muted.Delivery.Notes) != 0 {
		t.Error("it is said while it is muted")
	}
}

// What is recorded, said and told of an incident that an observation touches.
func TestWhatIsDecided(t *testing.T) {
	because := func(reasons ...incident.Reason) func(*incident.Update) {
		return func(u *incident.Update) {
			for _, r := range reasons {
				u.Because(r)
			}
		}
	}
	touched := func(u *incident.Update) { u.Touched = true }
	joined := func(u *incident.Update) { u.JoinedNotes = []incident.Note{{ID: "joined"}} }
	muted := func(u *incident.Update) { u.Mute = &incident.Mute{Until: at(600)} }
	missed := func(u *incident.Update) { u.Missed = []string{"i-2"} }
	said := func(n incident.Note) func(*incident.Update) {
		return func(u *incident.Update) { u.Delivery.Notes = append(u.Delivery.Notes, n) }
	}
	unsent := incident.Note{ID: "missed", Reason: incident.HasMissed, At: at(501), Count: 2}
	sent := incident.Note{ID: "missed", Reason: incident.HasMissed, At: at(400), TS: "1.2"}
	ip := check(checkid.IPLeakedInterfaces, "subnet-1")
	number := func(n int) func(*incident.Update) { return func(u *incident.Update) { u.Number = n } }
	ended := func(how incident.Resolution) func(*incident.Update) {
		return func(u *incident.Update) { u.State, u.Resolution = incident.Closed, how }
	}
	for name, test := range map[string]struct {
		u       *incident.Update
		reason  incident.Reason
		notes   []string
		events  []incident.Reason
		changed bool
	}{
		"nothing that is said":              {open(touched), incident.NothingNew, nil, nil, false},
		"better known":                      {open(because(incident.BetterKnown)), incident.BetterKnown, nil, []incident.Reason{incident.BetterKnown}, true},
		"not yet":                           {open(because(incident.NotYet), number(0)), incident.NotYet, nil, nil, false},
		"the most telling first":            {open(because(incident.MoreAffected, incident.CauseGone, incident.HasMissed)), incident.CauseGone, []string{"cleared", "missed"}, []incident.Reason{incident.CauseGone}, true},
		"verified":                          {open(because(incident.MoreAffected, incident.IsVerified)), incident.IsVerified, []string{"verified"}, []incident.Reason{incident.IsVerified}, true},
		"unhelpful":                         {open(because(incident.IsVerified, incident.IsUnhelpful)), incident.IsUnhelpful, []string{"verified", "unhelpful"}, []incident.Reason{incident.IsUnhelpful}, true},
		"gone and proved at once":           {open(because(incident.CauseGone, incident.IsProved), ended(incident.Proved)), incident.IsProved, []string{"proved"}, []incident.Reason{incident.IsProved}, true},
		"gone, said to nobody":              {open(because(incident.CauseGone, incident.NotYet), ended(incident.Withdrawn), number(0)), incident.CauseGone, []string{"cleared"}, []incident.Reason{incident.CauseGone}, true},
		"opened and over at once":           {open(because(incident.Opened, incident.IsSuperseded), ended(incident.Superseded)), incident.Opened, []string{"opened", "superseded"}, []incident.Reason{incident.Opened, incident.IsSuperseded}, true},
		"opened, and it was over before":    {open(because(incident.Opened), ended(incident.Superseded)), incident.Opened, []string{"opened"}, []incident.Reason{incident.Opened}, true},
		"open, whatever the end was":        {open(because(incident.Opened, incident.IsSuperseded), func(u *incident.Update) { u.Resolution = incident.Superseded }), incident.Opened, []string{"opened", "superseded"}, []incident.Reason{incident.Opened}, true},
		"missed":                            {open(because(incident.HasMissed), missed), incident.HasMissed, []string{"missed"}, []incident.Reason{incident.HasMissed}, true},
		"missed, which the thread has":      {open(because(incident.HasMissed), missed, said(sent)), incident.HasMissed, []string{"missed"}, []incident.Reason{incident.HasMissed}, true},
		"missed, of the same look":          {open(because(incident.HasMissed, incident.IsVerified), missed, said(unsent)), incident.IsVerified, []string{"missed 3", "verified"}, []incident.Reason{incident.IsVerified}, true},
		"otherwise, beside who missed":      {open(because(incident.IsVerified), missed, said(unsent)), incident.IsVerified, []string{"missed 2", "verified"}, []incident.Reason{incident.IsVerified}, true},
		"what belongs to it":                {open(because(incident.MoreAffected), joined), incident.MoreAffected, []string{"joined"}, []incident.Reason{incident.MoreAffected}, true},
		"what belongs to it, muted":         {open(because(incident.MoreAffected), joined, muted), incident.MoreAffected, nil, []incident.Reason{incident.MoreAffected}, true},
		"what belongs to it from the start": {open(because(incident.Opened), joined), incident.Opened, []string{"opened"}, []incident.Reason{incident.Opened}, true},
		"what belongs to it as it is back":  {open(because(incident.Reopened), joined), incident.Reopened, []string{"reopened"}, []incident.Reason{incident.Reopened}, true},
		"a subnet that is back":             {open(ip, number(3), because(incident.Reopened)), incident.Reopened, []string{"reopened"}, []incident.Reason{incident.Reopened}, true},
		"a subnet that hovers":              {open(ip, number(4), because(incident.Reopened)), incident.Reopened, nil, []incident.Reason{incident.Reopened}, true},
		"a subnet that hovers, and is well": {open(ip, number(4), because(incident.IsProved), ended(incident.Proved)), incident.IsProved, nil, []incident.Reason{incident.IsProved}, true},
		"a subnet that hovers, and another": {open(ip, number(4), because(incident.IsSuperseded), ended(incident.Superseded)), incident.IsSuperseded, nil, []incident.Reason{incident.IsSuperseded}, true},
		"a subnet that hovers, and missed":  {open(ip, number(4), because(incident.HasMissed), missed), incident.HasMissed, []string{"missed"}, []incident.Reason{incident.HasMissed}, true},
		"a route that hovers":               {open(number(4), because(incident.Reopened)), incident.Reopened, []string{"reopened"}, []incident.Reason{incident.Reopened}, true},
	} {
		d, is := looking(report.Observation{ID: "id"}).decisionOn(test.u)
		if !is || !d.Changed || d.Reason != test.reason || d.Incident.Changed.Equal(at(501)) != test.changed || d.Incident.Delivery.Dirty != (test.u.Number > 0) || !slices.Equal(d.Incident.Applied, []string{"id"}) {
			t.Errorf("%s: %q, touched %t, changed at %s, dirty %t", name, d.Reason, is, d.Incident.Changed, d.Incident.Delivery.Dirty)
		}
		var notes []string
		for _, n := range d.Incident.Delivery.Notes {
			text := n.ID
			if slices.ContainsFunc(test.notes, func(want string) bool { return want == fmt.Sprint(n.ID, " ", n.Count) }) {
				text = fmt.Sprint(n.ID, " ", n.Count)
			}
			notes = append(notes, text)
		}
		if diff := cmp.Diff(test.notes, notes, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: notes (-want +got):\n%s", name, diff)
		}
		var events []incident.Reason
		for _, e := range d.Incident.PendingEvents {
			events = append(events, e.Reason)
		}
		if diff := cmp.Diff(test.events, events, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		reason incident.Reason
		is     bool
	}{
		"delivered twice":  {open(touched, func(u *incident.Update) { u.Repeated = true }), incident.AlreadyApplied, true},
		"late":             {open(func(u *incident.Update) { u.Late = true }), incident.OutOfDate, true},
		"untouched":        {open(), "", false},
		"late and touched": {open(touched, func(u *incident.Update) { u.Late = true }), incident.NothingNew, true},
	} {
		if d, is := looking(report.Observation{}).decisionOn(test.u); is != test.is || d.Reason != test.reason || d.Changed != (name == "late and touched") {
			t.Errorf("%s: %q, changed %t, %t", name, d.Reason, d.Changed, is)
		}
	}
}

// What a failure makes of an incident that is open, and of one that was over.
func TestWhatAFailureChanges(t *testing.T) {
	fails := diagnosis.Cause{Check: "route/a", Resource: "rtb-1", Confidence: catalog.Certain, Title: "title", Covers: []string{"subnet-1"}}
	change := func(f func(*diagnosis.Cause)) diagnosis.Cause { c := fails; f(&c); return c }
	worded := change(func(c *diagnosis.Cause) { c.Title = "other" })
	hurts := change(func(c *diagnosis.Cause) { c.Instances = []string{"i-1"} })
	grouped := change(func(c *diagnosis.Cause) { c.Nodegroups = []string{"b", "a"} })
	bare := change(func(c *diagnosis.Cause) { c.Covers = nil })
	full := report.Observation{
		Account: "1", Region: "r", Partition: "p", Facts: []report.Fact{{What: "f"}}, Blind: []snapshot.Failure{{Call: "x"}},
		Launches: []report.Launch{{Instance: "i-1", Nodegroup: "a", Started: at(250), Status: report.Missed}}, Tags: map[string]map[string]string{"a": {"team": "t", "x": "y"}},
	}
	seen := func(u *incident.Update) {
		u.Verdicts[0] = incident.Verdict{Of: "subnet-1", Found: incident.Failing, At: at(500)}
		u.Seen, u.Touched = at(500), true
	}
	took := func(u *incident.Update) {
		seen(u)
		u.Account, u.Region, u.Partition, u.Facts, u.Blind = "1", "r", "p", full.Facts, full.Blind
	}
	late := func(u *incident.Update) { u.Seen, u.Verdicts[0].At, u.Cause.Title = at(600), at(600), "newer" }
	known := func(u *incident.Update) {
		u.Facts, u.Blind = []report.Fact{{What: "old"}}, []snapshot.Failure{{Call: "old"}}
	}
	affected := func(u *incident.Update) { u.Launches, u.Affected = full.Launches, 1 }
	for name, test := range map[string]struct {
		u      *incident.Update
		cause  diagnosis.Cause
		obs    report.Observation
		change func(*incident.Update)
	}{
		"the same":            {open(), fails, report.Observation{}, seen},
		"other words":         {open(), worded, report.Observation{}, func(u *incident.Update) { seen(u); u.Cause.Title = "other"; u.Because(incident.BetterKnown) }},
		"other words, late":   {open(late), worded, report.Observation{}, func(u *incident.Update) { u.Late = true }},
		"where it is":         {open(), fails, full, took},
		"what is known stays": {open(known), fails, report.Observation{}, func(u *incident.Update) { seen(u); u.Blind = nil }},
		"an instance": {open(), hurts, full, func(u *incident.Update) {
			took(u)
			affected(u)
			u.Began = at(250)
			u.Tags = map[string]map[string]string{"a": {"team": "t"}}
			u.Because(incident.MoreAffected)
		}},
		"an instance, known": {open(affected, func(u *incident.Update) { u.Began = at(200) }), hurts, full, func(u *incident.Update) { took(u); u.Tags = map[string]map[string]string{"a": {"team": "t"}} }},
		"an instance, late": {open(late), hurts, full, func(u *incident.Update) {
			affected(u)
			u.Late, u.Touched = true, true
			u.Began = at(250)
			u.Because(incident.MoreAffected)
		}},
		"one from before": {open(func(u *incident.Update) { u.Before = at(250) }), hurts, full, func(u *incident.Update) {
			took(u)
			affected(u)
			u.Tags = map[string]map[string]string{"a": {"team": "t"}}
			u.Because(incident.MoreAffected)
		}},
		"since earlier": {open(), change(func(c *diagnosis.Cause) { c.Since = at(250) }), report.Observation{}, func(u *incident.Update) {
			seen(u)
			u.Began, u.Cause.Since = at(250), at(250)
		}},
		"since before the last opening": {open(func(u *incident.Update) { u.Before = at(250) }), change(func(c *diagnosis.Cause) { c.Since = at(250) }), report.Observation{}, func(u *incident.Update) {
			seen(u)
			u.Cause.Since = at(250)
		}},
		"since later": {open(), change(func(c *diagnosis.Cause) { c.Since = at(350) }), report.Observation{}, func(u *incident.Update) {
			seen(u)
			u.Cause.Since = at(350)
		}},
		"nodegroups":        {open(func(u *incident.Update) { u.Cause.Nodegroups = []string{"c", "a"} }), grouped, report.Observation{}, func(u *incident.Update) { seen(u); u.Cause.Nodegroups = []string{"a", "b", "c"} }},
		"it covers its own": {open(check("route/a", "subnet-1")), change(func(c *diagnosis.Cause) { c.Resource, c.Covers = "subnet-1", nil }), report.Observation{}, seen},
		"it says what it hits": {open(), bare, report.Observation{}, func(u *incident.Update) {
			u.Seen, u.Touched = at(500), true
			u.Covers = []string{"rtb-1", "subnet-1"}
			u.Verdicts = append([]incident.Verdict{{Of: "rtb-1", Found: incident.Failing, At: at(500)}}, u.Verdicts...)
			u.Cause.Covers = u.Covers
		}},
	} {
		becomes(t, name, test.u, func(u *incident.Update) {
			rec := looking(test.obs)
			rec.Updates = []*incident.Update{u}
			rec.applyCause(test.cause)
		}, test.change)
	}
}

// What an incident that was over is when it comes back.
func TestWhatComesBack(t *testing.T) {
	fails := diagnosis.Cause{Check: "route/a", Resource: "rtb-1", Confidence: catalog.Certain, Title: "title", Covers: []string{"subnet-1"}}
	node := report.Launch{Instance: "i-1", Status: report.Gone}
	over := func(resolved int) *incident.Update {
		u := open(closed(resolved))
		u.Version, u.Settled, u.Cleared, u.Format = 7, at(450), at(440), 1
		u.Launches, u.More, u.Affected, u.Joins, u.Proof = []report.Launch{node}, []string{"i-2"}, 2, []report.Launch{node}, &node
		u.ClearedBy, u.Effects, u.By = []finding.Evidence{{What: "w"}}, []incident.Effect{{Check: "x"}}, &report.Key{Resource: "y"}
		u.Ack, u.Offers, u.RecentChanges, u.Calls, u.Called = &incident.Ack{At: at(1)}, []incident.Offer{{Says: "o"}}, &report.RecentChanges{}, 3, at(350)
		u.Mute, u.Acts = &incident.Mute{Until: at(600)}, []incident.ActRecord{{ID: "a"}}
		u.Delivery.Notes = []incident.Note{{ID: "n", Then: &incident.Then{}}}
		return u
	}
	back := func(u *incident.Update) {
		u.State, u.Number, u.Opened, u.Began, u.Before, u.Seen = incident.Open, 2, at(501), at(500), u.Resolved, at(500)
		u.Launches, u.More, u.Affected, u.Joins, u.Proof, u.ClearedBy, u.Effects, u.By = nil, nil, 0, nil, nil, nil, nil, nil
		u.Cleared, u.Resolved, u.Resolution = time.Time{}, time.Time{}, ""
		u.Ack, u.Offers, u.RecentChanges, u.Calls, u.Times = nil, nil, nil, 0, 1
		u.Verdicts[0] = incident.Verdict{Of: "subnet-1", Found: incident.Failing, At: at(500)}
		u.Delivery.Notes = []incident.Note{{ID: "n", Then: &incident.Then{Launches: []report.Launch{node}}}}
		u.Because(incident.Reopened)
	}
	anew := func(u *incident.Update) {
		acts := u.Acts
		u.Incident = incident.Incident{
			Key: u.Key, Version: 7, Acts: acts, Format: report.Format, State: incident.Open, Number: 1, Opened: at(501), Began: at(500), Seen: at(500), Times: 1,
			Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{{Of: "subnet-1", Found: incident.Failing, At: at(500)}}, Cause: fails,
		}
		u.Because(incident.Opened)
	}
	settled := over(480)
	settled.Settled = at(500)
	for name, test := range map[string]struct {
		u      *incident.Update
		change func(*incident.Update)
	}{
		"soon":              {over(480), back},
		"just in time":      {over(401), back},
		"too late":          {over(400), anew},
		"it was settled":    {settled, func(u *incident.Update) { u.Late = true }},
		"it was never said": {func() *incident.Update { u := over(480); u.Number = 0; return u }(), anew},
	} {
		becomes(t, name, test.u, func(u *incident.Update) {
			rec := looking(report.Observation{})
			rec.Updates = []*incident.Update{u}
			rec.applyCause(fails)
		}, test.change)
	}
}

// What may pass by itself is said when it was seen three times.
func TestWhatMayPassByItself(t *testing.T) {
	slow := []snapshot.Failure{{Call: "ec2:A", Source: "tables", Reason: snapshot.Throttled}}
	denied := []snapshot.Failure{{Call: "ec2:A", Source: "tables", Reason: snapshot.Denied}}
	cause := func(list []snapshot.Failure) diagnosis.Cause { return blindCause(list[0], nil, spoke.Cluster{}) }
	of := func(state incident.State, times int) *incident.Update {
		u := open(check(incident.CannotLook, "ec2:A"))
		u.State, u.Times, u.Number, u.Covers, u.Verdicts, u.Cause.Covers = state, times, 0, []string{"ec2:A"}, []incident.Verdict{{Of: "ec2:A", Found: incident.Passing, At: at(400)}}, nil
		if state == incident.Closed {
			u.Number, u.Resolved = 1, at(490)
		}
		return u
	}
	later := of(incident.Pending, 2)
	later.Began = at(501)
	for name, test := range map[string]struct {
		u      *incident.Update
		list   []snapshot.Failure
		state  incident.State
		times  int
		began  int
		reason []incident.Reason
	}{
		"the second time":               {of(incident.Pending, 1), slow, incident.Pending, 2, 300, []incident.Reason{incident.NotYet}},
		"the third time":                {of(incident.Pending, 2), slow, incident.Open, 3, 300, []incident.Reason{incident.NotYet, incident.Opened}},
		"the third, of an earlier look": {later, slow, incident.Open, 3, 500, []incident.Reason{incident.NotYet, incident.Opened}},
		"denied by now":                 {of(incident.Pending, 1), denied, incident.Open, 2, 300, []incident.Reason{incident.NotYet, incident.Opened}},
		"back, the second time":         {of(incident.Closed, 1), slow, incident.Closed, 2, 300, []incident.Reason{incident.NotYet}},
		"back, the third time":          {of(incident.Closed, 2), slow, incident.Open, 3, 500, []incident.Reason{incident.Reopened}},
		"back, and denied":              {of(incident.Closed, 0), denied, incident.Open, 1, 500, []incident.Reason{incident.Reopened}},
	} {
		rec := looking(report.Observation{Blind: test.list})
		rec.Updates = []*incident.Update{test.u}
		rec.applyCause(cause(test.list))
		u := test.u
		if diff := cmp.Diff(test.reason, u.Reasons); diff != "" || u.State != test.state || u.Times != test.times || !u.Began.Equal(at(test.began)) {
			t.Errorf("%s: %s, %d times, began %s, reasons (-want +got):\n%s", name, u.State, u.Times, u.Began, diff)
		}
		if test.state != incident.Closed && !slices.Equal(u.Blind, test.list) {
			t.Errorf("%s: it lacks %v", name, u.Blind)
		}
	}
	fresh := looking(report.Observation{Blind: slow})
	fresh.applyCause(cause(slow))
	if u := fresh.Updates[0]; u.State != incident.Pending || u.Times != 1 || u.Format != report.Format || !slices.Equal(u.Reasons, []incident.Reason{incident.NotYet}) {
		t.Errorf("the first time: %+v", u)
	}
}

// What ended long ago is let go of when an incident comes back.
func TestWhatIsLetGoOf(t *testing.T) {
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: at(minute)}
	}
	of := func(id checkid.ID, c catalog.Confidence) *incident.Update {
		u := open(check(id, "r"))
		u.Cause.Confidence = c
		u.Verdicts = []incident.Verdict{v("a", incident.Failing, 400), v("b", incident.Passing, 400), v("c", incident.Passing, 401), v("d", incident.Absent, 400), v("e", incident.Failing, 401)}
		u.Covers = []string{"a", "b", "c", "d", "e"}
		u.Launches = []report.Launch{{Instance: "a", Status: report.GivenUp}}
		return u
	}
	for name, test := range map[string]struct {
		u    *incident.Update
		want []incident.Verdict
	}{
		"what passed":       {of("route/a", catalog.Certain), []incident.Verdict{v("a", incident.Failing, 400), v("c", incident.Passing, 401), v("e", incident.Failing, 401)}},
		"what ended once":   {of(checkid.InstanceEndedEarly, catalog.Certain), []incident.Verdict{v("c", incident.Passing, 401), v("e", incident.Failing, 401)}},
		"what was given up": {of("node/a", catalog.Symptom), []incident.Verdict{v("c", incident.Passing, 401), v("e", incident.Failing, 401)}},
	} {
		looking(report.Observation{}).forgetEnded(test.u)
		var covers []string
		for _, v := range test.want {
			covers = append(covers, v.Of)
		}
		if diff := cmp.Diff(test.want, test.u.Verdicts); diff != "" {
			t.Errorf("%s: verdicts (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(covers, test.u.Covers); diff != "" {
			t.Errorf("%s: covers (-want +got):\n%s", name, diff)
		}
	}
}

// TestEvidenceOfAnIncident: it keeps the evidence of when it opened, and the newest; when
// it comes back both are new. A look that kept none, and one from before, change nothing.
func TestEvidenceOfAnIncident(t *testing.T) {
	var known []incident.Incident
	look := func(minute int, key string, fails bool) *incident.Evidence {
		t.Helper()
		obs := report.Observation{Format: report.Format, ID: key + at(minute).String(), By: "join-check", At: at(minute), Cluster: "prod", Evidence: key}
		if fails {
			obs.Diagnosis.Causes = []diagnosis.Cause{{Check: "route/a", Resource: "rtb-1", Covers: []string{"subnet-1"}, Confidence: catalog.Certain, Title: "x"}}
		} else {
			obs.Absent = []string{"subnet-1"}
		}
		for _, d := range Decide(known, obs, at(minute+1), incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}) {
			known = []incident.Incident{d.Incident}
		}
		return known[0].Evidence
	}
	for _, step := range []struct {
		minute int
		key    string
		fails  bool
		want   incident.Evidence
	}{
		{10, "a", true, incident.Evidence{Opened: "a", Newest: "a"}},
		{20, "b", true, incident.Evidence{Opened: "a", Newest: "b"}},
		{30, "", true, incident.Evidence{Opened: "a", Newest: "b"}},
		{15, "late", true, incident.Evidence{Opened: "a", Newest: "b"}},
		{40, "", false, incident.Evidence{Opened: "a", Newest: "b"}},
		{50, "c", true, incident.Evidence{Opened: "c", Newest: "c"}},
	} {
		before := known
		if diff := cmp.Diff(&step.want, look(step.minute, step.key, step.fails)); diff != "" {
			t.Errorf("minute %d (-want +got):\n%s", step.minute, diff)
		}
		if len(before) > 0 && step.minute == 20 && before[0].Evidence.Newest != "a" {
			t.Error("what was known before is changed")
		}
	}
	if known[0].Number != 2 {
		t.Errorf("it opened %d times, want twice", known[0].Number)
	}
	var earlier incident.Incident
	if err := json.Unmarshal([]byte(`{"key":{"cluster":"prod","check":"route/a","resource":"rtb-1"},"state":"open"}`), &earlier); err != nil || earlier.Evidence != nil {
		t.Errorf("a record of an earlier release: %v, %+v", err, earlier.Evidence)
	}
}

// at is a minute of a day; looks are of minute 500, decided on in minute 501.
func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 0, minute, 0, 0, time.UTC)
}

func looking(obs report.Observation) *reconciler {
	obs.At, obs.Cluster = at(500), "prod"
	return &reconciler{correlate.Look{Observation: obs, Now: at(501), Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 100 * time.Minute, TagKeys: []string{"team"}}}}
}

// open is an incident of a route table that was last seen in minute 400.
func open(changes ...func(*incident.Update)) *incident.Update {
	u := &incident.Update{Incident: incident.Incident{
		Key: report.Key{Cluster: "prod", Check: "route/a", Resource: "rtb-1"}, State: incident.Open, Number: 1, Began: at(300), Opened: at(301), Seen: at(400),
		Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{{Of: "subnet-1", Found: incident.Failing, At: at(400)}},
	}}
	u.Cause = diagnosis.Cause{Check: "route/a", Resource: "rtb-1", Confidence: catalog.Certain, Title: "title", Covers: u.Covers}
	for _, change := range changes {
		change(u)
	}
	return u
}

func closed(minute int) func(*incident.Update) {
	return func(u *incident.Update) {
		u.State, u.Resolution, u.Resolved = incident.Closed, incident.Withdrawn, at(minute)
		u.Verdicts[0].Found = incident.Passing
	}
}

func check(id checkid.ID, resource string) func(*incident.Update) {
	return func(u *incident.Update) {
		u.Key.Check, u.Key.Resource, u.Cause.Check, u.Cause.Resource = id, resource, id, resource
	}
}

// becomes holds what a step makes of an incident against all that it should change.
func becomes(t *testing.T, name string, u *incident.Update, step func(*incident.Update), change func(*incident.Update)) {
	t.Helper()
	want := *u
	want.Incident = u.Clone()
	if change != nil {
		change(&want)
	}
	step(u)
	if diff := cmp.Diff(&want, u, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// What passed, exists no more, or joined, and what that makes of an incident.
func TestWhatVerdictsChange(t *testing.T) {
	const ip = checkid.IPLeakedInterfaces
	seen := func(obs *report.Observation, list ...diagnosis.Passed) report.Observation {
		obs.Diagnosis.Passed = list
		return *obs
	}
	passed := func(list ...diagnosis.Passed) report.Observation { return seen(&report.Observation{}, list...) }
	caused := func(list ...diagnosis.Cause) report.Observation {
		return report.Observation{Diagnosis: diagnosis.Diagnosis{Causes: list}}
	}
	evidence := []finding.Evidence{{What: "w"}}
	good := diagnosis.Passed{Check: "route/a", Covers: []string{"subnet-0", "subnet-1"}, Evidence: evidence}
	bare := diagnosis.Passed{Check: "route/a", Covers: []string{"subnet-1"}}
	verdict := func(found incident.Found) func(*incident.Update) {
		return func(u *incident.Update) {
			u.Verdicts[0] = incident.Verdict{Of: u.Verdicts[0].Of, Found: found, At: at(500)}
			u.Touched = true
		}
	}
	both := func(changes ...func(*incident.Update)) func(*incident.Update) {
		return func(u *incident.Update) {
			for _, change := range changes {
				change(u)
			}
		}
	}
	cleared := func(e ...finding.Evidence) func(*incident.Update) {
		return func(u *incident.Update) { u.ClearedBy = e }
	}
	later := func(u *incident.Update) { u.Seen, u.Verdicts[0].At = at(600), at(600) }
	partly := func(u *incident.Update) { u.Seen = at(600) } // by a look that did not see all of it
	subnet := func(u *incident.Update) {
		check(ip, "subnet-1")(u)
	}
	leakGone := diagnosis.Passed{Check: ip, Covers: []string{"subnet-1"}, Evidence: evidence}
	elsewhere := diagnosis.Passed{Check: ip, Covers: []string{"subnet-2"}, Evidence: evidence}
	mute := diagnosis.Passed{Check: ip, Covers: []string{"subnet-1"}}
	advice := func(id checkid.ID, resource string, covers ...string) diagnosis.Cause {
		return diagnosis.Cause{Check: id, Resource: resource, Covers: covers, Confidence: catalog.Advice, Title: "few"}
	}
	likely := advice("route/a", "rtb-1", "subnet-0", "subnet-1")
	certain := likely
	certain.Confidence = catalog.Certain
	other := advice("route/a", "rtb-2", "subnet-1")
	symptom := func(u *incident.Update) {
		u.Cause.Confidence, u.Covers, u.Verdicts[0].Of = catalog.Symptom, []string{"i-1"}, "i-1"
	}
	launch := func(status report.LaunchStatus) report.Observation {
		return report.Observation{Launches: []report.Launch{{Instance: "i-1", Status: status, Subnet: "subnet-1"}}}
	}
	join := report.Launch{Instance: "i-1", Status: report.Joined, Subnet: "subnet-1", Ready: at(450)}
	joined := func(l report.Launch) report.Observation { return report.Observation{Launches: []report.Launch{l}} }
	undated := join
	undated.Ready = time.Time{}
	of := func(obs report.Observation, causes ...diagnosis.Cause) report.Observation {
		obs.Diagnosis.Causes = causes
		return obs
	}
	joins := func(minute int) func(*incident.Update) {
		return func(u *incident.Update) {
			l := join
			l.Ready = at(minute)
			u.Joins, u.Touched = []report.Launch{l}, true
		}
	}
	more := func(u *incident.Update) { symptom(u); u.More = []string{"i-1"} }
	sight := func(u *incident.Update) {
		check(incident.CannotLook, "ec2:A")(u)
		u.Covers, u.Verdicts[0].Of, u.Blind = []string{"ec2:A"}, "ec2:A", []snapshot.Failure{{Call: "ec2:A", Source: "tables"}}
	}
	read := report.Observation{Read: []snapshot.Source{"tables"}}
	times := func(n int) func(*incident.Update) { return func(u *incident.Update) { u.Times = n } }
	old := func(u *incident.Update) {
		u.Effects = []incident.Effect{{Check: checkid.IPRunway, Title: "r", Last: at(400)}}
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		obs    report.Observation
		change func(*incident.Update)
	}{
		"it passes":                              {open(), passed(diagnosis.Passed{Check: "route/b", Covers: []string{"subnet-1"}}, good), both(verdict(incident.Passing), cleared(evidence...))},
		"it passes, and nobody says why":         {open(cleared(evidence...)), passed(bare), verdict(incident.Passing)},
		"it passes elsewhere":                    {open(), passed(diagnosis.Passed{Check: "route/a", Covers: []string{"subnet-2"}, Evidence: evidence}), nil},
		"another check passes":                   {open(), passed(diagnosis.Passed{Check: "route/b", Covers: []string{"subnet-1"}, Evidence: evidence}), nil},
		"it passed before":                       {open(later), passed(good), nil},
		"it passed in part":                      {open(partly), passed(good), verdict(incident.Passing)},
		"it passes, and is over":                 {open(closed(490)), passed(good), verdict(incident.Passing)},
		"it passes, and is long over":            {open(closed(400)), passed(good), nil},
		"it passes, and was just over":           {open(closed(401)), passed(good), verdict(incident.Passing)},
		"what came back of a leak":               {open(subnet, closed(490)), passed(leakGone), both(verdict(incident.Passing), cleared(evidence...))},
		"what came back, known":                  {open(subnet, closed(490), cleared(finding.Evidence{What: "known"})), passed(leakGone), verdict(incident.Passing)},
		"what came back elsewhere":               {open(subnet, closed(490)), passed(elsewhere), nil},
		"that it is gone, and not what came":     {open(subnet, closed(490)), passed(mute), verdict(incident.Passing)},
		"what came back before it was gone":      {open(subnet, closed(490), func(u *incident.Update) { u.Cleared = at(501) }), passed(leakGone), verdict(incident.Passing)},
		"what came back, by a look of that time": {open(subnet, closed(490), func(u *incident.Update) { u.Cleared = at(500); u.Verdicts[0].At = at(500) }), passed(leakGone), func(u *incident.Update) { u.ClearedBy, u.Touched = evidence, true }},
		"few are left":                           {open(subnet), caused(advice(ip, "subnet-1")), both(verdict(incident.Passing), cleared(finding.Evidence{What: "Left", Value: "few"}))},
		"few are left, and it is over":           {open(subnet, closed(490)), caused(advice(ip, "subnet-1")), verdict(incident.Passing)},
		"few were left before":                   {open(subnet, partly), caused(advice(ip, "subnet-1")), verdict(incident.Passing)},
		"another resource's now":                 {open(), caused(other), verdict(incident.Passing)},
		"its own still":                          {open(), caused(certain), nil},
		"it exists no more":                      {open(), report.Observation{Absent: []string{"subnet-1"}}, verdict(incident.Absent)},

		"a symptom's node joined":                                   {open(symptom), launch(report.Joined), verdict(incident.Passing)},
		"a symptom's node is gone":                                  {open(symptom), launch(report.Gone), verdict(incident.Absent)},
		"a symptom's node waits":                                    {open(symptom), launch(report.Missed), nil},
		"a cause's node is gone":                                    {open(func(u *incident.Update) { u.Covers, u.Verdicts[0].Of = []string{"i-1"}, "i-1" }), launch(report.Gone), nil},
		"one of many is given up":                                   {open(more), launch(report.GivenUp), func(u *incident.Update) { u.Covers, u.Verdicts, u.Touched = nil, nil, true }},
		"one is given up that is known by name":                     {open(symptom, func(u *incident.Update) { u.Launches = []report.Launch{{Instance: "i-1"}} }), launch(report.GivenUp), nil},
		"one is given up that is not affected":                      {open(symptom), launch(report.GivenUp), nil},
		"one is given up that it does not cover":                    {open(more, func(u *incident.Update) { u.Covers, u.Verdicts = []string{"i-2"}, u.Verdicts[:0] }), launch(report.GivenUp), nil},
		"a node joined":                                             {open(), joined(join), joins(450)},
		"a node joined, nobody knows when":                          {open(), joined(undated), joins(500)},
		"a node joined before":                                      {open(), joined(report.Launch{Instance: "i-1", Status: report.Joined, Subnet: "subnet-1", Ready: at(400)}), nil},
		"a node of another subnet joined":                           {open(), joined(report.Launch{Instance: "i-1", Status: report.Joined, Subnet: "subnet-2", Ready: at(450)}), nil},
		"a node waits":                                              {open(), launch(report.Waiting), nil},
		"a join that is no proof any more":                          {open(joins(400), func(u *incident.Update) { u.Touched = false }), report.Observation{}, func(u *incident.Update) { u.Joins = nil }},
		"a node joined in spite of what is likely":                  {open(), of(joined(join), advice("dns/a", "rtb-1", "subnet-1"), advice("route/a", "rtb-1", "subnet-0"), likely), both(joins(450), verdict(incident.Passing))},
		"a node joined, and it is advice of what it does not cover": {open(), of(joined(join), advice("route/a", "rtb-1", "subnet-0")), joins(450)},
		"a node joined, and another check advises":                  {open(), of(joined(join), advice("dns/a", "rtb-1", "subnet-1")), joins(450)},
		"a node joined, and it fails still":                         {open(), of(joined(join), certain), joins(450)},
		"it is advice, and no node joined":                          {open(), caused(likely), nil},
		"it was advice before":                                      {open(func(u *incident.Update) { u.Verdicts[0].At = at(501) }), of(joined(join), likely), joins(450)},

		"it can be read":                           {open(sight), read, verdict(incident.Passing)},
		"it cannot":                                {open(sight), report.Observation{}, nil},
		"what is read is no cause":                 {open(func(u *incident.Update) { u.Blind = []snapshot.Failure{{Source: "tables"}} }, check("route/a", "subnet-1")), read, nil},
		"a streak is broken":                       {open(sight, closed(490), times(2)), read, both(verdict(incident.Passing), times(0))},
		"a streak goes on":                         {open(sight, closed(490), times(2)), report.Observation{}, nil},
		"there was no streak":                      {open(sight, closed(490), func(u *incident.Update) { u.Verdicts[0].At = at(600) }), read, nil},
		"what is no sight has no streak":           {open(closed(490), times(2), func(u *incident.Update) { u.Blind = []snapshot.Failure{{Source: "tables"}} }), read, nil},
		"what belongs to it recovers":              {open(subnet, old), passed(diagnosis.Passed{Check: checkid.IPRunway, Covers: []string{"subnet-1"}}), func(u *incident.Update) { u.Effects[0].Over, u.Touched = at(500), true }},
		"what belonged to it does, and it is over": {open(subnet, old, closed(490)), passed(diagnosis.Passed{Check: checkid.IPRunway, Covers: []string{"subnet-1"}}), nil},
	} {
		becomes(t, name, test.u, looking(test.obs).applyVerdicts, test.change)
	}
}

// What a picture is drawn for, and when anew.
func TestWhenAPictureIsDrawn(t *testing.T) {
	png := []byte("png")
	obs := report.Observation{Charts: []report.Chart{{Of: "subnet-0", PNG: png}, {Of: "subnet-1"}, {Of: "subnet-1", Alt: "alt", PNG: png}}}
	ip := check(checkid.IPLeakedInterfaces, "subnet-1")
	have := func(c incident.Chart) func(*incident.Update) { return func(u *incident.Update) { u.Chart = &c } }
	drawn := func(turn, file, missing string) func(*incident.Update) {
		return func(u *incident.Update) {
			u.Chart, u.Touched = &incident.Chart{Alt: "alt", Of: u.Moment(), At: at(500), Turn: turn, PNG: png, File: file, Missing: missing}, true
		}
	}
	// A cleanup that ended it told what it gave back only after the picture was drawn.
	back := report.Observation{Charts: []report.Chart{{Of: "subnet-1", Alt: "alt", PNG: png, Returned: 90}}}
	redrawn := func(u *incident.Update) {
		drawn("1 proved", "F", "")(u)
		u.Chart.Returned = 90
	}
	following := func(u *incident.Update) {
		drawn("1 open short", "F", "")(u)
		u.Chart.FileAlt, u.Chart.FileOf = "old", "others"
	}
	touched := func(u *incident.Update) { u.Touched = true }
	proved := func(u *incident.Update) { u.Resolution, u.Cleared = incident.Proved, at(490) }
	for name, test := range map[string]struct {
		u      *incident.Update
		obs    report.Observation
		change func(*incident.Update)
	}{
		"the first":                    {open(ip), obs, drawn("1 open short", "", "")},
		"of no address":                {open(), obs, nil},
		"none for this subnet":         {open(ip), report.Observation{Charts: obs.Charts[:2]}, nil},
		"none":                         {open(ip), report.Observation{}, nil},
		"it is shown":                  {open(ip, have(incident.Chart{Turn: "1 open short", At: at(441), File: "F"})), obs, nil},
		"it is an hour old":            {open(ip, have(incident.Chart{Turn: "1 open short", At: at(440), File: "F", Missing: "m"})), obs, drawn("1 open short", "F", "m")},
		"beside other numbers":         {open(ip, have(incident.Chart{Turn: "1 open short", Of: "others", At: at(490), File: "F", FileAlt: "old", FileOf: "others"})), obs, following},
		"beside them for a moment":     {open(ip, have(incident.Chart{Turn: "1 open short", Of: "others", At: at(491), File: "F"})), obs, nil},
		"it waits":                     {open(ip, have(incident.Chart{Turn: "1 open short", At: at(441), PNG: []byte("o"), File: "F"})), obs, drawn("1 open short", "F", "")},
		"the incident has moved on":    {open(ip, have(incident.Chart{Turn: "1 open", At: at(499), File: "F"})), obs, drawn("1 open short", "F", "")},
		"a newer one is there":         {open(ip, have(incident.Chart{Turn: "1 open", At: at(501)})), obs, nil},
		"it is over":                   {open(ip, closed(490), proved), obs, drawn("1 proved", "", "")},
		"it is over for long":          {open(ip, closed(490), proved, have(incident.Chart{Turn: "1 proved", At: at(400)})), obs, nil},
		"it is over, and more is told": {open(ip, closed(490), proved, have(incident.Chart{Turn: "1 proved", At: at(491), File: "F"})), back, redrawn},
		"all of it is shown":           {open(ip, closed(490), proved, have(incident.Chart{Turn: "1 proved", At: at(491), File: "F", Returned: 90})), back, nil},
		"more is told of a later one":  {open(ip, closed(440), proved, have(incident.Chart{Turn: "1 proved", At: at(441), File: "F"})), back, nil},
		"more is told of an open one":  {open(ip, have(incident.Chart{Turn: "1 open short", At: at(491), File: "F"})), back, nil},
		"it is over since the look":    {open(ip, closed(490), proved, func(u *incident.Update) { u.Cleared = at(501) }), obs, nil},
		"open since the look":          {open(ip, func(u *incident.Update) { u.Cleared = at(501) }), obs, drawn("1 open short", "", "")},
		"nobody looks at it":           {open(ip, closed(490), have(incident.Chart{Alt: "a", At: at(1), File: "F", Next: "N", PNG: png, Turn: "t"}), touched), obs, have(incident.Chart{Alt: "a", At: at(1), File: "F", FileAlt: ""})},
		"nobody does, and it stays":    {open(ip, closed(490), have(incident.Chart{Alt: "a", Next: "N"})), obs, nil},
		"nobody does, and it is up":    {open(ip, closed(490), have(incident.Chart{Alt: "a", File: "F", Turn: "t"}), touched), obs, nil},
		"the one that waits is kept":   {open(ip, have(incident.Chart{Turn: "1 open short", At: at(501), PNG: png, Alt: "a"}), touched), obs, nil},
	} {
		becomes(t, name, test.u, looking(test.obs).updateChart, test.change)
	}
}

// How an incident's launches stand, and who missed roll call.
func TestWhoMissed(t *testing.T) {
	launches := func(l ...report.Launch) func(*incident.Update) {
		return func(u *incident.Update) { u.Launches = l }
	}
	l := func(id string, s report.LaunchStatus) report.Launch { return report.Launch{Instance: id, Status: s} }
	obs := report.Observation{Launches: []report.Launch{l("i-1", report.Missed), l("i-7", report.Missed), l("i-8", report.GivenUp), l("i-9", report.Gone)}}
	crowd := func(u *incident.Update) { u.More = []string{"i-7", "i-8", "i-9"} }
	note := func(n incident.Note) func(*incident.Update) {
		return func(u *incident.Update) { u.Delivery.Notes = []incident.Note{n} }
	}
	unsent := incident.Note{Reason: incident.HasMissed, At: at(501)}
	sent, sending, before, other := unsent, unsent, unsent, unsent
	sent.TS, sending.Sending, before.At, other.Reason = "1.2", at(501), at(500), incident.CauseGone
	missed := func(ids ...string) func(*incident.Update) {
		return func(u *incident.Update) {
			u.Missed = ids
			u.Because(incident.HasMissed)
		}
	}
	stands := launches(l("i-1", report.Missed))
	for name, test := range map[string]struct {
		u      *incident.Update
		change func(*incident.Update)
	}{
		"one":                            {open(launches(l("i-1", report.Waiting))), func(u *incident.Update) { stands(u); missed("i-1")(u) }},
		"with those beyond":              {open(launches(l("i-1", report.Waiting)), crowd), func(u *incident.Update) { stands(u); missed("i-1", "i-7", "i-8")(u) }},
		"those beyond, of the same look": {open(stands, crowd, note(unsent)), missed("i-7", "i-8")},
		"those beyond, which Slack has":  {open(stands, crowd, note(sent)), nil},
		"those beyond, which it may":     {open(stands, crowd, note(sending)), nil},
		"those beyond, of another look":  {open(stands, crowd, note(before)), nil},
		"those beyond, of another note":  {open(stands, crowd, note(other)), nil},
		"nobody, of the same look":       {open(stands, note(unsent)), nil},
		"one, and it is over":            {open(closed(490), crowd, launches(l("i-1", report.Waiting))), func(u *incident.Update) { stands(u); u.Missed, u.Touched = []string{"i-1"}, true }},
	} {
		becomes(t, name, test.u, looking(obs).updateLaunches, test.change)
	}
}

// A remedy is verified also just after the end; what is long over stays.
func TestWhatIsVerified(t *testing.T) {
	done := func(u *incident.Update) {
		u.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, State: incident.Acted, Run: &remedy.Run{Began: at(300), Ended: at(301), Result: remedy.Done}}}
		u.Verdicts[0].Found = incident.Passing
	}
	helped := func(u *incident.Update) {
		u.Offers[0].State, u.Offers[0].Verified = incident.Helped, at(400)
		u.Because(incident.IsVerified)
	}
	for name, test := range map[string]struct {
		u      *incident.Update
		change func(*incident.Update)
	}{
		"open":           {open(done), helped},
		"just over":      {open(done, closed(401)), helped},
		"long over":      {open(done, closed(400)), nil},
		"open for long":  {open(done, func(u *incident.Update) { u.Resolved = at(1) }), helped},
		"nothing to say": {open(), nil},
	} {
		becomes(t, name, test.u, looking(report.Observation{}).verifyRemedies, test.change)
	}
	// The blind spots of the look that cleared it are what its note tells.
	blind := []snapshot.Failure{{Call: "ec2:A"}}
	u := open(func(u *incident.Update) { u.Verdicts[0].Found, u.Verdicts[0].At = incident.Passing, at(490) })
	looking(report.Observation{Blind: blind}).transition(u)
	if u.State != incident.Cleared || !slices.Equal(u.Blind, blind) {
		t.Errorf("cleared: %s, %v", u.State, u.Blind)
	}
	u = open(closed(490), func(u *incident.Update) { u.State = incident.Pending })
	looking(report.Observation{Blind: blind}).transition(u)
	if u.State != incident.Closed || u.Blind != nil {
		t.Errorf("withdrawn: %s, %v", u.State, u.Blind)
	}
}
