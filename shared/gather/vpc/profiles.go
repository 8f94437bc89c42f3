package vpc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/gather/source"
	"rollcall/shared/route53profiles"
	"rollcall/shared/snapshot"
)

// Profiles lists the Route 53 Profiles of VPCs, and their resources.
type Profiles interface {
	Associations(ctx context.Context, vpc, token string) ([]route53profiles.Association, string, error)
	Resources(ctx context.Context, profile, token string) ([]route53profiles.Resource, string, error)
}

var _ Profiles = (*route53profiles.Client)(nil)

// dnsProfiles are the Route 53 Profiles in force in the VPCs: one call for each VPC, and one
// for each Profile.
func dnsProfiles(api Profiles) source.Source {
	return source.Source{
		Name:  snapshot.DNSProfilesOf,
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		// The service authorization reference has no resource for these lists.
		Calls: []source.Call{{Action: "route53profiles:ListProfileAssociations"}, {Action: "route53profiles:ListProfileResourceAssociations"}},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			var list []snapshot.DNSProfile
			resources := map[string][]snapshot.DNSProfileResource{}
			for _, vpc := range v.VPCs {
				in, err := source.Pages(ctx, "Route 53 Profiles", func(ctx context.Context, token string) ([]route53profiles.Association, string, error) {
					return api.Associations(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				slices.SortStableFunc(in, func(a, b route53profiles.Association) int {
					return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Profile, b.Profile))
				})
				for _, a := range in {
					if a.VPC != vpc || !inForce(a.Status) {
						continue
					}
					if _, read := resources[a.Profile]; !read {
						if resources[a.Profile], err = profileResources(ctx, api, a.Profile); err != nil {
							return nil, err
						}
					}
					list = append(list, snapshot.DNSProfile{ID: a.Profile, VPC: vpc, Resources: resources[a.Profile]})
				}
			}
			return func(s *snapshot.Snapshot) { s.DNSProfiles = list }, nil
		}),
	}
}

// inForce reports whether an association of a Profile is in effect: it is while a priority
// changes.
func inForce(status string) bool { return status == "COMPLETE" || status == "UPDATING" }

// profileResources returns what a Profile holds, in the order in which the service lists it.
func profileResources(ctx context.Context, api Profiles, profile string) ([]snapshot.DNSProfileResource, error) {
	all, err := source.Pages(ctx, "resources of "+profile, func(ctx context.Context, token string) ([]route53profiles.Resource, string, error) {
		return api.Resources(ctx, profile, token)
	})
	if err != nil {
		return nil, err
	}
	list := []snapshot.DNSProfileResource{}
	for _, r := range all {
		if !inForce(r.Status) {
			continue
		}
		var properties struct {
			Priority int `json:"priority"`
		}
		if r.Properties != "" {
			if err := json.Unmarshal([]byte(r.Properties), &properties); err != nil {
				return nil, fmt.Errorf("read the properties of %s in %s: %w", r.ARN, profile, err)
			}
		}
		list = append(list, snapshot.DNSProfileResource{ARN: r.ARN, Name: r.Name, Priority: properties.Priority})
	}
	return list, nil
}

// brought is a resource in force in a VPC, by the Profile that brings it; empty for one that
// is associated with the VPC itself.
type brought struct {
	profile, id, name string
	priority          int
}

// broughtInto returns the resources of a kind that Profiles bring into a VPC, in the order of
// the Profiles. The kind is how the resource part of their ARNs begins: "resolver-rule/".
func broughtInto(s *snapshot.Snapshot, vpc, kind string) []brought {
	var list []brought
	for _, p := range s.DNSProfiles {
		if p.VPC != vpc {
			continue
		}
		for _, r := range p.Resources {
			if _, id, is := strings.Cut(r.ARN, ":"+kind); is {
				list = append(list, brought{p.ID, id, r.Name, r.Priority})
			}
		}
	}
	return list
}
