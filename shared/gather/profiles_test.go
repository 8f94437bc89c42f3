package gather

import (
	"fmt"
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
)

// TestDNSProfiles holds which Route 53 Profiles are read, by how many calls, and that a
// refusal is one of the Profiles: what is associated with the VPC itself is read all the same.
func TestDNSProfiles(t *testing.T) {
	const (
		rule    = "route53Resolver: {ResolverRules: [{Id: rslvr-rr-01, DomainName: corp.example.com., RuleType: FORWARD}], ResolverRuleAssociations: [{ResolverRuleId: rslvr-rr-01, VPCId: vpc-0a1b2c3d4e5f60718, Status: COMPLETE}]}\n"
		profile = "{ProfileId: rp-01, ResourceId: vpc-0a1b2c3d4e5f60718, Status: COMPLETE}"
		brings  = `{ResourceArn: "arn:aws:route53resolver:us-west-2:111122223333:resolver-rule/rslvr-rr-01", Name: shared, Status: COMPLETE}`
		zone    = `{ResourceArn: "arn:aws:route53:::hostedzone/Z01", Name: zone, Status: COMPLETE}`
		garbled = `{ResourceArn: "arn:aws:route53resolver:us-west-2:111122223333:firewall-rule-group/rslvr-frg-01", ResourceProperties: "priority 5", Status: COMPLETE}`
	)
	world := func(associations, resources string) string {
		return "route53Profiles: {ProfileAssociations: [" + associations + "], ProfileResourceAssociations: {rp-01: [" + resources + "]}}\n"
	}
	own, shared := "rslvr-rr-01 corp.example.com ", "rslvr-rr-01 corp.example.com rp-01"
	for _, tt := range []struct {
		name, change string
		denied       denying
		want         []string
		calls        int
		failed       string
		reason       snapshot.Reason
	}{
		{name: "none", change: rule, want: []string{own}, calls: 1},
		{name: "of another VPC", change: rule + world("{ProfileId: rp-01, ResourceId: vpc-0e9, Status: COMPLETE}", brings), want: []string{own}, calls: 1},
		{name: "being deleted", change: rule + world("{ProfileId: rp-01, ResourceId: vpc-0a1b2c3d4e5f60718, Status: DELETING}", brings), want: []string{own}, calls: 1},
		{name: "a rule", change: rule + world(profile, brings), want: []string{own, shared}, calls: 2},
		{name: "a zone", change: rule + world(profile, zone), want: []string{own}, calls: 2},
		{name: "refused", change: rule + world(profile, brings), denied: "ListProfileAssociations", want: []string{own}, calls: 1, failed: "route53profiles:ListProfileAssociations", reason: snapshot.Denied},
		{name: "resources refused", change: rule + world(profile, brings), denied: "ListProfileResourceAssociations", want: []string{own}, calls: 2, failed: "route53profiles:ListProfileResourceAssociations", reason: snapshot.Denied},
		{name: "properties that are no JSON", change: rule + world(profile, garbled), want: []string{own}, calls: 2, failed: "route53profiles:ListProfileAssociations", reason: snapshot.Broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.ResolverRulesOf, snapshot.DNSFirewall}
			s, err := p.Read(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			gathertest.Same(t, "resolver rules", names(s.ResolverRules, func(r snapshot.ResolverRule) string { return fmt.Sprint(r.ID, " ", r.Domain, " ", r.Profile) }), tt.want)
			gathertest.Same(t, "calls", countOf(p, "ListProfileAssociations")+countOf(p, "ListProfileResourceAssociations"), tt.calls)
			if f := s.Failures[snapshot.DNSProfilesOf]; f.Call != tt.failed || f.Reason != tt.reason {
				t.Errorf("failure %+v, want %q, %q", f, tt.failed, tt.reason)
			}
		})
	}
}
