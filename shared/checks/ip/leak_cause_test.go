package ip

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

func leakCauseCases() []checktest.Case {
	const (
		plugin = "pass kube-system/aws-node [kube-system/aws-node]"
		well   = "pass prod [lt-0a prod]"
		rest   = "pass prod [prod]"
	)
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(w.PrivateWithNAT(), changes...)
	}
	keeps := func(s *snapshot.Snapshot) { s.LaunchTemplates[0].KeepsInterface = true }
	nameless := func(s *snapshot.Snapshot) { delete(s.CNI.Env, "CLUSTER_NAME") }
	root := func(n int) func(*snapshot.Snapshot) {
		return leftBehind(n, func(i *snapshot.Interface) { i.Description = "" })
	}
	const (
		template = " lt-0a [lt-0a] [] eks-workers keeps the primary interface of ended instances"
		aws      = " kube-system/aws-node [kube-system/aws-node] [] aws-node "
	)
	return []checktest.Case{
		{"all well", world(), []string{plugin, well}},
		{"leaks, and nothing that causes them", world(leftBehind(6)), []string{plugin, well}},
		{"the template keeps the interface", world(keeps), []string{plugin, "fail (advice)" + template, rest}},
		{"and some were kept", world(keeps, root(1)), []string{plugin, "fail (advice)" + template, rest}},
		{"and they hold much", world(keeps, root(6)), []string{plugin, "fail (likely)" + template, rest}},
		{"kept of an instance that lives", world(keeps, root(6), creator("stopped")), []string{plugin, "fail (advice)" + template, rest}},
		{"kept interfaces unread", world(keeps, root(6), checktest.Unread(snapshot.Unattached)), []string{plugin, "fail (advice)" + template, rest}},
		{"aws-node names no cluster", world(nameless), []string{"fail (advice)" + aws + "has no CLUSTER_NAME", well}},
		{"aws-node names no cluster, and there are leaks", world(nameless, leftBehind(2)), []string{"fail (advice)" + aws + "has no CLUSTER_NAME", well}},
		{"its name comes from elsewhere", world(setCNI("CLUSTER_NAME", "")), []string{plugin, well}},
		{"cleanup off", world(setCNI("DISABLE_LEAKED_ENI_CLEANUP", "true"), leftBehind(1)), []string{"fail (advice)" + aws + "has DISABLE_LEAKED_ENI_CLEANUP=true", well}},
		{"cleanup not off", world(setCNI("DISABLE_LEAKED_ENI_CLEANUP", "no idea")), []string{plugin, well}},
		{"metadata only", world(setCNI("ENABLE_IMDS_ONLY_MODE", "1")), []string{"fail (advice)" + aws + "has ENABLE_IMDS_ONLY_MODE=true", well}},
		{"IPv6, and leaks", world(leftBehind(1), setCNI("ENABLE_IPv6", "true")), []string{"fail (advice)" + aws + "does not clean up in an IPv6 cluster", well}},
		{"IPv6, and no leak", world(func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }), []string{plugin, well}},
		{"no node left, and leaks", world(leftBehind(1), func(s *snapshot.Snapshot) { s.CNI.Desired = 0 }), []string{"fail (advice)" + aws + "runs on no node", well}},
		{"no node left, and no leak", world(func(s *snapshot.Snapshot) { s.CNI.Desired = 0 }), []string{plugin, well}},
		{"another plugin", world(func(s *snapshot.Snapshot) { s.CNI = nil }), []string{plugin, well}},
		{"aws-node unread", world(checktest.Unread(snapshot.AWSNode)), []string{"unknown kube-system/aws-node [kube-system/aws-node] aws-node: denied", well}},
		{"a version unread", world(func(s *snapshot.Snapshot) {
			s.Lack(snapshot.LaunchTemplates, "lt-0b version 3", snapshot.Failure{Source: snapshot.LaunchTemplates, Reason: snapshot.NotRead, Message: "10 others were read"})
		}), []string{plugin, "unknown lt-0b version 3 [lt-0b version 3] launch templates: not read: 10 others were read", well}},
		{"templates unread", world(checktest.Unread(snapshot.LaunchTemplates)), []string{"unknown prod [] launch templates: denied"}},
	}
}

func TestLeakCauseNamesWhereItLeaks(t *testing.T) {
	r := checktest.Failed(t, LeakCause(), checktest.Change(w.PrivateWithNAT(), leftBehind(2), setCNI("DISABLE_LEAKED_ENI_CLEANUP", "true")))
	if len(r.Resources) != 2 || r.Resources[1] != w.Private {
		t.Errorf("resources %q, want the subnet too", r.Resources)
	}
	r = checktest.Failed(t, LeakCause(), checktest.Change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.LaunchTemplates[0].KeepsInterface = true },
		leftBehind(2, func(i *snapshot.Interface) { i.Description = "" })))
	if got, want := checktest.Value(t, r, "Kept"), "2 interfaces of instances that are gone, 20 addresses: eni-00 and eni-01"; got != want {
		t.Errorf("kept = %q, want %q", got, want)
	}
}
