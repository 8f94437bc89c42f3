package dns

import (
	"fmt"
	"net/url"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
)

// needed is a name that nodes resolve before they join.
type needed struct {
	name    string
	service path.Service
	// private tells that a zone of its own answers for it in the VPC: the cluster's
	// private endpoint, or an interface endpoint with private DNS.
	private bool
}

// registry is where the cluster's images come from, by that of aws-node: EKS has an account
// of its own for it in many Regions (EKS user guide, "View Amazon container image
// registries for Amazon EKS add-ons"). It is empty where that is not known, or not ECR.
func registry(s *facts.View) string {
	if s.CNI == nil {
		return ""
	}
	host, _, _ := strings.Cut(s.CNI.Image, "/")
	if !strings.Contains(host, ".dkr.ecr") {
		return ""
	}
	return strings.ToLower(host)
}

// neededNames are the names that nodes of a VPC must resolve. Layers of images are in the
// bucket that ECR documents (ECR user guide, "Amazon ECR interface VPC endpoints":
// prod-region-starport-layer-bucket).
func neededNames(g *facts.Placements, r *resolved) []needed {
	region, suffix := g.S.Region, "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		suffix += ".cn"
	}
	hosts := map[path.Service]string{
		path.EC2: "ec2." + region, path.ECRAPI: "api.ecr." + region,
		path.S3: "prod-" + region + "-starport-layer-bucket.s3." + region, path.STS: "sts." + region, path.EKS: "eks." + region,
	}
	private := map[path.Service]bool{}
	for _, s := range r.private {
		private[s] = true
	}
	var list []needed
	for _, p := range r.posts[0].Paths {
		host := hosts[p.Service]
		switch u, err := url.Parse(g.S.Cluster.Endpoint); {
		case p.Service == path.API && err == nil && u.Hostname() != "":
			list = append(list, needed{strings.ToLower(u.Hostname()), p.Service, private[p.Service]})
		case p.Service == path.ECRDKR && registry(g.S) != "":
			list = append(list, needed{registry(g.S), p.Service, private[p.Service]})
		case host != "":
			list = append(list, needed{host + "." + suffix, p.Service, private[p.Service]})
		}
	}
	return list
}

// within tells that a domain is the name, or one that it is under; the root is "".
func within(name, domain string) bool {
	return domain == "" || name == domain || strings.HasSuffix(name, "."+domain)
}

// byResolver tells whether nodes of a VPC ask the VPC's resolver at all. Name servers of
// one's own are asked in its place.
func byResolver(g *facts.Placements, vpc string) bool {
	n := g.NameServers(vpc)
	return n.Blocked != nil || n.Amazon
}

// ofResolver runs a check of what the resolver of each VPC does with the names.
func ofResolver(judge func(*facts.Placements, *resolved, *finding.Verdicts)) func(*facts.View) []finding.Finding {
	return func(s *facts.View) []finding.Finding {
		g := s.Placements()
		var v finding.Verdicts
		for _, r := range byVPC(g, &v) {
			if !settled(g, r, &v) {
				judge(g, r, &v)
			}
		}
		return v.Findings()
	}
}

// settled passes what the resolver of a VPC does, where it is not asked, or where a node
// that was launched later has joined.
func settled(g *facts.Placements, r *resolved, v *finding.Verdicts) bool {
	if !byResolver(g, r.vpc) {
		v.Pass(r.vpc, r.covers(), namesGiven(g, r.vpc)...)
		return true
	}
	if witness := joinedSince(g, r); witness != "" {
		v.Pass(r.vpc, r.covers(), finding.Evidence{What: witness, Value: "is a Ready node that was launched later in the same VPC"})
		return true
	}
	return false
}

// readyBeside is a Ready node of the VPC, which resolves the same names; empty for none.
func readyBeside(g *facts.Placements, vpc string) string {
	joined := g.S.Ready()
	for _, i := range g.S.Instances {
		if i.VPC == vpc && joined[i.ID] {
			return i.ID
		}
	}
	return ""
}

// inVPC are the rules of one VPC.
func inVPC[T any](list []T, vpc string, of func(T) string) []T {
	var out []T
	for _, x := range list {
		if of(x) == vpc {
			out = append(out, x)
		}
	}
	return out
}

// inForceIn returns the resources of what is in force in a VPC: by itself, or by a Route 53
// Profile.
func inForceIn(id, profile, vpc string) []string {
	if profile == "" {
		return []string{id, vpc}
	}
	return []string{id, profile, vpc}
}

// servicesOf are the services of names.
func servicesOf(list []needed) []path.Service {
	var services []path.Service
	for _, n := range list {
		services = finding.Adding(services, n.service)
	}
	return facts.Ordered(services)
}

// few names one or two services, and counts more.
func few(list []needed) string {
	names := path.Names(servicesOf(list))
	if len(names) > 2 {
		return fmt.Sprintf("%d services", len(names))
	}
	return phrase.And(names)
}

// nameEvidence is what each name meets.
func nameEvidence(list []needed, what func(needed) string) []finding.Evidence {
	var out []finding.Evidence
	for _, n := range list {
		out = append(out, finding.Evidence{What: n.name, Value: what(n)})
	}
	return out
}
