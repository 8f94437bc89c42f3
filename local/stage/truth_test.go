package stage

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/router"
	"rollcall/shared/incident"
	"rollcall/shared/store"

	"rollcall/shared/node/outcome"

	"rollcall/shared/snapshot"
)

// uncertain loses, doubles, delays and reorders events, as EventBridge's "best
// effort" allows, and worse: a fifth is lost.
func uncertain(seed uint64) func(router.Event) router.Fault {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 5))
	return func(e router.Event) router.Fault {
		mu.Lock()
		defer mu.Unlock()
		f := router.Fault{Lose: r.IntN(5) == 0, Reorder: r.IntN(5) == 0}
		if r.IntN(10) == 0 {
			f.Copies = 1
		}
		if r.IntN(4) == 0 {
			f.Delay = time.Duration(r.IntN(180)) * time.Second
		}
		// The schedules are Rollcall's own clock, and not lost.
		if e.Source == "aws.scheduler" || e.Source == "aws.events" {
			return router.Fault{}
		}
		return f
	}
}

// truth is what the world did.
type truth struct {
	ready   map[string]bool      // instances that were Ready nodes
	ended   map[string]time.Time // when an instance began to end
	refused map[string]time.Time // scaling activities that came to nothing
}

// TestEveryLaunchHasOneTrueEnd plays all that can become of launches on the
// running stage, with events that are lost and doubled, late and out of order.
// Each launch and each refused activity has one record, with the end that the
// world knows, and no incident stays open that is not true.
func TestEveryLaunchHasOneTrueEnd(t *testing.T) { virtual(t, everyLaunchHasOneTrueEnd) }

func everyLaunchHasOneTrueEnd(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.World, o.EventFaults = "testdata/truth.yaml", uncertain(1)
		o.Settings = map[string]string{"ROLLCALL_GIVE_UP": "20m"}
	})
	began := r.World.Start()
	tr := truth{ready: map[string]bool{}, ended: map[string]time.Time{}, refused: map[string]time.Time{}}
	for r.Clock.Now().Before(began.Add(32 * time.Minute)) {
		r.pass(2 * time.Second)
		tr.nodes(r)
	}
	tr.events(r)
	history, err := store.New(r.Table.Client(), r.Template.Tables[0].Name).At(r.Clock.Now).History(t.Context(), "eks-workshop", began)
	if err != nil {
		t.Fatal(err)
	}
	tr.judge(r, history)
	r.nothingLost()
	for _, i := range r.incidents() {
		if i.State != incident.Closed && !stands(i) {
			t.Errorf("an incident is still open that is not true: %s on %s, %s", i.Key.Check, i.Key.Resource, i.Cause.Title)
		}
	}
}

// stands tells that an incident is true at the end: the third zone has no way
// out, there is too little of a type, and EC2 took instances back.
func stands(i incident.Incident) bool {
	switch i.Key.Check {
	case "route/no-egress":
		return i.Key.Resource == "rtb-0cd20000000000003"
	case "launch/insufficient-capacity":
		return strings.Contains(strings.Join(i.Covers, " "), "small-a")
	case "spot/reclaimed-before-join":
		return true
	}
	return false
}

// honest tells that an end may be told of a launch. It is the true one, but for
// an instance that nobody saw while it lived: where all events of its launch are
// lost and it ends between two sweeps, EC2 has forgotten its private name, and
// which of the nodes that came and went meanwhile it was nobody can tell.
func honest(truly snapshot.End, p snapshot.Past) bool {
	unseen := p.Template.ID == ""
	return p.End == truly || unseen && p.End == snapshot.Unclear && (truly == snapshot.Joined || truly == snapshot.Reclaimed)
}

func (tr truth) nodes(r *running) {
	list, err := r.World.Kubernetes("eks-workshop", "nodes")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, raw := range list.Items {
		var n struct {
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(raw, &n); err != nil {
			r.t.Fatal(err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				tr.ready[n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]] = true
			}
		}
	}
}

// events takes in what the services told, whatever became of it on the way.
func (tr truth) events(r *running) {
	for _, p := range r.Events() {
		var e struct {
			Type   string `json:"detail-type"`
			Time   time.Time
			Detail struct {
				Instance string `json:"instance-id"`
				State    string
				Activity string `json:"ActivityId"`
				Of       string `json:"EC2InstanceId"`
			}
		}
		if json.Unmarshal(p.Event, &e) != nil {
			continue
		}
		switch {
		case e.Type == "EC2 Instance State-change Notification" && e.Detail.State == "shutting-down":
			tr.ended[e.Detail.Instance] = e.Time
		case e.Type == "EC2 Instance Launch Unsuccessful" && e.Detail.Of == "":
			tr.refused[e.Detail.Activity] = e.Time
		}
	}
}

// end is how a launch ended, as the world knows it.
func (tr truth) end(in types.Instance, now time.Time) snapshot.End {
	id := aws.ToString(in.InstanceId)
	ended, over := tr.ended[id]
	lived := ended.Sub(*in.LaunchTime)
	switch {
	case tr.ready[id]:
		return snapshot.Joined
	case !over && now.Sub(*in.LaunchTime) > 26*time.Minute:
		return snapshot.NotJoined // given up
	case !over:
		return snapshot.Open
	case aws.ToString(in.StateReason.Code) == "Server.SpotInstanceTermination" && lived <= outcome.Longest:
		return snapshot.Reclaimed
	case lived < 5*time.Minute:
		return snapshot.Terminated
	}
	return snapshot.NotJoined
}

// settled is how long a launch may have no record, or a true one that is not
// the last: its event was lost, and the next sweep is to see it.
const settled = 7 * time.Minute

func (tr truth) judge(r *running, history []snapshot.Past) {
	r.t.Helper()
	told := map[string]snapshot.Past{}
	for _, p := range history {
		if _, twice := told[p.ID]; twice {
			r.t.Errorf("%s is in the history twice", p.ID)
		}
		told[p.ID] = p
	}
	now := r.Clock.Now()
	counts := map[snapshot.End]int{}
	hold := func(id string, truly snapshot.End, last time.Time) {
		p, recorded := told[id]
		delete(told, id)
		if now.Sub(last) < settled && (!recorded || p.End == snapshot.Open) {
			return
		}
		counts[truly]++
		if !recorded || !honest(truly, p) {
			r.t.Errorf("%s: %q (%s, recorded: %v), truly %q: %+v", id, p.End, p.Why, recorded, truly, p)
		}
		if p.Lost && p.End == snapshot.Joined && !strings.Contains(fmt.Sprint(p), "us-west-2b") {
			r.t.Errorf("%s was scaled in, and counts as lost: %+v", id, p)
		}
	}
	out, err := r.World.EC2().DescribeInstances(&ec2.DescribeInstancesInput{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, reservation := range out.Reservations {
		for _, in := range reservation.Instances {
			if in.LaunchTime.Before(r.World.Start()) {
				continue
			}
			last := *in.LaunchTime
			if at, over := tr.ended[*in.InstanceId]; over {
				last = at
			}
			hold(*in.InstanceId, tr.end(in, now), last)
		}
	}
	for id, at := range tr.refused {
		hold(id, snapshot.Refused, at)
	}
	for id, p := range told {
		r.t.Errorf("%s: %q, and there was no such launch", id, p.End)
	}
	r.t.Logf("%v", counts)
	for _, end := range []snapshot.End{snapshot.Joined, snapshot.NotJoined, snapshot.Reclaimed, snapshot.Terminated, snapshot.Refused} {
		if counts[end] == 0 {
			r.t.Errorf("no launch was %s: the world does not show what it is for", end)
		}
	}
}
