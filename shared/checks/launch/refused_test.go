package launch

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

// refusedPool is a world with a NodePool whose calls were refused from and to so
// long ago.
func refusedPool(class checkid.ID, text string, from, to time.Duration, changes ...func(*snapshot.RefusedLaunch)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	r := snapshot.RefusedLaunch{
		Launcher: "nodepool/gpu", Class: class, Call: "CreateFleet", Text: text, By: "arn:aws:iam::123456789012:role/karpenter", Asked: 3,
		First: s.Time.Add(-from), Last: s.Time.Add(-to), Types: []string{"g5.xlarge", "g5.2xlarge"}, Subnets: []string{snapshottest.Private}, Offers: 2,
	}
	for _, change := range changes {
		change(&r)
	}
	s.Refused = []snapshot.RefusedLaunch{r}
	return s
}

const (
	noCapacity = "InsufficientInstanceCapacity: There is no Spot capacity available that matches your request."
	notAllowed = "UnauthorizedOperation: You are not authorized to perform this operation. because no identity-based policy allows the ec2:CreateFleet action"
)

func TestRefusedLaunches(t *testing.T) {
	const well = "pass prod [eks-workers nodepool/gpu]"
	for _, tt := range []struct {
		name  string
		check check.Check
		world *snapshot.Snapshot
		want  []string
	}{
		{"not allowed", checkOf(checkid.LaunchUnauthorized), refusedPool(checkid.LaunchUnauthorized, notAllowed, 0, 0), []string{
			"fail nodepool/gpu [nodepool/gpu] [] NodePool gpu cannot launch: the launching role lacks a permission", "pass prod [eks-workers]",
		}},
		{"of another class", checkOf(checkid.LaunchPolicyDenied), refusedPool(checkid.LaunchUnauthorized, notAllowed, 0, 0), []string{well}},
		{"a shortage that stays, in a subnet", checkOf(checkid.LaunchInsufficientCapacity), refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, 9*time.Minute, time.Minute), []string{
			"fail nodepool/gpu [nodepool/gpu] [] NodePool gpu cannot launch: EC2 has no capacity", "pass prod [eks-workers]",
		}},
		{"a shortage of a moment", checkOf(checkid.LaunchInsufficientCapacity), refusedPool(checkid.LaunchInsufficientCapacity, noCapacity, time.Minute, time.Minute), []string{well}},
		{"an instance since", checkOf(checkid.LaunchUnauthorized), refusedPool(checkid.LaunchUnauthorized, notAllowed, 20*time.Minute, 15*time.Minute, func(r *snapshot.RefusedLaunch) {
			r.Worked = r.Last.Add(time.Second)
		}), []string{well}},
		{"two hours ago", checkOf(checkid.LaunchUnauthorized), refusedPool(checkid.LaunchUnauthorized, notAllowed, 2*time.Hour, 2*time.Hour), []string{well}},
		{"no pool: who called", checkOf(checkid.LaunchUnauthorized), refusedPool(checkid.LaunchUnauthorized, notAllowed, 0, 0, func(r *snapshot.RefusedLaunch) { r.Launcher = "role/ci" }), []string{
			"pass prod [eks-workers]", "fail role/ci [role/ci] [] role ci cannot launch: the launching role lacks a permission",
		}},
		{"a full subnet is the pool's too", checkOf(checkid.LaunchSubnetFull), refusedPool(checkid.LaunchSubnetFull, "InsufficientFreeAddressesInSubnet: There are insufficient free addresses in that subnet to run instance", 9*time.Minute, 0), []string{
			"fail nodepool/gpu [nodepool/gpu] [] NodePool gpu cannot launch: the subnet has no free address", "pass prod [eks-workers]",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := checktest.Lines(checktest.EvalOne(t, tt.check, tt.world)); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What is said of a run does not change while it goes on: each change were an edit
// of the message.
func TestRefusedLaunchIsSaidTheSame(t *testing.T) {
	say := func(to time.Duration) string {
		for _, r := range checktest.EvalOne(t, checkOf(checkid.LaunchUnauthorized), refusedPool(checkid.LaunchUnauthorized, notAllowed, 50*time.Minute, to)) {
			if len(r.Evidence) > 0 {
				text := r.Title + r.Why + r.Fix.Text + r.Fix.Command
				for _, e := range r.Evidence {
					text += "\n" + e.What + ": " + e.Value
				}
				return text
			}
		}
		t.Fatal("it does not fail")
		return ""
	}
	first, later := say(50*time.Minute), say(0)
	if first != later || !strings.Contains(first, "for 3 instances") || !strings.Contains(first, "2 types and subnets got this error: g5.xlarge and g5.2xlarge") {
		t.Errorf("first\n%s\nlater\n%s", first, later)
	}
}

// suspend suspends processes of the group, which has one instance.
func suspend(desired int, reason string, processes ...string) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	g := &s.Groups[0]
	g.Desired = desired
	g.Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService", Health: "Healthy"}}
	for _, p := range processes {
		g.Suspended = append(g.Suspended, snapshot.Suspended{Process: p, Reason: reason})
	}
	return s
}

func launchSuspendedCases() []checktest.Case {
	const user = "User suspended at 2026-11-20T14:00:00Z"
	pass := []string{"pass prod [eks-workers]"}
	fail := []string{"fail eks-workers [eks-workers] [] workers cannot launch: the process Launch is suspended"}
	lifecycle := func(state string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Groups[0].Instances[0].Lifecycle = state }
	}
	return []checktest.Case{
		{"nothing suspended", suspend(3, user), pass},
		{"suspended, and more are wanted", suspend(3, user, "Launch"), fail},
		{"suspended, and none is wanted", suspend(1, user, "Launch"), pass},
		{"suspended, and fewer are wanted", suspend(0, user, "Launch"), pass},
		{"suspended without a reason", suspend(2, "", "AZRebalance", "Launch"), fail},
		{"others are suspended", suspend(3, user, "AddToLoadBalancer", "AZRebalance", "ReplaceUnhealthy", "Terminate", "AlarmNotification", "ScheduledActions", "HealthCheck", "InstanceRefresh"), pass},
		{"the one that it has is leaving", checktest.Change(suspend(1, user, "Launch"), lifecycle("Terminating:Wait")), fail},
		{"the one that it has is coming", checktest.Change(suspend(1, user, "Launch"), lifecycle("Pending:Wait")), pass},
		{"the one that it has waits in the warm pool", checktest.Change(suspend(1, user, "Launch"), lifecycle("Warmed:Stopped")), fail},
		{"another group is well", checktest.Change(suspend(3, user, "Launch"), func(s *snapshot.Snapshot) { addGroup(s, "eks-others") }), append(fail[:1:1], "pass prod [eks-others]")},
		{"activities do not matter", checktest.Change(suspend(3, user, "Launch"), checktest.Unread(snapshot.Activities)), fail},
		{"groups unread", checktest.Change(suspend(3, user, "Launch"), checktest.Unread(snapshot.Groups)), []string{"unknown prod [] auto scaling groups: denied"}},
	}
}

func TestSuspendedWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.LaunchSuspended), suspend(3, "User suspended at 2026-11-20T14:00:00Z", "Launch"))
	expect.Equal(t, "Command", got.Fix.Command, "aws autoscaling resume-processes --region us-west-2 --auto-scaling-group-name eks-workers --scaling-processes Launch")
	expect.Equal(t, "evidence", checktest.Value(t, got, checktest.WorkersGroup), "desired 3, has 1, max 3")
	got = checktest.Failed(t, checkOf(checkid.LaunchSuspended), suspend(3, "Administrative suspension", "Launch"))
	if want := "Auto Scaling suspended it"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
}

const lostSubnetText = "The subnet ID 'subnet-0dead' does not exist Launching EC2 instance failed."

// The launch template cannot be corrected when the subnet is gone.
func TestLostSubnetIsNotTheTemplates(t *testing.T) {
	f := checktest.Failed(t, checkOf(checkid.LaunchTemplate), checktest.Attempted(lostSubnetText))
	if !strings.Contains(f.Fix.Text, "create a new nodegroup") || !strings.Contains(f.Fix.Command, "describe-scaling-activities") {
		t.Errorf("fix %+v", f.Fix)
	}
}

// A launch that its hook abandoned is a failed launch with its words, listed or not.
func TestAbandonedLaunches(t *testing.T) {
	const hook = "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token e85eb647-4fe0-4909-b341-a6c42d8aba1f was abandoned: "
	abandons := func(why string, changes ...func(*snapshot.Activity)) *snapshot.Snapshot {
		return checktest.Attempted(hook+why, append([]func(*snapshot.Activity){func(a *snapshot.Activity) {
			a.Status, a.Instance, a.About = "Cancelled", "i-0gone", "Launching a new EC2 instance: i-0gone.  Status Reason: "+hook+why
		}}, changes...)...)
	}
	const fail = "fail eks-workers [eks-workers] [] workers cannot launch: a launch lifecycle hook abandons its instances"
	checktest.RunCases(t, checkOf(checkid.LaunchUnclassified), []checktest.Case{
		{Name: "completed with ABANDON", World: abandons("Lifecycle Action Completed with ABANDON Result"), Want: []string{fail}},
		{Name: "timed out", World: abandons("Heartbeat Timeout"), Want: []string{fail}},
		{Name: "the text in the description alone", World: abandons("Heartbeat Timeout", func(a *snapshot.Activity) { a.Message = "" }), Want: []string{fail}},
		{Name: "of a terminating hook", World: abandons("Heartbeat Timeout", func(a *snapshot.Activity) { a.About = "Terminating EC2 instance: i-0gone" }), Want: []string{"pass prod [eks-workers]"}},
		{Name: "groups unread", World: checktest.Change(abandons("Heartbeat Timeout"), checktest.Unread(snapshot.Groups)), Want: []string{"unknown prod [] auto scaling groups: denied"}},
	})
	got := checktest.Failed(t, checkOf(checkid.LaunchUnclassified), abandons("Heartbeat Timeout"))
	if want := `No instance of workers could be put in service in subnet-0private: a launch lifecycle hook of the group timed out, and its default result is ABANDON. AWS reports: "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token … was abandoned: Heartbeat Timeout".`; got.Why != want {
		t.Errorf("got  %s\nwant %s", got.Why, want)
	}
	if want := "aws autoscaling describe-lifecycle-hooks --region us-west-2 --auto-scaling-group-name eks-workers"; got.Fix.Command != want {
		t.Error(got.Fix.Command)
	}
	if !strings.HasPrefix(got.Fix.Text, "Find out what should complete the hook") {
		t.Error(got.Fix.Text)
	}
}

// What the group launches into is named, and why it does not take the launch.
func TestPlacementIsNamed(t *testing.T) {
	const (
		burst  = "Cluster placement groups are not supported by the 't3.medium' instance type. Specify a supported instance type or change the placement group strategy, and try again. Launching EC2 instance failed."
		spread = "You've reached the limit of instances in this spread placement group. A spread placement group can have up to seven instances per Availability Zone. Launching EC2 instance failed."
		zone   = "The placement group 'hpc' is in use in another availability zone: null. Launching EC2 instance failed."
		host   = "You cannot launch an instance with a tenancy of ''host'' into a placement group. Either remove the placement group from the request, or specify a different tenancy. Launching EC2 instance failed."
		plain  = "its placement group or host rejects it"
	)
	in := func(p snapshot.PlacementGroup, n int, changes ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups[0].PlacementGroup = "hpc"
			if p.Strategy != "" {
				p.ID, p.Name, p.State = "pg-0a", "hpc", cmp.Or(p.State, "available")
				s.PlacementGroups = append(s.PlacementGroups, p)
			}
			for i := range n {
				id := fmt.Sprintf("i-0pg%d", i)
				snapshottest.Launch(s, id, snapshottest.Public, 2*time.Hour)
				in := snapshottest.Instance(s, id)
				in.Zone, in.PlacementGroup = "us-west-2b", "hpc"
			}
			checktest.Change(s, changes...)
		}
	}
	for name, tt := range map[string]struct {
		text, headline, evidence string
		world                    func(*snapshot.Snapshot)
	}{
		"a burstable type":         {burst, "its cluster placement group rejects t3.medium", "cluster, available", in(snapshot.PlacementGroup{Strategy: "cluster"}, 0)},
		"a spread that is full":    {spread, "its spread placement group has its 7 instances in us-west-2b", "spread, available; instances of this cluster: 7 in us-west-2b", in(snapshot.PlacementGroup{Strategy: "spread", Level: "rack"}, 7)},
		"a spread of others":       {spread, plain, "spread, available", in(snapshot.PlacementGroup{Strategy: "spread", Level: "rack"}, 0)},
		"a cluster elsewhere":      {zone, "its cluster placement group is in us-west-2b", "cluster, available; instances of this cluster: 1 in us-west-2b", in(snapshot.PlacementGroup{Strategy: "cluster"}, 1)},
		"partitions":               {"The placement group hpc takes no more. Launching EC2 instance failed.", plain, "partition, available, 3 partitions", in(snapshot.PlacementGroup{Strategy: "partition", Partitions: 3}, 0)},
		"being deleted":            {zone, "its placement group is deleting", "cluster, deleting", in(snapshot.PlacementGroup{Strategy: "cluster", State: "deleting"}, 0)},
		"gone":                     {"InvalidPlacementGroup.Unknown: The Placement Group 'hpc' is unknown.", "its placement group does not exist", "is not among those that EC2 lists here", in(snapshot.PlacementGroup{}, 0)},
		"not read":                 {zone, plain, "not read: test:Read placement groups denied", in(snapshot.PlacementGroup{}, 0, checktest.Unread(snapshot.PlacementGroups))},
		"a tenancy, no group":      {host, plain, "", func(*snapshot.Snapshot) {}},
		"a group that names none ": {burst, plain, "", func(*snapshot.Snapshot) {}},
	} {
		r := checktest.Failed(t, checkOf(checkid.LaunchPlacement), checktest.Change(checktest.Attempted(tt.text), tt.world))
		expect.Equal(t, name, r.Title, check.Title("workers cannot launch: %s", tt.headline))
		expect.Equal(t, name, strings.Join(evidenceOf(r, "Placement group hpc"), "; "), tt.evidence)
	}
}
