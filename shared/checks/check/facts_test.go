package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/autolog"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// logged is a cluster of EKS Auto Mode whose compute log says that of gpu-a, a second
// apart each.
func logged(texts ...string) *snapshot.AutoModeLogs {
	l := &snapshot.AutoModeLogs{Names: []string{"gpu-a", "i-1"}, Deliveries: []snapshot.LogDelivery{{Type: autolog.Compute, Destination: "arn", Group: "group"}}}
	for n, text := range texts {
		l.Records = append(l.Records, snapshot.LogRecord{At: claimedAt.Add(time.Duration(n) * time.Second), Type: autolog.Compute, Level: "ERROR", Text: text, Names: []string{"gpu-a"}})
	}
	return l
}

func TestLogEvidence(t *testing.T) {
	const what, whole = "Log of EKS Auto Mode (compute)", "Logs of EKS Auto Mode"
	line := func(value string) Evidence { return Evidence{What: what, Value: value} }
	with := func(change func(*snapshot.AutoModeLogs)) *snapshot.AutoModeLogs {
		l := logged()
		change(l)
		return l
	}
	refused := &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: "logs:FilterLogEvents", Reason: snapshot.Denied, Code: "AccessDeniedException"}
	late := &snapshot.Failure{Source: snapshot.AutoModeLogsOf, Call: "logs:DescribeDeliveries", Reason: snapshot.TimedOut}
	one := func(change func(*snapshot.LogDelivery)) *snapshot.AutoModeLogs {
		return with(func(l *snapshot.AutoModeLogs) { change(&l.Deliveries[0]) })
	}
	for name, tt := range map[string]struct {
		logs    *snapshot.AutoModeLogs
		failure *snapshot.Failure
		names   []string
		want    []Evidence
	}{
		"nobody was to look":    {nil, nil, []string{"gpu-a"}, nil},
		"of another NodeClaim":  {logged("no"), nil, []string{"web-a"}, nil},
		"a line":                {logged("no"), nil, []string{"gpu-a"}, []Evidence{line("14:48:00 UTC ERROR: no")}},
		"the same again":        {logged("no", "no", "late"), nil, []string{"gpu-a"}, []Evidence{line("14:48:00 UTC ERROR: no"), line("14:48:02 UTC ERROR: late")}},
		"more than three":       {logged("1", "2", "3", "4", "5"), nil, []string{"gpu-a"}, []Evidence{line("14:48:00 UTC ERROR: 1"), line("14:48:01 UTC ERROR: 2"), line("14:48:02 UTC ERROR: 3"), {What: "More", Value: "the logs of EKS Auto Mode have other lines about it"}}},
		"nothing of the other":  {logged("no"), nil, []string{"i-1"}, []Evidence{{What: whole, Value: "no warning and no error about it in the delivered ones (compute)"}}},
		"nothing that was read": {with(func(l *snapshot.AutoModeLogs) { l.Cut = true }), nil, []string{"i-1"}, []Evidence{{What: whole, Value: "no warning and no error about it in the delivered ones (compute), as far as they were read"}}},
		"nobody has them": {with(func(l *snapshot.AutoModeLogs) { l.Deliveries = nil }), nil, []string{"gpu-a"},
			[]Evidence{{What: whole, Value: "they are not delivered: what its Karpenter, IPAM and storage log about this is unknown"}}},
		"the list is late": {with(func(l *snapshot.AutoModeLogs) { l.Deliveries = nil }), late, []string{"gpu-a"}, []Evidence{{What: whole, Value: "not read: logs:DescribeDeliveries, timed out"}}},
		"in a bucket":      {one(func(d *snapshot.LogDelivery) { d.Group = "" }), nil, []string{"gpu-a"}, []Evidence{{What: "Logs of EKS Auto Mode (compute)", Value: "go to arn, which Rollcall does not read"}}},
		"not named":        {one(func(d *snapshot.LogDelivery) { d.Unnamed = true }), nil, []string{"gpu-a"}, []Evidence{{What: "Logs of EKS Auto Mode (compute)", Value: "go to the log group group, which the setting autoModeLogs does not name"}}},
		"gone":             {one(func(d *snapshot.LogDelivery) { d.Gone = true }), nil, []string{"gpu-a"}, []Evidence{{What: "Logs of EKS Auto Mode (compute)", Value: "go to the log group group, which does not exist"}}},
		"refused": {one(func(d *snapshot.LogDelivery) { d.Type, d.Failure = autolog.IPAM, refused }), refused, []string{"gpu-a"},
			[]Evidence{{What: "Logs of EKS Auto Mode (IPAM)", Value: "in the log group group, not read: logs:FilterLogEvents, denied, AccessDeniedException"}}},
	} {
		s := &snapshot.Snapshot{AutoModeLogs: tt.logs}
		if tt.failure != nil {
			s.Failures = map[snapshot.Source]snapshot.Failure{snapshot.AutoModeLogsOf: *tt.failure}
		}
		expect.Same(t, name, LogEvidence(s, tt.names...), tt.want)
	}
	for logType, want := range map[string]string{autolog.BlockStorage: "block storage", autolog.LoadBalancing: "load balancing", "NEW_LOGS": "NEW_LOGS"} {
		expect.Equal(t, fmt.Sprint(logType), component(logType), want)
	}
}

// TestClaimEvidenceHasItsLog: what the log says of an instance or its NodeClaim stands
// behind what the NodeClaim says.
func TestClaimEvidenceHasItsLog(t *testing.T) {
	claim := unregistered("gpu-a", "i-1")
	for name, s := range map[string]snapshot.Snapshot{
		"a NodeClaim that is there": {NodeClaims: []snapshot.NodeClaim{claim}},
		"one that is remembered":    {Launches: []snapshot.ExpectedJoin{{Instance: "i-1", Claim: &claim}}},
	} {
		s.AutoModeLogs = logged("no")
		list := ClaimEvidence(&s, []string{"i-1"})
		if n := len(list); n != 2 || list[0].What != "NodeClaim gpu-a" || list[1].Value != "14:48:00 UTC ERROR: no" {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

var claimedAt = time.Date(2026, 11, 20, 14, 48, 0, 0, time.UTC)

// unregistered is a NodeClaim whose node has not registered.
func unregistered(name, instance string) snapshot.NodeClaim {
	says := func(status, reason, message string) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Message: message, Since: claimedAt}}
	}
	return snapshot.NodeClaim{Name: name, Instance: instance, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": says("True", "Launched", ""), "Registered": says("Unknown", "NodeNotFound", "Node not registered with cluster"),
		"Initialized": says("Unknown", "NodeNotFound", ""), "Ready": says("Unknown", "ReconcilingDependents", "Initialized=Unknown, Registered=Unknown"),
	}}
}

func TestClaimEvidence(t *testing.T) {
	const says = "Launched since 14:48:00 UTC; not Registered since 14:48:00 UTC: NodeNotFound (Node not registered with cluster); not Initialized since 14:48:00 UTC: NodeNotFound"
	const end = " after its launch: Karpenter terminates an instance whose node has not registered 15 minutes after its NodeClaim was created, and deletes the NodeClaim"
	remembered := unregistered("gpu-a", "i-1")
	ended := func(lived time.Duration, code string, tags ...string) snapshot.Instance {
		in := snapshot.Instance{ID: "i-1", State: "terminated", Launched: claimedAt, Tags: map[string]string{}, StateReason: snapshot.StateReason{Code: code, When: claimedAt.Add(lived)}}
		for i := 0; i < len(tags); i += 2 {
			in.Tags[tags[i]] = tags[i+1]
		}
		return in
	}
	const user, pool = "Client.UserInitiatedShutdown", "karpenter.sh/nodepool"
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		ids  []string
		want []Evidence
	}{
		"its NodeClaim":     {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{unregistered("gpu-a", "i-1"), unregistered("gpu-b", "")}}, []string{"i-1", "i-2"}, []Evidence{{What: "NodeClaim gpu-a", Value: says}}},
		"no conditions":     {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{{Name: "gpu-a", Instance: "i-1"}}}, []string{"i-1"}, []Evidence{{What: "NodeClaim gpu-a", Value: "has no conditions yet"}}},
		"of no NodeClaim":   {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{unregistered("gpu-a", "i-9")}}, []string{"i-1"}, nil},
		"of a burst, three": {snapshot.Snapshot{NodeClaims: []snapshot.NodeClaim{{Name: "a", Instance: "i-1"}, {Name: "b", Instance: "i-2"}, {Name: "c", Instance: "i-3"}, {Name: "d", Instance: "i-4"}}}, []string{"i-0", "i-1", "i-2", "i-3", "i-4"}, []Evidence{{What: "NodeClaim a", Value: "has no conditions yet"}, {What: "NodeClaim b", Value: "has no conditions yet"}, {What: "NodeClaim c", Value: "has no conditions yet"}}},
		"remembered, and ended by Karpenter": {
			snapshot.Snapshot{Instances: []snapshot.Instance{ended(14*time.Minute+58*time.Second, user, pool, "gpu")}, Launches: []snapshot.ExpectedJoin{{Instance: "i-1", Started: claimedAt, Claim: &remembered, ClaimSeen: claimedAt.Add(10 * time.Minute)}}}, []string{"i-1"},
			[]Evidence{{What: "NodeClaim gpu-a", Value: says + "; that was its state at 14:58:00 UTC, before it was deleted"}, {What: "End of i-1", Value: "14m58s" + end}},
		},
		"ended by Karpenter, and nobody remembers": {snapshot.Snapshot{Instances: []snapshot.Instance{ended(14*time.Minute, user, pool, "gpu")}}, []string{"i-1"}, []Evidence{{What: "End of i-1", Value: "14m0s" + end}}},
		"ended by EKS Auto Mode":                   {snapshot.Snapshot{Instances: []snapshot.Instance{ended(16*time.Minute, user, AutoPoolTag, "gpu")}}, []string{"i-1"}, []Evidence{{What: "End of i-1", Value: "16m0s" + end}}},
		"ended before that":                        {snapshot.Snapshot{Instances: []snapshot.Instance{ended(14*time.Minute-time.Second, user, pool, "gpu")}}, []string{"i-1"}, nil},
		"ended after that":                         {snapshot.Snapshot{Instances: []snapshot.Instance{ended(16*time.Minute+time.Second, user, pool, "gpu")}}, []string{"i-1"}, nil},
		"it had registered":                        {snapshot.Snapshot{Instances: []snapshot.Instance{ended(15*time.Minute, user, pool, "gpu", "karpenter.sh/nodeclaim", "gpu-a")}}, []string{"i-1"}, nil},
		"taken back":                               {snapshot.Snapshot{Instances: []snapshot.Instance{ended(15*time.Minute, "Server.SpotInstanceTermination", pool, "gpu")}}, []string{"i-1"}, nil},
		"of no NodePool":                           {snapshot.Snapshot{Instances: []snapshot.Instance{ended(15*time.Minute, user)}}, []string{"i-1"}, nil},
	} {
		expect.Same(t, name, ClaimEvidence(&tt.s, tt.ids), tt.want)
	}
}

func TestImageFamily(t *testing.T) {
	for name, want := range map[string]string{
		"amazon-eks-node-al2023-arm64-standard-1.35-v20261112":           FamilyAL2023,
		"amazon-eks-node-al2023-x86_64-nvidia-1.35-v20261112":            FamilyAL2023,
		"amazon-eks-node-1.29-v20240202":                                 FamilyAL2,
		"amazon-eks-gpu-node-1.29-v20240202":                             FamilyAL2,
		"amazon-eks-arm64-node-1.29-v20240202":                           FamilyAL2,
		"bottlerocket-aws-k8s-1.35-x86_64-v1.50.0-0a":                    FamilyBottlerocket,
		"ubuntu-eks/k8s_1.29/images/hvm-ssd/ubuntu-jammy-22.04":          FamilyUbuntu,
		"Windows_Server-2022-English-Core-EKS_Optimized-1.35-2026.11.12": FamilyWindows,
		"Windows_Server-2022-English-Full-Base-2026.11.12":               "",
		"al2023-ami-2023.6.20260101.0-kernel-6.1-x86_64":                 "",
		"my-al2023-golden": "",
	} {
		expect.Equal(t, fmt.Sprintf("imageFamily(%q)", name), imageFamily(name), want)
	}
}

func TestPoolSubnets(t *testing.T) {
	class := snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "gpu"}
	a, b, c := snapshot.ZonedSubnet{ID: "subnet-a", Zone: "us-west-2a"}, snapshot.ZonedSubnet{ID: "subnet-b", Zone: "us-west-2b"}, snapshot.ZonedSubnet{ID: "subnet-c", Zone: "us-west-2c"}
	tagged := func(id, zone, team string) snapshot.Subnet {
		return snapshot.Subnet{ID: id, Zone: zone, Tags: map[string]string{"karpenter.sh/discovery": "prod", "team": team}}
	}
	subnets := []snapshot.Subnet{tagged("subnet-a", "us-west-2a", "ml"), tagged("subnet-b", "us-west-2b", "web"), {ID: "subnet-c", Zone: "us-west-2c"}}
	terms := func(list ...snapshot.SelectorTerm) snapshot.NodeClass {
		return snapshot.NodeClass{Name: "gpu", Subnets: list}
	}
	zones := func(operator string, values ...string) []snapshot.Requirement {
		return []snapshot.Requirement{{Key: scheduling.ZoneLabel, Operator: operator, Values: values}}
	}
	for name, tt := range map[string]struct {
		class    snapshot.NodeClass
		requires []snapshot.Requirement
		subnets  []snapshot.Subnet
		want     []snapshot.ZonedSubnet
		known    bool
	}{
		"as the class says":           {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{b, a}}, nil, nil, []snapshot.ZonedSubnet{a, b}, true},
		"in one zone":                 {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{a, b}}, zones("In", "us-west-2b"), nil, []snapshot.ZonedSubnet{b}, true},
		"in all zones but one":        {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{a, b}}, zones("NotIn", "us-west-2b"), nil, []snapshot.ZonedSubnet{a}, true},
		"in a zone without a subnet":  {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{a, b}}, zones("In", "us-west-2d"), nil, nil, true},
		"by tags":                     {terms(snapshot.SelectorTerm{Tags: map[string]string{"karpenter.sh/discovery": "prod", "team": "ml"}}), nil, subnets, []snapshot.ZonedSubnet{a}, true},
		"by a tag of any value":       {terms(snapshot.SelectorTerm{Tags: map[string]string{"team": "*"}}), nil, subnets, []snapshot.ZonedSubnet{a, b}, true},
		"by id, or by a tag":          {terms(snapshot.SelectorTerm{ID: "subnet-c"}, snapshot.SelectorTerm{Tags: map[string]string{"team": "web"}}), nil, subnets, []snapshot.ZonedSubnet{b, c}, true},
		"by nothing":                  {terms(snapshot.SelectorTerm{}), nil, subnets, nil, true},
		"by tags, and no subnet read": {terms(snapshot.SelectorTerm{ID: "subnet-c"}), nil, nil, nil, false},
		"it says nothing":             {snapshot.NodeClass{Name: "gpu"}, nil, subnets, nil, false},
		"it found none": {snapshot.NodeClass{Name: "gpu", Conditions: map[string]snapshot.ObservedCondition{"SubnetsReady": {Condition: snapshot.Condition{Status: "False"}}}},
			nil, subnets, nil, true},
		"its class is not there": {snapshot.NodeClass{Name: "other"}, nil, subnets, nil, true},
	} {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.EC2NodeClassesOf: true, snapshot.Subnets: tt.subnets != nil}, EC2NodeClasses: []snapshot.NodeClass{tt.class}, Subnets: tt.subnets}
		got, known := PoolSubnets(NewView(s), snapshot.NodePool{Name: "gpu", Class: class, Requirements: tt.requires})
		if diff := cmp.Diff(tt.want, got); diff != "" || known != tt.known {
			t.Errorf("%s: known %v, want %v (-want +got):\n%s", name, known, tt.known, diff)
		}
	}
	if _, known := PoolSubnets(NewView(&snapshot.Snapshot{}), snapshot.NodePool{Name: "gpu", Class: class}); known {
		t.Error("the classes were not read, and it is known where they launch")
	}
}

// TestSubnetOfKarpentersInstance: EC2 forgets the subnet of a terminated
// instance; the class leaves no choice where it has one in the zone.
func TestSubnetOfKarpentersInstance(t *testing.T) {
	class := snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{{ID: "subnet-a", Zone: "us-west-2a"}, {ID: "subnet-b1", Zone: "us-west-2b"}, {ID: "subnet-b2", Zone: "us-west-2b"}}}
	s := NewView(&snapshot.Snapshot{
		Read:           map[snapshot.Source]bool{snapshot.EC2NodeClassesOf: true},
		NodePools:      []snapshot.NodePool{{Name: "other"}, {Name: "gpu", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "gpu"}}},
		EC2NodeClasses: []snapshot.NodeClass{class},
	})
	for _, tt := range []struct{ pool, zone, has, want string }{
		{"gpu", "us-west-2a", "", "subnet-a"}, {"gpu", "us-west-2b", "", ""}, {"gpu", "us-west-2c", "", ""}, {"gpu", "us-west-2a", "subnet-x", "subnet-x"},
		{"other", "us-west-2a", "", ""}, {"", "us-west-2a", "", ""},
	} {
		for _, tag := range []string{scheduling.PoolLabel, AutoPoolTag} {
			expect.Equal(t, fmt.Sprintf("%+v by %s", tt, tag), SubnetOf(s, &snapshot.Instance{ID: "i-1", Zone: tt.zone, Subnet: tt.has, Tags: map[string]string{tag: tt.pool}}), tt.want)
		}
	}
}
