package sg

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

// EFASelfRule: an Elastic Fabric Adapter "must be a member of a security group that
// allows all inbound and outbound traffic to and from the security group itself"
// (EC2 User Guide, "Create and attach an Elastic Fabric Adapter"). What it sends has
// no IP address: a rule for a range, 0.0.0.0/0 too, does not let it through
// (awslabs/awsome-distributed-ai#546, gardener/gardener-extension-provider-aws#1832).
// EKS gives the cluster's own group that rule from Kubernetes 1.33 on (eksctl#8509).
func EFASelfRule() check.Check {
	return check.Check{
		ID:         checkid.SGEFASelfRule,
		Title:      "The nodes' security groups do not let EFA traffic through",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.SecurityGroups},
		// What an instance that has ended asked for, its launch template says.
		Uses:     []snapshot.Source{snapshot.LaunchTemplates},
		AtLaunch: true,
		Cause: "An instance has an Elastic Fabric Adapter (interface type efa or efa-only), and none of its security groups allows all traffic to and from itself, in both directions. " +
			"A rule for addresses, 0.0.0.0/0 for instance, does not let EFA traffic through. Nodes join all the same; MPI and NCCL do not get through between them.",
		Fix: "Add a rule to a security group of the adapters, inbound and outbound, that allows all traffic from and to the group itself.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html",
		},
		Run: efaSelfRule,
	}
}

// efaGroups is a set of security groups of adapters, and whose they are.
type efaGroups struct {
	groups    []string
	instances []*snapshot.Instance
	// late tells that one of the instances has not joined. That is not for this.
	late bool
}

func efaSelfRule(s *facts.View) []finding.Finding {
	var v finding.Verdicts
	var order []string
	sets := map[string]*efaGroups{}
	suspects, well := s.Suspects()
	for n, i := range slices.Concat(suspects, well) {
		list, blocked := efasOf(s, i)
		switch {
		case blocked != nil:
			v.Unknown(s.Cluster.Name, []string{i.ID}, *blocked)
		case len(list) == 0:
			v.Pass(s.Cluster.Name, []string{i.ID})
		}
		for _, efa := range list {
			key := strings.Join(efa.Groups, " ")
			if sets[key] == nil {
				order = append(order, key)
				sets[key] = &efaGroups{groups: efa.Groups}
			}
			set := sets[key]
			set.instances = finding.Adding(set.instances, i)
			set.late = set.late || n < len(suspects)
		}
	}
	slices.Sort(order)
	for _, key := range order {
		set := sets[key]
		in, missing := selfRule(s, set.groups, false)
		out, more := selfRule(s, set.groups, true)
		resource := phrase.FirstOf(set.groups, s.Cluster.Name)
		switch blocked := finding.Adding(missing, more...); {
		case in != "" && out != "":
			v.Pass(resource, facts.IDs(set.instances), finding.Evidence{What: "Lets EFA traffic through", Value: strings.Join(finding.Adding([]string{in}, out), ", ")})
		case len(set.groups) == 0:
			v.Unknown(s.Cluster.Name, facts.IDs(set.instances), snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "which security groups the adapters have is not said"})
		case len(blocked) > 0:
			v.Unknown(resource, facts.IDs(set.instances), blocked...)
		default:
			v.Fail(efaFinding(s, set, in, out))
		}
	}
	return v.Findings()
}

// efasOf are an instance's adapters; of one that has ended, which EC2 describes
// without interfaces, those that its launch template asks for.
func efasOf(s *facts.View, i *snapshot.Instance) ([]snapshot.EFA, *snapshot.Failure) {
	ref := facts.TemplateOf(i)
	if len(i.EFAs) > 0 || !i.Ended() || ref.ID == "" && ref.Name == "" {
		return i.EFAs, nil
	}
	if t := s.Boot().Template(ref); t != nil {
		return t.EFAs, nil
	}
	f := snapshot.Failure{Source: snapshot.LaunchTemplates, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s has ended, and its launch template is not among those that were read", i.ID)}
	if !s.Has(snapshot.LaunchTemplates) {
		f = s.Why(snapshot.LaunchTemplates)
	}
	return nil, &f
}

// selfRule is the group that allows all traffic between those that have the
// groups, in one direction; empty if none does. Unknown groups may.
func selfRule(s *facts.View, groups []string, egress bool) (by string, unknown []snapshot.Failure) {
	for _, id := range groups {
		g, known := s.Filters().Group(id)
		if !known {
			unknown = append(unknown, snapshot.Failure{Source: snapshot.SecurityGroups, Reason: snapshot.NotRead, Message: id + " is not among the security groups that EC2 lists"})
			continue
		}
		rules := g.Ingress
		if egress {
			rules = g.Egress
		}
		for _, r := range rules {
			if r.Protocol == "-1" && slices.ContainsFunc(r.Groups, func(peer string) bool { return slices.Contains(groups, peer) }) {
				return id, nil
			}
		}
	}
	return "", unknown
}

func efaFinding(s *facts.View, set *efaGroups, in, out string) finding.Finding {
	// Where one direction is there, the other belongs in the same group.
	group := set.groups[0]
	if in+out != "" {
		group = in + out
	}
	var lacks, commands []string
	add := func(direction, operation string) {
		lacks = append(lacks, direction)
		commands = append(commands, command.AWS(s, operation, "--group-id", group, "--ip-permissions", "IpProtocol=-1,UserIdGroupPairs=[{GroupId="+group+"}]"))
	}
	if in == "" {
		add("inbound", "ec2 authorize-security-group-ingress")
	}
	if out == "" {
		add("outbound", "ec2 authorize-security-group-egress")
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: group, Covers: facts.IDs(set.instances), Instances: facts.IDs(set.instances), Resources: slices.Clone(set.groups),
		Title: phrase.Title("%s does not let EFA traffic through", group),
		Why: fmt.Sprintf("The Elastic Fabric Adapters of %s have %s, and no %s rule allows all traffic between those that have it. A rule for addresses does not count for EFA. Nodes join without it; MPI and NCCL between them fail.",
			phrase.Some(facts.IDs(set.instances), 3), phrase.And(set.groups), strings.Join(lacks, " and no ")),
		Evidence: slices.Concat(s.Placements().GroupRules(set.groups, false), s.Placements().GroupRules(set.groups, true)),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Allow all %s traffic between %s and itself.", strings.Join(lacks, " and "), group),
			Command: command.Several(commands), Console: link.SecurityGroup(s, group),
		},
	}
	if set.late {
		// It is not why they did not join.
		f.Confidence = finding.Possible
	}
	return f
}
