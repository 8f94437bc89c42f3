package subnetwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/ipam"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
)

// past is how long back samples are read: two weeks have each weekday's waves
// twice.
const past = 15 * 24 * time.Hour

// lately is how long what eni-cleanup gave back is told.
const lately = time.Hour

// roleCNI is the tag of subnets that the VPC CNI may take addresses for pods of.
const roleCNI = "kubernetes.io/role/cni"

// look reads what a cluster's subnets have, who takes it, and how.
func (h handler) look(ctx context.Context, reader Reader, cluster, account string) (*snapshot.Snapshot, error) {
	groups, failed := reader.GroupsOf(ctx, cluster)
	q := gather.Query{
		Account: account, Region: h.region, Time: h.now(), Cluster: cluster, Groups: groups, AllNodegroups: true,
		Sources: []snapshot.Source{snapshot.Nodegroups, snapshot.LaunchTemplates},
	}
	if failed != nil {
		q.Failed = []snapshot.Failure{*failed}
	}
	for _, g := range groups {
		q.Scope.Launchable = append(q.Scope.Launchable, g.Subnets...)
	}
	q.Scope.Launchable = unique(q.Scope.Launchable)
	s, err := reader.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	// No instance was asked for: that is no proof that they could be read.
	delete(s.Read, snapshot.Instances)
	const field = 4
	if part := strings.Split(s.Cluster.ARN, ":"); s.Account == "" && len(part) > field {
		s.Account = part[field]
	}
	q.Types = types(s)
	sources := slices.DeleteFunc(gather.AddressSources(checks.OfAddresses()), func(x snapshot.Source) bool { return x == snapshot.Instances })
	reader.More(ctx, s, q, sources...)
	s.Taken = h.now()
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
	return unique(names)
}

// watched are the subnets that nodes and their pods take addresses of.
func watched(s *snapshot.Snapshot) []string {
	ids := slices.Clone(s.Scope.Launchable)
	elsewhere := ipam.SettingsOf(s.CNI).Elsewhere
	for _, n := range s.Subnets {
		ofConfig := slices.ContainsFunc(s.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == n.ID })
		if elsewhere && ofConfig || n.VPC == s.Cluster.VPC && n.Tags[roleCNI] == "1" {
			ids = append(ids, n.ID)
		}
	}
	return slices.DeleteFunc(unique(ids), func(id string) bool {
		return !slices.ContainsFunc(s.Subnets, func(n snapshot.Subnet) bool { return n.ID == id && n.CIDR.IsValid() })
	})
}

// remember adds what subnets had before, and what eni-cleanup gave back. Where
// that cannot be read the checks that go by it cannot look, and the others can.
func (h handler) remember(ctx context.Context, s *snapshot.Snapshot, subnets []string) error {
	var samples []snapshot.Sample
	for _, id := range subnets {
		list, err := h.history.Samples(ctx, id, s.Time.Add(-past))
		var newer *state.NewerFormat
		if errors.As(err, &newer) {
			h.log.WarnContext(ctx, "some samples were recorded by a newer version of Rollcall, they are left out", "subnet", id, "error", err.Error())
			h.count("NewerRecords", 1)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("read what %s had: %w", id, err)
		}
		samples = append(samples, list...)
	}
	// What they have now is part of it, though it is written only after this look.
	for _, x := range detect.Samples(s, subnets) {
		x.At = s.Time
		samples = append(samples, x)
	}
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int {
		return cmp.Or(strings.Compare(a.Subnet, b.Subnet), a.At.Compare(b.At))
	})
	s.Samples, s.Read[snapshot.LaunchHistory] = samples, true
	returned, err := h.history.Returned(ctx, s.Cluster.Name, s.Time.Add(-lately))
	if err != nil {
		return fmt.Errorf("read what eni-cleanup gave back: %w", err)
	}
	s.Returned = returned
	return nil
}

func unique(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}
