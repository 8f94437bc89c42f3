package dns

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestPrivateZone(t *testing.T) { checktest.RunCases(t, PrivateZone(), privateZoneCases()) }

func privateZoneCases() []checktest.Case {
	with := func(zones ...snapshot.PrivateZone) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i := range zones {
				zones[i].VPC = snapshottest.VPC
			}
			s.PrivateZones = zones
		}
	}
	zone := func(id, domain string, records ...snapshot.ZoneRecord) snapshot.PrivateZone {
		return snapshot.PrivateZone{ID: id, Domain: domain, Records: append([]snapshot.ZoneRecord{{Name: domain, Type: "NS"}, {Name: domain, Type: "SOA"}}, records...)}
	}
	record := func(name, kind string) snapshot.ZoneRecord { return snapshot.ZoneRecord{Name: name, Type: kind} }
	rule := func(domain string, forward bool) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-0a", VPC: snapshottest.VPC, Domain: domain, Forward: forward}}
		}
	}
	const sts = "sts.us-west-2.amazonaws.com"
	denied := snapshot.Failure{Source: snapshot.PrivateZonesOf, Reason: snapshot.Denied, Call: "route53:ListResourceRecordSets"}
	unread := func(z snapshot.PrivateZone) snapshot.PrivateZone {
		z.Records, z.Unread = nil, &denied
		return z
	}
	service := func(z snapshot.PrivateZone) snapshot.PrivateZone {
		z.Records, z.Service = nil, "vpce.amazonaws.com"
		return z
	}
	by := func(z snapshot.PrivateZone) snapshot.PrivateZone {
		z.Profile = "rp-0a"
		return z
	}
	pass := []string{"pass vpc-0a [subnet-0private]"}
	unknown := []string{"unknown vpc-0a [subnet-0private] private hosted zones: denied"}
	fail := func(zone, services string) []string {
		return []string{"fail " + zone + " [subnet-0private] [i-0node] Private zone " + zone + " hides the names of " + services}
	}
	all := record("*.amazonaws.com", "A")
	return []checktest.Case{
		{"none", lateWith(), pass},
		{"of one's own domain", lateWith(with(zone("Z0A", "corp.example.com"))), pass},
		{"without a record", lateWith(with(zone("Z0A", sts))), fail("Z0A", "STS")},
		{"with a record", lateWith(with(zone("Z0A", sts, record(sts, "A")))), pass},
		{"with a name for another name", lateWith(with(zone("Z0A", sts, record(sts, "CNAME")))), pass},
		{"with a record of another type", lateWith(with(zone("Z0A", sts, record(sts, "TXT")))), fail("Z0A", "STS")},
		{"with an IPv6 address alone", lateWith(with(zone("Z0A", sts, record(sts, "AAAA")))), fail("Z0A", "STS")},
		{"with a record for a name below", lateWith(with(zone("Z0A", sts, record("x."+sts, "A")))), fail("Z0A", "STS")},
		{"for all of AWS", lateWith(with(zone("Z0A", "amazonaws.com"))), fail("Z0A", "5 services")},
		{"with a wildcard", lateWith(with(zone("Z0A", "amazonaws.com", all))), pass},
		{"that delegates", lateWith(with(zone("Z0A", "us-west-2.amazonaws.com", record("ec2.us-west-2.amazonaws.com", "NS"), record("ecr.us-west-2.amazonaws.com", "NS"), record("s3.us-west-2.amazonaws.com", "NS")))), fail("Z0A", "STS")},
		{"a more specific zone", lateWith(with(zone("Z0A", "amazonaws.com", all), zone("Z0B", sts))), fail("Z0B", "STS")},
		{"a more specific zone that answers", lateWith(with(zone("Z0A", "us-west-2.amazonaws.com", record("*.us-west-2.amazonaws.com", "A")), zone("Z0B", sts, record(sts, "A")))), pass},
		{"a zone of a service of AWS", lateWith(with(service(zone("Z0A", sts)))), pass},
		{"by a Route 53 Profile", lateWith(with(by(zone("Z0A", sts)))), fail("Z0A", "STS")},
		{"the VPC's own before a Profile's", lateWith(with(zone("Z0A", sts, record(sts, "A")), by(zone("Z0B", sts)))), pass},
		{"of another account", lateWith(with(unread(zone("Z0A", sts)))), unknown},
		{"of another account, below one that answers", lateWith(with(unread(zone("Z0A", "amazonaws.com")), zone("Z0B", sts))), fail("Z0B", "STS")},
		{"of a Profile, for what is not known", lateWith(with(by(unread(zone("Z0A", ""))))), unknown},
		{"a rule that forwards the zone's domain", lateWith(with(zone("Z0A", sts)), rule(sts, true)), pass},
		{"a rule that forwards more", lateWith(with(zone("Z0A", sts)), rule("amazonaws.com", true)), fail("Z0A", "STS")},
		{"a rule that forwards nothing", lateWith(with(zone("Z0A", sts)), rule(sts, false)), fail("Z0A", "STS")},
		{"an interface endpoint's name", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, with(zone("Z0A", "us-west-2.amazonaws.com", record("*.s3.us-west-2.amazonaws.com", "A")))), pass},
		{"another VPC's", lateWith(with(zone("Z0A", sts)), func(s *snapshot.Snapshot) { s.PrivateZones[0].VPC = "vpc-0other" }), pass},
		{"name servers of one's own", lateWith(with(zone("Z0A", sts)), func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNameServers = []string{"10.9.0.2"} }), pass},
		{"unread", lateWith(checktest.Unread(snapshot.PrivateZonesOf)), []string{"unknown prod [] private hosted zones: denied"}},
	}
}
