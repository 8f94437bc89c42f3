package stage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/router"
	"rollcall/local/testfull"
	"rollcall/shared/incident"
)

const (
	table = "rtb-0cd20000000000002"
	nat   = "nat-0aa40000000000001"
)

// repair adds the route and replaces the instances that did not join.
func (r *running) repair() {
	r.t.Helper()
	if _, err := ec2.NewFromConfig(r.AsAdmin()).CreateRoute(context.Background(), &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat),
	}); err != nil {
		r.t.Fatal(err)
	}
	r.replaceLaunches()
}

// replaceLaunches replaces the instances that did not join.
func (r *running) replaceLaunches() {
	r.t.Helper()
	groups := autoscaling.NewFromConfig(r.AsAdmin())
	for _, l := range r.incidents()[0].Launches {
		if _, err := groups.TerminateInstanceInAutoScalingGroup(context.Background(), &autoscaling.TerminateInstanceInAutoScalingGroupInput{
			InstanceId: aws.String(l.Instance), ShouldDecrementDesiredCapacity: aws.Bool(false),
		}); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestRouteStory is the main job, from the launch to the proof.
func TestRouteStory(t *testing.T) { virtual(t, routeStory) }

func routeStory(t *testing.T) {
	r := start(t, "route")
	r.scale(1, 1)
	r.until("the message at launch", r.says("will not be able to join", table, "subnet-0c30000000000000d", "--nat-gateway-id "+nat))
	r.until("the missed roll call", r.says("1 instance cannot join"))
	r.repair()
	r.until("the proof", r.says("joined again after", table+" has 0.0.0.0/0 → "+nat))
	r.dashboardReads(4)
	i := r.incidents()
	if len(i) != 1 || i[0].State != incident.Closed || i[0].Resolution != incident.Proved || i[0].Proof == nil {
		t.Fatalf("incidents %+v; want one, closed and proved", i)
	}
	if i[0].Proof.Ready.Before(i[0].Cleared.Add(-10*time.Minute)) || i[0].Proof.Instance == i[0].Launches[0].Instance {
		t.Errorf("the proof is %+v, which is not the new node", i[0].Proof)
	}
	var posts, updates int
	for _, c := range r.Slack.Calls() {
		switch {
		case c.Method == "chat.postMessage" && c.Params["thread_ts"] == "":
			posts++
		case c.Method == "chat.update":
			updates++
		}
	}
	if posts != 1 || updates == 0 {
		t.Errorf("%d posts and %d edits; want one post and its edits", posts, updates)
	}
	r.nothingLost()
}

// nothingLost holds that every dead-letter queue is empty.
func (r *running) nothingLost(but ...string) {
	r.t.Helper()
	for _, q := range r.Template.Queues {
		if slices.Contains(but, q.Name) {
			continue
		}
		if !strings.Contains(q.Name, "dead") && !strings.Contains(q.Name, "failed") {
			continue
		}
		if n := r.queued(q.Name); n > 0 {
			r.t.Errorf("%d messages in %s", n, q.Name)
		}
	}
}

// TestSameLaunchFiveTimes delivers each of the three kinds of event of a
// launch five times, and out of order.
func TestSameLaunchFiveTimes(t *testing.T) { virtual(t, sameLaunchFiveTimes) }

func sameLaunchFiveTimes(t *testing.T) {
	n := 0
	r := start(t, "route", func(o *Options) {
		o.EventFaults = func(e router.Event) router.Fault {
			n++
			return router.Fault{Copies: 4, Reorder: n%2 == 1}
		}
	})
	r.scale(1, 1)
	r.until("the missed roll call", r.says("1 instance cannot join"))
	r.pass(8 * time.Minute)
	m := r.messages()
	if len(m) != 1 {
		t.Fatalf("%d messages, want 1", len(m))
	}
	var notes []string
	for _, reply := range m[0].Replies {
		notes = append(notes, reply.Text)
	}
	slices.Sort(notes)
	if len(slices.Compact(slices.Clone(notes))) != len(notes) {
		t.Errorf("the thread says a thing twice: %q", notes)
	}
	i := r.incidents()
	if len(i) != 1 || i[0].Affected != 1 {
		t.Errorf("incidents %v with %d affected; want one with one", i[0].Key, i[0].Affected)
	}
	r.nothingLost()
}

// TestLostEventsAreFound loses every event of the launch: the sweep finds it.
func TestLostEventsAreFound(t *testing.T) { virtual(t, lostEventsAreFound) }

func lostEventsAreFound(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.EventFaults = func(router.Event) router.Fault { return router.Fault{Lose: true} }
	})
	r.scale(1, 1)
	r.until("the missed roll call", r.says("1 instance cannot join", table))
}

// calls counts a function's reads of AWS and Kubernetes by action.
func (r *running) calls(function string) map[string]int {
	counts := map[string]int{}
	for _, c := range r.Cloud.Calls() {
		if c.Caller != "rollcall-"+function || c.Service == "dynamodb" || c.Service == "sqs" {
			continue
		}
		counts[c.Action()]++
	}
	return counts
}

// TestBurst launches a thousand instances at once into the broken subnet: one
// message with the count, and hardly more calls than for one instance. Two hundred are
// twice what is asked for by the hundred.
func TestBurst(t *testing.T) { virtual(t, burst) }

func burst(t *testing.T) {
	one := start(t, "route")
	one.scale(1, 1)
	one.until("the missed roll call", one.says("1 instance cannot join"))
	instances := testfull.Of(1000, 200)
	many := start(t, "route")
	many.scale(int32(instances), int32(instances))
	many.until("the missed roll call of all", many.says(" instances cannot join"))
	var affected []int
	for _, i := range many.incidents() {
		affected = append(affected, i.Affected)
	}
	if !slices.Equal(affected, []int{instances}) {
		t.Errorf("incidents with %v affected; want one with %d", affected, instances)
	}
	for _, function := range []string{"launch-watch", "join-check"} {
		a, b := one.calls(function), many.calls(function)
		var sumA, sumB int
		for _, action := range slices.Sorted(maps.Keys(b)) {
			t.Logf("%-12s %-42s %4d for 1 instance, %4d for %d", function, action, a[action], b[action], instances)
			sumA, sumB = sumA+a[action], sumB+b[action]
		}
		t.Logf("%-12s %-42s %4d for 1 instance, %4d for %d", function, "in all", sumA, sumB, instances)
		// One look serves a burst: the calls do not grow with the instances.
		// The allowance is for the few batches that overlap.
		if sumB > 4*sumA {
			t.Errorf("%s made %d calls for %d instances, %d for one", function, sumB, instances, sumA)
		}
	}
	if n := len(many.messages()); n != 1 {
		t.Errorf("%d messages, want 1", n)
	}
	many.nothingLost()
}

// TestDeniedPermissionIsNamed holds that what could not be looked at is said
// with the missing permission, and that nothing says that all is well.
func TestDeniedPermissionIsNamed(t *testing.T) { virtual(t, deniedPermissionIsNamed) }

func deniedPermissionIsNamed(t *testing.T) {
	r := start(t, "denied-route-tables")
	r.until("both are said", func() bool { return len(r.messages()) == 2 })
	r.pass(12 * time.Minute)
	for _, m := range r.messages() {
		text := whole(m)
		if !strings.Contains(text, "ec2:DescribeRouteTables") {
			t.Errorf("the message does not name the permission:\n%s", m.Text)
		}
		if strings.Contains(text, "✅") || strings.Contains(text, "no cause found") {
			t.Errorf("the message sounds as if all had been looked at:\n%s", m.Text)
		}
	}
	for _, i := range r.incidents() {
		for _, v := range i.Verdicts {
			if v.Found == incident.Passing && strings.HasPrefix(string(i.Key.Check), "route/") {
				t.Errorf("%v passed without the route tables", i.Key)
			}
		}
	}
}

// TestScaleToZeroAndBack does what the team of the story did by hand.
func TestScaleToZeroAndBack(t *testing.T) { virtual(t, scaleToZeroAndBack) }

func scaleToZeroAndBack(t *testing.T) {
	r := start(t, "route")
	r.scale(1, 1)
	r.until("the missed roll call", r.says("1 instance cannot join"))
	r.scale(0, 1)
	r.pass(6 * time.Minute)
	if got := r.incidents(); len(got) != 1 || got[0].State != incident.Open {
		t.Fatalf("scaled to zero with the cause still there: %s", fmt.Sprint(states(got)))
	}
	if _, err := ec2.NewFromConfig(r.AsAdmin()).CreateRoute(context.Background(), &ec2.CreateRouteInput{
		RouteTableId: aws.String(table), DestinationCidrBlock: aws.String("0.0.0.0/0"), NatGatewayId: aws.String(nat),
	}); err != nil {
		t.Fatal(err)
	}
	r.until("the cause is gone", r.says("cause is gone"))
	r.scale(1, 1)
	r.until("the proof", r.says("joined again after"))
	if diff := cmp.Diff([]incident.State{incident.Closed}, states(r.incidents())); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

func states(list []incident.Incident) []incident.State {
	var out []incident.State
	for _, i := range list {
		out = append(out, i.State)
	}
	return out
}
