package joincheck

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// TestWithoutKubernetes: who could not be asked has not joined, nothing is
// final, and the message says why.
func TestWithoutKubernetes(t *testing.T) {
	const nodes = "kubernetes:list nodes"
	for _, test := range []struct {
		name    string
		fault   simaws.FaultRule
		entry   bool // the access entry is there
		reason  snapshot.Reason
		code    string
		message string
	}{
		{"no access entry", simaws.FaultRule{}, false, snapshot.Denied, "Unauthorized", "Unauthorized"},
		{"no permission", simaws.FaultRule{Call: nodes, Deny: true}, true, snapshot.Denied, "Forbidden", "nodes is forbidden"},
		{"no connection", simaws.FaultRule{Call: nodes, Reset: true}, true, snapshot.Unreachable, "", "the connection was cut"},
		{"throttled", simaws.FaultRule{Call: nodes, Throttle: 1}, true, snapshot.Throttled, "TooManyRequests", ""},
		{"broken", simaws.FaultRule{Call: nodes, Fail: 1}, true, snapshot.Broken, "InternalError", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := healthy
			if test.fault.Call != "" {
				o.Faults = []simaws.FaultRule{test.fault}
			}
			b, id, news := launched(t, o)
			if !test.entry {
				b.Call("eks:DeleteAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+b.Env().Config.ReaderRole+`"}`)
			}
			b.Advance(6 * time.Minute)
			b.Send(news...)
			seen := b.Observation()
			if len(seen.Blind) != 1 {
				t.Fatalf("blind %+v, want the nodes", seen.Blind)
			}
			f := seen.Blind[0]
			if f.Source != snapshot.Nodes || f.Call != "kubernetes: list nodes" || f.Reason != test.reason || f.Code != test.code || !strings.Contains(f.Message, test.message) {
				t.Errorf("blind %+v, want %s with code %q and %q", f, test.reason, test.code, test.message)
			}
			if len(seen.Launches) != 1 || seen.Launches[0].Status != outcome.Missed {
				t.Errorf("launches %+v, want one that is not known to have joined", seen.Launches)
			}
			for _, p := range seen.Diagnosis.Passed {
				if strings.HasPrefix(string(p.Check), "node/") {
					t.Errorf("%s passes without the nodes", p.Check)
				}
			}
			if slices.Contains(seen.Read, snapshot.Nodes) {
				t.Error("the nodes count as read")
			}
			if l, _ := b.Launch(id); l.Status.Final() {
				t.Errorf("record %+v is final", l)
			}
		})
	}
}

// TestSweepWithoutKubernetes: not every node of the cluster is recorded as
// missing because none can be seen.
func TestSweepWithoutKubernetes(t *testing.T) {
	o := healthy
	o.Faults = []simaws.FaultRule{{Call: "kubernetes:list nodes", Deny: true}}
	b := bench(t, o)
	seen := sweep(t, b)
	if len(seen.Launches) > 0 || len(seen.Blind) != 1 || seen.Blind[0].Source != snapshot.Nodes {
		t.Errorf("launches %+v, blind %+v; want no launch, and that the nodes are unseen", seen.Launches, seen.Blind)
	}
	if _, recorded := b.Launch("i-0d0000000000000a1"); recorded {
		t.Error("a node of old was recorded as a launch")
	}
}

// A cluster is read by one role, the reader, and by no other that it lets in: what keeps a
// function from being the reader is named.
func TestReaderIsNotLetIn(t *testing.T) {
	for _, test := range []struct {
		name string
		// reader and own have access entries.
		reader, own bool
		faults      []simaws.FaultRule
		blind       string
	}{
		{"the reader", true, false, nil, ""},
		{"its own role alone", false, true, nil, "kubernetes: list nodes denied Unauthorized"},
		{"nobody", false, false, nil, "kubernetes: list nodes denied Unauthorized"},
		{"the reader, and it cannot be assumed", true, false, []simaws.FaultRule{{Call: "sts:AssumeRole", Deny: true}}, "sts:AssumeRole denied AccessDenied"},
		{"both, and the reader cannot be assumed", true, true, []simaws.FaultRule{{Call: "sts:AssumeRole", Deny: true}}, "sts:AssumeRole denied AccessDenied"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := healthy
			o.Faults = test.faults
			b, _, news := launched(t, o)
			reader, own := b.Env().Config.ReaderRole, simaws.RoleIdentity(b.Template.AccountID, b.Function.Name).RoleARN
			if !test.reader {
				b.Call("eks:DeleteAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+reader+`"}`)
			}
			if test.own {
				b.Call("eks:CreateAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+own+`"}`)
				b.Call("eks:AssociateAccessPolicy", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+own+
					`","policyArn":"arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy","accessScope":{"type":"cluster"}}`)
			}
			b.Advance(6 * time.Minute)
			b.Send(news...)
			var blind []string
			for _, f := range b.Observation().Blind {
				blind = append(blind, string(f.Call)+" "+string(f.Reason)+" "+f.Code)
			}
			if got := strings.Join(blind, ", "); got != test.blind {
				t.Errorf("blind %q, want %q", got, test.blind)
			}
		})
	}
}

func TestWholeBatchFails(t *testing.T) {
	for _, test := range []struct {
		fault simaws.FaultRule
		want  string
	}{
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Deny: true}, "ec2:DescribeInstances denied"},
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Throttle: 1}, "ec2:DescribeInstances throttled"},
		{simaws.FaultRule{Call: "dynamodb:Query", Deny: true}, "read the incidents"},
		{simaws.FaultRule{Call: "dynamodb:PutItem", Throttle: 1}, "at its limit"},
		{simaws.FaultRule{Call: "sqs:SendMessage", Deny: true}, "send the observation"},
	} {
		t.Run(test.fault.Call, func(t *testing.T) {
			b, _, news := launched(t, stagetest.Options{Faults: []simaws.FaultRule{test.fault}})
			_, err := b.TrySend(news[0])
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestDeniedRouteTables(t *testing.T) {
	b, _, news := launched(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeRouteTables", Deny: true}}})
	b.Advance(6 * time.Minute)
	b.Send(news...)
	o := b.Observation()
	if len(o.Blind) != 1 || o.Blind[0].Call != "ec2:DescribeRouteTables" {
		t.Errorf("blind %+v, want ec2:DescribeRouteTables", o.Blind)
	}
	for _, p := range o.Diagnosis.Passed {
		if strings.HasPrefix(string(p.Check), "route/") {
			t.Errorf("%s passes without the route tables", p.Check)
		}
	}
	if _, found := stagetest.Causes(o)["node/not-registered"]; !found {
		t.Errorf("causes %v, want at least the symptom", stagetest.Causes(o))
	}
}

// TestWithoutGroups: an instance that only its group's tags could claim is not
// called foreign because the group cannot be read.
func TestWithoutGroups(t *testing.T) {
	b := bench(t, stagetest.Options{Over: strangers, Faults: []simaws.FaultRule{{Call: "autoscaling:DescribeAutoScalingGroups", Throttle: 1}}})
	if back := b.Send(running("i-0aaaaaaaaaaaaaaa1"), running("i-0aaaaaaaaaaaaaaa1"), running("i-0aaaaaaaaaaaaaaa4")); !slices.Equal(back, []string{"m0", "m1"}) {
		t.Errorf("gave back %q, want both messages of the instance in a group", back)
	}
}
