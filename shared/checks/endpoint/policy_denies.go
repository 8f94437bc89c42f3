package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func PolicyDenies() check.Check {
	return check.WithPathSources(check.Check{
		ID:         checkid.EndpointPolicyDenies,
		Title:      "An endpoint's policy denies what joining needs",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		// Whose requests the policy must let through.
		Uses:     []snapshot.Source{snapshot.Profiles, snapshot.Roles, snapshot.AWSNode, snapshot.PodIdentities, snapshot.Addons},
		After:    []checkid.ID{checkid.EndpointSecurityGroup},
		AtLaunch: true,
		Cause: "The policy of an endpoint that wins allows less than a node needs: ec2:DescribeInstances for its name, the ECR actions to pull images, s3:GetObject on the bucket in which ECR keeps layers, " +
			"and sts:AssumeRoleWithWebIdentity where the network plugin has a role of its own.",
		Fix: "Allow these actions in the endpoint's policy, for the node role or for everybody.",
		Links: []string{
			"https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html",
			"https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
		},
		Run: runEndpointPolicyDenies,
	})
}

// gate is an endpoint whose policy keeps nodes from what they need.
type gate struct {
	*facts.SgBlock
	endpoint snapshot.Endpoint
	refused  []string // "ec2:DescribeInstances (not granted)"
	actions  []string
}

func runEndpointPolicyDenies(s *facts.View) []finding.Finding {
	g := s.Placements()
	var v finding.Verdicts
	var found []*gate
	name := s.Cluster.Name
	for _, p := range g.Open(&v, name) {
		failed := false
		var blocked []snapshot.Failure
		for _, w := range p.Usable() {
			e, known := policed(g, p, w)
			if !known {
				continue
			}
			document, why := endpointPolicy(e)
			if why != nil {
				blocked = finding.Adding(blocked, *why)
				continue
			}
			for _, r := range requests(g, p, e, w.Service) {
				switch d := document.Decide(r); d.Verdict {
				case policy.Allowed:
				case policy.Denied, policy.Silent:
					failed = true
					found = turnedAway(found, e, p, w.Service, r, d)
				default:
					blocked = finding.Adding(blocked, snapshot.Failure{
						Source: snapshot.Endpoints, Reason: snapshot.NotRead,
						Message: fmt.Sprintf("whether %s allows %s hangs on %s", e.ID, r.Action, phrase.Some(d.On, 3)),
					})
				}
			}
		}
		switch {
		case failed:
		case len(blocked) > 0:
			v.Unknown(name, facts.IDs(p.Suspects), blocked...)
		default:
			v.Pass(name, facts.IDs(p.Suspects))
		}
	}
	for _, x := range found {
		v.Fail(endpointPolicyDeniesFinding(g, x))
	}
	return v.Findings()
}

func turnedAway(found []*gate, e snapshot.Endpoint, p *facts.Placement, service path.Service, r policy.Request, d policy.Decision) []*gate {
	i := slices.IndexFunc(found, func(x *gate) bool { return x.endpoint.ID == e.ID })
	if i < 0 {
		i = len(found)
		found = append(found, &gate{SgBlock: &facts.SgBlock{}, endpoint: e})
	}
	x := found[i]
	x.Add(p, p.Suspects, service)
	x.refused = finding.Adding(x.refused, fmt.Sprintf("%s (%s)", r.Action, d))
	x.actions = finding.Adding(x.actions, r.Action)
	return found
}

// policed is the endpoint whose policy judges a path.
func policed(g *facts.Placements, p *facts.Placement, w path.Path) (snapshot.Endpoint, bool) {
	switch w.Means {
	case path.ByInterface:
		return endpointOf(g, p, w)
	case path.ByGateway:
		for _, e := range g.Net.Endpoints(p.Subnet.VPC, w.Service) {
			if e.ID == w.At {
				return e, true
			}
		}
	}
	return snapshot.Endpoint{}, false
}

// endpointPolicy reads an endpoint's policy. EC2 gives one for every endpoint
// of these services, the default one too.
func endpointPolicy(e snapshot.Endpoint) (policy.Document, *snapshot.Failure) {
	if strings.TrimSpace(e.Policy) == "" {
		return policy.Document{}, &snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.NotRead, Message: "EC2 gives no policy of " + e.ID}
	}
	d, err := policy.Parse(e.Policy)
	if err != nil {
		return policy.Document{}, &snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.Broken, Message: fmt.Sprintf("the policy of %s is not understood: %v", e.ID, err)}
	}
	return d, nil
}

// requests are what a node asks of a service, as the endpoint's policy sees it.
func requests(g *facts.Placements, p *facts.Placement, e snapshot.Endpoint, service path.Service) []policy.Request {
	facts := map[string][]string{"aws:SourceVpc": {p.Subnet.VPC}, "aws:SourceVpce": {e.ID}, "aws:RequestedRegion": {g.S.Region}}
	ask := func(action, resource string, by policy.Caller) policy.Request {
		return policy.Request{Action: action, Resource: resource, Caller: by, Facts: facts}
	}
	node := nodeCaller(g, p)
	arn := func(rest string) string { return "arn:" + g.S.Partition + ":" + rest }
	switch service {
	case path.EC2:
		// By it a node learns the name that it must register with.
		return []policy.Request{ask("ec2:DescribeInstances", policy.Unscoped, node)}
	case path.ECRAPI:
		return []policy.Request{ask("ecr:GetAuthorizationToken", policy.Unscoped, node)}
	case path.ECRDKR:
		// The images are in accounts of AWS's own, one or more for each region.
		repository := arn("ecr:" + g.S.Region + ":*:repository/eks/*")
		return []policy.Request{ask("ecr:BatchGetImage", repository, node), ask("ecr:GetDownloadUrlForLayer", repository, node)}
	case path.S3:
		if g.S.Partition != "aws" {
			return nil // elsewhere the bucket's name is not documented
		}
		// ECR signs the address of a layer itself: who asks is not the node
		// (ECR user guide, "Minimum Amazon S3 bucket permissions").
		return []policy.Request{ask("s3:GetObject", arn("s3:::prod-"+g.S.Region+"-starport-layer-bucket/*"), policy.Caller{})}
	case path.STS:
		if g.S.CNI != nil && g.S.CNI.Role != "" {
			// Nobody has signed this request: the token in it tells who asks.
			return []policy.Request{ask("sts:AssumeRoleWithWebIdentity", g.S.CNI.Role, policy.Caller{})}
		}
	}
	return nil
}

// nodeCaller is the nodes' role, as far as it is known.
func nodeCaller(g *facts.Placements, p *facts.Placement) policy.Caller {
	roles := map[string]bool{}
	for _, i := range p.Suspects {
		for _, profile := range g.S.Profiles {
			if profile.ARN == i.Profile && len(profile.Roles) > 0 {
				roles[profile.Roles[0]] = true
			}
		}
		if len(roles) > 1 {
			break
		}
	}
	caller := policy.Caller{Account: g.S.Account}
	if len(roles) == 1 {
		for role := range roles {
			caller.ARN = role
		}
	}
	return caller
}

func endpointPolicyDeniesFinding(g *facts.Placements, x *gate) finding.Finding {
	services := facts.Ordered(x.Services)
	return finding.Finding{
		Outcome: finding.Fail, Resource: x.endpoint.ID, Covers: facts.IDs(x.Instances), Instances: facts.IDs(x.Instances),
		Resources: append([]string{x.endpoint.ID}, x.Subnets()...),
		Title:     phrase.Title("%s for %s denies %s", x.endpoint.ID, phrase.And(path.Names(services)), phrase.Some(x.actions, 1)),
		Why: fmt.Sprintf("Nodes in %s reach %s through %s, whose policy does not let through: %s.",
			phrase.Some(x.Subnets(), 3), phrase.And(path.Names(services)), x.endpoint.ID, phrase.Some(x.refused, 4)),
		Evidence: append([]finding.Evidence{{What: "Policy of " + x.endpoint.ID, Value: phrase.Clip(x.endpoint.Policy)}}, x.Posts[0].Walks(services)...),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Allow %s in the policy of %s.", phrase.And(x.actions), x.endpoint.ID),
			Console: link.VPC(g.S, "Endpoints:vpcEndpointId="+x.endpoint.ID),
		},
	}
}
