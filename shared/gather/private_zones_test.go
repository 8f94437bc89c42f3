package gather

import (
	"fmt"
	"strings"
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// TestPrivateZones holds which private hosted zones are read, and by how many calls: records
// only of an account's zone that covers a name of AWS.
func TestPrivateZones(t *testing.T) {
	const vpc = "vpc-0a1b2c3d4e5f60718"
	records := func(zones ...string) string {
		var list []string
		for _, z := range zones {
			id, domain, _ := strings.Cut(z, " ")
			list = append(list, fmt.Sprintf(`%s: [{Name: %s., Type: SOA}, {Name: '\052.%s.', Type: A}]`, id, domain, domain))
		}
		return "ResourceRecordSets: {" + strings.Join(list, ", ") + "}"
	}
	zone := func(id, domain, owner string) string {
		return fmt.Sprintf("{HostedZoneId: %s, Name: %s., Owner: {%s}}", id, domain, owner)
	}
	const own, service = `OwningAccount: "111122223333"`, "OwningService: vpce.amazonaws.com"
	world := func(of, records string, zones ...string) string {
		return "route53: {HostedZones: {" + of + ": [" + strings.Join(zones, ", ") + "]}, " + records + "}\n"
	}
	const region = "us-west-2.amazonaws.com"
	profile := `route53Profiles: {ProfileAssociations: [{ProfileId: rp-01, ResourceId: ` + vpc + `, Status: COMPLETE}], ProfileResourceAssociations: {rp-01: [{ResourceArn: "arn:aws:route53:::hostedzone/Z1", Status: COMPLETE}]}}` + "\n"
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf(`{ResourceArn: "arn:aws:route53:::hostedzone/Z%d", Status: COMPLETE}`, i))
	}
	for _, tt := range []struct {
		name, change string
		denied       denying
		want         []string
		calls        int
		failed       string
	}{
		{name: "none", calls: 1},
		{name: "of one's own domain", change: world(vpc, records(), zone("Z1", "corp.example.com", own)), calls: 1},
		{name: "of another VPC", change: world("vpc-0e9", records("Z1 "+region), zone("Z1", region, own)), calls: 1},
		{name: "of AWS", change: world(vpc, records("Z1 "+region), zone("Z1", region, own)), want: []string{"Z1 " + region + " [SOA " + region + " A *." + region + "]"}, calls: 2},
		{name: "of one service", change: world(vpc, records("Z1 sts."+region), zone("Z1", "sts."+region, own)), want: []string{"Z1 sts." + region + " [SOA sts." + region + " A *.sts." + region + "]"}, calls: 2},
		{name: "above AWS", change: world(vpc, records("Z1 com"), zone("Z1", "com", own)), want: []string{"Z1 com [SOA com A *.com]"}, calls: 2},
		{name: "another Region's", change: world(vpc, records(), zone("Z1", "eu-west-1.amazonaws.com", own)), calls: 1},
		{name: "of a service of AWS", change: world(vpc, records(), zone("Z1", "sts."+region, service)), want: []string{"Z1 sts." + region + " vpce.amazonaws.com []"}, calls: 1},
		{name: "of another account", change: world(vpc, "ResourceRecordSets: {}", zone("Z1", region, `OwningAccount: "444455556666"`)), calls: 2, failed: "route53:ListResourceRecordSets"},
		{name: "of another account, beside one of the account", change: world(vpc, records("Z2 sts."+region), zone("Z1", region, `OwningAccount: "444455556666"`), zone("Z2", "sts."+region, own)), want: []string{"Z1 " + region + " [] unread: denied, route53:ListResourceRecordSets", "Z2 sts." + region + " [SOA sts." + region + " A *.sts." + region + "]"}, calls: 3},
		{name: "of a Profile", change: world(vpc, records("Z1 "+region)) + profile, want: []string{"Z1 " + region + " rp-01 [SOA " + region + " A *." + region + "]"}, calls: 2},
		{name: "of a Profile, for another domain", change: world(vpc, records("Z1 corp.example.com")) + profile, calls: 2},
		{name: "of AWS, without a record", change: world(vpc, "ResourceRecordSets: {Z1: []}", zone("Z1", region, own)), want: []string{"Z1 " + region + " [] unread: broken, route53:ListResourceRecordSets"}, calls: 2},
		{name: "of a Profile, without an SOA record", change: world(vpc, "ResourceRecordSets: {Z1: [{Name: a.example.com., Type: A}]}") + profile, want: []string{"Z1  rp-01 [A a.example.com] unread: broken, route53:ListResourceRecordSets"}, calls: 2},
		{name: "of a Profile, of another account", change: profile, calls: 2, failed: "route53:ListResourceRecordSets"},
		{name: "of a Profile with many", change: world(vpc, records("Z0 a.example.com", "Z1 b.example.com", "Z2 c.example.com", "Z3 d.example.com", "Z4 e.example.com", "Z5 f.example.com", "Z6 g.example.com", "Z7 h.example.com", "Z8 i.example.com", "Z9 j.example.com")) +
			strings.Replace(profile, `{ResourceArn: "arn:aws:route53:::hostedzone/Z1", Status: COMPLETE}`, strings.Join(many, ", "), 1),
			want: []string{"Z10  rp-01 [] unread: not read, route53:ListResourceRecordSets"}, calls: 11},
		{name: "refused", denied: "ListHostedZonesByVPC", calls: 1, failed: "route53:ListHostedZonesByVPC"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.PrivateZonesOf}
			s, err := p.Read(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			gathertest.Same(t, "zones", names(s.PrivateZones, func(z snapshot.PrivateZone) string {
				line := z.ID + " " + z.Domain
				for _, more := range []string{z.Service, z.Profile} {
					if more != "" {
						line += " " + more
					}
				}
				line += " ["
				for i, r := range z.Records {
					if i > 0 {
						line += " "
					}
					line += r.Type + " " + r.Name
				}
				line += "]"
				if z.Unread != nil {
					line += " unread: " + string(z.Unread.Reason) + ", " + z.Unread.Call
				}
				return line
			}), tt.want)
			gathertest.Same(t, "calls", countOf(p, "ListHostedZonesByVPC")+countOf(p, "ListResourceRecordSets"), tt.calls)
			if f := s.Failures[snapshot.PrivateZonesOf]; f.Call != tt.failed || f.Call != "" && f.Reason != snapshot.Denied {
				t.Errorf("failure %+v, want %q", f, tt.failed)
			}
		})
	}
}
