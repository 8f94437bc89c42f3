package iam

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
	"rollcall/shared/snapshot"
)

func CNIRolePolicies() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMCNIRolePolicies,
		Title:      "aws-node may not do what it must",
		Confidence: finding.Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Roles, snapshot.AWSNode},
		// Pods tell which were made before the role was set.
		Uses:  []snapshot.Source{snapshot.Pods, snapshot.WaitingPods, snapshot.PodEventsOf},
		After: []checkid.ID{checkid.IAMRolePolicies},
		Cause: "The role that aws-node really uses (that of its Pod Identity association, or its target role; else of its service account, else of the node) does not allow what the plugin calls before it is ready, or was deleted. " +
			"The node then stays NotReady: its network plugin is not initialised. In an IPv6 cluster the actions are others, newer versions of the plugin need more of them, and one that does not know the node's instance type must ask EC2 about it (ec2:DescribeInstanceTypes).",
		Fix: "Attach AmazonEKS_CNI_Policy to that role, or bring one's own policy up to the version of the plugin.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-iam-role.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/iam-policy.md",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for i := range list {
				list[i] = list[i].WithStarving(s)
			}
			who, unknown := whoIsCNI(s)
			switch {
			case unknown != nil:
				for _, c := range list {
					blind = append(blind, c.Blocked(*unknown)...)
				}
				return blind
			case who.role != "":
				// One role for the aws-node of all instances, whatever theirs, but for
				// those whose pod was made before.
				list, older := olderPods(s, list)
				for _, c := range older {
					blind = append(blind, cni(c, s, who.before())...)
				}
				if all := with((facts.RoleGroup{Role: who.role}), s, list); len(all.All()) > 0 {
					blind = append(blind, own(all, s, who)...)
				}
				return blind
			}
			for _, c := range list {
				if who.none || isAuto(c, s) {
					blind = append(blind, c.Pass("aws-node", "does not run here"))
					continue
				}
				blind = append(blind, cni(c, s, who)...)
			}
			return blind
		},
	})
}

// with adds the instances of the roleGroups on which aws-node runs. It keeps them
// from becoming Ready, not from registering: where the nodes were read, those
// that have not registered still are suspects, as they come to it later.
func with(c facts.RoleGroup, s *facts.View, list []facts.RoleGroup) facts.RoleGroup {
	for _, other := range list {
		if isAuto(other, s) {
			continue
		}
		c.Suspects = append(c.Suspects, other.Suspects...)
		c.Well = append(c.Well, other.Well...)
	}
	return c
}

// own judges the aws-node that has a role of its own. A target role that EKS cannot assume
// gives no credentials, whatever it may do.
func own(c facts.RoleGroup, s *facts.View, who cniIdentity) []finding.Finding {
	if who.hop == nil || len(c.Suspects) == 0 {
		return cni(c, s, who)
	}
	target, gone, why := facts.ReadRole(s, who.role)
	switch {
	case gone:
		return cni(c, s, who)
	case why != nil: // another account's, mostly
		return c.Blocked(*why)
	}
	first := c
	first.Role = who.hop.Role
	role, gone, why := facts.ReadRole(s, first.Role)
	switch {
	case gone:
		return first.Judged(cniGone(first, s, cniIdentity{role: first.Role, how: "Pod Identity association of kube-system/aws-node"}))
	case why != nil:
		return c.Blocked(*why)
	}
	ungranted, untrusted, open := hopRefusals(s, role, target, *who.hop)
	switch lacks := append(ungranted, untrusted...); {
	case len(lacks) > 0:
		if len(untrusted) > 0 {
			first.Role = target.ARN
		}
		return first.Judged(cannotAssume(s, role, target, *who.hop, ungranted, untrusted))
	case len(open) > 0:
		return c.Blocked(open...)
	}
	return cni(c, s, who)
}

func cannotAssume(s *facts.View, role, target snapshot.Role, a snapshot.PodIdentity, ungranted, untrusted []refusal) finding.Finding {
	lacks := append(slices.Clone(ungranted), untrusted...)
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("aws-node gets no credentials: %s may not assume %s", role.Name, target.Name),
		Why: fmt.Sprintf("The Pod Identity association of kube-system/aws-node gives it %s, which EKS assumes with %s. That is refused: %s. Without credentials the network of a new node is not ready.",
			target.ARN, role.ARN, because(lacks)),
		Evidence: []finding.Evidence{
			{What: "Not allowed", Value: strings.Join(actionNames(lacks), ", ")},
			policiesHeld(role),
			{What: "Trust policy of " + target.Name, Value: phrase.Clip(target.Trust)},
		},
		Fix: finding.Fix{Console: link.Role(s, role.ARN)},
	}
	actions := []string{"sts:AssumeRole", "sts:TagSession"}
	if a.Untagged {
		actions = actions[:1]
	}
	if len(untrusted) == 0 {
		f.Fix.Text = fmt.Sprintf("Allow %s on %s in a policy of %s.", phrase.And(actions), target.ARN, role.Name)
		if slices.ContainsFunc(ungranted, func(r refusal) bool { return r.by.Document != "" }) {
			f.Fix.Text, _ = howToGrant(s, role.ARN, ungranted)
		}
		return f
	}
	f.Fix.Console = link.Role(s, target.ARN)
	f.Fix.Text = fmt.Sprintf("Let the trust policy of %s allow %s to %s.", target.Name, phrase.And(actions), role.ARN)
	if a.ExternalID != "" {
		f.Fix.Text += " The association's sts:ExternalId is " + a.ExternalID + "."
	}
	return f
}

func cni(c facts.RoleGroup, s *facts.View, who cniIdentity) []finding.Finding {
	if len(c.Suspects) == 0 {
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	}
	role, gone, why := facts.ReadRole(s, c.Role)
	switch {
	case gone && who.role == "": // the node's own role: iam/profile-missing says so
		return nil
	case gone:
		return c.Judged(cniGone(c, s, who))
	case why != nil:
		return c.Blocked(*why)
	}
	types := knownTypes(s, c.Suspects)
	needs := cniNeeds(s, types)
	g := granted(s, role, needs, who.sessions...)
	vital := g.vital()
	switch {
	case len(vital) > 0:
		f := cniLacks(c, s, who, role, g, vital)
		if lacksTypes(vital) {
			f.Why += types.why()
			f.Evidence = append(f.Evidence, types.evidence()...)
			f.Fix.Text += " A version of the plugin that knows the type need not ask."
		}
		who.lower(&f)
		return c.Judged(f)
	case len(g.undecided(c.Role)) > 0:
		return c.Blocked(g.undecided(c.Role)...)
	case who.doubt != nil:
		return c.Blocked(*who.doubt)
	case types.unread != nil && lacksTypes(g.missing):
		return c.Blocked(*types.unread)
	case len(surelyMissing(g)) > 0:
		f := cniLacks(c, s, who, role, g, surelyMissing(g))
		f.Confidence = finding.Possible
		f.Why = fmt.Sprintf("aws-node uses %s (%s), which may not %s: %s. It starts without, and fails when a node needs a further interface.",
			c.Role, who.how, phrase.And(actionNames(surelyMissing(g))), because(surelyMissing(g)))
		return c.Judged(f)
	}
	return []finding.Finding{c.Pass("aws-node", fmt.Sprintf("uses %s (%s), which may %s", c.Role, who.how, strings.Join(vitalActions(needs), ", ")))}
}

// surelyMissing are the missing needs, unless a policy is not understood.
func surelyMissing(g grants) []refusal {
	if len(g.unread) > 0 {
		return slices.DeleteFunc(slices.Clone(g.missing), func(r refusal) bool { return r.by.Verdict != policy.Denied })
	}
	return g.missing
}

func cniLacks(c facts.RoleGroup, s *facts.View, who cniIdentity, role snapshot.Role, g grants, lacks []refusal) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("aws-node may not %s", phrase.Some(actionNames(lacks), 1)),
		Why: fmt.Sprintf("aws-node uses %s (%s), which may not %s: %s. Until it may, the network of a new node is not ready.",
			c.Role, who.how, phrase.And(actionNames(lacks)), because(lacks)),
		Evidence: []finding.Evidence{
			{What: "aws-node", Value: "uses " + c.Role + ": " + who.how},
			policiesHeld(role),
			{What: "Not allowed", Value: strings.Join(actionNames(g.missing), ", ")},
		},
		Fix: finding.Fix{Console: link.Role(s, c.Role)},
	}
	if s.CNI != nil && s.CNI.Image != "" {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Image of aws-node", Value: s.CNI.Image})
	}
	f.Fix.Text, f.Fix.Command = howToGrant(s, c.Role, lacks)
	if who.later != "" {
		f.Fix.Text = fmt.Sprintf("Make the pods of aws-node anew: they then use %s. A pod keeps the credentials that it was made with.", who.later)
		f.Fix.Command = "kubectl rollout restart daemonset/aws-node --namespace kube-system"
	}
	return f
}

func cniGone(c facts.RoleGroup, s *facts.View, who cniIdentity) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("aws-node's role %s was deleted", c.Name()),
		Why: fmt.Sprintf("aws-node uses %s (%s), which IAM no longer has. It gets no credentials, so the network of a new node is not ready.",
			c.Role, who.how),
		Evidence: []finding.Evidence{{What: c.Role, Value: "iam:GetRole: " + facts.NoSuchEntity}, {What: "aws-node", Value: "uses " + c.Role + ": " + who.how}},
		Fix: finding.Fix{
			Text:    "Make the role again, or let aws-node use another one, and restart its pods.",
			Console: link.Role(s, c.Role),
		},
	}
	who.lower(&f)
	return f
}
