package ip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// deadNode made most of the interfaces in these tests.
const deadNode = "i-0dead00000000dead"

// leftBehind puts interfaces of a dead node with 10 addresses each into the
// node's subnet.
func leftBehind(n int, changes ...func(*snapshot.Interface)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		if !slices.ContainsFunc(s.Creators, func(c snapshot.Creator) bool { return c.Instance == deadNode }) {
			s.Creators = append(s.Creators, snapshot.Creator{Instance: deadNode, State: "terminated"})
		}
		for range n {
			k := len(s.Idle)
			i := snapshot.Interface{
				ID: fmt.Sprintf("eni-0%d", k), Account: s.Account, VPC: w.VPC, Subnet: w.Private, Status: "available", Kind: "interface",
				Description: "aws-K8S-" + deadNode,
				Tags: map[string]string{
					leak.TagInstance: deadNode, leak.TagCluster: w.ClusterName, leak.TagCreated: s.Time.Add(-3 * time.Hour).Format(time.RFC3339),
				},
			}
			for a := range 10 {
				i.PrivateIPs = append(i.PrivateIPs, netip.AddrFrom4([4]byte{10, 42, byte(192 + k/25), byte(10*(k%25) + a)}))
			}
			for _, change := range changes {
				change(&i)
			}
			s.Idle = append(s.Idle, i)
		}
	}
}

// creator sets how EC2 says the owner is.
func creator(state string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Creators = []snapshot.Creator{{Instance: deadNode, State: state}}
	}
}

func tagged(key, value string) func(*snapshot.Interface) {
	return func(i *snapshot.Interface) {
		if i.Tags[key] = value; value == "" {
			delete(i.Tags, key)
		}
	}
}

// slash24 makes the node's subnet one of 251 addresses.
func slash24(free int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := w.Subnet(s, w.Private)
		n.CIDR, n.Free = netip.MustParsePrefix("10.42.192.0/24"), free
	}
}

func setCNI(name, value string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
}

func leakedInterfacesCases() []checktest.Case {
	const (
		well   = "pass prod [eks-workers prod subnet-0private subnet-0public]"
		others = "pass prod [prod subnet-0public]"
		hold   = "subnet-0private [subnet-0private] [] 1 dead node holds "
	)
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(w.PrivateWithNAT(), changes...)
	}
	notReady := func(s *snapshot.Snapshot) { s.Nodes[0].Ready = snapshot.Condition{Status: "False"} }
	return []checktest.Case{
		{"none", world(), []string{well}},
		{"a few in a large subnet are advice", world(leftBehind(3)), []string{others, "fail (advice) " + hold + "30 addresses of subnet-0private"}},
		{"more than fifty addresses", world(leftBehind(6)), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"a tenth of the subnet", world(slash24(200), leftBehind(3)), []string{others, "fail (likely) " + hold + "30 addresses of subnet-0private"}},
		{"EC2 has forgotten the owner", world(leftBehind(6), creator("")), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"with theirs a node can start", world(slash24(3), leftBehind(1)), []string{others, "fail " + hold + "10 addresses of subnet-0private"}},
		{"with theirs none can start either", world(slash24(3), leftBehind(1, func(i *snapshot.Interface) { i.PrivateIPs = i.PrivateIPs[:3] })), []string{others, "fail (advice) " + hold + "3 addresses of subnet-0private"}},
		{"it explains a node that registered and is not Ready", world(slash24(0), leftBehind(1), notReady), []string{
			others, "fail subnet-0private [subnet-0private] [i-0node] 1 dead node holds 10 addresses of subnet-0private",
		}},
		{"settings of aws-node unread: certain only where nothing is free", world(slash24(3), leftBehind(1), checktest.Unread(snapshot.AWSNode)), []string{others, "fail (advice) " + hold + "10 addresses of subnet-0private"}},
		{"and nothing is", world(slash24(0), leftBehind(1), checktest.Unread(snapshot.AWSNode)), []string{others, "fail " + hold + "10 addresses of subnet-0private"}},
		{"types unread: enough for any type", world(slash24(0), leftBehind(7), checktest.Unread(snapshot.InstanceTypes)), []string{others, "fail " + hold + "70 addresses of subnet-0private"}},
		{"types unread: not enough for any", world(slash24(0), leftBehind(1), checktest.Unread(snapshot.InstanceTypes)), []string{others, "fail (advice) " + hold + "10 addresses of subnet-0private"}},
		{"custom networking: a node takes one address here", world(slash24(3), leftBehind(1), setCNI("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true")), []string{others, "fail (advice) " + hold + "10 addresses of subnet-0private"}},
		{"custom networking: its pods are here", world(slash24(3), leftBehind(1), setCNI("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true"), func(s *snapshot.Snapshot) {
			s.ENIConfigs = []snapshot.ENIConfig{{Name: "us-west-2a", Subnet: w.Private}}
		}), []string{others, "fail " + hold + "10 addresses of subnet-0private"}},
		{"prefix delegation: single addresses give back no block", world(slash24(3), leftBehind(2), setCNI("ENABLE_PREFIX_DELEGATION", "true")), []string{others, "fail (advice) " + hold + "20 addresses of subnet-0private"}},
		{"prefix delegation: a prefix does", world(slash24(3), leftBehind(1, func(i *snapshot.Interface) {
			i.PrivateIPs, i.Prefixes = i.PrivateIPs[:1], []netip.Prefix{netip.MustParsePrefix("10.42.192.32/28")}
		}), setCNI("ENABLE_PREFIX_DELEGATION", "true")), []string{others, "fail " + hold + "17 addresses of subnet-0private"}},
		{"where nothing is launched nothing is short", world(leftBehind(1, func(i *snapshot.Interface) { i.Subnet = w.Public }), func(s *snapshot.Snapshot) { w.Subnet(s, w.Public).Free = 0 }), []string{
			"pass prod [eks-workers prod subnet-0private]", "fail (advice) subnet-0public [subnet-0public] [] 1 dead node holds 10 addresses of subnet-0public",
		}},
		{"no cluster named: this one's", world(leftBehind(6, tagged(leak.TagCluster, ""))), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"no date: its owner is dead all the same", world(leftBehind(6, tagged(leak.TagCreated, "yesterday"))), []string{others, "fail (likely) " + hold + "60 addresses of subnet-0private"}},
		{"another cluster's", world(leftBehind(6, tagged(leak.TagCluster, "dev"))), []string{well}},
		{"owner runs", world(leftBehind(6), creator("running")), []string{well}},
		{"owner is stopped", world(leftBehind(6), creator("stopped")), []string{well}},
		{"owner in a state that is not known", world(leftBehind(6), creator("hibernated")), []string{well}},
		{"made a minute ago", world(leftBehind(6, tagged(leak.TagCreated, w.Now().Add(-time.Minute).Format(time.RFC3339)))), []string{well}},
		{"another account's", world(leftBehind(6, func(i *snapshot.Interface) { i.Account = "999999999999" })), []string{well}},
		{"not made by the VPC CNI", world(leftBehind(6, func(i *snapshot.Interface) { i.Description = "aws-k8s-branch-eni" })), []string{well}},
		{"owner was not asked for", world(leftBehind(6), func(s *snapshot.Snapshot) { s.Creators = nil }), []string{
			"pass prod [prod subnet-0public]", "unknown subnet-0private [subnet-0private] creators of network interfaces: not read: how the instances are that made interfaces in subnet-0private was not asked",
		}},
		{"whose account it is is not known", world(leftBehind(6), func(s *snapshot.Snapshot) { s.Account, s.Cluster.ARN = "", "" }), []string{
			"unknown prod [] cluster: broken: the cluster's account or VPC is not known: whose interfaces these are cannot be told",
		}},
		{"creators unread", world(leftBehind(6), checktest.Unread(snapshot.CreatorsOf)), []string{"unknown prod [] creators of network interfaces: denied"}},
		{"interfaces unread", world(leftBehind(6), checktest.Unread(snapshot.Unattached)), []string{"unknown prod [] unattached network interfaces: denied"}},
		{"given back", world(func(s *snapshot.Snapshot) {
			s.Returned = []snapshot.Returned{{Subnet: w.Private, Interfaces: 12, Addresses: 31, Nodes: 4}}
		}), []string{"pass prod [eks-workers prod subnet-0public]", "pass subnet-0private [subnet-0private]"}},
	}
}

func TestLeakedInterfacesSayWhatBecomesOfThem(t *testing.T) {
	mixed := func(mode string, untagged bool) finding.Result {
		return checktest.Failed(t, LeakedInterfaces(), checktest.Change(w.PrivateWithNAT(), slash24(3), leftBehind(4), leftBehind(2, tagged(leak.TagCluster, "")),
			leftBehind(1, tagged(leak.TagCreated, "")), leftBehind(2, tagged(leak.TagCluster, "dev")), leftBehind(1, tagged(leak.TagInstance, "i-0123456789abcdef0")),
			func(s *snapshot.Snapshot) {
				s.Cleanup = snapshot.Cleanup{Mode: mode, Grace: 30 * time.Minute, Untagged: untagged}
			}))
	}
	r := mixed("report", false)
	for what, want := range map[string]string{
		"Addresses of subnet-0private":   "3 free; one more m5.large takes 10 at start; 73 free once dead nodes' interfaces are deleted",
		"Left behind in subnet-0private": "7 interfaces of 1 dead node, 70 addresses, the oldest made 2026-11-20 12:00 UTC",
		"Of cluster":                     "5 name prod, 2 none",
		"eni-cleanup":                    "off for prod: could delete 4 of them; not 2 (untagged), 1 (no date)",
		"Not counted":                    "2 interfaces of dead nodes that name another cluster",
		"Not left behind":                "1 (tags disagree)",
	} {
		if got := checktest.Value(t, r, what); got != want {
			t.Errorf("%s = %q, want %q", what, got, want)
		}
	}
	if want := "7 interfaces of 1 dead node hold 70 addresses of subnet-0private (10.42.192.0/24, us-west-2a), the oldest made 2026-11-20 12:00 UTC. 3 are free, and one more m5.large takes 10; deleting them makes it 73."; r.Why != want {
		t.Errorf("why = %q, want %q", r.Why, want)
	}
	if !strings.Contains(r.Fix.Text, "cleanup=prod=delete") || !strings.Contains(r.Fix.Text, "cleanupUntagged=vpc-0a") {
		t.Errorf("fix %q", r.Fix.Text)
	}
	// What may be pasted deletes what the rules allow, and nothing else.
	if want := "for id in eni-00 eni-01 eni-02 eni-03; do aws ec2 delete-network-interface --region us-west-2 --network-interface-id \"$id\"; done"; r.Fix.Command != want {
		t.Errorf("command = %q, want %q", r.Fix.Command, want)
	}
	if got, want := checktest.Value(t, mixed("delete", true), "eni-cleanup"), "on: deletes 6 of them, once it has seen them twice; 2 name no cluster, and go only where all clusters of the VPC are watched and in mode delete; not 1 (no date)"; got != want {
		t.Errorf("cleanup on: %q, want %q", got, want)
	}
	if r := mixed("delete", false); strings.Contains(r.Fix.Command, "delete") || !strings.HasPrefix(r.Fix.Text, "Nothing: eni-cleanup runs") {
		t.Errorf("cleanup on: %+v", r.Fix)
	}
}

// What names no cluster may be that of one which nobody watches, whatever the
// operator opted in: no command that is to be pasted deletes it, and no button.
func TestWhatNamesNoClusterIsNotToBePasted(t *testing.T) {
	opted := func(n int) finding.Result {
		return checktest.Failed(t, LeakedInterfaces(), checktest.Change(w.PrivateWithNAT(), slash24(3), leftBehind(n), leftBehind(2, tagged(leak.TagCluster, "")),
			func(s *snapshot.Snapshot) {
				s.Cleanup = snapshot.Cleanup{Mode: "report", Grace: 30 * time.Minute, Untagged: true}
			}))
	}
	r := opted(4)
	if want := "for id in eni-00 eni-01 eni-02 eni-03; do aws ec2 delete-network-interface --region us-west-2 --network-interface-id \"$id\"; done"; r.Fix.Command != want || r.Fix.Remedy != deleteLeakedInterfaces {
		t.Errorf("beside others: %+v, want the command %q", r.Fix, want)
	}
	r = opted(0)
	if strings.Contains(r.Fix.Command, "delete") || r.Fix.Remedy != "" || !strings.Contains(r.Fix.Text, "watch all clusters of vpc-0a") {
		t.Errorf("by themselves: %+v", r.Fix)
	}
}

func TestGivenBackIsTheEvidenceOfAPass(t *testing.T) {
	s := checktest.Change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
		s.Returned = []snapshot.Returned{{Subnet: w.Private, Interfaces: 12, Addresses: 31, Nodes: 4}}
	})
	for _, r := range checktest.EvalOne(t, LeakedInterfaces(), s) {
		if r.Resource == w.Private && (len(r.Evidence) != 1 || r.Evidence[0].Value != "31 addresses back; 12 interfaces of 4 dead nodes") {
			t.Errorf("evidence %+v", r.Evidence)
		}
	}
}
