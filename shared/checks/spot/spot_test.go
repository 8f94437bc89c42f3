package spot

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func TestCases(t *testing.T) {
	checktest.RunTable(t, []check.Check{
		BurstExceedsSubnet(),
		FewPools(),
		ManyRefusals(),
		PoolFailing(),
		RebalanceChurn(),
		ReclaimedBeforeJoin(),
	}, map[checkid.ID][]checktest.Case{
		checkid.SpotBurstExceedsSubnet:  burstExceedsSubnetCases(),
		checkid.SpotFewPools:            fewPoolsCases(),
		checkid.SpotManyRefusals:        manyRefusalsCases(),
		checkid.SpotPoolFailing:         poolFailingCases(),
		checkid.SpotRebalanceChurn:      rebalanceChurnCases(),
		checkid.SpotReclaimedBeforeJoin: reclaimedBeforeJoinCases(),
	})
}

// burst is eight m5.4xlarge that began ten minutes ago in a /24 which had as
// many free as is said, and has none now. The node of the world is the last of
// them: it registered and is not Ready.
func burst(had int, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	began := s.Time.Add(-10 * time.Minute)
	n := snapshottest.Subnet(s, snapshottest.Private)
	n.CIDR, n.Free = netip.MustParsePrefix("10.42.192.0/24"), 0
	snapshottest.Instance(s, snapshottest.Node).Type = "m5.4xlarge"
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"})
	s.Nodes[0].Ready = snapshot.Condition{Status: "False", Reason: "KubeletNotReady"}
	for i := range 8 {
		p := snapshot.Past{
			ID: fmt.Sprintf("i-0burst%d", i), Nodegroup: "workers", Group: "eks-workers", Type: "m5.4xlarge", Zone: snapshottest.Zone,
			Subnet: snapshottest.Private, Spot: true, Started: began.Add(time.Duration(i) * time.Second), End: snapshot.Joined,
		}
		if i == 7 {
			p.ID, p.End = snapshottest.Node, snapshot.Open
		}
		s.History = append(s.History, p)
	}
	s.Samples = []snapshot.Sample{{Subnet: snapshottest.Private, At: began.Add(-time.Minute), Free: had, Total: 251}}
	return checktest.Change(s, changes...)
}

func burstExceedsSubnetCases() []checktest.Case {
	env := func(name, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
	}
	left := func(n int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).Free = n }
	}
	fail := func(confidence string) []string {
		return []string{
			"pass prod [eks-workers prod]",
			"fail (" + confidence + ") subnet-0private [subnet-0private] [i-0node] 8 launches needed 480 addresses, subnet-0private had 251",
		}
	}
	pass := []string{"pass prod [eks-workers prod]", "pass subnet-0private [subnet-0private]"}
	idle := []string{"pass prod [eks-workers prod subnet-0private]"}
	refused := func(s *snapshot.Snapshot) {
		p := s.History[0]
		p.ID, p.Type, p.End, p.Cause, p.Started = "activity-1", "", snapshot.Refused, "launch/subnet-full", p.Started.Add(time.Minute)
		s.History = append(s.History, p)
	}
	return []checktest.Case{
		{"480 of 251, and the subnet is empty", burst(251), fail("certain")},
		{"a few are left, fewer than a node takes", burst(251, left(9)), fail("likely")},
		{"plenty is left", burst(251, left(100)), fail("possible")},
		{"the settings were not read", burst(251, checktest.Unread(snapshot.AWSNode)), fail("possible")},
		{"there is no aws-node", burst(251, func(s *snapshot.Snapshot) { s.CNI = nil }), pass},
		{"it just fits", burst(480), pass},
		{"five addresses in reserve fit", burst(251, env("WARM_IP_TARGET", "5")), pass},
		{"prefixes of 16: one, the next for the first pod, and its own: 33 each", burst(264, env("ENABLE_PREFIX_DELEGATION", "true")), pass},
		{"custom networking", burst(8, env("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")), pass},
		{"pods have IPv6 addresses", burst(8, func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), pass},
		{"all are Ready", burst(251, func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "True"} }), idle},
		{"one that did not register has its address", burst(251, func(s *snapshot.Snapshot) { snapshottest.Unjoin(s, snapshottest.Node) }), idle},
		{"a launch was refused for it", burst(251, refused, left(40), func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "True"} }), []string{
			"fail (certain) subnet-0private [eks-workers subnet-0private] [] 9 launches needed 481 addresses, subnet-0private had 251",
		}},
		{"nobody knows what the subnet had, but so much it never has", burst(0, func(s *snapshot.Snapshot) { s.Samples = nil }), fail("certain")},
		{"nobody knows what the subnet had", burst(0, func(s *snapshot.Snapshot) { s.Samples = nil }, env("WARM_IP_TARGET", "5")), []string{
			"pass prod [eks-workers prod]", "unknown subnet-0private [subnet-0private] launch history: not read: the free addresses of subnet-0private before 14:50:00 UTC were not recorded",
		}},
		{"history unread", burst(251, checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestBurstArithmetic(t *testing.T) {
	f := checktest.Failed(t, BurstExceedsSubnet(), burst(251))
	expect.Equal(t, "arithmetic", checktest.Value(t, f, "Launches from"), "8 m5.4xlarge × 2 interfaces × 30 = 480 addresses")
	expect.Equal(t, "settings", checktest.Value(t, f, "Settings of aws-node"), "WARM_ENI_TARGET=1")
}

func fewPoolsCases() []checktest.Case {
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(snapshottest.PrivateWithNAT(), changes...)
	}
	kinds := func(names ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Nodegroups[0].Types = names }
	}
	in := func(ids ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Nodegroups[0].Subnets = ids }
	}
	need := func(key, operator string, values ...string) snapshot.Requirement {
		return snapshot.Requirement{Key: key, Operator: operator, Values: values}
	}
	const zone2 = "us-west-2z"
	pool := func(zones []string, requirements ...snapshot.Requirement) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			class := snapshot.NodeClass{Name: "default"}
			for i, zone := range zones {
				class.Selected = append(class.Selected, snapshot.ZonedSubnet{ID: fmt.Sprint("subnet-", i), Zone: zone})
			}
			s.EC2NodeClasses = []snapshot.NodeClass{class}
			s.NodePools = []snapshot.NodePool{{Name: "web", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "default"}, Requirements: requirements}}
		}
	}
	spots, both := need("karpenter.sh/capacity-type", "In", "spot"), need("karpenter.sh/capacity-type", "In", "spot", "on-demand")
	two := need("node.kubernetes.io/instance-type", "In", "m5.large", "m5a.large")
	one := []string{snapshottest.Zone}
	const well, few = "pass prod [nodepool/web prod workers]", "fail web [nodepool/web] [] NodePool web has only 2 Spot pools"
	rest := "pass prod [prod workers]"
	family, size := need("karpenter.k8s.aws/instance-family", "In", "m5", "m6i"), need("karpenter.k8s.aws/instance-size", "In", "large", "xlarge")
	return []checktest.Case{
		{"a NodePool of two types, on demand", world(pool(one, two)), []string{well}},
		{"Spot or on demand", world(pool(one, two, both)), []string{well}},
		{"Spot only, of any type", world(pool(one, spots)), []string{well}},
		{"Spot only, of two types", world(pool(one, two, spots)), []string{rest, few}},
		{"in two zones", world(pool([]string{snapshottest.Zone, zone2}, two, spots)), []string{rest, "fail web [nodepool/web] [] NodePool web has only 4 Spot pools"}},
		{"in three zones", world(pool([]string{snapshottest.Zone, zone2, "us-west-2y"}, two, spots)), []string{well}},
		{"two subnets of one zone", world(pool([]string{snapshottest.Zone, snapshottest.Zone}, two, spots)), []string{rest, few}},
		{"its zones are narrowed", world(pool([]string{snapshottest.Zone, zone2}, two, spots, need("topology.kubernetes.io/zone", "In", zone2))), []string{rest, few}},
		{"two families in two sizes", world(pool(one, spots, family, size)), []string{rest, "fail web [nodepool/web] [] NodePool web has only 4 Spot pools"}},
		{"families alone", world(pool(one, spots, family)), []string{well}},
		{"one family by CPUs, in Auto Mode's words", world(pool(one, spots, need("eks.amazonaws.com/instance-family", "In", "c6i"), need("eks.amazonaws.com/instance-cpu", "In", "4", "8"))), []string{rest, few}},
		{"not these two types", world(pool(one, spots, need("node.kubernetes.io/instance-type", "NotIn", "m5.large", "m5a.large"))), []string{well}},
		{"its class matches no subnets", world(pool(nil, two, spots), func(s *snapshot.Snapshot) {
			s.EC2NodeClasses[0].Conditions = map[string]snapshot.ObservedCondition{"SubnetsReady": {Condition: snapshot.Condition{Status: "False"}}}
		}), []string{well}},
		{"its class says nothing of subnets", world(pool(nil, two, spots)), []string{rest, "unknown web [nodepool/web] ec2nodeclasses: not read: its class does not show which subnets it selects"}},
		{"its class was not read", world(pool(one, two, spots), checktest.Unread(snapshot.EC2NodeClassesOf)), []string{rest, "unknown web [nodepool/web] ec2nodeclasses: denied"}},
		{"it is switched off", world(pool(one, two, spots), func(s *snapshot.Snapshot) { s.NodePools[0].Limits = snapshot.Amounts{"cpu": "0"} }), []string{well}},
		{"it is deleted", world(pool(one, two, spots), func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), []string{well}},
		{"the NodePools were not read, and an instance names one", world(checktest.Unread(snapshot.NodePoolsOf), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, snapshottest.Node).Tags["karpenter.sh/nodepool"] = "web"
		}), []string{"pass prod [workers]", "unknown prod [prod] nodepools: denied"}},
		{"on-demand", world(), []string{"pass prod [prod workers]"}},
		{"one type, one zone", world(spotGroup), []string{"fail workers [workers] [] workers has only 1 Spot pool"}},
		{"two subnets of one zone are one pool", world(spotGroup, in(snapshottest.Private, snapshottest.Public)), []string{"fail workers [workers] [] workers has only 1 Spot pool"}},
		{"five types", world(spotGroup, kinds("a.x", "b.x", "c.x", "d.x", "e.x")), []string{"fail workers [workers] [] workers has only 5 Spot pools"}},
		{"six types", world(spotGroup, kinds("a.x", "b.x", "c.x", "d.x", "e.x", "f.x")), []string{"pass prod [prod workers]"}},
		{"a nodegroup that is switched off", world(spotGroup, func(s *snapshot.Snapshot) { s.Nodegroups[0].Max = 0 }), []string{"pass prod [prod workers]"}},
		{"a subnet that EC2 does not list", world(spotGroup, in(snapshottest.Private, "subnet-0gone")), []string{
			"unknown workers [workers] subnets: not read: subnet-0gone is not among the subnets that EC2 lists",
		}},
		{"one nodegroup could not be read", world(func(s *snapshot.Snapshot) {
			s.Missing = map[snapshot.Source]map[string]snapshot.Failure{snapshot.Nodegroups: {"more": {Source: snapshot.Nodegroups, Reason: snapshot.Throttled, Call: "eks:DescribeNodegroup"}}}
		}), []string{"unknown more [more] nodegroups: throttled", "pass prod [prod workers]"}},
		{"subnets unread", world(spotGroup, checktest.Unread(snapshot.Subnets)), []string{"unknown prod [] subnets: denied"}},
	}
}

// The command is one with which the same launches fit; where none does, or where what a
// node takes is not known, there is none.
func TestTheCommandMakesTheBurstFit(t *testing.T) {
	set := func(minimum string) string {
		return "kubectl -n kube-system set env daemonset aws-node MINIMUM_IP_TARGET=" + minimum + " WARM_IP_TARGET=2"
	}
	env := func(name, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
	}
	for name, test := range map[string]struct {
		had    int
		change func(*snapshot.Snapshot)
		want   string
	}{
		"eight with 1 and 20 each":   {251, func(*snapshot.Snapshot) {}, set("20")},
		"eight with 1 and 20, just":  {168, func(*snapshot.Snapshot) {}, set("20")},
		"one address less":           {167, func(*snapshot.Snapshot) {}, set("19")},
		"eight with 1 and 5, just":   {48, func(*snapshot.Snapshot) {}, set("5")},
		"too few for pods at all":    {47, func(*snapshot.Snapshot) {}, ""},
		"prefixes":                   {251, env("ENABLE_PREFIX_DELEGATION", "true"), ""},
		"pods are in other subnets":  {251, env("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true"), ""},
		"the settings were not read": {251, func(s *snapshot.Snapshot) { checktest.Unread(snapshot.AWSNode)(s); s.CNI = nil }, ""},
		"the type was not read":      {251, func(s *snapshot.Snapshot) { s.InstanceTypes = nil }, ""},
	} {
		view := check.NewView(burst(test.had, test.change))
		of := spotreport.Burst{Had: test.had, Terms: []spotreport.Term{{Type: "m5.4xlarge", Count: 8}}}
		expect.Equal(t, name, newBurstLook(view).fewer(of), test.want)
	}
}

// remembered adds a launch of each of two types in each of two zones, every
// half hour for two days; as decides how each ends.
func remembered(as func(i int, p *snapshot.Past)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := 0
		for at := s.Time.Add(-48 * time.Hour); at.Before(s.Time); at = at.Add(30 * time.Minute) {
			for _, kind := range []string{"c5.large", "m5.large"} {
				for _, zone := range []string{"us-west-2a", "us-west-2b"} {
					p := snapshot.Past{
						ID: fmt.Sprintf("i-0past%d", i), Nodegroup: "workers", Group: "eks-workers", Type: kind, Zone: zone, Subnet: "subnet-" + zone[9:],
						Spot: true, Started: at, End: snapshot.Joined, Ready: at.Add(time.Minute),
					}
					as(i, &p)
					s.History = append(s.History, p)
					i++
				}
			}
		}
	}
}

func cameTo(p *snapshot.Past, end snapshot.End, cause checkid.ID) {
	p.End, p.Cause, p.Ready = end, cause, time.Time{}
}

// spotGroup makes the world's nodegroup one with Spot capacity.
func spotGroup(s *snapshot.Snapshot) { s.Nodegroups[0].Spot = true }

func healthySpot(as func(i int, p *snapshot.Past)) *snapshot.Snapshot {
	return checktest.Change(snapshottest.PrivateWithNAT(), remembered(as))
}

func manyRefusalsCases() []checktest.Case {
	refuse := func(cause checkid.ID, when func(i int, p *snapshot.Past) bool) *snapshot.Snapshot {
		return healthySpot(func(i int, p *snapshot.Past) {
			if when(i, p) {
				cameTo(p, snapshot.Refused, cause)
			}
		})
	}
	inPool := func(_ int, p *snapshot.Past) bool { return p.Type == "c5.large" && p.Zone == "us-west-2b" }
	return []checktest.Case{
		{"no history", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"one pool refuses", refuse("launch/insufficient-capacity", inPool), []string{"fail workers [workers] [] workers: EC2 refused 96 of 384 Spot launches"}},
		{"one in sixteen", refuse("launch/insufficient-capacity", func(i int, p *snapshot.Past) bool { return i%16 == 0 }), []string{"pass workers [workers]"}},
		{"for another reason", refuse("launch/kms-key", inPool), []string{"pass workers [workers]"}},
		{"nobody knows in which pools", healthySpot(func(i int, p *snapshot.Past) {
			if i%2 == 0 {
				cameTo(p, snapshot.Refused, "launch/insufficient-capacity")
				p.Type, p.Zone = "", ""
			}
		}), []string{"unknown workers [workers] launch history: not read: EC2 refused 192 of 384 Spot launches of workers, and did not report in which pools"}},
		{"history unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestManyRefusalsNamesThePools(t *testing.T) {
	f := checktest.Failed(t, ManyRefusals(), healthySpot(func(i int, p *snapshot.Past) {
		if p.Type == "c5.large" || i%16 == 3 {
			cameTo(p, snapshot.Refused, "launch/insufficient-capacity")
		}
	}))
	want := "EC2 had no Spot capacity for 216 of 384 launches of workers; 192 of them were in c5.large/us-west-2a and c5.large/us-west-2b."
	if f.Why != want {
		t.Errorf("Why = %q, want %q", f.Why, want)
	}
}

// taken takes every launch of c5.large in us-west-2b back while it lasts.
func taken(from, until time.Duration) func(int, *snapshot.Past) {
	return func(_ int, p *snapshot.Past) {
		ago := snapshottest.Now().Sub(p.Started)
		if p.Type == "c5.large" && p.Zone == "us-west-2b" && ago <= from && ago > until {
			cameTo(p, snapshot.Reclaimed, "")
		}
	}
}

func poolFailingCases() []checktest.Case {
	well := []string{"pass c5.large/us-west-2a [c5.large/us-west-2a]", "pass c5.large/us-west-2b [c5.large/us-west-2b]", "pass m5.large/us-west-2a [m5.large/us-west-2a]", "pass m5.large/us-west-2b [m5.large/us-west-2b]"}
	with := func(line string) []string { return []string{well[0], line, well[2], well[3]} }
	return []checktest.Case{
		{"no history", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"all join", healthySpot(func(int, *snapshot.Past) {}), well},
		{"one pool is taken back", healthySpot(taken(48*time.Hour, 0)), with("fail c5.large/us-west-2b [c5.large/us-west-2b] [] Spot pool c5.large/us-west-2b fails: 96 of 96 did not join")},
		{"few launches accuse nobody", healthySpot(taken(2*time.Hour, 0)), well},
		{"it works again: the last ten joined", healthySpot(taken(48*time.Hour, 5*time.Hour)), well},
		{"not used for a day any more", checktest.Change(healthySpot(taken(48*time.Hour, 24*time.Hour)), func(s *snapshot.Snapshot) {
			var kept []snapshot.Past
			for _, p := range s.History {
				if p.Type != "c5.large" || p.Zone != "us-west-2b" || p.End == snapshot.Reclaimed {
					kept = append(kept, p)
				}
			}
			s.History = nil
			for _, p := range kept {
				if p.Type != "c5.large" || p.Zone != "us-west-2b" || s.Time.Sub(p.Started) > 24*time.Hour {
					s.History = append(s.History, p)
				}
			}
		}), well},
		{"a zone that fails accuses no pool", healthySpot(func(_ int, p *snapshot.Past) {
			if p.Zone == "us-west-2b" {
				cameTo(p, snapshot.NotJoined, "")
			}
		}), well},
		{"ends that nobody saw", healthySpot(func(_ int, p *snapshot.Past) {
			if p.Type == "c5.large" && p.Zone == "us-west-2b" {
				cameTo(p, snapshot.Unclear, "")
			}
		}), with("unknown c5.large/us-west-2b [c5.large/us-west-2b] launch history: not read: the outcome of 96 of 96 launches of c5.large in us-west-2b is unknown")},
		{"history unread", checktest.Change(healthySpot(taken(48*time.Hour, 0)), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestPoolFailingSaysHowItFails(t *testing.T) {
	f := checktest.Failed(t, PoolFailing(), healthySpot(taken(48*time.Hour, 0)))
	want := "c5.large in us-west-2b: 96 of 96 were reclaimed before they joined; in the other pools of workers 0 of 288 failed."
	if !strings.HasPrefix(f.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", f.Why, want)
	}
	expect.Equal(t, "interval", checktest.Value(t, f, "c5.large in us-west-2b"), "0 of 96 launches joined; the share is between 0 % and 4 % (95 % interval)")
	expect.Equal(t, "ends", checktest.Value(t, f, "How its launches ended"), "96 reclaimed, 0 joined")
}

func TestWorksAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		pool spotreport.Pool
		want bool
	}{
		{"none joined before, four do", spotreport.Pool{Judged: 24, Failed: 20, Streak: 4}, false},
		{"none joined before, five do", spotreport.Pool{Judged: 25, Failed: 20, Streak: 5}, true},
		{"three of four joined before: fifteen are chance", spotreport.Pool{Judged: 55, Failed: 10, Streak: 15}, false},
		{"three of four joined before, seventeen do", spotreport.Pool{Judged: 57, Failed: 10, Streak: 17}, true},
	} {
		expect.Equal(t, tt.name, worksAgain(tt.pool), tt.want)
	}
}

func rebalanceChurnCases() []checktest.Case {
	// Every fourth node gets a recommendation.
	recommended := func(after, ended time.Duration, more ...func(*snapshot.Past)) *snapshot.Snapshot {
		return healthySpot(func(i int, p *snapshot.Past) {
			if i%4 != 0 || snapshottest.Now().Sub(p.Started) < 2*time.Hour {
				return
			}
			p.Rebalance = p.Ready.Add(after)
			if ended > 0 {
				p.Ended = p.Ready.Add(ended)
			}
			for _, f := range more {
				f(p)
			}
		})
	}
	return []checktest.Case{
		{"no history", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"nodes live long", healthySpot(func(int, *snapshot.Past) {}), []string{"pass workers [workers]"}},
		{"replaced after six minutes", recommended(2*time.Minute, 6*time.Minute), []string{"fail workers [workers] [] workers: 93 of 384 Spot nodes replaced soon after they joined"}},
		{"recommended after an hour", recommended(61*time.Minute, 65*time.Minute), []string{"pass workers [workers]"}},
		{"EC2 did take them back", recommended(2*time.Minute, 6*time.Minute, func(p *snapshot.Past) { p.Noticed = p.Ready.Add(4 * time.Minute) }), []string{"pass workers [workers]"}},
		{"they lived on for hours", recommended(2*time.Minute, 5*time.Hour), []string{"pass workers [workers]"}},
		{"nobody saw them end", recommended(2*time.Minute, 0), []string{
			"unknown workers [workers] launch history: not read: EC2 recommended a rebalance of 93 nodes of workers soon after they joined; the end of 93 of them is unknown",
		}},
		{"history unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func recommended(after time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Rebalance = s.Launches[0].Started.Add(after) }
}

func explained(by checkid.ID) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Launches[0].Cause = by }
}

func reclaimedBeforeJoinCases() []checktest.Case {
	const user, spot = "Client.UserInitiatedShutdown", "Server.SpotInstanceTermination"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node was reclaimed by EC2 before it was a node"}
	pass := []string{"pass prod [i-0node]"}
	terminate := checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance rebalance recommendation.")
	scaleIn := checktest.Terminating("At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")
	running := func() *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		snapshottest.Unjoin(s, snapshottest.Node)
		return s
	}
	return []checktest.Case{
		{"running", snapshottest.PrivateWithNAT(), pass},
		{"running, no node yet", running(), pass},
		{"EC2's reason", checktest.Ended(spot, 2*time.Minute), fail},
		{"EC2's reason, past its time to join, no cause found", checktest.Ended(spot, 8*time.Minute), fail},
		{"EC2's reason, past its time to join, for a cause that was found", checktest.Change(checktest.Ended(spot, 8*time.Minute), explained("route/no-egress")), nil},
		{"EC2's reason, past its time to join, nodes unread", checktest.Change(checktest.Ended(spot, 8*time.Minute), checktest.Unread(snapshot.Nodes)), []string{"unknown prod [i-0node] nodes: denied"}},
		{"its group took it out of service past its time: it served", checktest.Change(checktest.Ended(spot, 8*time.Minute), terminate), nil},
		{"nobody waited for it", checktest.Change(checktest.Ended(spot, time.Minute), func(s *snapshot.Snapshot) { s.Launches = nil }), nil},
		{"it was a node", checktest.Change(checktest.Ended(spot, 3*time.Minute), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), pass},
		{"an event says that it was a node", checktest.Change(checktest.Ended(spot, 4*time.Minute), checktest.Event("RegisteredNode", "ip-10-42-192-10.us-west-2.compute.internal", 7*time.Minute)), pass},
		{"warned, then ended by a call", checktest.Change(checktest.Ended(user, 3*time.Minute), checktest.Noticed(90*time.Second)), fail},
		{"warned, and still there", checktest.Change(running(), checktest.Noticed(9*time.Minute)), fail},
		{"warned long ago, and still there", checktest.Change(running(), func(s *snapshot.Snapshot) { s.Launches[0].Noticed = s.Time.Add(-11 * time.Minute) }), pass},
		{"ended by a call", checktest.Ended(user, time.Minute), pass},
		{"replaced as EC2 recommended", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), terminate), fail},
		{"recommended, and scaled in", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), scaleIn), pass},
		{"recommended, and nothing more", checktest.Change(running(), recommended(time.Minute)), pass},
		{"recommended, and ended by its group or by a person", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), checktest.Unread(snapshot.Activities)), []string{
			"unknown prod [i-0node] scaling activities: denied",
		}},
		{"recommended, ended, and the activities do not reach back", checktest.Change(checktest.Ended(user, 3*time.Minute), recommended(time.Minute), func(s *snapshot.Snapshot) { s.Activities = nil }), []string{
			"unknown prod [i-0node] scaling activities: not read: the scaling activities that were read do not go back to the launch: its group may have replaced it as EC2 recommended",
		}},
	}
}

func TestReclaimedWords(t *testing.T) {
	got := checktest.Failed(t, ReclaimedBeforeJoin(), checktest.Change(checktest.Ended("Client.UserInitiatedShutdown", 3*time.Minute), checktest.Noticed(90*time.Second)))
	if want := "EC2 warned at 14:51:30 UTC"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
	if want := "More instance types and zones"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Fix = %q, want %q in it", got.Fix.Text, want)
	}
}
