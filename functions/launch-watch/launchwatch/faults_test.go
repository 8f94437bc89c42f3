package launchwatch

import (
	"slices"
	"strings"
	"testing"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/snapshot"
)

// TestWithoutInstances: without them nothing can be told apart, so all comes
// again, and in the end to the dead-letter queue.
func TestWithoutInstances(t *testing.T) {
	for _, test := range []struct {
		fault simaws.FaultRule
		want  []string
	}{
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Deny: true}, []string{"ec2:DescribeInstances", "denied"}},
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Throttle: 1}, []string{"ec2:DescribeInstances", "throttled"}},
		{simaws.FaultRule{Call: "ec2:DescribeInstances", Fail: 1}, []string{"ec2:DescribeInstances"}},
		{simaws.FaultRule{Call: "dynamodb:BatchGetItem", Deny: true}, []string{"look up 1 launches"}},
		{simaws.FaultRule{Call: "dynamodb:PutItem", Throttle: 1}, []string{"record the launch of " + sampled, "at its limit"}},
		{simaws.FaultRule{Call: "sqs:SendMessage", Deny: true}, []string{"send the observation of " + stagetest.Cluster}},
	} {
		t.Run(test.fault.Call, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml", Faults: []simaws.FaultRule{test.fault}})
			_, err := b.TrySend(sample(t, "ec2-state-running.json"))
			if err == nil {
				t.Fatal("the batch succeeded: the launch is lost")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if l, recorded := b.Launch(sampled); recorded {
				t.Errorf("recorded %+v: it would not be looked at again", l)
			}
		})
	}
}

// TestBlind: what could not be read is named and makes Unknown, never Pass.
func TestBlind(t *testing.T) {
	for _, test := range []struct {
		call   string
		source snapshot.Source
	}{
		{"ec2:DescribeRouteTables", snapshot.RouteTables},
		{"ec2:DescribeSubnets", snapshot.Subnets},
		{"ec2:DescribeVpcEndpoints", snapshot.Endpoints},
		{"autoscaling:DescribeAutoScalingGroups", snapshot.Groups},
		{"eks:DescribeNodegroup", snapshot.Nodegroups},
	} {
		t.Run(test.call, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml", Faults: []simaws.FaultRule{{Call: test.call, Deny: true}}})
			b.Send(sample(t, "ec2-state-running.json"))
			o := b.Observation()
			if len(o.Blind) != 1 || o.Blind[0].Source != test.source || o.Blind[0].Call != test.call || o.Blind[0].Reason != snapshot.Denied {
				t.Errorf("blind %+v, want %s denied for %s", o.Blind, test.call, test.source)
			}
			if slices.Contains(o.Read, test.source) || !slices.Contains(o.Read, snapshot.NATGateways) {
				t.Errorf("read %q, want all but %s", o.Read, test.source)
			}
			if !strings.Contains(b.Logs(), "call="+test.call) {
				t.Errorf("the log does not name the permission:\n%s", b.Logs())
			}
		})
	}
}

func TestDeniedRouteTablesPassNothing(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml", Faults: []simaws.FaultRule{{Call: "ec2:DescribeRouteTables", Deny: true}}})
	b.Send(sample(t, "ec2-state-running.json"))
	o := b.Observation()
	unknown := map[string]bool{}
	for _, u := range o.Diagnosis.Unknown {
		unknown[string(u.Check)] = true
		if !slices.ContainsFunc(u.Blocked, func(f snapshot.Failure) bool { return f.Call == "ec2:DescribeRouteTables" }) {
			t.Errorf("%s is unknown because of %v", u.Check, u.Blocked)
		}
	}
	for _, p := range o.Diagnosis.Passed {
		if strings.HasPrefix(string(p.Check), "route/") {
			t.Errorf("%s passes without the route tables", p.Check)
		}
	}
	if !unknown["route/no-egress"] || len(o.Diagnosis.Causes) > 0 {
		t.Errorf("unknown %v, causes %v", unknown, stagetest.Causes(o))
	}
}

// TestWithoutGroups: an instance that only its group's tags could claim is not
// called foreign because the group cannot be read.
func TestWithoutGroups(t *testing.T) {
	failed := strings.Replace(sample(t, "autoscaling-launch-unsuccessful.json"), stagetest.Group, "web", 1)
	b := bench(t, stagetest.Options{Over: strangers, Faults: []simaws.FaultRule{{Call: "autoscaling:DescribeAutoScalingGroups", Deny: true}}})
	back := b.Send(launch("i-0aaaaaaaaaaaaaaa1", "web"), running("i-0aaaaaaaaaaaaaaa3"), failed)
	slices.Sort(back)
	if want := []string{"m0", "m2"}; !slices.Equal(back, want) {
		t.Errorf("gave back %q, want %q: the launch and the failed launch of the group", back, want)
	}
}

// TestDeniedWarmPoolIsNamed: the groups take two permissions, and the one that
// is missing is named.
func TestDeniedWarmPoolIsNamed(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml", Faults: []simaws.FaultRule{{Call: "autoscaling:DescribeWarmPool", Deny: true}}})
	b.Call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"`+stagetest.Group+`","MinSize":1}`)
	b.Send(sample(t, "ec2-state-running.json"))
	if o := b.Observation(); len(o.Blind) != 1 || o.Blind[0].Call != "autoscaling:DescribeWarmPool" {
		t.Errorf("blind %+v, want autoscaling:DescribeWarmPool", o.Blind)
	}
}

// TestCallsDoNotGrowWithTheBurst: two hundred launches cost what one does.
func TestCallsDoNotGrowWithTheBurst(t *testing.T) {
	totals := map[int]int{}
	for _, n := range []int{1, 200} {
		b := bench(t, stagetest.Options{World: "burst-200.yaml", Over: "timeline: []\n"})
		b.Scale(n)
		b.Calls()
		b.Send(b.News(0)[0])
		calls := b.Calls()
		if o := b.Observation(); len(o.Launches) != n {
			t.Errorf("%d launches in the observation, want %d", len(o.Launches), n)
		}
		// Each launch has a record of its own, and a batch of a hundred is read at once.
		delete(calls, "dynamodb:PutItem")
		delete(calls, "dynamodb:BatchGetItem")
		var text string
		totals[n], text = stagetest.Total(calls)
		t.Logf("%d launches: %d calls (%s)", n, totals[n], text)
	}
	if totals[1] != totals[200] {
		t.Errorf("%d calls for one launch, %d for two hundred", totals[1], totals[200])
	}
}
