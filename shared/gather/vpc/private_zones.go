package vpc

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"rollcall/shared/gather/source"
	"rollcall/shared/route53"
	"rollcall/shared/snapshot"
)

// HostedZones lists the private hosted zones of VPCs, and their records.
type HostedZones interface {
	Zones(ctx context.Context, vpc, token string) ([]route53.Zone, string, error)
	Records(ctx context.Context, zone, token string) ([]route53.Record, string, error)
}

var _ HostedZones = (*route53.Client)(nil)

// maxProfileZones bounds the zones of Profiles of which records are listed, as what domain they
// are for is in no other list: Route 53 takes five requests a second of an account (Route 53
// developer guide, "Quotas"), of whoever makes them.
const maxProfileZones = 10

// privateZones are those in view of the VPCs whose domain covers a name of AWS or the cluster's
// endpoint: one call for each VPC, and one for each such zone of the account.
func privateZones(api HostedZones) source.Source {
	return source.Source{
		Name:  snapshot.PrivateZonesOf,
		Needs: []snapshot.Source{snapshot.DNSProfilesOf},
		After: []snapshot.Source{snapshot.Nodes, snapshot.RouteTables, snapshot.Endpoints},
		Calls: []source.Call{
			// The service authorization reference has no resource for it.
			{Action: "route53:ListHostedZonesByVPC"},
			{Action: "route53:ListResourceRecordSets", Resources: []string{"arn:${Partition}:route53:::hostedzone/*"}},
		},
		Read: whereNamesMatter(func(ctx context.Context, v *source.View) (source.Store, error) {
			var list []snapshot.PrivateZone
			var unread error
			read := false
			tried := func(err error) {
				read = read || err == nil
				unread = errors.Join(unread, err)
			}
			for _, vpc := range v.VPCs {
				zones, err := source.Pages(ctx, "private hosted zones", func(ctx context.Context, token string) ([]route53.Zone, string, error) {
					return api.Zones(ctx, vpc, token)
				})
				if err != nil {
					return nil, err
				}
				for _, z := range zones {
					out := snapshot.PrivateZone{ID: z.ID, Domain: domain(z.Name), VPC: vpc, Service: z.Owner.Service}
					if !covers(v.Snapshot, out.Domain) {
						continue
					}
					if z.Owner.Service == "" {
						tried(readZone(ctx, api, v, &out))
					}
					list = append(list, out)
				}
				list = append(list, zonesOfProfiles(ctx, api, v, vpc, tried)...)
			}
			// Records of another account's zones are never shown. Where none at all could be
			// read it may be the permission.
			if !read && unread != nil {
				return nil, unread
			}
			return func(s *snapshot.Snapshot) { s.PrivateZones = list }, nil
		}),
	}
}

// covers reports whether nodes may need a name that is in a domain.
func covers(s *snapshot.Snapshot, domain string) bool {
	within := func(name string) bool { return domain == "" || name == domain || strings.HasSuffix(name, "."+domain) }
	if u, err := url.Parse(s.Cluster.Endpoint); err == nil && within(strings.ToLower(u.Hostname())) {
		return true
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(s.Region, "cn-") {
		suffix += ".cn"
	}
	// A domain that is above AWS's, or below it, as ec2.us-west-2.amazonaws.com is.
	return within(s.Region+"."+suffix) || strings.HasSuffix(domain, "."+s.Region+"."+suffix)
}

// readZone reads the names of a zone's records. The error is in the zone too.
func readZone(ctx context.Context, api HostedZones, v *source.View, z *snapshot.PrivateZone) error {
	records, err := source.Pages(ctx, "records of "+z.ID, func(ctx context.Context, token string) ([]route53.Record, string, error) {
		return api.Records(ctx, z.ID, token)
	})
	if err != nil {
		z.Unread = v.Source.Failure(err)
		return err
	}
	for _, r := range records {
		// Route 53 writes an asterisk as \052 (Route 53 developer guide, "DNS domain name format").
		name := strings.ReplaceAll(domain(r.Name), `\052`, "*")
		if r.Type == "SOA" && z.Domain == "" {
			z.Domain = name // its only one, at the top of the zone
		}
		z.Records = append(z.Records, snapshot.ZoneRecord{Name: name, Type: r.Type})
	}
	if z.Domain == "" || len(records) == 0 {
		// Every zone has an SOA record: a list without it is incomplete. A zone without a
		// domain would count as one for every name.
		z.Unread = &snapshot.Failure{Source: snapshot.PrivateZonesOf, Reason: snapshot.Broken, Call: "route53:ListResourceRecordSets", Message: "no SOA record was listed for " + z.ID}
	}
	return nil
}

// zonesOfProfiles are those that Profiles bring into a VPC.
func zonesOfProfiles(ctx context.Context, api HostedZones, v *source.View, vpc string, tried func(error)) []snapshot.PrivateZone {
	var list []snapshot.PrivateZone
	for i, b := range broughtInto(v.Snapshot, vpc, "hostedzone/") {
		z := snapshot.PrivateZone{ID: b.id, VPC: vpc, Profile: b.profile}
		if i == maxProfileZones {
			z.Unread = &snapshot.Failure{
				Source: snapshot.PrivateZonesOf, Reason: snapshot.NotRead, Call: "route53:ListResourceRecordSets",
				Message: fmt.Sprintf("Profiles of %s have more than %d private hosted zones", vpc, maxProfileZones),
			}
			return append(list, z)
		}
		tried(readZone(ctx, api, v, &z))
		if z.Unread != nil || covers(v.Snapshot, z.Domain) {
			list = append(list, z)
		}
	}
	return list
}
