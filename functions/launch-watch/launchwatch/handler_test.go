package launchwatch

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/functions/launch-watch/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
)

func bench(t *testing.T, o stagetest.Options) *stagetest.Bench {
	t.Helper()
	return stagetest.Start(t, spec.Spec(), Build, o)
}

func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../events/in", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
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
	news := b.News(0)
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
	first := b.News(0)
	b.Send(first...)
	b.Observations()
	b.Advance(time.Minute)
	later := b.News(len(first))
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
	// An instance that nobody waits for is none of our affair.
	b.Send(strings.ReplaceAll(later[i], b.Instance(later[i]), "i-0d0000000000000a1"))
	if n := len(b.Observations()); n > 0 {
		t.Errorf("%d observations of the end of an instance that nobody waits for", n)
	}
}

// TestEndedBeforeItWasSeen: launched and ended before the first look.
func TestEndedBeforeItWasSeen(t *testing.T) {
	b := bench(t, stagetest.Options{World: "ended-early.yaml"})
	b.Advance(time.Minute)
	b.Send(b.News(0)...)
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
