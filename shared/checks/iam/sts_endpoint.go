package iam

import (
	"fmt"
	"strconv"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func STSEndpoint() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMSTSEndpoint,
		Title:      "STS is not reached by the name that is called",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.Consoles},
		After:      []checkid.ID{checkid.IAMSTSRegionDeactivated},
		Cause: "aws-node, with a role of its own, calls the global name sts.amazonaws.com, and the VPC has no internet: its endpoint answers for the regional name only. Or the node says itself that it does not get through to STS. " +
			"Possible: the API server refuses the node's token although the role is admitted, which an account's setting for STS tokens can cause.",
		Fix: "Set AWS_STS_REGIONAL_ENDPOINTS=regional on aws-node, or use a newer version of the plugin. For refused tokens: IAM console, Account settings, Security Token Service.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/configure-sts-endpoint.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/issues/647",
			"https://github.com/eksctl-io/eksctl/issues/2558",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			net := s.Network()
			for _, c := range list {
				blind = append(blind, sts(c, s, net)...)
			}
			return blind
		},
	})
}

// sts judges each suspect, and says the same of several once.
func sts(c facts.RoleGroup, s *facts.View, net *path.Network) []finding.Finding {
	var list []finding.Finding
	clean := facts.RoleGroup{Role: c.Role, Well: c.Well}
	same := map[string]int{}
	for _, i := range c.Suspects {
		f, unread := stsOf(c, s, net, i)
		switch {
		case f.Outcome == finding.Fail:
			if at, have := same[f.Resource]; have {
				list[at].Covers = append(list[at].Covers, i.ID)
				continue
			}
			f.Covers = []string{i.ID}
			same[f.Resource] = len(list)
			list = append(list, f)
		case len(unread) > 0:
			list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: c.Role, Covers: []string{i.ID}, Blocked: unread})
		default:
			clean.Suspects = append(clean.Suspects, i)
		}
	}
	for at := range list {
		if list[at].Outcome == finding.Fail {
			list[at].Instances = list[at].Covers
		}
	}
	if len(clean.All()) > 0 {
		list = append(list, clean.Pass("STS", "nothing tells that it is not reached"))
	}
	return list
}

func stsOf(c facts.RoleGroup, s *facts.View, net *path.Network, i *snapshot.Instance) (finding.Finding, []snapshot.Failure) {
	regional, global := stsHost(s)
	f := finding.Finding{Outcome: finding.Fail, Fix: finding.Fix{Console: link.VPC(s, "Endpoints:")}}
	for _, host := range []string{regional, global} {
		h, found, _ := listen(s, i, stsFailed(host))
		if !found {
			continue
		}
		f.Resource = host
		f.Title = phrase.Title("%s is not reached", host)
		f.Why = fmt.Sprintf("%s does not get through to %s (%s).", i.ID, host, h.from)
		f.Evidence = []finding.Evidence{{What: h.from, Value: h.line}}
		f.Fix.Text = "Look at the way to STS: a firewall or a proxy, the endpoint's security group and private DNS, name resolution."
		if host == global && host != regional {
			f.Fix.Text, f.Fix.Command = beRegional()
		}
		return f, nil
	}
	legacy, why := callsGlobal(s)
	ways, known := net.Needs(i.Subnet)
	shut := known && closed(ways, net.Internet(i.Subnet))
	if why != "" && shut {
		f.Resource = "kube-system/aws-node"
		f.Title = phrase.Title("aws-node calls %s, which %s cannot reach", global, i.VPC)
		f.Why = fmt.Sprintf("aws-node takes its role from STS and calls %s: %s. %s has no way to the internet, and its endpoint answers for %s only.", global, why, i.Subnet, regional)
		f.Evidence = []finding.Evidence{{What: "aws-node", Value: "role " + legacy + "; " + why}}
		for _, w := range ways {
			if w.Service == path.STS {
				f.Evidence = append(f.Evidence, finding.Evidence{What: "Path to " + regional, Value: w.String()})
			}
		}
		f.Fix.Text, f.Fix.Command = beRegional()
		return f, nil
	}
	// A node that has registered had a token that was taken.
	if h, found, _ := listen(s, i, refusedToken); found && !registered(s, i) && isAdmitted(c, s) {
		f.Confidence, f.Resource = finding.Possible, c.Role
		f.Title = phrase.Title("%s is admitted, and its token is refused", c.Name())
		f.Why = fmt.Sprintf("The cluster admits %s, and still answers %s with Unauthorized. STS may be switched off in %s, or the account's tokens of the global endpoint are not valid there; or the role was made anew after its access entry.", c.Role, i.ID, s.Region)
		f.Evidence = []finding.Evidence{{What: h.from, Value: h.line}}
		f.Fix = finding.Fix{Text: "Look at the account's settings for STS (active regions, version of global tokens). Then make the role's access entry again.", Console: fmt.Sprintf("%s/iam/home?region=%s#/account_settings", link.Host(s), s.Region)}
		return f, nil
	}
	_, _, unread := listen(s, i, func(string) bool { return false })
	if shut && !s.Has(snapshot.AWSNode) {
		unread = append(unread, s.Why(snapshot.AWSNode))
	}
	return finding.Finding{}, unread
}

// closed tells that STS is reached by an interface endpoint, and that there is
// no way to the internet beside it. Where STS is not reached at all, or the
// way leaves what is read, the checks of routes and endpoints say so.
func closed(ways []path.Path, internet path.Way) bool {
	for _, w := range ways {
		if w.Service == path.STS {
			return w.Means == path.ByInterface && w.Verdict == path.Reaches && internet.Verdict == path.NoRoute
		}
	}
	return false
}

// callsGlobal tells that aws-node has a role of its service account and calls
// the global name to get it: it is told to, or it is not told to call the
// regional one and the cluster is older than 1.22, from which on EKS tells it
// (amazon-eks-pod-identity-webhook pull request 148).
func callsGlobal(s *facts.View) (role, why string) {
	who, unknown := whoIsCNI(s)
	if unknown != nil || s.CNI == nil || s.CNI.Role == "" || who.role != s.CNI.Role {
		return "", "" // Pod Identity and the node's role need no STS
	}
	switch value := s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"]; {
	case strings.EqualFold(value, "legacy"):
		return who.role, "AWS_STS_REGIONAL_ENDPOINTS is " + value
	case value == "" && before122(s.Cluster.Version):
		return who.role, "AWS_STS_REGIONAL_ENDPOINTS is not set, and Kubernetes " + s.Cluster.Version + " does not set it either"
	}
	return "", ""
}

func before122(version string) bool {
	major, minor, ok := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	return ok && err == nil && major == "1" && n < 22
}

func beRegional() (text, command string) {
	return "Let aws-node call the regional name.", "kubectl set env daemonset aws-node -n kube-system AWS_STS_REGIONAL_ENDPOINTS=regional"
}

// isAdmitted tells that the cluster is known to admit the group's role.
func isAdmitted(c facts.RoleGroup, s *facts.View) bool {
	for _, f := range missing(c, s) {
		if f.Outcome != finding.Pass {
			return false
		}
	}
	return len(c.Suspects) > 0
}

// refusedToken tells the API server's answer to a token that it does not take.
// EC2's UnauthorizedOperation is about an action that a role may not do.
func refusedToken(line string) bool {
	return strings.Contains(strings.ReplaceAll(line, "UnauthorizedOperation", ""), "Unauthorized")
}

// registered tells that an instance has a node, be it Ready or not.
func registered(s *facts.View, i *snapshot.Instance) bool {
	return s.Index().Nodes[i.ID] != nil
}
