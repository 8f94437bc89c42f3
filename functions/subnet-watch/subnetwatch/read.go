package subnetwatch

import (
	"context"
	"slices"

	"rollcall/shared/checks"
	"rollcall/shared/config"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/network/address"

	"rollcall/shared/snapshot"
)

// roleCNI is the tag of subnets that the VPC CNI may take addresses for pods of.
const roleCNI = "kubernetes.io/role/cni"

// read reads what a cluster's subnets have, who takes it, and how.
func (h handler) read(ctx context.Context, reader Reader, cluster, account string) (*snapshot.Snapshot, error) {
	groups, failed := reader.GroupsOf(ctx, cluster)
	q := h.Query(cluster, account)
	q.Groups, q.AllNodegroups, q.Failed = groups, true, detect.Failures(failed)
	// What may launch, and into which subnets, before what these have.
	q.Sources = []snapshot.Source{snapshot.Nodegroups, snapshot.LaunchTemplates, snapshot.Subnets,
		snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf}
	q.Scope.Launchable = detect.Launchable(groups)
	s, err := h.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	s.Scope.Launchable = detect.Distinct(s.Scope.Launchable, checks.PoolSubnets(s))
	// No instance was asked for: that is no proof that they could be read.
	delete(s.Read, snapshot.Instances)
	q.Account, q.Types, q.WrittenTypes = s.Account, types(s), checks.PoolTypes(s)
	sources := slices.DeleteFunc(gather.AddressSources(checks.OfAddresses()), func(x snapshot.Source) bool { return x == snapshot.Instances })
	reader.More(ctx, s, q, sources...)
	s.Taken = h.Now()
	s.Cleanup, s.Horizon = h.cleanup(cluster, s.Cluster.VPC), h.horizon
	return s, nil
}

// types are those that the groups may launch: where a group's own policy names
// none, its nodegroup or its launch template does.
func types(s *snapshot.Snapshot) []string {
	var names []string
	for _, g := range s.Groups {
		names = append(names, g.Types...)
	}
	for _, n := range s.Nodegroups {
		names = append(names, n.Types...)
	}
	for _, t := range s.LaunchTemplates {
		names = append(names, t.Type)
	}
	return detect.Distinct(names)
}

// watched are the subnets that nodes and their pods take addresses of.
func watched(s *snapshot.Snapshot) []string {
	ids := slices.Clone(s.Scope.Launchable)
	elsewhere := address.SettingsOf(s.CNI).Elsewhere
	for _, n := range s.Subnets {
		ofConfig := slices.ContainsFunc(s.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == n.ID })
		if elsewhere && ofConfig || n.VPC == s.Cluster.VPC && n.Tags[roleCNI] == "1" {
			ids = append(ids, n.ID)
		}
	}
	return slices.DeleteFunc(detect.Distinct(ids), func(id string) bool {
		return !slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool { return n.ID == id && n.CIDR.IsValid() })
	})
}

func cleanup(c config.Config) func(cluster, vpc string) snapshot.Cleanup {
	return func(cluster, vpc string) snapshot.Cleanup {
		untagged := false
		for _, id := range c.CleanupUntagged {
			untagged = untagged || id == vpc
		}
		return snapshot.Cleanup{Mode: string(c.CleanupOf(cluster)), Grace: c.CleanupGrace, Untagged: untagged}
	}
}
