package path

import (
	"net/url"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Name is the DNS name of a service that nodes resolve before they join; empty where it is not
// known. Layers of images are in the bucket that ECR documents (ECR user guide, "Amazon ECR
// interface VPC endpoints": prod-region-starport-layer-bucket).
func (n *Network) Name(service Service) string {
	hosts := map[Service]string{
		EC2: "ec2.", ECRAPI: "api.ecr.", S3: "prod-" + n.s.Region + "-starport-layer-bucket.s3.", STS: "sts.", EKS: "eks.",
	}
	switch host := hosts[service]; {
	case service == API:
		u, err := url.Parse(n.s.Cluster.Endpoint)
		if err != nil {
			return ""
		}
		return strings.ToLower(u.Hostname())
	case service == ECRDKR:
		return n.registry()
	case host == "":
		return ""
	case strings.HasPrefix(n.s.Region, "cn-"):
		return host + n.s.Region + ".amazonaws.com.cn"
	default:
		return host + n.s.Region + ".amazonaws.com"
	}
}

// registry is where the cluster's images come from, by that of aws-node: EKS has an account
// of its own for it in many Regions (EKS user guide, "View Amazon container image
// registries for Amazon EKS add-ons"). It is empty where that is not known, or not ECR.
func (n *Network) registry() string {
	if n.s.CNI == nil {
		return ""
	}
	host, _, _ := strings.Cut(n.s.CNI.Image, "/")
	if !strings.Contains(host, ".dkr.ecr") {
		return ""
	}
	return strings.ToLower(host)
}

// Within reports whether a domain is the name, or one that the name is in; the root is "".
func Within(name, domain string) bool {
	return domain == "" || name == domain || strings.HasSuffix(name, "."+domain)
}

// ZoneOf returns the index of the zone that is searched for a name: the most specific one, the
// first of several; -1 for none.
func ZoneOf(zones []snapshot.PrivateZone, name string) int {
	best := -1
	for i, z := range zones {
		if z.Unread != nil && z.Domain == "" {
			continue // of a Profile: what it is for is not known
		}
		if Within(name, z.Domain) && (best < 0 || len(z.Domain) > len(zones[best].Domain)) {
			best = i
		}
	}
	return best
}

// HasRecord reports whether a zone has an address for a name, or delegates it.
func HasRecord(z snapshot.PrivateZone, name string, six bool) bool {
	return slices.ContainsFunc(z.Records, func(r snapshot.ZoneRecord) bool {
		tail, wild := strings.CutPrefix(r.Name, "*.")
		switch {
		case r.Type == "NS":
			return r.Name != z.Domain && Within(name, r.Name)
		case r.Type != "A" && r.Type != "CNAME" && !(six && r.Type == "AAAA"):
			return false
		}
		return r.Name == name || wild && strings.HasSuffix(name, "."+tail)
	})
}

// RuleOf returns the index of the resolver rule that wins for a name, the first of several for
// one domain; -1 for none.
func RuleOf(rules []snapshot.ResolverRule, name string) int {
	best := -1
	for i, r := range rules {
		if r.Unread == nil && Within(name, r.Domain) && (best < 0 || len(r.Domain) > len(rules[best].Domain)) {
			best = i
		}
	}
	return best
}

// named is the path to a service whose name is answered by what an account has put before
// public DNS, where that can lead to an address which its routes reach: the central endpoints
// of another VPC, or an endpoint of this one with private DNS off. Which of them is not read.
// A VPC's own endpoints with private DNS win over what a Profile brings (Route 53 developer
// guide, "How Route 53 Profile settings are prioritized").
func (n *Network) named(service Service, subnet string, table Table) (Path, bool) {
	at, by := n.answers(service, table.VPC)
	if at == "" || !n.reachesPrivately(service, table) {
		return Path{}, false
	}
	return Path{Means: ByOwnName, Way: Way{
		Verdict: LeavesView, At: at,
		Hops:   []Hop{{ID: subnet}, {ID: table.ID, Note: mainNote(table)}, {ID: at, Note: by}},
		Reason: "the " + by + " answers for names that nodes need, and where they lead is not read",
	}}, true
}

// answers returns what answers for a service's name in a VPC in the place of public DNS, and
// what that is; empty for nothing that was read.
func (n *Network) answers(service Service, vpc string) (id, kind string) {
	name := n.Name(service)
	if service == ECRDKR && name == "" {
		// Of whichever account the images are: a wildcard answers for all of them.
		name = strings.Replace(n.Name(ECRAPI), "api.ecr.", "000000000000.dkr.ecr.", 1)
	}
	zones := slices.DeleteFunc(slices.Clone(n.s.PrivateZones), func(z snapshot.PrivateZone) bool { return z.VPC != vpc })
	rules := slices.DeleteFunc(slices.Clone(n.s.ResolverRules), func(r snapshot.ResolverRule) bool { return r.VPC != vpc })
	zone, rule := -1, -1
	if name != "" {
		zone, rule = ZoneOf(zones, name), RuleOf(rules, name)
	}
	forwards := rule >= 0 && rules[rule].Forward && rules[rule].Domain != ""
	switch {
	case forwards && (zone < 0 || len(rules[rule].Domain) >= len(zones[zone].Domain)):
		return rules[rule].ID, "resolver rule"
	case zone >= 0 && zones[zone].Service == "" && HasRecord(zones[zone], name, n.s.Cluster.IPv6):
		return zones[zone].ID, "private hosted zone"
	case service == API:
		return "", ""
	}
	for _, p := range n.s.DNSProfiles {
		for _, r := range p.Resources {
			_, endpoint, is := strings.Cut(r.ARN, ":vpc-endpoint/")
			if p.VPC == vpc && is && n.mayServe(endpoint, service) {
				return endpoint, "interface endpoint of the Route 53 Profile " + p.ID
			}
		}
	}
	return "", ""
}

// unreadNames is a source that failed and could have told that a service's name leads elsewhere.
func (n *Network) unreadNames(service Service) snapshot.Source {
	sources := []snapshot.Source{snapshot.DNSProfilesOf, snapshot.PrivateZonesOf, snapshot.ResolverRulesOf}
	if n.Name(service) == "" {
		sources = append(sources, snapshot.AWSNode)
	}
	for _, s := range sources {
		if _, failed := n.s.Failures[s]; failed {
			return s
		}
	}
	return ""
}

// mayServe reports whether an endpoint may be one for a service. What one of another VPC is
// for is not read.
func (n *Network) mayServe(endpoint string, service Service) bool {
	for _, list := range n.endpoints {
		for _, e := range list {
			if e.ID == endpoint {
				return n.serves(e, service) && Available(e)
			}
		}
	}
	return true
}

// reachesPrivately reports whether a subnet can reach private addresses that may be those of a
// service: an interface endpoint of the VPC, or another network.
func (n *Network) reachesPrivately(service Service, table Table) bool {
	return slices.ContainsFunc(n.Endpoints(table.VPC, service), func(e snapshot.Endpoint) bool {
		return Available(e) && strings.EqualFold(e.Kind, "Interface")
	}) || slices.ContainsFunc(table.Routes, func(r snapshot.Route) bool { return r.Usable() && Elsewhere(r.Target.Kind) })
}

// Elsewhere reports whether a target leads to other private networks.
func Elsewhere(kind snapshot.TargetKind) bool {
	switch kind {
	case snapshot.ToTransitGateway, snapshot.ToPeering, snapshot.ToVPNGateway, snapshot.ToCoreNetwork, snapshot.ToInterface:
		return true
	}
	return false
}
