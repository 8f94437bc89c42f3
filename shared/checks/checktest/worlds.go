package checktest

import (
	"fmt"
	"net/netip"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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
