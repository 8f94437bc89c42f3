package checks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
)

// Each check stands in one place of the list, and Of finds it by its id.
func TestOfFindsEveryCheck(t *testing.T) {
	for _, c := range All() {
		got, known := Of(c.ID)
		if !known || got.ID != c.ID || got.Title != c.Title {
			t.Errorf("Of(%s) = %s, %v", c.ID, got.ID, known)
		}
	}
	for _, id := range []checkid.ID{"", "rollcall/cannot-look", "route/no-such-thing", checkid.AnyJoinCause} {
		if got, known := Of(id); known || got.ID != "" {
			t.Errorf("Of(%q) = %s, %v", id, got.ID, known)
		}
	}
}

// Who judges a check stands on the check: beside join-check, the others' are few.
func TestWhoWatches(t *testing.T) {
	ids := func(list []check.Check) (of []checkid.ID) {
		for _, c := range list {
			of = append(of, c.ID)
		}
		return of
	}
	for name, tt := range map[string]struct {
		got  []check.Check
		want []checkid.ID
	}{
		"addresses": {OfAddresses(), []checkid.ID{"ip/subnet-exhausted", "ip/scale-out-will-not-fit", "ip/fragmented", "ip/runway", "ip/leaked-interfaces", "ip/leak-cause", "ip/branch-leaked"}},
		"health":    {OfHealth(), []checkid.ID{"nodegroup/health", "nodegroup/status", "nodegroup/update-failed", "cluster/health", "addon/degraded"}},
		"zones":     {OfZones(), []checkid.ID{"zone/volume-stranded", "zone/nodegroup-gap", "zone/pod-unschedulable", "zone/impaired", "zone/shifted"}},
		"pools":     {OfPools(), []checkid.ID{"spot/pool-failing", "spot/few-pools", "spot/many-refusals", "spot/rebalance-churn"}},
		"not of launches": {difference(All(), OfLaunches()), []checkid.ID{
			"nodegroup/health", "nodegroup/status", "nodegroup/update-failed", "ip/scale-out-will-not-fit", "ip/fragmented", "ip/runway", "ip/leak-cause",
			"spot/pool-failing", "spot/few-pools", "spot/many-refusals", "spot/rebalance-churn", "zone/volume-stranded", "zone/nodegroup-gap", "zone/pod-unschedulable", "zone/shifted",
		}},
		"of launches, after a while only": {difference(OfLaunches(), AtLaunch()), []checkid.ID{
			"dns/firewall", "dns/resolver-rule", "dns/private-zone", "iam/role-policies", "iam/access-missing", "iam/access-wrong-arn", "iam/sts-endpoint", "iam/sts-region-deactivated", "iam/access-duplicate-mapping", "iam/aws-auth-invalid",
			"iam/cni-role-policies", "instance/max-pods", "instance/status-check", "instance/scheduled-event", "instance/ami", "instance/version-skew", "instance/console-error",
			"instance/common-factor", "instance/unowned",
			"cluster/health", "addon/degraded", "node/not-registered", "node/not-ready", "node/cni-not-ready", "node/uninitialized", "node/csr-pending", "node/not-initialized",
			"ip/branch-interfaces", "ip/pod-without-address",
			"spot/burst-exceeds-subnet", "zone/impaired", "karpenter/nodeclass-not-ready", "karpenter/nodepool-limit", "cni/ipv6", "cni/version", "cni/eniconfig", "cni/pod-identity-agent",
		}},
	} {
		if diff := cmp.Diff(ids(tt.got), tt.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", name, diff)
		}
	}
	for _, c := range All() {
		if swept := c.InSweep != nil || c.ID.Family() == checkid.Launch || c.ID.Family() == checkid.Karpenter || c.ID == checkid.RouteCrossZoneNAT || c.ID == checkid.InstanceClusterCA || c.ID == checkid.NodeNotInitialized || c.ID == checkid.IPBranchInterfaces || c.ID == checkid.IPPodWithoutAddress; swept != c.IsWatchedBy(check.Sweep) {
			t.Errorf("%s: in the sweep is %v", c.ID, !swept)
		}
	}
}

// difference is a list without another one.
func difference(list, without []check.Check) (rest []check.Check) {
	have := map[checkid.ID]bool{}
	for _, c := range without {
		have[c.ID] = true
	}
	for _, c := range list {
		if !have[c.ID] {
			rest = append(rest, c)
		}
	}
	return rest
}

// What each detector judges is written beside the list of all, so that its program
// has no other check: the two agree.
func TestWatchedIsWhatTheChecksSay(t *testing.T) {
	lists := map[check.Detector][]check.Check{
		check.JoinCheck: watchedByJoinCheck(), check.Sweep: watchedBySweep(), check.NodegroupWatch: watchedByNodegroupWatch(),
		check.SubnetWatch: watchedBySubnetWatch(), check.ZoneWatch: watchedByZoneWatch(), check.SpotReport: watchedBySpotReport(),
	}
	for name, d := range check.Detectors() {
		var want, got []checkid.ID
		for _, c := range All() {
			if c.IsWatchedBy(d) {
				want = append(want, c.ID)
			}
		}
		for _, c := range lists[d] {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s: run make generate (-want +got):\n%s", name, diff)
		}
	}
}
