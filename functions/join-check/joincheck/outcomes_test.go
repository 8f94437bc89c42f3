package joincheck

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/stage/stagetest"
	"rollcall/local/testfull"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// The fates of launches. A healthy node is Ready 55 seconds after its launch.
// Who joins and ends later lives long enough for a sweep to have seen it.
func fates(r *rand.Rand) string {
	const from = "    - {nodegroup: new_nodegroup_2, times: %d, "
	kinds := []string{
		"neverRegisters: true}",
		"ends: {after: %ds, reason: {Code: Server.SpotInstanceTermination, Message: 'Server.SpotInstanceTermination: Spot instance termination'}}}",
		"ends: {after: 20s, reason: {Code: Client.InstanceInitiatedShutdown, Message: 'Client.InstanceInitiatedShutdown: Instance initiated shutdown'}}}",
		"ends: {after: 12s, reason: {Code: Client.InvalidKMSKey.InvalidState, Message: 'Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state'}}}",
	}
	spot := func(seconds int) string { return fmt.Sprintf(kinds[1], seconds) }
	var b strings.Builder
	b.WriteString("timeline: []\nnodes:\n  exceptions:\n")
	for i := range asked {
		var fate string
		switch r.IntN(7) {
		case 0:
			fate = kinds[0]
		case 1: // before it could join
			fate = spot(15 + r.IntN(35))
		case 2: // seen Ready, and lost
			fate = spot(6*60 + r.IntN(600))
		case 3: // never a node, and taken back when its time was over
			fate = "neverRegisters: true, " + spot(60*([]int{6, 7, 8, 17, 18}[r.IntN(5)]))
		case 4:
			fate = kinds[2]
		case 5:
			fate = kinds[3]
		default:
			fate = "autoScalingGroup: another}"
		}
		fmt.Fprintf(&b, from+"%s\n", i+1, fate)
	}
	return b.String()
}

// asked is how many instances are asked for; Auto Scaling replaces those
// that end.
const asked = 4

// story is one world on its way.
type story struct {
	*stagetest.Bench
	t     *testing.T
	r     *rand.Rand
	ready map[string]time.Time
	ended map[string]time.Time
	// late are the messages that are still on their way to each part.
	late []delayed
	seen int // events
	// told are instances of which an event has come: they are reminded of.
	told map[string]bool
}

type delayed struct {
	at   time.Time
	body string
}

// TestEveryLaunchHasOneTrueEnd plays small worlds in which launches join, fail,
// are reclaimed, terminated and refused, while events are lost, doubled, late
// and reordered. launch-watch's part (notices and refused launches) is played
// with the functions that it records by. In the end every launch has one record
// and the end that the world's truth says.
func TestEveryLaunchHasOneTrueEnd(t *testing.T) {
	// Five worlds have some thirty launches: each of the fates, and each way of an event.
	for seed := range testfull.Of(40, 5) {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
			t.Parallel()
			play(t, uint64(seed+1))
		})
	}
}

const refusedActivity = "0f000000-0000-4000-8000-000000000001"

func play(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 99))
	over := fates(r) + `
autoscaling:
  LifecycleHooks: []
  Activities:
    - {ActivityId: ` + refusedActivity + `, AutoScalingGroupName: ` + stagetest.Group + `, StatusCode: Failed, Description: "Launching a new EC2 instance", Cause: "At 2026-11-20T14:57:50Z an instance was started.", StatusMessage: "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed.", StartTime: 2026-11-20T14:57:50Z, EndTime: 2026-11-20T14:57:52Z, Details: '{"Subnet ID":"` + stagetest.Subnet + `","Availability Zone":"us-west-2a"}'}
`
	s := &story{
		Bench: bench(t, stagetest.Options{World: "healthy-nat.yaml", Over: over, Settings: map[string]string{"ROLLCALL_GIVE_UP": "20m"}}),
		t:     t, r: r, ready: map[string]time.Time{}, ended: map[string]time.Time{}, told: map[string]bool{},
	}
	failed := strings.NewReplacer("87654321-4321-4321-4321-210987654321", refusedActivity, "14:59:36Z", "14:57:52Z").Replace(sample(t, "autoscaling-launch-unsuccessful.json"))
	s.post(failed)
	s.Call("eks:UpdateNodegroupConfig", fmt.Sprintf(`{"clusterName":%q,"nodegroupName":%q,"scalingConfig":{"minSize":0,"maxSize":%d,"desiredSize":%d}}`, stagetest.Cluster, stagetest.Nodegroup, asked, asked))
	sweepAt := s.Now().Add(time.Duration(r.IntN(300)) * time.Second)
	personAt := s.Now().Add(30 * time.Second)
	const step = 15 * time.Second
	for end := s.Now().Add(29 * time.Minute); s.Now().Before(end); {
		s.Advance(step)
		s.watch()
		if !personAt.IsZero() && !s.Now().Before(personAt) && r.IntN(2) == 0 {
			s.person()
			personAt = time.Time{}
		}
		s.deliver()
		if !s.Now().Before(sweepAt) {
			if _, err := s.Handle(s.Sweep()); err != nil {
				t.Fatal(err)
			}
			sweepAt = sweepAt.Add(5 * time.Minute)
		}
	}
	s.judge()
}

// watch takes in what the world did: the truth, and its events.
func (s *story) watch() {
	nodes, err := s.World.Kubernetes(stagetest.Cluster, "nodes")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, raw := range nodes.Items {
		var n struct {
			Spec   struct{ ProviderID string }
			Status struct {
				Conditions []struct{ Type, Status string }
			}
		}
		if err := json.Unmarshal(raw, &n); err != nil {
			s.t.Fatal(err)
		}
		id := n.Spec.ProviderID[strings.LastIndex(n.Spec.ProviderID, "/")+1:]
		for _, c := range n.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" && s.ready[id].IsZero() {
				s.ready[id] = s.Now()
			}
		}
	}
	news := s.News(s.seen)
	s.seen += len(news)
	for _, body := range news {
		e, err := event.Parse([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Kind == event.InstanceEnded {
			if s.ended[e.Instance].IsZero() {
				s.ended[e.Instance] = e.Time
			}
			// The warning of what EC2 took back was sent a little before.
			if strings.HasPrefix(s.why(e.Instance), "Server.Spot") {
				warning := strings.NewReplacer("i-0ef3c1b2a4d5968f1", e.Instance, "2026-11-20T14:59:40Z", e.Time.Add(-15*time.Second).Format(time.RFC3339)).Replace(sample(s.t, "ec2-spot-interruption.json"))
				s.post(warning)
			}
		}
		s.post(body)
	}
}

// post sends an event on its way: lost, once or twice, at once or late.
func (s *story) post(body string) {
	for range []int{0, 1, 1, 2}[s.r.IntN(4)] {
		delay := time.Duration(0)
		if s.r.IntN(2) == 0 {
			delay = time.Duration(s.r.IntN(900)) * time.Second
		}
		s.late = append(s.late, delayed{s.Now().Add(delay), body})
	}
}

// deliver hands over what has arrived, in any order, and reminds of launches
// that are told of, mostly.
func (s *story) deliver() {
	var bodies []string
	s.late = slices.DeleteFunc(s.late, func(l delayed) bool {
		if l.at.After(s.Now()) {
			return false
		}
		bodies = append(bodies, l.body)
		return true
	})
	s.r.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	var joins []string
	for _, body := range bodies {
		e, err := event.Parse([]byte(body))
		if err != nil {
			s.t.Fatal(err)
		}
		switch e.Kind {
		case event.Interruption, event.LaunchFailed, event.InstanceEnded:
			s.launchWatch(e, body)
		case event.LaunchStarted, event.LaunchSucceeded, event.InstanceRunning:
			joins = append(joins, body)
			s.told[e.Instance] = true
		}
	}
	if s.Now().Second() < 15 && s.r.IntN(3) > 0 {
		var ids []string
		for id := range s.told {
			if l, ok := s.Launch(id); ok && !l.Status.Final() {
				ids = append(ids, id)
			}
		}
		if slices.Sort(ids); len(ids) > 0 {
			reminder, err := event.LookAgain(spoke.ID{}, ids, s.Now())
			if err != nil {
				s.t.Fatal(err)
			}
			joins = append(joins, string(reminder))
		}
	}
	if len(joins) > 0 {
		s.Send(joins...)
	}
}

// launchWatch plays the part of launch-watch with what it records by.
func (s *story) launchWatch(e event.Trigger, body string) {
	f, ok := detect.Notice(e)
	if e.Kind == event.InstanceEnded {
		f, ok = outcome.Facts{Over: e.Time}, true
	}
	if ok {
		l, known := s.Launch(e.Instance)
		switch {
		case known && (e.Kind != event.InstanceEnded || !l.Status.Final()) && l.Learn(f):
			if err := s.Store.SaveLaunch(s.t.Context(), l); err != nil {
				s.t.Fatal(err)
			}
		case !known && s.Now().Sub(e.Time) < 5*time.Minute:
			s.late = append(s.late, delayed{s.Now().Add(time.Minute), body}) // back to the queue
		}
		return
	}
	if e.Activity != refusedActivity {
		return
	}
	group := snapshot.Group{Name: e.Group, Tags: map[string]string{"eks:nodegroup-name": stagetest.Nodegroup}}
	l, ok := detect.Refused(stagetest.Cluster, group, snapshot.Activity{
		ID: e.Activity, Group: e.Group, Status: "Failed", Message: e.Message, About: "Launching a new EC2 instance", Started: e.Time, Subnet: e.Subnet, Zone: e.Zone,
	}, outcome.Allowance{For: 5 * time.Minute})
	if !ok {
		s.t.Fatalf("%+v is no refused launch", e)
	}
	if _, err := s.Store.CreateLaunch(s.t.Context(), l); err != nil {
		s.t.Fatal(err)
	}
}

// person terminates an instance that is still starting, if there is one.
func (s *story) person() {
	for _, in := range s.instances() {
		if in.State.Name == ec2types.InstanceStateNameRunning && s.Now().Sub(*in.LaunchTime) < 45*time.Second {
			s.Call("ec2:TerminateInstances", `{"InstanceIds":["`+*in.InstanceId+`"]}`)
			return
		}
	}
}
