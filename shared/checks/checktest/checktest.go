// Package checktest runs a check on worlds, and holds what is true of every
// check. It is for tests.
package checktest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// Case is a world and what one check says of it, a line for each finding:
// "fail (likely) rtb-0private [subnet-0private] [i-0node] the title".
type Case = struct {
	Name  string
	World *snapshot.Snapshot
	Want  []string
}

// One is the check of an id among those of a family.
func One(list []check.Check, id checkid.ID) check.Check {
	i := slices.IndexFunc(list, func(c check.Check) bool { return c.ID == id })
	return list[i]
}

// RunTable runs the cases of checks of a family.
func RunTable(t *testing.T, list []check.Check, cases map[checkid.ID][]Case) {
	t.Helper()
	for id, of := range cases {
		t.Run(string(id), func(t *testing.T) { RunCases(t, One(list, id), of) })
	}
}

// RunCases holds what each case of a check says, and what holds for every
// check in every case.
func RunCases(t *testing.T, c check.Check, cases []Case) {
	t.Helper()
	seen := map[check.Outcome]bool{}
	for _, tt := range cases {
		t.Run(tt.Name, func(t *testing.T) {
			results := EvalOne(t, c, tt.World)
			if diff := cmp.Diff(Lines(results), tt.Want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", c.ID, diff)
			}
			areWhole(t, c, results)
			looksOnlyAtWhatItAsksFor(t, c, tt.World, Lines(results))
			for _, r := range results {
				seen[r.Outcome] = true
			}
		})
	}
	for _, o := range []check.Outcome{check.Pass, check.Fail, check.Unknown} {
		if o == check.Fail && c.NeverFails {
			continue
		}
		if !seen[o] {
			t.Errorf("%s: no case in its test ends in %s", c.ID, o)
		}
	}
}

// Change is a world with changes.
func Change(s *snapshot.Snapshot, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	for _, f := range changes {
		f(s)
	}
	return s
}

func Unread(source snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Without(s, source) }
}

// Routes replaces the rows of a table.
func Routes(table string, rows ...snapshot.Route) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Table(s, table).Routes = rows }
}

func Gone(r snapshot.Route) snapshot.Route {
	r.State = "blackhole"
	return r
}

func EvalOne(t *testing.T, c check.Check, s *snapshot.Snapshot) []check.Result {
	t.Helper()
	return check.Eval([]check.Check{c}, s)
}

func Lines(results []check.Result) []string {
	var list []string
	for _, r := range results {
		line := string(r.Outcome)
		if r.Confidence != "" {
			line += fmt.Sprintf(" (%s)", r.Confidence)
		}
		line += fmt.Sprintf(" %s %v", r.Resource, r.Covers)
		switch r.Outcome {
		case check.Fail:
			line += fmt.Sprintf(" %v %s", r.Instances, r.Title)
		case check.Unknown:
			for _, b := range r.Blocked {
				line += fmt.Sprintf(" %s: %s", b.Source, b.Reason)
				if b.Call == "" {
					line += ": " + b.Message
				}
			}
		}
		list = append(list, line)
	}
	return list
}

// Failed is the one finding that failed.
func Failed(t *testing.T, c check.Check, s *snapshot.Snapshot) check.Result {
	t.Helper()
	var found []check.Result
	for _, r := range EvalOne(t, c, s) {
		if r.Outcome == check.Fail {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d failures, want 1", c.ID, len(found))
	}
	return found[0]
}

// Value is the value of a line of evidence.
func Value(t *testing.T, r check.Result, what string) string {
	t.Helper()
	for _, e := range r.Evidence {
		if strings.HasPrefix(e.What, what) {
			return e.Value
		}
	}
	t.Errorf("no evidence %q in %v", what, r.Evidence)
	return ""
}

// areWhole holds what is true of all findings.
func areWhole(t *testing.T, c check.Check, results []check.Result) {
	t.Helper()
	passed := map[string]bool{}
	for _, r := range results {
		if r.Outcome == check.Pass {
			for _, cover := range r.Covers {
				passed[cover] = true
			}
		}
	}
	for _, r := range results {
		if r.Resource == "" {
			t.Errorf("a finding without a resource")
		}
		if r.Fix.Remedy != "" && r.Fix.Remedy != string(c.Remedy) {
			t.Errorf("the finding offers the remedy %q, the check is of %q", r.Fix.Remedy, c.Remedy)
		}
		switch r.Outcome {
		case check.Pass:
			if len(r.Covers) == 0 {
				t.Errorf("a pass that covers nothing")
			}
		case check.Unknown:
			if len(r.Blocked) == 0 {
				t.Errorf("an unknown without what blocked it")
			}
		case check.Fail:
			if n := utf8.RuneCountInString(r.Title); n == 0 || n > 70 {
				t.Errorf("title %q has %d runes, want 1 to 70", r.Title, n)
			}
			if r.Why == "" || len(r.Evidence) == 0 || r.Fix.Text == "" || !strings.HasPrefix(r.Fix.Console, "https://us-west-2.console.aws.amazon.com/") || len(r.Covers) == 0 {
				t.Errorf("an incomplete failure: %+v", r)
			}
			if strings.HasPrefix(r.Fix.Command, "aws ") && !strings.Contains(r.Fix.Command, "--region us-west-2") {
				t.Errorf("the command names no region: %q", r.Fix.Command)
			}
			for _, cover := range r.Covers {
				if passed[cover] {
					t.Errorf("%s both passes and fails", cover)
				}
			}
		}
	}
}

// looksOnlyAtWhatItAsksFor holds that a check declares every source that it
// reads, or the source is not read: taking away any other source changes nothing in what it finds.
// Some are read in every look.
func looksOnlyAtWhatItAsksFor(t *testing.T, c check.Check, s *snapshot.Snapshot, before []string) {
	t.Helper()
	asked := slices.Concat([]snapshot.Source{
		snapshot.Clusters, snapshot.Instances, snapshot.Groups, snapshot.Activities, snapshot.Nodegroups, snapshot.Nodes, snapshot.NodeEventsOf, snapshot.UserDataOf,
	}, c.Needs, c.Uses)
	for _, source := range snapshot.All() {
		if slices.Contains(asked, source) || !s.Has(source) {
			continue
		}
		world := *s
		world.Read, world.Failures = maps.Clone(world.Read), maps.Clone(world.Failures)
		snapshottest.Without(&world, source)
		if after := Lines(check.Eval([]check.Check{c}, &world)); !slices.Equal(before, after) {
			t.Errorf("%s looks at the source %q, which is neither in its Needs nor in its Uses", c.ID, source)
		}
	}
}

// DeletedNAT is a table that still names a NAT gateway that EC2 no longer describes.
func DeletedNAT() *snapshot.Snapshot {
	s := Change(snapshottest.PrivateWithNAT(), Routes(snapshottest.PrivateRTB,
		snapshottest.Local(), Gone(snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0old"))))
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// Forwarded is a private subnet whose way out is a NAT instance in the public
// one, which works; changes break it.
func Forwarded(changes ...func(*snapshot.Snapshot, *snapshot.Interface, *snapshot.Instance)) *snapshot.Snapshot {
	r := snapshottest.To("0.0.0.0/0", snapshot.ToInterface, "eni-0nat")
	r.Target.Instance = "i-0nat"
	s := Change(snapshottest.PrivateWithNAT(), Late, Routes(snapshottest.PrivateRTB, snapshottest.Local(), r))
	e := snapshot.Interface{
		ID: "eni-0nat", VPC: snapshottest.VPC, Subnet: snapshottest.Public, Status: "in-use", Kind: "interface", Instance: "i-0nat",
		PublicIP: netip.MustParseAddr("203.0.113.20"), Groups: []string{"sg-0nat"},
	}
	i := snapshot.Instance{ID: "i-0nat", State: "running", Subnet: snapshottest.Public, VPC: snapshottest.VPC, Interfaces: []string{"eni-0nat"}, PublicIP: e.PublicIP}
	for _, f := range changes {
		f(s, &e, &i)
	}
	s.Interfaces, s.Instances = append(s.Interfaces, e), append(s.Instances, i)
	return s
}

// ClusterAdmits adds an inbound rule to the cluster's group.
func ClusterAdmits(r snapshot.Rule) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range s.SecurityGroups {
			if s.SecurityGroups[i].ID == snapshottest.ClusterGroup {
				s.SecurityGroups[i].Ingress = append(s.SecurityGroups[i].Ingress, r)
			}
		}
	}
}

// Missed is a healthy network and an instance that missed its time.
func Missed() *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// Noticed is a warning some time after the launch, rebalanced a recommendation.
func Noticed(after time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Noticed = s.Launches[0].Started.Add(after) }
}

// TemplateSays sets the user data of the launch template that made the node.
func TemplateSays(data string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.LaunchTemplates[0].UserData = []byte(data) }
}

// Ended is an instance that never was a node and ended some time after its
// launch ten minutes ago (it was due after five).
func Ended(code string, after time.Duration) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	i := snapshottest.Instance(s, snapshottest.Node)
	i.State, i.Subnet = "terminated", ""
	i.StateReason = snapshot.StateReason{Code: code, Message: code + ": what EC2 says", When: i.Launched.Add(after)}
	s.Activities = []snapshot.Activity{{
		ID: "a-0", Group: "eks-workers", Instance: snapshottest.Node, About: "Launching a new EC2 instance: i-0node", Started: i.Launched,
	}}
	return s
}

const WorkersGroup = "eks-" + snapshottest.Nodegroup

// Unjoined is a world whose node did not join.
func Unjoined(s *snapshot.Snapshot) *snapshot.Snapshot {
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// Isolated is the route story: the subnet's own table has only the local row.
func Isolated() *snapshot.Snapshot {
	s := Change(snapshottest.PrivateWithNAT(), Routes(snapshottest.PrivateRTB, snapshottest.Local()))
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// Attempted is a world whose group could not launch, ten minutes ago.
func Attempted(message string, changes ...func(*snapshot.Activity)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	Fails(s, message, 10*time.Minute, changes...)
	return s
}

// Fails adds a failed launch of the group in the private subnet.
func Fails(s *snapshot.Snapshot, message string, ago time.Duration, changes ...func(*snapshot.Activity)) {
	a := snapshot.Activity{
		ID: fmt.Sprintf("a-%d", len(s.Activities)), Group: WorkersGroup, Status: "Failed", Message: message,
		About: "Launching a new EC2 instance.  Status Reason: " + message, Started: s.Time.Add(-ago), Ended: s.Time.Add(-ago + time.Second),
		Subnet: snapshottest.Private, Zone: snapshottest.Zone,
	}
	for _, change := range changes {
		change(&a)
	}
	s.Activities = append(s.Activities, a)
	// The world's node was launched ten minutes ago too; it is to be older than
	// what failed.
	snapshottest.Instance(s, snapshottest.Node).Launched = s.Time.Add(-24 * time.Hour)
}

// TwoTables adds a second private subnet, in its own table, with a launch.
func TwoTables(s *snapshot.Snapshot) {
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0second", VPC: snapshottest.VPC, Zone: "us-west-2b", CIDR: netip.MustParsePrefix("10.42.64.0/19"), Free: 100})
	s.RouteTables = append(s.RouteTables, snapshot.RouteTable{
		ID: "rtb-0second", VPC: snapshottest.VPC, Subnets: []string{"subnet-0second"}, Routes: snapshottest.Table(s, snapshottest.PrivateRTB).Routes,
	})
	snapshottest.Launch(s, "i-0second", "subnet-0second", time.Minute)
}

// Event adds an event about a node some time ago.
func Event(reason, node string, ago time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.NodeEvents = append(s.NodeEvents, snapshot.NodeEvent{Node: node, Reason: reason, Last: s.Time.Add(-ago)})
	}
}

func Late(s *snapshot.Snapshot) { snapshottest.Unjoin(s, snapshottest.Node) }

func RuleSet(rules ...snapshot.Rule) []snapshot.Rule { return rules }

// NameServersOf sets the VPC's name servers.
func NameServersOf(servers ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNameServers = servers }
}

func LaunchedToo(id string, ago time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Launch(s, id, snapshottest.Private, ago) }
}

// StuckPod is a pod without a sandbox on the first node, with a warning; a reason that is
// empty is none.
func StuckPod(ago time.Duration, reason, message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		pod := fmt.Sprintf("shop/web-%d", len(s.StuckPods))
		s.StuckPods = append(s.StuckPods, snapshot.StuckPod{Pod: pod, Node: s.Nodes[0].Name, Since: s.Time.Add(-ago)})
		if reason != "" {
			s.PodEvents = append(s.PodEvents, snapshot.PodEvent{Pod: pod, Reason: reason, Message: message, Last: s.Time.Add(-time.Minute)})
		}
	}
}

// NoAddress is a pod on a Ready node to which the network plugin has no address to give.
func NoAddress(s *snapshot.Snapshot) {
	StuckPod(20*time.Minute, "FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "a94a": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container`)(s)
}

func PrivateAPI(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }

func NotReadyNode(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.Nodes = append(s.Nodes, snapshot.Node{Name: "i-0node.internal", Instance: snapshottest.Node, Ready: snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: message}})
	}
}

func Terminating(cause string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Activities = []snapshot.Activity{{
			ID: "a-1", Group: "eks-workers", Instance: snapshottest.Node, About: "Terminating EC2 instance: i-0node", Cause: cause,
		}}
	}
}

func NotDueYet(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Minute) }
