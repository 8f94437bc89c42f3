package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/node/vpccni"
	"rollcall/shared/snapshot"
)

// cniIdentity is the role that aws-node really uses.
type cniIdentity struct {
	// none tells that the cluster runs no aws-node.
	none bool
	// role is empty where aws-node uses the role of the node that it is on.
	role string
	how  string
	// hop is the Pod Identity association where EKS assumes role with the credentials
	// of another one; nil elsewhere. sessions are the session policies that limit role.
	hop      *snapshot.PodIdentity
	sessions []snapshot.Policy
	// later is the role that its service account has by now, where the pod was
	// made before that was so.
	later string
	// doubt is set where a Pod Identity association could change the answer
	// and those could not be read.
	doubt *snapshot.Failure
}

// lower makes a finding about the identity likely where it may be another one.
func (who cniIdentity) lower(f *finding.Finding) {
	if who.doubt != nil {
		f.Confidence = finding.Likely
		f.Evidence = append(f.Evidence, finding.Evidence{
			What: "Pod Identity associations", Value: fmt.Sprintf("not read (%s: %s): one for aws-node would change which role it uses", who.doubt.Call, who.doubt.Reason),
		})
	}
}

// whoIsCNI tells the identity of aws-node: a Pod Identity association comes
// before the service account's annotation (the EKS Pod Identity webhook sets
// only the first), and the node's own role is what is left.
func whoIsCNI(s *facts.View) (cniIdentity, *snapshot.Failure) {
	if s.Has(snapshot.AWSNode) && s.CNI == nil {
		return cniIdentity{none: true}, nil
	}
	var who cniIdentity
	if !s.Has(snapshot.PodIdentities) {
		f := s.Why(snapshot.PodIdentities)
		who.doubt = &f
	}
	for _, a := range s.PodIdentities {
		if a.Namespace == "kube-system" && a.ServiceAccount == "aws-node" {
			return associated(a), nil
		}
	}
	if s.CNI != nil && s.CNI.Role != "" {
		who.role, who.how = s.CNI.Role, "annotation eks.amazonaws.com/role-arn of kube-system/aws-node"
		return who, nil
	}
	for _, a := range s.Addons {
		if a.Name == "vpc-cni" && a.Role != "" {
			who.role, who.how = a.Role, "add-on vpc-cni"
			return who, nil
		}
	}
	if !s.Has(snapshot.AWSNode) {
		f := s.Why(snapshot.AWSNode)
		return cniIdentity{}, &f
	}
	who.how = "the node's own role"
	return who, nil
}

// associated is the identity that a Pod Identity association gives: its target role where
// it names one, within its session policy, which limits the target role alone (EKS API
// reference, CreatePodIdentityAssociation).
func associated(a snapshot.PodIdentity) cniIdentity {
	const of = "Pod Identity association of kube-system/aws-node"
	who := cniIdentity{role: a.Role, how: of}
	if a.Target != "" {
		who.role, who.hop, who.how = a.Target, &a, "target role of the "+of+", assumed with "+facts.LastPart(a.Role)
	}
	if a.Policy != "" {
		who.sessions = []snapshot.Policy{{Name: "the session policy of the " + of, Document: a.Policy}}
	}
	return who
}

// hopRefusals are the calls by which EKS assumes the target role and that are refused, by
// the association's own role or by the target's trust policy; failures are what keeps from
// deciding. A trust policy that names the role itself needs no grant of that role; one that
// names the account does (IAM user guide, "Policy evaluation logic"; EKS user guide, "Access
// AWS resources using EKS Pod Identity Target IAM Roles").
func hopRefusals(s *facts.View, own, target snapshot.Role, a snapshot.PodIdentity) (ungranted, trust []refusal, open []snapshot.Failure) {
	needs := []need{{"sts:AssumeRole", target.ARN, true}}
	if !a.Untagged {
		needs = append(needs, need{"sts:TagSession", target.ARN, true})
	}
	document, err := policy.Parse(target.Trust)
	if err != nil {
		return nil, nil, []snapshot.Failure{unparsed("the trust policy of "+target.ARN, err)}
	}
	document.Name = "the trust policy of " + target.Name
	named := slices.ContainsFunc(document.Statements, func(t policy.Statement) bool {
		return !t.Deny && slices.Contains(t.Principals, policy.Principal{Kind: "AWS", Value: own.ARN})
	})
	for _, n := range needs {
		known := callFacts(s)
		known["sts:ExternalId"] = []string{}
		if a.ExternalID != "" {
			known["sts:ExternalId"] = []string{a.ExternalID}
		}
		by := document.Decide(policy.Request{Action: n.action, Resource: n.resource, Caller: policy.Caller{ARN: own.ARN}, Facts: known})
		switch by.Verdict {
		case policy.Silent, policy.Denied:
			by.Document = document.Name
			trust = append(trust, refusal{n, by})
		case policy.Depends:
			open = append(open, snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.NotRead, Message: fmt.Sprintf("whether %s may assume %s %s", own.Name, target.Name, by)})
		}
	}
	g := granted(s, own, needs)
	for _, r := range g.vital() {
		if !named || r.by.Document != "" {
			ungranted = append(ungranted, r)
		}
	}
	return ungranted, trust, append(open, g.undecided(own.ARN)...)
}

// cniNeeds are the actions that aws-node calls (amazon-vpc-cni-k8s, "IAM
// policy"). The vital ones it needs before it is ready: it looks at the
// instance's interfaces and gives the first one addresses. The others come
// with more pods, or when a node goes.
func cniNeeds(s *facts.View, types typesKnown) []need {
	eni := fmt.Sprintf("arn:%s:ec2:%s:%s:network-interface/*", s.Partition, s.Region, s.Account)
	list := []need{{"ec2:DescribeNetworkInterfaces", policy.Unscoped, true}}
	if s.CNI != nil && searchesGroups(*s.CNI) {
		list = append(list, need{"ec2:DescribeSecurityGroups", policy.Unscoped, true})
	}
	if s.Cluster.IPv6 {
		list = append(list, need{"ec2:AssignIpv6Addresses", eni, true})
		if s.CNI != nil && readsSubnets(*s.CNI) {
			list = append(list, need{"ec2:DescribeSubnets", policy.Unscoped, true})
		}
	} else {
		list = append(list, need{"ec2:AssignPrivateIpAddresses", eni, true})
		for _, action := range []string{"AttachNetworkInterface", "CreateNetworkInterface", "ModifyNetworkInterfaceAttribute"} {
			list = append(list, need{"ec2:" + action, eni, false})
		}
	}
	list = append(list, need{"ec2:CreateTags", eni, false})
	if len(types.unknown)+len(types.untold) > 0 {
		list = append(list, need{describeTypes, policy.Unscoped, len(types.unknown) > 0})
	}
	return list
}

// searchesGroups tells that a version of the plugin does not start without
// ec2:DescribeSecurityGroups: 1.22.0 and 1.22.1 look for groups by tag, unless
// subnet discovery is off or custom networking on (amazon-vpc-cni-k8s pull
// request 3709, terraform-aws-eks-pod-identity issue 60; taken back in 1.22.2).
func searchesGroups(c snapshot.CNI) bool {
	version, ok := vpccni.OfImage(c.Image)
	return ok && (version == vpccni.Version{1, 22, 0} || version == vpccni.Version{1, 22, 1}) && discovers(c)
}

// readsSubnets tells that a version of the plugin does not start without
// ec2:DescribeSubnets in an IPv6 cluster, whose policy nobody but its owner writes: from
// 1.22.1 on (awsdocs/amazon-eks-user-guide#1248, eksctl#8835, karpenter-provider-aws#9608:
// "checking to exclude configured subnet"). AmazonEKS_CNI_Policy of IPv4 has it.
func readsSubnets(c snapshot.CNI) bool {
	version, ok := vpccni.OfImage(c.Image)
	return ok && !version.Before(vpccni.Version{1, 22, 1}) && discovers(c)
}

// discovers tells that subnet discovery is on, as it is where nothing is said.
func discovers(c snapshot.CNI) bool {
	return !strings.EqualFold(c.Env["ENABLE_SUBNET_DISCOVERY"], "false") &&
		!strings.EqualFold(c.Env["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"], "true")
}

// auto tells that EKS Auto Mode made an instance: neither a node group, an
// Auto Scaling group nor a Karpenter beside it did. Those bring their own network plugin.
func auto(s *facts.View, i *snapshot.Instance) bool {
	return s.Cluster.AutoMode && !i.ByKarpenter() && i.Tags["eks:nodegroup-name"] == "" && i.Tags["aws:autoscaling:groupName"] == ""
}

// isAuto tells that every instance of a role group is Auto Mode's.
func isAuto(c facts.RoleGroup, s *facts.View) bool {
	return !slices.ContainsFunc(slices.Concat(c.Suspects, c.Well), func(i *snapshot.Instance) bool { return !auto(s, i) })
}
