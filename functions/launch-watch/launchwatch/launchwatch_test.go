package launchwatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/functions/launch-watch/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
)

// What an event tells counts once, whether or not the activities list it yet,
// and also where they cannot be read.
func TestHear(t *testing.T) {
	told := []snapshot.Activity{{ID: "a-1", Group: "g", Status: "Failed"}}
	denied := snapshot.Failure{Source: snapshot.Activities, Reason: snapshot.Denied}
	tests := map[string]struct {
		listed []string
		failed bool
		want   []string
	}{
		"listed":        {[]string{"a-1", "a-0"}, false, []string{"a-1", "a-0"}},
		"not yet":       {[]string{"a-0"}, false, []string{"a-0", "a-1"}},
		"not to be had": {nil, true, []string{"a-1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Activities: !tt.failed}, Failures: map[snapshot.Source]snapshot.Failure{}, Groups: []snapshot.Group{{Name: "g"}}}
			for _, id := range tt.listed {
				s.Activities = append(s.Activities, snapshot.Activity{ID: id, Group: "g"})
			}
			if tt.failed {
				s.Failures[snapshot.Activities] = denied
			}
			addActivities(s, told)
			var got []string
			for _, a := range s.Activities {
				got = append(got, a.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("activities %q, want %q", got, tt.want)
			}
			if f, lacks := s.Lacks(snapshot.Activities, "g"); lacks != tt.failed || lacks && f.Reason != snapshot.Denied {
				t.Errorf("lacks %v, %+v", lacks, f)
			}
			if !s.Has(snapshot.Activities) {
				t.Error("the activities count as unread")
			}
		})
	}
	s := &snapshot.Snapshot{}
	if addActivities(s, nil); s.Has(snapshot.Activities) {
		t.Error("nothing was heard, and the activities count as read")
	}
}

// encodedMessage is the one of the sample of a refused fleet.
func encodedMessage(t *testing.T, body string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, "Encoded authorization failure message: ")
	if !found {
		t.Fatal("the sample has no encoded message")
	}
	return rest[:strings.IndexAny(rest, "\". ")]
}

// TestDeniedFleetIsDecoded: where the operator lets it, the statement and the tag are
// reported; where not, the permission is.
func TestDeniedFleetIsDecoded(t *testing.T) {
	body := sample(t, "ec2-call-create-fleet-refused.json")
	message := encodedMessage(t, body)
	decoded, err := json.Marshal(`{"allowed":false,"explicitDeny":true,"matchedStatements":{"items":[{"statementId":"AskTeamId","effect":"DENY","conditions":{"items":[{"key":"aws:RequestTag/team-id","values":{"items":[{"value":"true"}]}}]}}]},` +
		`"context":{"principal":{"arn":"arn:aws:sts::111122223333:assumed-role/karpenter/1"},"action":"ec2:CreateFleet","resource":"arn:aws:ec2:us-west-2:111122223333:fleet/*","conditions":{"items":[{"key":"aws:SourceIp","values":{"items":[{"value":"203.0.113.9"}]}}]}}}`)
	if err != nil {
		t.Fatal(err)
	}
	sts := func(encoded, expires string) string {
		return "sts: {AuthorizationMessages: [{Encoded: " + encoded + ", Decoded: " + string(decoded) + ", Expires: " + expires + "}]}\n"
	}
	for name, tt := range map[string]struct {
		over, setting string
		title, says   string
		asked         int
	}{
		"on":              {sts(message, "2026-11-21T00:00:00Z"), "on", "NodePool default cannot launch: denied by statement AskTeamId", "Statement AskTeamId: aws:RequestTag/team-id names true, the request has none", 1},
		"off":             {sts(message, "2026-11-21T00:00:00Z"), "off", "NodePool default cannot launch: a service control policy forbids it", "Encoded message: not decoded: Rollcall lacks sts:DecodeAuthorizationMessage", 0},
		"it is another's": {sts("other", "2026-11-21T00:00:00Z"), "on", "NodePool default cannot launch: a service control policy forbids it", "Encoded message: not decoded: STS rejects it", 1},
		"it has expired":  {sts(message, "2026-11-20T14:00:00Z"), "on", "NodePool default cannot launch: a service control policy forbids it", "Encoded message: not decoded: STS rejects it", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml", Over: tt.over, Settings: map[string]string{"ROLLCALL_DECODE_DENIED": tt.setting}})
			if back := b.Send(body, body); len(back) > 0 {
				t.Errorf("gave back %q", back)
			}
			c := b.Observation().Diagnosis.Causes[0]
			var told []string
			for _, e := range c.Evidence {
				told = append(told, e.What+": "+e.Value)
			}
			text := strings.Join(told, "\n")
			if c.Check != "launch/policy-denied" || c.Title != tt.title || !strings.Contains(text, tt.says) {
				t.Errorf("%s: %q, evidence\n%s\nwant %q and %q", c.Check, c.Title, text, tt.title, tt.says)
			}
			for _, secret := range []string{message, "203.0.113.9"} {
				if strings.Contains(text+b.Logs(), secret) {
					t.Errorf("%q is told or logged", secret)
				}
			}
			if got := b.Calls()["sts:DecodeAuthorizationMessage"]; got != tt.asked {
				t.Errorf("STS was asked %d times, want %d", got, tt.asked)
			}
		})
	}
}

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

// TestGroupsAreReadOnce: with the instances where the events name all groups, else after them.
func TestGroupsAreReadOnce(t *testing.T) {
	action, running := sample(t, "autoscaling-launch-lifecycle-action.json"), sample(t, "ec2-state-running.json")
	other := strings.Replace(action, sampled, "i-0aaaaaaaaaaaaaaa2", 1)
	for name, bodies := range map[string][]string{
		"named by its event":          {action},
		"named by one of its events":  {running, action},
		"not named":                   {running},
		"one named, the other is not": {running, other},
	} {
		b := bench(t, stagetest.Options{World: "samples.yaml"})
		b.Send(bodies...)
		if n := b.Calls()["autoscaling:DescribeAutoScalingGroups"]; n != 1 {
			t.Errorf("%s: the groups were read %d times, want once", name, n)
		}
		if o := b.Observation(); len(o.Launches) != 1 || o.Launches[0].Group != stagetest.Group || len(o.Blind) > 0 {
			t.Errorf("%s: launches %+v, blind %v", name, o.Launches, o.Blind)
		}
	}
}

// TestCallsDoNotGrowWithTheBurst: two hundred launches cost what one does.
func TestCallsDoNotGrowWithTheBurst(t *testing.T) {
	totals := map[int]int{}
	for _, n := range []int{1, 200} {
		b := bench(t, stagetest.Options{World: "burst-200.yaml", Over: "timeline: []\n"})
		b.Scale(n)
		b.Calls()
		b.Send(b.LaunchEvents(0)[0])
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

func bench(t *testing.T, o stagetest.Options) *stagetest.Bench {
	t.Helper()
	return stagetest.Start(t, spec.Spec(), Build, o)
}

func sample(t *testing.T, name string) string {
	t.Helper()
	return string(testfile.Read(t, filepath.Join("../../../events/in", name)))
}

// The instance of the sample events, which samples.yaml has.
const sampled = "i-0ef3c1b2a4d5968f1"

func TestSampleLaunch(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	if back := b.Send(sample(t, "autoscaling-launch-lifecycle-action.json")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	o := b.Observation()
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table {
		t.Errorf("causes %v, want route/no-egress because of %s", stagetest.Causes(o), stagetest.Table)
	}
	began := time.Date(2026, 11, 20, 14, 59, 6, 0, time.UTC)
	want := []report.Launch{{
		Instance: sampled, Nodegroup: stagetest.Nodegroup, Group: stagetest.Group,
		Subnet: stagetest.Subnet, Zone: "us-west-2a", Type: "m5.large", Started: began, Status: outcome.Waiting,
	}}
	if diff := cmp.Diff(want, o.Launches); diff != "" {
		t.Errorf("launches (-want +got):\n%s", diff)
	}
	if o.By != "launch-watch" || o.Account != "111122223333" || o.Cluster != stagetest.Cluster || o.Sweep || len(o.Blind) > 0 {
		t.Errorf("observation by %q in account %q of %q, sweep %v, blind %v", o.By, o.Account, o.Cluster, o.Sweep, o.Blind)
	}
	l, ok := b.Launch(sampled)
	if !ok || !l.Due.Equal(began.Add(5*time.Minute)) || l.Cluster != stagetest.Cluster || l.Status != outcome.Waiting {
		t.Errorf("record %+v (%v), want one that is due at %s", l, ok, began.Add(5*time.Minute))
	}
}

// TestOneLaunchManyEvents: three kinds of event, several times, out of order.
func TestOneLaunchManyEvents(t *testing.T) {
	action, running, success := "autoscaling-launch-lifecycle-action.json", "ec2-state-running.json", "autoscaling-launch-successful.json"
	for _, test := range []struct {
		name    string
		batches [][]string
	}{
		{"one batch", [][]string{{success, running, action, running, success}}},
		{"one by one", [][]string{{success}, {running}, {action}, {running}, {action}}},
		{"mixed", [][]string{{running, running}, {success, action}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml"})
			for _, names := range test.batches {
				var bodies []string
				for _, name := range names {
					bodies = append(bodies, sample(t, name))
				}
				if back := b.Send(bodies...); len(back) > 0 {
					t.Errorf("gave back %q", back)
				}
			}
			o := b.Observation()
			if len(o.Launches) != 1 || stagetest.Causes(o)["route/no-egress"] != stagetest.Table {
				t.Errorf("%d launches because of %v", len(o.Launches), stagetest.Causes(o))
			}
			l, _ := b.Launch(sampled)
			if began := time.Date(2026, 11, 20, 14, 59, 6, 0, time.UTC); !l.Started.Equal(began) {
				t.Errorf("the clock began at %s, want %s", l.Started, began)
			}
			if got := b.Counts()["Launches"]; got != 1 {
				t.Errorf("%d launches were counted, want 1", got)
			}
		})
	}
}

// TestLateSuccessDoesNotRestartTheClock: "Launch Successful" comes when the
// launch hook gives up, half an hour later.
func TestLateSuccessDoesNotRestartTheClock(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Send(sample(t, "ec2-state-running.json"))
	before, _ := b.Launch(sampled)
	b.Advance(30 * time.Minute)
	b.Send(sample(t, "autoscaling-launch-successful.json"))
	after, _ := b.Launch(sampled)
	if diff := cmp.Diff(before, after, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("the record has changed (-before +after):\n%s", diff)
	}
	if n := len(b.Observations()); n != 1 {
		t.Errorf("%d observations, want that of the first event alone", n)
	}
}

// TestSuccessAloneKnowsNoClock: where it is the only news, EC2's launch time
// counts, not the event's.
func TestSuccessAloneKnowsNoClock(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Advance(30 * time.Minute)
	b.Send(sample(t, "autoscaling-launch-successful.json"))
	l, ok := b.Launch(sampled)
	if want := time.Date(2026, 11, 20, 14, 59, 6, 0, time.UTC); !ok || !l.Started.Equal(want) {
		t.Errorf("the clock began at %s (%v), want EC2's launch time %s", l.Started, ok, want)
	}
}

func TestMalformedAloneIsGivenBack(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	action := sample(t, "autoscaling-launch-lifecycle-action.json")
	back := b.Send("{", action, `{"source":"aws.autoscaling"}`, strings.Replace(action, `"EC2InstanceId"`, `"Other"`, 1), `[]`)
	if want := []string{"m0", "m2", "m3", "m4"}; !slices.Equal(back, want) {
		t.Errorf("gave back %q, want %q", back, want)
	}
	if o := b.Observation(); len(o.Launches) != 1 {
		t.Errorf("%d launches, want that of the good message", len(o.Launches))
	}
	if got := b.Counts(); got["MalformedEvents"] != 4 {
		t.Errorf("counts %v, want 4 malformed events", got)
	}
	if !strings.Contains(b.Logs(), "message=m0") {
		t.Errorf("the log does not name the message:\n%s", b.Logs())
	}
}

func TestNotABatch(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	for _, raw := range []string{"{}", "[]", `{"Records":[]}`, sample(t, "schedule-rule.json")} {
		if _, err := b.Handle([]byte(raw)); !errors.Is(err, errNoBatch) {
			t.Errorf("%q: error %v, want errNoBatch", raw, err)
		}
	}
}

func TestLaunchFailed(t *testing.T) {
	b := bench(t, stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"})
	b.Advance(time.Minute)
	news := b.LaunchEvents(0)
	if len(news) == 0 || !strings.Contains(news[0], "EC2 Instance Launch Unsuccessful") {
		t.Fatalf("the world sent %q, want a failed launch", news)
	}
	if back := b.Send(news[0], news[0]); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	o := b.Observation()
	if got := stagetest.Causes(o)["launch/subnet-full"]; got != stagetest.Subnet || len(o.Launches) > 0 {
		t.Errorf("causes %v and %d launches, want the subnet and no launch", stagetest.Causes(o), len(o.Launches))
	}
	if got := b.Counts(); got["FailedLaunches"] != 1 {
		t.Errorf("counts %v, want one failed launch", got)
	}
}

func TestEarlyEndIsExplainedAtOnce(t *testing.T) {
	b := bench(t, stagetest.Options{World: "ended-early.yaml"})
	b.Advance(11 * time.Second)
	first := b.LaunchEvents(0)
	b.Send(first...)
	b.Observations()
	b.Advance(time.Minute)
	later := b.LaunchEvents(len(first))
	i := slices.IndexFunc(later, func(body string) bool { return strings.Contains(body, `"state":"terminated"`) })
	if i < 0 {
		t.Fatalf("the world sent %q, want that the instance is terminated", later)
	}
	b.Send(later[i])
	o := b.Observation()
	if _, found := stagetest.Causes(o)["launch/kms-key"]; !found {
		t.Errorf("causes %v, unknown %v, want launch/kms-key", stagetest.Causes(o), o.Diagnosis.Unknown)
	}
	if len(o.Launches) != 1 || o.Launches[0].Status != outcome.Gone || !strings.Contains(o.Launches[0].EndedWhy, "KMS key") {
		t.Errorf("launches %+v, want one that is gone because of its key", o.Launches)
	}
	// An instance that is not waited for is none of our affair.
	b.Send(strings.ReplaceAll(later[i], b.Instance(later[i]), "i-0d0000000000000a1"))
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of the end of an instance that nobody waits for", n)
	}
}

// TestEndedBeforeItWasSeen: launched and ended before the first look.
func TestEndedBeforeItWasSeen(t *testing.T) {
	b := bench(t, stagetest.Options{World: "ended-early.yaml"})
	b.Advance(time.Minute)
	b.Send(b.LaunchEvents(0)...)
	o := b.Observation()
	if len(o.Launches) == 0 || o.Launches[0].Status != outcome.Gone {
		t.Fatalf("launches %+v, want one that is gone", o.Launches)
	}
	if l, recorded := b.Launch(o.Launches[0].Instance); recorded {
		t.Errorf("recorded %+v; join-check is to judge it, which sees the nodes", l)
	}
}

// TestEarlyRollCall: the roll of a new launch is first called after a minute.
func TestEarlyRollCall(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Send(sample(t, "ec2-state-running.json"))
	if diff := cmp.Diff(map[string]time.Duration{sampled: detect.Soon}, b.Reminders()); diff != "" {
		t.Errorf("reminders (-want +got):\n%s", diff)
	}
}

// TestKilledAtEachWrite: of a burst each launch is recorded, report gets the reason why it
// will not join, and join-check is asked to look at it, wherever the function
// ends. What is sent twice counts once for its receiver.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		b.Scale(2)
		k.Invoke(stagetest.Batch(b.LaunchEvents(0)...))
		asked := []string{}
		for id := range b.Reminders() {
			asked = append(asked, id)
		}
		return map[string]any{"records": b.Kept(), "told": b.Concluded(b.Observations()), "asked": len(asked)}
	})
}

// TestAnAutoModeLaunchIsHeard: of an instance that EKS manages EC2 reports that it
// runs, and no Auto Scaling group does; its lists hide it. It is looked at as
// any other.
func TestAnAutoModeLaunchIsHeard(t *testing.T) {
	const autoNode = "i-0a070000000000001"
	b := bench(t, stagetest.Options{World: "corpus/route-no-egress-auto-mode.yaml", Over: `
ec2:
  Instances:
    - {InstanceId: ` + autoNode + `, LaunchTime: 2026-11-20T14:57:50Z}
`})
	if back := b.Send(running(autoNode)); len(back) > 0 {
		t.Fatalf("gave back %q", back)
	}
	o := b.Observation()
	if got := stagetest.Causes(o)["route/no-egress"]; got != stagetest.Table || len(o.Launches) != 1 || o.Launches[0].Instance != autoNode {
		t.Errorf("causes %v, launches %+v; want the route of %s\n%s", stagetest.Causes(o), o.Launches, autoNode, strings.TrimSpace(b.Logs()))
	}
}

var warnings = []string{"ec2-spot-interruption.json", "ec2-capacity-reservation-interruption.json", "ec2-rebalance-recommendation.json", "health-ec2-scheduled-change.json"}

// TestNoticesOfALaunch: what EC2 says beforehand is on the record, whether it
// comes before the launch's own events, with them, or after.
func TestNoticesOfALaunch(t *testing.T) {
	var notices []string
	for _, name := range warnings {
		notices = append(notices, sample(t, name))
	}
	action := sample(t, "autoscaling-launch-lifecycle-action.json")
	for name, batches := range map[string][][]string{
		"before":   {notices, {action}},
		"with":     {append([]string{action}, notices...)},
		"after":    {{action}, notices},
		"one each": {{notices[1]}, {action}, {notices[0]}, {notices[2]}, notices},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml"})
			for _, bodies := range batches {
				if back := b.Send(bodies...); len(back) > 0 {
					t.Errorf("gave back %q", back)
				}
			}
			if n := len(b.Observations()); n != 1 {
				t.Errorf("%d observations, want that of the launch alone", n)
			}
			l, ok := b.Launch(sampled)
			at := func(second int) time.Time { return time.Date(2026, 11, 20, 14, 59, second, 0, time.UTC) }
			if !ok || !l.Noticed.Equal(at(40)) || !l.Rebalance.Equal(at(30)) || !l.Maintenance.Equal(at(35)) || l.End != snapshot.Open || l.Status != outcome.Waiting {
				t.Errorf("record %+v (%v)", l, ok)
			}
			if got := b.Counts()["Launches"]; got != 1 {
				t.Errorf("%d launches were counted", got)
			}
		})
	}
}

// TestNoticesOfOthers: a node of old, an instance of others, an unknown
// one.
func TestNoticesOfOthers(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Advance(time.Hour)
	warning := sample(t, "ec2-spot-interruption.json")
	if back := b.Send(warning, strings.ReplaceAll(warning, sampled, "i-0eeeeeeeeeeeeeee1")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if _, recorded := b.Launch(sampled); recorded || len(b.Observations()) > 0 {
		t.Error("an old node was taken for a launch")
	}
	if got := b.Counts(); got["NoticesIgnored"] != 1 || got["UnknownInstances"] != 1 {
		t.Errorf("counts %v, want one ignored and one unknown", got)
	}
}

// joinedOnce records a launch that joined some time ago.
func joinedOnce(t *testing.T, b *stagetest.Bench, id string, ago time.Duration) {
	t.Helper()
	l := store.LaunchRecord{Launch: outcome.Launch{Instance: id, Subnet: stagetest.Subnet, Started: b.Now().Add(-ago - time.Minute)}, Cluster: stagetest.Cluster, Due: b.Now().Add(-ago + 4*time.Minute)}
	l.Learn(outcome.Facts{Ready: b.Now().Add(-ago)})
	if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

func TestNoticeOfANodeThatHasJustJoined(t *testing.T) {
	for _, test := range []struct {
		ago  time.Duration
		want int
	}{{10 * time.Minute, 1}, {2 * time.Hour, 0}} {
		b := bench(t, stagetest.Options{World: "samples.yaml"})
		joinedOnce(t, b, sampled, test.ago)
		b.Calls()
		warning := sample(t, "ec2-spot-interruption.json")
		b.Send(warning)
		b.Send(warning)
		if got := b.Calls()["dynamodb:PutItem"]; got != test.want {
			t.Errorf("joined %s ago: %d writes, want %d", test.ago, got, test.want)
		}
		if l, _ := b.Launch(sampled); l.End != snapshot.Joined || l.Noticed.IsZero() == (test.want == 1) {
			t.Errorf("joined %s ago: %+v", test.ago, l)
		}
		if n := len(b.Observations()); n > 0 {
			t.Errorf("%d observations", n)
		}
	}
}

// TestLostNode: a node that ends soon after it has joined is no failed launch,
// and its end is kept with EC2's reason.
func TestLostNode(t *testing.T) {
	b := bench(t, stagetest.Options{})
	b.Scale(1)
	id := b.Instance(b.LaunchEvents(0)[0])
	joinedOnce(t, b, id, 5*time.Minute)
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	before := len(b.LaunchEvents(0))
	b.Advance(time.Minute)
	var ends []string
	for _, body := range b.LaunchEvents(before) {
		if strings.Contains(body, `"state":"terminated"`) && b.Instance(body) == id {
			ends = append(ends, body)
		}
	}
	if len(ends) == 0 {
		t.Fatal("the world tells of no end")
	}
	b.Send(append(ends, ends...)...)
	b.Send(ends...)
	l, _ := b.Launch(id)
	if l.End != snapshot.Joined || l.Ended.IsZero() || l.EndedCode != "Client.UserInitiatedShutdown" {
		t.Errorf("record %+v, want that it joined, and when and why it ended", l)
	}
	if n := len(b.Observations()); n > 0 || b.Counts()["LostNodes"] != 1 {
		t.Errorf("%d observations; want none, and one lost node", n)
	}
}

// TestRefusedLaunchIsRecordedOnce: by its activity, with its class.
func TestRefusedLaunchIsRecordedOnce(t *testing.T) {
	b := bench(t, stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"})
	b.Advance(time.Minute)
	news := b.LaunchEvents(0)[0]
	b.Send(news, news)
	b.Send(news)
	list, err := b.Store.History(t.Context(), stagetest.Cluster, b.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].End != snapshot.Refused || list[0].Cause != "launch/subnet-full" || list[0].Subnet != stagetest.Subnet || list[0].Nodegroup != stagetest.Nodegroup || list[0].FreeAt.IsZero() {
		t.Errorf("history %+v, want one refused launch", list)
	}
	samples, err := b.Store.Samples(t.Context(), stagetest.Subnet, b.Now().Add(-time.Hour))
	if err != nil || len(samples) != 1 || samples[0].Free != 0 || samples[0].Total == 0 {
		t.Errorf("samples %+v, %v; want one of a full subnet", samples, err)
	}
}

// TestLearnedTime: a launch is due after what its nodegroup usually takes, and
// the first reminder meets it.
func TestLearnedTime(t *testing.T) {
	for seconds, want := range map[int]time.Duration{20: time.Minute, 80: 2 * time.Minute, 480: 12 * time.Minute} {
		b := bench(t, stagetest.Options{World: "samples.yaml"})
		var joins []outcome.Join
		for i := range 40 {
			joins = append(joins, outcome.Join{Instance: fmt.Sprintf("i-%017x", i), At: b.Now().Add(-time.Hour), Seconds: seconds})
		}
		if err := b.Store.SaveJoinTimes(t.Context(), stagetest.Cluster, store.JoinTimes{Nodegroup: stagetest.Nodegroup, Joins: joins}); err != nil {
			t.Fatal(err)
		}
		b.Send(sample(t, "autoscaling-launch-lifecycle-action.json"))
		l, _ := b.Launch(sampled)
		if got := l.Due.Sub(l.Started); got != want || l.Samples != 40 || l.Usual != time.Duration(seconds)*time.Second {
			t.Errorf("%d s: due after %s (%d samples), want %s", seconds, got, l.Samples, want)
		}
		if got := b.Reminders()[sampled]; got <= 0 || got > detect.Soon || got > l.Due.Sub(b.Now())+5*time.Second {
			t.Errorf("%d s: the first reminder is in %s", seconds, got)
		}
		if n := b.Calls()["dynamodb:Query"]; n != 1 {
			t.Errorf("%d queries, want one", n)
		}
	}
}

// strangers are instances of others: a web server's group, a cluster that is
// not watched, and one that kops made, which EKS does not have.
const strangers = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaaa1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.21, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa2, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.22, LaunchTime: 2026-11-20T14:57:50Z}
    - {InstanceId: i-0aaaaaaaaaaaaaaa3, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.23, LaunchTime: 2026-11-20T14:57:50Z, Tags: [{Key: "eks:cluster-name", Value: sandbox}]}
    - {InstanceId: i-0aaaaaaaaaaaaaaa4, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.24, LaunchTime: 2026-11-20T14:57:50Z, Tags: [{Key: "kubernetes.io/cluster/kops.example.com", Value: owned}]}
autoscaling:
  AutoScalingGroups:
    - {AutoScalingGroupName: web, MinSize: 0, MaxSize: 2, DesiredCapacity: 2, VPCZoneIdentifier: subnet-0b20000000000000a, Instances: [{InstanceId: i-0aaaaaaaaaaaaaaa1}, {InstanceId: i-0aaaaaaaaaaaaaaa2}]}
`

func launch(instance, group string) string {
	return strings.NewReplacer(sampled, instance, stagetest.Group, group, "14:59:06Z", "14:57:58Z").Replace(
		`{"version":"0","id":"1","detail-type":"EC2 Instance-launch Lifecycle Action","source":"aws.autoscaling","account":"111122223333","time":"2026-11-20T14:59:06Z","region":"us-west-2","resources":[],` +
			`"detail":{"AutoScalingGroupName":"` + stagetest.Group + `","EC2InstanceId":"` + sampled + `","LifecycleTransition":"autoscaling:EC2_INSTANCE_LAUNCHING","Origin":"EC2","Destination":"AutoScalingGroup"}}`)
}

func running(instance string) string {
	return `{"version":"0","id":"2","detail-type":"EC2 Instance State-change Notification","source":"aws.ec2","account":"111122223333","time":"2026-11-20T14:57:59Z","region":"us-west-2","resources":[],` +
		`"detail":{"instance-id":"` + instance + `","state":"running"}}`
}

func TestForeignEvents(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	back := b.Send(sample(t, "schedule-rule.json"), strings.Replace(sample(t, "ec2-state-running.json"), `"running"`, `"pending"`, 1))
	if len(back) > 0 || len(b.Observations()) > 0 {
		t.Errorf("gave back %q", back)
	}
	if got := b.Counts(); got["ForeignEvents"] != 2 {
		t.Errorf("counts %v, want 2 foreign events", got)
	}
	if n, calls := stagetest.Total(b.Calls()); n > 0 {
		t.Errorf("%d calls for nothing: %s", n, calls)
	}
}

func TestOthersAreCountedAndIgnored(t *testing.T) {
	b := bench(t, stagetest.Options{Over: strangers, Settings: map[string]string{"ROLLCALL_CLUSTERS": "eks-workshop"}})
	back := b.Send(launch("i-0aaaaaaaaaaaaaaa1", "web"), running("i-0aaaaaaaaaaaaaaa3"), running("i-0aaaaaaaaaaaaaaa4"), sample(t, "ec2-state-terminated.json"))
	if len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of other people's instances", n)
	}
	// The other instance of the group has an event of its own, and is counted then.
	if got := b.Counts(); got["ForeignInstances"] != 3 || got["Launches"] != 0 {
		t.Errorf("counts %v, want 3 foreign instances and no launch", got)
	}
	if n := b.Calls()["eks:DescribeCluster"]; n > 0 {
		t.Errorf("%d clusters were described that are not watched", n)
	}
}

// TestUnknownCluster: the tags of other distributions look like those of EKS.
func TestUnknownCluster(t *testing.T) {
	b := bench(t, stagetest.Options{Over: strangers})
	b.Scale(1)
	if back := b.Send(running("i-0aaaaaaaaaaaaaaa4"), b.LaunchEvents(0)[0]); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if o := b.Observation(); o.Cluster != stagetest.Cluster || len(o.Launches) != 1 {
		t.Errorf("observation of %q with %d launches, want the launch in the cluster that there is", o.Cluster, len(o.Launches))
	}
	if got := b.Counts(); got["ForeignInstances"] != 1 || got["Launches"] != 1 {
		t.Errorf("counts %v, want one foreign instance and one launch", got)
	}
	if !strings.Contains(b.Logs(), "cluster=kops.example.com") {
		t.Errorf("the log does not name the cluster that EKS does not have:\n%s", b.Logs())
	}
}

func TestWarmPool(t *testing.T) {
	b := bench(t, stagetest.Options{})
	if back := b.Send(sample(t, "autoscaling-launch-lifecycle-action-warm-pool.json")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if n, calls := stagetest.Total(b.Calls()); n > 0 || b.Counts()["WarmPoolInstances"] != 1 {
		t.Errorf("%d calls for a launch that says that it is into a warm pool: %s", n, calls)
	}
	b.Call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"`+stagetest.Group+`","PoolState":"Running","MinSize":2,"MaxGroupPreparedCapacity":2}`)
	b.Advance(time.Minute)
	news := b.LaunchEvents(0)
	var kinds []string
	for _, body := range news {
		switch {
		case strings.Contains(body, `"Destination":"WarmPool"`):
			kinds = append(kinds, "warm")
		case strings.Contains(body, `"state":"running"`):
			kinds = append(kinds, "running")
		default:
			t.Errorf("event %s", body)
		}
	}
	slices.Sort(kinds)
	if got := slices.Compact(slices.Clone(kinds)); !slices.Equal(got, []string{"running", "warm"}) {
		t.Fatalf("the world sent %q, want launches into the warm pool and running instances", kinds)
	}
	if back := b.Send(news...); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of warm instances", n)
	}
	if got := b.Counts(); got["WarmPoolInstances"] == 0 || got["Launches"] != 0 {
		t.Errorf("counts %v, want warm instances and no launch", got)
	}
}

// TestNotDescribedYet: EC2's API lags behind its events.
func TestNotDescribedYet(t *testing.T) {
	b := bench(t, stagetest.Options{})
	unknown := "i-0bbbbbbbbbbbbbbb1"
	b.Scale(1)
	good := b.LaunchEvents(0)[0]
	if back := b.Send(launch(unknown, stagetest.Group), good, running(unknown)); !slices.Equal(back, []string{"m0", "m2"}) {
		t.Errorf("gave back %q, want both messages of the unknown instance", back)
	}
	if o := b.Observation(); len(o.Launches) != 1 || o.Launches[0].Instance != b.Instance(good) {
		t.Errorf("launches %+v, want the other one", o.Launches)
	}
	// The second look, when the queue gives the message back, is one; the third is too late.
	again, late := 6*spec.Spec().Timeout, 12*spec.Spec().Timeout
	b.Advance(again)
	old := launch(unknown, stagetest.Group)
	if back := b.Send(old); !slices.Equal(back, []string{"m0"}) {
		t.Errorf("%s later: gave back %q, want the message", again, back)
	}
	b.Advance(late - again)
	if back := b.Send(old); len(back) > 0 {
		t.Errorf("%s later: gave back %q", late, back)
	}
	if got := b.Counts()["UnknownInstances"]; got != 1 {
		t.Errorf("%d unknown instances were counted, want 1", got)
	}
}

// refusedAt is the sample of a refused fleet as if it were of another time.
func refusedAt(t *testing.T, at time.Time) string {
	return strings.ReplaceAll(sample(t, "ec2-call-create-fleet-refused.json"), "2026-11-20T14:58:40Z", at.UTC().Format(time.RFC3339))
}

// pool is an instance of the samples' NodePool.
const pool = `
ec2:
  Instances:
    - {InstanceId: i-0aaaaaaaaaaaaaab1, SubnetId: subnet-0b20000000000000a, PrivateIpAddress: 10.42.101.31, LaunchTime: 2026-11-20T14:59:20Z, Tags: [{Key: "kubernetes.io/cluster/eks-workshop", Value: owned}, {Key: karpenter.sh/nodepool, Value: default}]}
`

const poolInstance = "i-0aaaaaaaaaaaaaab1"

// passes are the resources that a check found well.
func passes(o report.Observation, id checkid.ID) []string {
	var list []string
	for _, p := range o.Diagnosis.Passed {
		if p.Check == id {
			list = append(list, p.Covers...)
		}
	}
	return list
}

func TestRefusedFleet(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	if back := b.Send(sample(t, "ec2-call-create-fleet-refused.json")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	o := b.Observation()
	if got := stagetest.Causes(o); got["launch/policy-denied"] != "nodepool/default" || len(got) != 1 {
		t.Fatalf("causes %v, want launch/policy-denied of the NodePool alone", got)
	}
	c := o.Diagnosis.Causes[0]
	if c.Title != "NodePool default cannot launch: a service control policy forbids it" || o.Account != "111122223333" || o.Cluster != stagetest.Cluster ||
		!slices.Equal(c.Nodegroups, []string{"default"}) || !slices.Equal(c.Covers, []string{"nodepool/default"}) {
		t.Errorf("%q of %v, covers %v in account %s of %s", c.Title, c.Nodegroups, c.Covers, o.Account, o.Cluster)
	}
	var told []string
	for _, e := range c.Evidence {
		told = append(told, e.What+": "+e.Value)
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{"CreateFleet, refused since 14:58:40 UTC, the first for 29 instances", "arn:aws:iam::111122223333:role/karpenter", "explicit deny in a service control policy"} {
		if !strings.Contains(text, want) {
			t.Errorf("the evidence does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "g4oZPBqZ") || !strings.Contains(c.Fix.Command, "cloudtrail lookup-events") {
		t.Errorf("command %q, evidence\n%s", c.Fix.Command, text)
	}
	if got := b.Counts(); got["RefusedLaunchCalls"] != 1 || got["Launches"] != 0 {
		t.Errorf("counts %v, want one refused call", got)
	}
}

// Thousands of refused fleets an hour, each by two records of which some come
// late, are one look at the cluster, one message to report, and a write a minute.
func TestStormOfRefusedFleets(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	const fleets = 5000
	began := b.Now()
	var bodies []string
	send := func() {
		if back := b.Send(bodies...); len(back) > 0 {
			t.Fatalf("gave back %q", back)
		}
		bodies = nil
	}
	for i := range fleets {
		at := began.Add(time.Duration(i) * time.Hour / fleets)
		bodies = append(bodies, refusedAt(t, at))
		if i%50 == 49 {
			bodies = append(bodies, refusedAt(t, at.Add(-5*time.Minute)), refusedAt(t, at))
		}
		if len(bodies) >= 10 {
			send()
			b.Advance(at.Sub(b.Now()))
		}
	}
	if n := len(b.Observations()); n != 1 {
		t.Errorf("%d observations, want one", n)
	}
	calls := b.Calls()
	if calls["dynamodb:PutItem"] > 70 || calls["eks:DescribeCluster"] != 1 || calls["ec2:DescribeInstances"] > 2 {
		t.Errorf("calls %v; want a write a minute, and one look", calls)
	}
	if got := b.Counts()["RefusedLaunchCalls"]; got < fleets {
		t.Errorf("%d calls were counted, want at least %d", got, fleets)
	}
}

// A shortage comes and goes: it is taken down, and the sweep tells of it once it
// stays.
func TestShortageIsNotToldAtOnce(t *testing.T) {
	for _, name := range []string{"ec2-call-create-fleet-no-capacity.json", "ec2-call-create-fleet-auto-mode.json"} {
		b := bench(t, stagetest.Options{World: "samples.yaml"})
		b.Send(sample(t, name))
		if n := len(b.Observations()); n > 0 {
			t.Errorf("%s: %d observations, want none", name, n)
		}
		if n := b.Calls()["dynamodb:PutItem"]; n != 1 {
			t.Errorf("%s: %d records, want one", name, n)
		}
	}
}

// What the rules let through and is no refusal costs no call.
func TestOtherCallsAreDropped(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	for _, name := range []string{"partial", "dry-run", "autoscaling", "answer-left-out"} {
		b.Send(sample(t, "ec2-call-create-fleet-"+name+".json"))
	}
	b.Send(sample(t, "ec2-call-run-instances-by-fleet.json"))
	if n, calls := stagetest.Total(b.Calls()); n > 0 || len(b.Observations()) > 0 {
		t.Errorf("%d calls for nothing: %s", n, calls)
	}
	if got := b.Counts(); got["LaunchCallsDropped"] != 5 || got["LaunchAnswersLeftOut"] != 1 {
		t.Errorf("counts %v, want 5 dropped calls, of one of which the answer is left out", got)
	}
}

// A cluster that EKS does not have is asked for once, one that is not watched
// never.
func TestRefusedForOthers(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	other := strings.ReplaceAll(sample(t, "ec2-call-create-fleet-refused.json"), `"eks-workshop"`, `"kops.example.com"`)
	for range 3 {
		if back := b.Send(other, other); len(back) > 0 {
			t.Errorf("gave back %q", back)
		}
	}
	if n := len(b.Observations()); n > 0 || b.Calls()["eks:DescribeCluster"] != 1 || !strings.Contains(b.Logs(), "cluster=kops.example.com") {
		t.Errorf("%d observations, calls %v", n, b.Calls())
	}
	b = bench(t, stagetest.Options{World: "samples.yaml", Settings: map[string]string{"ROLLCALL_CLUSTERS": "prod"}})
	b.Send(sample(t, "ec2-call-create-fleet-refused.json"))
	if n, calls := stagetest.Total(b.Calls()); n > 0 || b.Counts()["ForeignLaunchCalls"] != 1 {
		t.Errorf("%d calls for a cluster that is not watched: %s; counts %v", n, calls, b.Counts())
	}
}

// The next instance of the pool that runs shows that it may launch; one that was
// started before shows nothing, in whichever order the events come.
func TestNextLaunchOfThePool(t *testing.T) {
	for _, test := range []struct {
		name    string
		refused time.Time
		well    bool
	}{
		{"started since", time.Date(2026, 11, 20, 14, 58, 40, 0, time.UTC), true},
		{"started before", time.Date(2026, 11, 20, 14, 59, 30, 0, time.UTC), false},
	} {
		for _, late := range []bool{false, true} {
			b := bench(t, stagetest.Options{World: "samples.yaml", Over: pool})
			b.Advance(time.Minute)
			events := []string{refusedAt(t, test.refused), running(poolInstance)}
			if late {
				slices.Reverse(events)
			}
			for _, e := range events {
				b.Send(e)
				b.Advance(time.Second) // two looks at one time are one message
			}
			list := b.Observations()
			last := list[len(list)-1]
			_, fails := stagetest.Causes(last)["launch/policy-denied"]
			switch {
			case fails == test.well:
				t.Errorf("%s, late %v: fails %v", test.name, late, fails)
			case test.well && late && len(list) != 1:
				t.Errorf("%s, late %v: %d observations: what is over is told", test.name, late, len(list))
			case test.well && !late && !slices.Contains(passes(last, checkid.LaunchPolicyDenied), "nodepool/default"):
				t.Errorf("%s, late %v: the pool does not pass", test.name, late)
			}
		}
	}
}

// An instance that is started after it is recorded too, so that it still counts
// when the instance is gone.
func TestSuccessIsRemembered(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml", Over: pool})
	b.Send(sample(t, "ec2-call-create-fleet-refused.json"))
	b.Send(running(poolInstance))
	kept := fmt.Sprint(b.Kept())
	if !strings.Contains(kept, "refused#eks-workshop") || !strings.Contains(kept, "worked") {
		t.Errorf("kept %s", kept)
	}
}

// A call that leaves the tags to its launch template is asked for there; while
// that cannot be read, its message waits.
func TestWhoseByTheTemplate(t *testing.T) {
	const template = `
ec2:
  LaunchTemplates:
    - {LaunchTemplateId: lt-0a1b2c3d4e5f60718, LaunchTemplateName: nodes, DefaultVersionNumber: 1, LatestVersionNumber: 1}
  LaunchTemplateVersions:
    - {LaunchTemplateId: lt-0a1b2c3d4e5f60718, VersionNumber: 1, DefaultVersion: true, LaunchTemplateData: {TagSpecifications: [{ResourceType: instance, Tags: [{Key: "kubernetes.io/cluster/eks-workshop", Value: owned}]}]}}
`
	untagged := strings.Replace(sample(t, "ec2-call-run-instances-refused.json"), "tagSpecificationSet", "noTags", 1)
	b := bench(t, stagetest.Options{World: "samples.yaml", Over: template})
	if back := b.Send(untagged); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if got := stagetest.Causes(b.Observation()); got["launch/unauthorized"] != "role/ci-deploy" {
		t.Errorf("causes %v, want launch/unauthorized of the role that called", got)
	}
	b = bench(t, stagetest.Options{World: "samples.yaml"})
	if back := b.Send(untagged); len(back) > 0 || b.Counts()["ForeignLaunchCalls"] != 1 {
		t.Errorf("the template is gone: gave back %q, counts %v", back, b.Counts())
	}
	b = bench(t, stagetest.Options{World: "samples.yaml", Over: template, Faults: []simaws.FaultRule{{Call: "ec2:DescribeLaunchTemplateVersions", Deny: true}}})
	if back := b.Send(untagged, sample(t, "ec2-call-create-fleet-refused.json")); !slices.Equal(back, []string{"m0"}) || !strings.Contains(b.Logs(), "reason=denied") {
		t.Errorf("gave back %q, want the one whose template cannot be read", back)
	}
	if got := stagetest.Causes(b.Observation()); got["launch/policy-denied"] != "nodepool/default" {
		t.Errorf("causes %v, want that of the other one", got)
	}
}

// Wherever the function ends, report gets the pool, and it is recorded.
func TestRefusalKilledAtEachWrite(t *testing.T) {
	refused := refusedAt(t, time.Date(2026, 11, 20, 14, 57, 0, 0, time.UTC))
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{World: "samples.yaml", Kill: k})
		k.Invoke(stagetest.Batch(refused))
		return map[string]any{"records": b.Kept(), "told": b.Concluded(b.Observations())}
	})
}

// Of an answer with several reasons the one is reported that is no shortage.
func TestOneClassOfAnAnswer(t *testing.T) {
	mixed := strings.Replace(sample(t, "ec2-call-create-fleet-no-capacity.json"), `"UnfulfillableCapacity"`, `"AuthFailure.ServiceLinkedRoleCreationNotPermitted"`, 1)
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Send(mixed)
	o := b.Observation()
	if diff := cmp.Diff(map[string]string{"launch/service-role": "nodepool/default"}, stagetest.Causes(o)); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(o.Diagnosis.Causes[0].Evidence, func(e finding.Evidence) bool {
		return e.What == "The others got" && e.Value == "InsufficientInstanceCapacity"
	}) {
		t.Errorf("evidence %v", o.Diagnosis.Causes[0].Evidence)
	}
}
