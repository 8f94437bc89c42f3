package vpc

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"rollcall/shared/gather/ec2"
	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/leak"
	"rollcall/shared/route53"
	"rollcall/shared/snapshot"
)

// readBeyond reads how further VPCs route, of the sources that were read of the
// cluster's own. What cannot be read is noted by VPC: the cluster's own
// network is known all the same.
func readBeyond(ctx context.Context, api Transit, v *source.View, vpcs []string) source.Store {
	var (
		further []snapshot.Subnet
		tables  []snapshot.RouteTable
		nats    []snapshot.NATGateway
		acls    []snapshot.NetworkACL
		lacks   = map[snapshot.Source]map[string]snapshot.Failure{}
	)
	for _, vpc := range vpcs {
		add := func(of source.Source, err error) {
			if err != nil {
				if lacks[of.Name] == nil {
					lacks[of.Name] = map[string]snapshot.Failure{}
				}
				lacks[of.Name][vpc] = *of.Failure(err)
			}
		}
		if v.Snapshot.Has(snapshot.Subnets) {
			list, err := readSubnets(ctx, api, []string{vpc})
			add(subnets(nil), err)
			further = append(further, list...)
		}
		list, err := readRouteTables(ctx, api, []string{vpc})
		add(routeTables(nil), err)
		tables = append(tables, list...)
		if v.Snapshot.Has(snapshot.NATGateways) {
			list, err := readNATGateways(ctx, api, []string{vpc})
			add(natGateways(nil), err)
			nats = append(nats, list...)
		}
		if v.Snapshot.Has(snapshot.NetworkACLs) {
			list, err := readNetworkACLs(ctx, api, []string{vpc})
			add(networkACLs(nil), err)
			acls = append(acls, list...)
		}
	}
	return func(s *snapshot.Snapshot) {
		s.Subnets = source.Unique(append(s.Subnets, further...), func(x snapshot.Subnet) string { return x.ID })
		s.RouteTables = source.Unique(append(s.RouteTables, tables...), func(x snapshot.RouteTable) string { return x.ID })
		s.NATGateways = source.Unique(append(s.NATGateways, nats...), func(x snapshot.NATGateway) string { return x.ID })
		s.NetworkACLs = source.Unique(append(s.NetworkACLs, acls...), func(x snapshot.NetworkACL) string { return x.ID })
		for name, list := range lacks {
			source.LackAll(s, name, list)
		}
	}
}

// creators is how the instances are that the VPC CNI made the unattached
// interfaces on. Whether an interface may be deleted hangs on it: that EC2 does
// not know an instance is said only where every answer was whole.
func creators(api ec2.Instances, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.CreatorsOf,
		Needs: []snapshot.Source{snapshot.Unattached},
		After: []snapshot.Source{
			snapshot.Usage,
		},
		Calls: []source.Call{{Action: "ec2:DescribeInstances"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readCreators(ctx, api, counted, v)
		},
	}
}

func readCreators(ctx context.Context, api ec2.Instances, counted *tally, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.Unattached) {
		return nil, v.Unread(snapshot.Unattached)
	}
	ids := makers(v.Snapshot.Idle)
	states, err := ec2.StatesOf(ctx, api, ids)
	if err != nil {
		return nil, err
	}
	attached := counted.attached(v)
	for _, id := range ids {
		// EC2 forgets an instance an hour after its end, and its interfaces are
		// detached before: an answer that leaves out a machine which has an
		// interface leaves out others too. None of it is believed.
		if attached[id] && states[id] == "" {
			return nil, fmt.Errorf("describe instances: %s is not known, and has a network interface attached: %w", id, source.ErrHalf)
		}
	}
	list := source.Each(ids, func(id string) snapshot.Creator {
		return snapshot.Creator{Instance: id, State: states[id], Attached: attached[id]}
	})
	return func(s *snapshot.Snapshot) { s.Creators = list }, nil
}

// makers are the instances that the interfaces' descriptions name, and those
// that tags alone name: an instance's own first interface bears the tag too. A
// filter's value may hold wildcards, so anything but an id is left out.
func makers(idle []snapshot.Interface) []string {
	whole := ec2api.InstanceIDs()
	var ids []string
	for _, i := range idle {
		ids = append(ids, leak.Owner(i))
		if id := i.Tags[leak.TagInstance]; whole.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return source.Distinct(ids)
}

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
