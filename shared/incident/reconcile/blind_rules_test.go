package reconcile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// One cause for each permission, whatever hangs on it, and each failure of it once.
func TestOneCauseForEachPermission(t *testing.T) {
	fail := func(call string, source snapshot.Source, r snapshot.Reason) snapshot.Failure {
		return snapshot.Failure{Call: call, Source: source, Reason: r}
	}
	const denied, slow = snapshot.Denied, snapshot.Throttled
	a, b, c := fail("ec2:A", "tables", denied), fail("ec2:A", "subnets", slow), fail("ec2:B", "tables", denied)
	obs := report.Observation{
		Blind: []snapshot.Failure{c, a, fail("ec2:A", "tables", slow), fail("", "nodes", denied), fail("ec2:C", "zones", snapshot.NotRead)},
		Diagnosis: diagnose.Diagnosis{Unknown: []diagnose.Unknown{
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
	if diff := cmp.Diff([]snapshot.Failure{b, a}, failuresOf(diagnose.Cause{Resource: "ec2:A"}, obs)); diff != "" {
		t.Errorf("of one permission (-want +got):\n%s", diff)
	}
}

// What is said of what cannot be looked at, in each way in which it can fail.
func TestWordsOfWhatCannotBeLookedAt(t *testing.T) {
	const network = "Check that the function has a network path to the service, and that the service is up."
	for r, want := range map[snapshot.Reason][2]string{
		snapshot.Denied:      {"is denied", "Allow ec2:A to Rollcall's functions: deploy the stack again if the permission is missing in their roles, else look for a permissions boundary or a service control policy that denies it."},
		snapshot.Throttled:   {"is throttled", "Find who else in this account calls ec2:A so often, or ask for a higher rate."},
		snapshot.TimedOut:    {"gives no answer in time", network},
		snapshot.Unreachable: {"cannot be reached", network},
		snapshot.OverBudget:  {"takes too much work to read", "Look at what the answer names: it is larger, or packed more often, than anything that is meant to be read."},
		snapshot.NotShown: {"does not show all that the cluster names",
			"Look for the instance in the other accounts that share the VPC, and ask with --include-managed-resources. If it is gone, delete its Node object, or detach the volume."},
		snapshot.Broken: {"fails", "Read the function's log for the full answer."},
	} {
		got := blindCause(snapshot.Failure{Call: "ec2:A", Source: "tables", Reason: r}, nil, spoke.Cluster{})
		wanted := diagnose.Cause{
			Check: incident.CannotLook, Confidence: checks.Possible, Resource: "ec2:A", Covers: []string{"ec2:A"}, Title: "cannot look at the tables: ec2:A " + want[0],
			Why: "Whether instances can join cannot be told as long as this is not read. What depends on it is not judged, and nothing is called well.",
			Fix: checks.Fix{Text: want[1]},
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r, diff)
		}
	}
	for code, want := range map[string][2]string{
		snapshot.NoRelay:      {"and there is no relay for it", "Deploy the relay of this cluster, with"},
		snapshot.RelayRefuses: {"its relay refuses what it is asked", "Deploy the relay of this cluster again, of the release of Rollcall's hub"},
	} {
		got := blindCause(snapshot.Failure{Call: "lambda:InvokeFunction", Source: snapshot.Nodes, Reason: snapshot.Unreachable, Code: code}, nil, spoke.Cluster{})
		if !strings.HasPrefix(got.Title, "cannot look into this cluster: ") || !strings.HasSuffix(got.Title, want[0]) ||
			!strings.HasPrefix(got.Fix.Text, want[1]) || !strings.Contains(got.Fix.Text, "make deploy-relay") {
			t.Errorf("%s: %s: %s", code, got.Title, got.Fix.Text)
		}
	}
	full := blindCause(snapshot.Failure{Call: deletes, Reason: snapshot.Denied, Code: "code", Message: "message"}, []string{"a", "b"}, spoke.Cluster{})
	if diff := cmp.Diff([]checks.Evidence{{What: "Checks that could not judge", Value: "a, b"}, {What: "Error code", Value: "code"}, {What: "Answer", Value: "message"}}, full.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	if full.Title != "cannot delete leaked interfaces: ec2:DeleteNetworkInterface is denied" || full.Why != "Network interfaces of dead nodes keep their addresses as long as EC2 does not delete them. What Rollcall says of nodes does not hang on it." {
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
	for name, change := range map[string]func(*diagnose.Cause){
		"title": func(c *diagnose.Cause) { c.Title = "x" }, "why": func(c *diagnose.Cause) { c.Why = "x" }, "confidence": func(c *diagnose.Cause) { c.Confidence = "x" },
		"fix": func(c *diagnose.Cause) { c.Fix.Text = "x" }, "evidence": func(c *diagnose.Cause) { c.Evidence = []checks.Evidence{{What: "x"}} },
		"resources": func(c *diagnose.Cause) { c.Resources = []string{"x"} }, "contributing": func(c *diagnose.Cause) { c.Contributing = []checks.ID{"x"} },
		"symptoms": func(c *diagnose.Cause) { c.Symptoms = []checks.ID{"x"} }, "hidden": func(c *diagnose.Cause) { c.Hidden = []diagnose.Hidden{{Check: "x"}} },
	} {
		var a, b diagnose.Cause
		if differ(a, b) {
			t.Fatal("the same differs")
		}
		if change(&b); !differ(a, b) {
			t.Errorf("another %s is the same", name)
		}
	}
	var a, b diagnose.Cause
	if b.Covers, b.Instances, b.Nodegroups = []string{"x"}, []string{"x"}, []string{"x"}; differ(a, b) {
		t.Error("what it covers are words")
	}
}

// A leak is taken in first, what was only foreseen after what is there, symptoms
// last; advice is not taken in.
func TestOrderOfCauses(t *testing.T) {
	c := func(check checks.ID, confidence checks.Confidence) diagnose.Cause {
		return diagnose.Cause{Check: check, Confidence: confidence}
	}
	rec := &reconciler{correlate.Look{Observation: report.Observation{Diagnosis: diagnose.Diagnosis{Causes: []diagnose.Cause{
		c(checkid.NodeCNINotReady, checks.Certain), c("node/a", checks.Symptom), c(checkid.IPRunway, checks.Likely), c("route/a", checks.Certain), c("route/b", checks.Advice), c("iam/a", checks.Likely), c(checkid.IPLeakedInterfaces, checks.Certain),
	}}}}}
	var got []checks.ID
	for _, cause := range rec.causes() {
		got = append(got, cause.Check)
	}
	if diff := cmp.Diff([]checks.ID{checkid.IPLeakedInterfaces, "route/a", "iam/a", checkid.IPRunway, checkid.NodeCNINotReady, "node/a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is said where a spoke's role cannot be assumed: whose it is stands in the headline,
// and what to do is said for each way in which STS refuses.
func TestWordsOfASpokeThatDoesNotLetIn(t *testing.T) {
	for code, want := range map[string]string{
		"AccessDenied":            "Deploy the spoke again in that account and region, for this hub and with this hub's externalId (`make deploy-spoke`)",
		"RegionDisabledException": "STS is deactivated for the hub's region in that account: activate it there",
	} {
		c := blindCause(snapshot.Failure{Call: "sts:AssumeRole", Source: snapshot.Clusters, Reason: snapshot.Denied, Code: code, Message: "not authorized"}, nil, spoke.Cluster{})
		if !strings.HasPrefix(c.Fix.Text, want) || c.Title != "cannot look at this account and region: Rollcall's role there does not let it in" || !strings.Contains(c.Why, "nothing there is called well") {
			t.Errorf("%s: %q, %q, %q", code, c.Title, c.Why, c.Fix.Text)
		}
	}
	for _, code := range []string{"AuthFailure", "UnrecognizedClientException", "OptInRequired"} {
		c := blindCause(snapshot.Failure{Call: "eks:ListClusters", Source: snapshot.Clusters, Reason: snapshot.Denied, Code: code}, nil, spoke.Cluster{})
		if !strings.Contains(c.Fix.Text, "whose region the account has not enabled") {
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
		{snapshot.Denied, "Unauthorized", "cannot look into the cluster: its Kubernetes API does not know Rollcall", "KubernetesAccessCommand"},
		{snapshot.Denied, "Forbidden", "cannot look at the nodes: kubernetes: list nodes is denied", "Allow kubernetes: list nodes"},
	} {
		obs := report.Observation{Blind: []snapshot.Failure{fail(snapshot.Pods, test.reason, test.code), fail(snapshot.AWSNode, test.reason, test.code), fail(snapshot.Nodes, test.reason, test.code)}}
		got := blindCauses(obs)
		if len(got) != 1 || got[0].Resource != snapshot.WholeKubernetesAPI || got[0].Title != test.title || !strings.Contains(got[0].Fix.Text, test.text) {
			t.Errorf("%s %s: %+v", test.reason, test.code, got)
		}
	}
}
