package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// whole is a look at prod at which these sources were read.
func whole(read ...snapshot.Source) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Account: "123456789012", Region: "us-west-2", Partition: "aws", Cluster: snapshot.Cluster{Name: "prod", VPC: "vpc-0a"}, Read: map[snapshot.Source]bool{},
	}
	for _, source := range read {
		s.Read[source] = true
	}
	return s
}

func TestWhole(t *testing.T) {
	needs := []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.Subnets}
	unread := func(source snapshot.Source) snapshot.Failure {
		return snapshot.Failure{Source: source, Reason: snapshot.NotRead, Message: "nobody asked for it"}
	}
	elsewhere := Missing(snapshot.Clusters, "the look is not at prod")
	for _, test := range []struct {
		name  string
		read  []snapshot.Source
		wrong func(*snapshot.Snapshot)
		want  *Refusal
	}{
		{"all of it", needs, func(*snapshot.Snapshot) {}, nil},
		{"two sources less", needs[:1], func(*snapshot.Snapshot) {}, &Refusal{
			Reason: CouldNotLook, Says: "No plan is made where something could not be read: auto scaling groups, not read.",
			Blocked: []snapshot.Failure{unread(snapshot.Groups), unread(snapshot.Subnets)},
		}},
		{"another cluster", needs, func(s *snapshot.Snapshot) { s.Cluster.Name = "dev" }, elsewhere},
		{"no VPC", needs, func(s *snapshot.Snapshot) { s.Cluster.VPC = "" }, elsewhere},
		{"no account", needs, func(s *snapshot.Snapshot) { s.Account = "" }, elsewhere},
		{"no region", needs, func(s *snapshot.Snapshot) { s.Region = "" }, elsewhere},
		{"no partition", needs, func(s *snapshot.Snapshot) { s.Partition = "" }, elsewhere},
	} {
		s := whole(test.read...)
		test.wrong(s)
		if diff := cmp.Diff(test.want, Look{Snapshot: s, Subject: Subject{Cluster: "prod"}}.Whole(needs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

const asked checks.ID = "route/no-egress"

// saying is a look for an incident of rtb-0a, which is about subnet-0a, whose check
// finds this. Another check finds the same, and nobody asks it.
func saying(confidence checks.Confidence, found ...checks.Finding) Look {
	finds := func(list []checks.Finding) func(*checks.View) []checks.Finding {
		return func(*checks.View) []checks.Finding { return list }
	}
	return Look{
		Snapshot: whole(), Subject: Subject{Cluster: "prod", Check: asked, Resource: "rtb-0a", Covers: []string{"subnet-0a"}},
		Checks: []checks.Check{
			{ID: "sg/node-egress", Confidence: checks.Certain, Run: finds([]checks.Finding{{Outcome: checks.Fail, Resource: "rtb-0a", Covers: []string{"subnet-0other"}}})},
			{ID: asked, Confidence: confidence, Run: finds(found)},
		},
	}
}

func denied() snapshot.Failure {
	return snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.Denied, Call: "ec2:DescribeRouteTables"}
}

func throttled() snapshot.Failure {
	return snapshot.Failure{Source: snapshot.Subnets, Reason: snapshot.Throttled}
}

func here(confidence checks.Confidence) checks.Finding {
	return checks.Finding{Outcome: checks.Fail, Resource: "rtb-0a", Confidence: confidence, Covers: []string{"subnet-0b", "subnet-0a"}}
}

func elsewhere() checks.Finding {
	return checks.Finding{Outcome: checks.Fail, Resource: "rtb-0other", Covers: []string{"subnet-0other"}}
}

func unknown(blocked ...snapshot.Failure) checks.Finding {
	return checks.Finding{Outcome: checks.Unknown, Resource: "prod", Blocked: blocked}
}

func blockedBy(blocked ...snapshot.Failure) *Refusal {
	return &Refusal{Reason: CouldNotLook, Says: "No plan is made where something could not be read: route tables, denied (ec2:DescribeRouteTables).", Blocked: blocked}
}

func TestStill(t *testing.T) {
	gone := &Refusal{Reason: NotSo, Says: "route/no-egress does not find it any more at rtb-0a."}
	unsure := func(confidence checks.Confidence) *Refusal {
		return &Refusal{
			Reason: NotCertain, Says: "route/no-egress finds it, but not with certainty (" + string(confidence) + "): something that cannot be seen could make it harmless.",
		}
	}
	for _, test := range []struct {
		name  string
		of    checks.Confidence // of the check
		found []checks.Finding
		want  *Refusal
	}{
		{"found", checks.Certain, []checks.Finding{here("")}, nil},
		{"found, and elsewhere something was not read", checks.Certain, []checks.Finding{here(""), unknown(denied())}, nil},
		{"found as likely by a check that is certain", checks.Certain, []checks.Finding{here(checks.Likely)}, nil},
		{"found by a check that is likely", checks.Likely, []checks.Finding{here("")}, nil},
		{"found as possible by a check that is certain", checks.Certain, []checks.Finding{here(checks.Possible)}, unsure(checks.Possible)},
		{"found with certainty and as possible", checks.Certain, []checks.Finding{here(""), here(checks.Possible)}, unsure(checks.Possible)},
		{"found by a check that is possible", checks.Possible, []checks.Finding{here("")}, unsure(checks.Possible)},
		{"found elsewhere", checks.Certain, []checks.Finding{elsewhere()}, gone},
		{"it passes", checks.Certain, []checks.Finding{{Outcome: checks.Pass, Resource: "rtb-0a"}}, gone},
		{"nothing", checks.Certain, nil, gone},
		{"it is not known", checks.Certain, []checks.Finding{unknown(denied()), unknown(throttled())}, blockedBy(denied(), throttled())},
		{"it is not known, and found elsewhere", checks.Certain, []checks.Finding{elsewhere(), unknown(denied())}, blockedBy(denied())},
	} {
		if diff := cmp.Diff(test.want, saying(test.of, test.found...).Still(checks.Certain, checks.Likely)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestCovered(t *testing.T) {
	passes := checks.Finding{Outcome: checks.Pass, Resource: "rtb-0a", Covers: []string{"subnet-0passes"}}
	got := saying(checks.Certain, elsewhere(), passes, here(""), here(checks.Possible)).Covered()
	if diff := cmp.Diff([]string{"subnet-0a", "subnet-0b", "subnet-0a", "subnet-0b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCauseGone(t *testing.T) {
	there := func(at string) *Refusal {
		return &Refusal{Reason: CauseIsThere, Says: "route/no-egress still finds it at " + at + ": a new instance would fail in the same way."}
	}
	silent := snapshot.Failure{Source: "check route/no-egress", Reason: snapshot.NotRead, Message: "it judged nothing"}
	about := elsewhere()
	about.Covers = []string{"subnet-0z", "subnet-0a"}
	resource := checks.Finding{Outcome: checks.Fail, Resource: "rtb-0a"}
	for _, test := range []struct {
		name  string
		found []checks.Finding
		want  *Refusal
	}{
		{"it passes", []checks.Finding{{Outcome: checks.Pass, Resource: "rtb-0a", Covers: []string{"subnet-0a"}}}, nil},
		{"it fails elsewhere", []checks.Finding{elsewhere()}, nil},
		{"it fails at the resource", []checks.Finding{resource}, there("rtb-0a")},
		{"it fails at another resource for what the incident covers", []checks.Finding{elsewhere(), about}, there("rtb-0other")},
		{"it is not known", []checks.Finding{unknown(denied()), unknown(throttled())}, blockedBy(denied(), throttled())},
		{"it passes here, and elsewhere it is not known", []checks.Finding{{Outcome: checks.Pass, Resource: "rtb-0a"}, unknown(denied())}, blockedBy(denied())},
		{"nothing was judged", nil, &Refusal{
			Reason: CouldNotLook, Says: "No plan is made where something could not be read: check route/no-egress, not read.", Blocked: []snapshot.Failure{silent},
		}},
	} {
		if diff := cmp.Diff(test.want, saying(checks.Certain, test.found...).CauseGone()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
