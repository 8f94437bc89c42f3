package launchwatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/launch-watch/spec"
	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/report"
)

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

// Wherever the function ends, report is told of the pool, and it is remembered.
func TestRefusalKilledAtEachWrite(t *testing.T) {
	refused := refusedAt(t, time.Date(2026, 11, 20, 14, 57, 0, 0, time.UTC))
	stagetest.KilledAtEachWrite(t, []string{"PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{World: "samples.yaml", Kill: k})
		k.Invoke(stagetest.Batch(refused))
		return map[string]any{"records": b.Kept(), "told": b.Concluded(b.Observations())}
	})
}

// Of an answer with several reasons the one is told that is no shortage.
func TestOneClassOfAnAnswer(t *testing.T) {
	mixed := strings.Replace(sample(t, "ec2-call-create-fleet-no-capacity.json"), `"UnfulfillableCapacity"`, `"AuthFailure.ServiceLinkedRoleCreationNotPermitted"`, 1)
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Send(mixed)
	o := b.Observation()
	if diff := cmp.Diff(map[string]string{"launch/service-role": "nodepool/default"}, stagetest.Causes(o)); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(o.Diagnosis.Causes[0].Evidence, func(e checks.Evidence) bool {
		return e.What == "The others were told" && e.Value == "InsufficientInstanceCapacity"
	}) {
		t.Errorf("evidence %v", o.Diagnosis.Causes[0].Evidence)
	}
}
