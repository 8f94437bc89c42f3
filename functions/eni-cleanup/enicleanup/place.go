package enicleanup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// place is a VPC and the watched clusters in it, by name.
type place struct {
	vpc   string
	homes []*snapshot.Snapshot
	// blind are the watched clusters that could not be read: each may be in this
	// VPC.
	blind []string
}

func (p place) clusters() []string {
	var names []string
	for _, s := range p.homes {
		names = append(names, s.Cluster.Name)
	}
	return names
}

// places reads the watched clusters and puts them together by VPC. One that
// cannot be read is told to be blind; as long as it is, nobody knows which
// VPC's interfaces without a cluster's name may be its own, and its mode counts
// for those of all VPCs.
func (h handler) places(ctx context.Context, t event.Trigger) ([]place, error) {
	names := h.Clusters
	if names == nil {
		list, failed := h.reader.Clusters(ctx)
		if failed != nil {
			return nil, fmt.Errorf("list the clusters: %s %s: %s", failed.Call, failed.Reason, failed.Message)
		}
		names = list
	}
	var places []place
	var blind []string
	var errs []error
	for _, name := range slices.Sorted(slices.Values(names)) {
		s, err := h.Read(ctx, h.Query(name, t.Account))
		if err != nil {
			if err := h.IgnoreNoCluster(ctx, name, err); err != nil {
				blind, errs = append(blind, name), append(errs, fmt.Errorf("read cluster %s: %w", name, err))
			}
			continue
		}
		// Nobody was asked for instances and groups: that is no proof that
		// they could be read.
		delete(s.Read, snapshot.Instances)
		delete(s.Read, snapshot.Groups)
		if !s.Read[snapshot.Clusters] || s.Cluster.VPC == "" {
			blind, errs = append(blind, name), append(errs, h.observe(ctx, s, nil))
			continue
		}
		i := slices.IndexFunc(places, func(p place) bool { return p.vpc == s.Cluster.VPC })
		if i < 0 {
			i, places = len(places), append(places, place{vpc: s.Cluster.VPC})
		}
		places[i].homes = append(places[i].homes, s)
	}
	for i := range places {
		places[i].blind = blind
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.vpc, b.vpc) })
	return places, errors.Join(errs...)
}

// look describes the VPC, once for all its clusters. It tells false where
// something could not be read: then nothing is judged.
func (h handler) look(ctx context.Context, p place) bool {
	s := p.homes[0]
	q := gather.Query{Account: s.Account, Region: s.Region, Time: s.Time, Cluster: s.Cluster.Name, VPC: p.vpc}
	sources := []snapshot.Source{snapshot.Usage, snapshot.Unattached, snapshot.CreatorsOf}
	h.reader.More(ctx, s, q, sources...)
	for _, source := range sources {
		if !s.Read[source] {
			return false
		}
	}
	return true
}

// judge asks the rules of all unattached interfaces.
func (h handler) judge(p place) []leak.Verdict {
	s := p.homes[0]
	g := leak.Ground{
		Now: s.Time, Account: s.Account, VPC: p.vpc, Clusters: p.clusters(), Grace: h.grace,
		Untagged: slices.Contains(h.untagged, p.vpc), Tenants: s.Tenants, Creators: map[string]snapshot.Creator{},
	}
	for _, c := range s.Creators {
		g.Creators[c.Instance] = c
	}
	var verdicts []leak.Verdict
	for _, i := range s.Idle {
		verdicts = append(verdicts, leak.Judge(i, g))
	}
	return verdicts
}

// interfaces is how many the VPC has.
func interfaces(s *snapshot.Snapshot) int {
	n := 0
	for _, u := range s.Uses {
		n += u.Interfaces
	}
	return n
}
