package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func endpointPolicyDenies() Check {
	return walking(Check{
		ID:         "endpoint/policy-denies",
		Title:      "An endpoint's policy denies what joining needs",
		Confidence: Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints},
		// Whose requests the policy must let through.
		Uses:     []snapshot.Source{snapshot.Profiles, snapshot.Roles, snapshot.AWSNode, snapshot.PodIdentities, snapshot.Addons},
		After:    []ID{"endpoint/security-group"},
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
	*barred
	endpoint snapshot.Endpoint
	refused  []string // "ec2:DescribeInstances (not granted)"
	actions  []string
}

func runEndpointPolicyDenies(s *View) []Finding {
	g := s.Placements()
	var v verdicts
	var found []*gate
	name := s.Cluster.Name
	for _, p := range g.open(&v, name) {
		failed := false
		var blocked []snapshot.Failure
		for _, w := range p.usable() {
			e, known := g.policed(p, w)
			if !known {
				continue
			}
			document, why := endpointPolicy(e)
			if why != nil {
				blocked = adding(blocked, *why)
				continue
			}
			for _, r := range g.requests(p, e, w.Service) {
				switch d := document.Decide(r); d.Verdict {
				case policy.Allowed:
				case policy.Denied, policy.Silent:
					failed = true
					found = turnedAway(found, e, p, w.Service, r, d)
				default:
					blocked = adding(blocked, snapshot.Failure{
						Source: snapshot.Endpoints, Reason: snapshot.NotRead,
						Message: fmt.Sprintf("whether %s allows %s hangs on %s", e.ID, r.Action, some(d.On, 3)),
					})
				}
			}
		}
		switch {
		case failed:
		case len(blocked) > 0:
			v.unknown(name, ids(p.suspects), blocked...)
		default:
			v.pass(name, ids(p.suspects))
		}
	}
	for _, x := range found {
		v.fail(g.endpointPolicyDenies(x))
	}
	return v.findings()
}

func turnedAway(found []*gate, e snapshot.Endpoint, p *post, service path.Service, r policy.Request, d policy.Decision) []*gate {
	i := slices.IndexFunc(found, func(x *gate) bool { return x.endpoint.ID == e.ID })
	if i < 0 {
		i = len(found)
		found = append(found, &gate{barred: &barred{}, endpoint: e})
	}
	x := found[i]
	x.add(p, p.suspects, service)
	x.refused = adding(x.refused, fmt.Sprintf("%s (%s)", r.Action, d))
	x.actions = adding(x.actions, r.Action)
	return found
}

// policed is the endpoint whose policy judges a path.
func (g *ground) policed(p *post, w path.Path) (snapshot.Endpoint, bool) {
	switch w.Means {
	case path.ByInterface:
		return g.endpointOf(p, w)
	case path.ByGateway:
		for _, e := range g.net.Endpoints(p.subnet.VPC, w.Service) {
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
func (g *ground) requests(p *post, e snapshot.Endpoint, service path.Service) []policy.Request {
	facts := map[string][]string{"aws:SourceVpc": {p.subnet.VPC}, "aws:SourceVpce": {e.ID}, "aws:RequestedRegion": {g.s.Region}}
	ask := func(action, resource string, by policy.Caller) policy.Request {
		return policy.Request{Action: action, Resource: resource, Caller: by, Facts: facts}
	}
	node := g.nodeCaller(p)
	arn := func(rest string) string { return "arn:" + g.s.Partition + ":" + rest }
	switch service {
	case path.EC2:
		// By it a node learns the name that it must register with.
		return []policy.Request{ask("ec2:DescribeInstances", policy.Unscoped, node)}
	case path.ECRAPI:
		return []policy.Request{ask("ecr:GetAuthorizationToken", policy.Unscoped, node)}
	case path.ECRDKR:
		// The images are in accounts of AWS's own, one or more for each region.
		repository := arn("ecr:" + g.s.Region + ":*:repository/eks/*")
		return []policy.Request{ask("ecr:BatchGetImage", repository, node), ask("ecr:GetDownloadUrlForLayer", repository, node)}
	case path.S3:
		if g.s.Partition != "aws" {
			return nil // elsewhere the bucket's name is not documented
		}
		// ECR signs the address of a layer itself: who asks is not the node
		// (ECR user guide, "Minimum Amazon S3 bucket permissions").
		return []policy.Request{ask("s3:GetObject", arn("s3:::prod-"+g.s.Region+"-starport-layer-bucket/*"), policy.Caller{})}
	case path.STS:
		if g.s.CNI != nil && g.s.CNI.Role != "" {
			// Nobody has signed this request: the token in it tells who asks.
			return []policy.Request{ask("sts:AssumeRoleWithWebIdentity", g.s.CNI.Role, policy.Caller{})}
		}
	}
	return nil
}

// nodeCaller is the nodes' role, as far as it is known.
func (g *ground) nodeCaller(p *post) policy.Caller {
	roles := map[string]bool{}
	for _, i := range p.suspects {
		for _, profile := range g.s.Profiles {
			if profile.ARN == i.Profile && len(profile.Roles) > 0 {
				roles[profile.Roles[0]] = true
			}
		}
		if len(roles) > 1 {
			break
		}
	}
	caller := policy.Caller{Account: g.s.Account}
	if len(roles) == 1 {
		for role := range roles {
			caller.ARN = role
		}
	}
	return caller
}

func (g *ground) endpointPolicyDenies(x *gate) Finding {
	services := ordered(x.services)
	return Finding{
		Outcome: Fail, Resource: x.endpoint.ID, Covers: ids(x.instances), Instances: ids(x.instances),
		Resources: append([]string{x.endpoint.ID}, x.subnets()...),
		Title:     title("%s for %s denies %s", x.endpoint.ID, and(path.Names(services)), some(x.actions, 1)),
		Why: fmt.Sprintf("Nodes in %s reach %s through %s, whose policy does not let through: %s.",
			some(x.subnets(), 3), and(path.Names(services)), x.endpoint.ID, some(x.refused, 4)),
		Evidence: append([]Evidence{{What: "Policy of " + x.endpoint.ID, Value: clip(x.endpoint.Policy)}}, x.posts[0].walks(services)...),
		Fix: Fix{
			Text:    fmt.Sprintf("Allow %s in the policy of %s.", and(x.actions), x.endpoint.ID),
			Console: console(g.s, "Endpoints:vpcEndpointId="+x.endpoint.ID),
		},
	}
}
