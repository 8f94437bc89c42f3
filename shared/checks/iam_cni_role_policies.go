package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/snapshot"
)

func cniRolePolicies() Check {
	return usingRoles(Check{
		ID:         "iam/cni-role-policies",
		Title:      "aws-node may not do what it must",
		Confidence: Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Roles, snapshot.AWSNode},
		// Pods tell which were made before the role was set.
		Uses:  []snapshot.Source{snapshot.Pods},
		After: []ID{"iam/role-policies"},
		Cause: "The role that aws-node really uses (that of its Pod Identity association, else of its service account, else of the node) does not allow what the plugin calls before it is ready, or was deleted. " +
			"The node then stays NotReady: its network plugin is not initialised. In an IPv6 cluster the actions are others, and newer versions of the plugin need more of them.",
		Fix: "Attach AmazonEKS_CNI_Policy to that role, or bring one's own policy up to the version of the plugin.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-iam-role.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/iam-policy.md",
		},
		Run: func(s *View) []Finding {
			list, blind := s.RoleGroups()
			who, unknown := whoIsCNI(s)
			switch {
			case unknown != nil:
				for _, c := range list {
					blind = append(blind, c.blocked(*unknown)...)
				}
				return blind
			case who.role != "":
				// One role for the aws-node of all instances, whatever theirs, but for
				// those whose pod was made before.
				list, older := olderPods(s, list)
				for _, c := range older {
					blind = append(blind, c.cni(s, who.before())...)
				}
				if all := (crew{role: who.role}).with(s, list); len(all.all()) > 0 {
					blind = append(blind, all.cni(s, who)...)
				}
				return blind
			}
			for _, c := range list {
				if who.none || c.auto(s) {
					blind = append(blind, c.pass("aws-node", "does not run here"))
					continue
				}
				blind = append(blind, c.cni(s, who)...)
			}
			return blind
		},
	})
}

// with adds the instances of the crews on which aws-node runs. It keeps them
// from becoming Ready, not from registering: where the nodes were read, those
// that have not registered still are suspects, as they come to it later.
func (c crew) with(s *View, list []crew) crew {
	for _, other := range list {
		if other.auto(s) {
			continue
		}
		c.suspects = append(c.suspects, other.suspects...)
		c.well = append(c.well, other.well...)
	}
	return c
}

func (c crew) cni(s *View, who cniIdentity) []Finding {
	if len(c.suspects) == 0 {
		return []Finding{c.pass(c.name(), "all of its instances are Ready nodes")}
	}
	role, gone, why := readRole(s, c.role)
	switch {
	case gone && who.role == "": // the node's own role: iam/profile-missing says so
		return nil
	case gone:
		return c.judged(c.cniGone(s, who))
	case why != nil:
		return c.blocked(*why)
	}
	g := granted(s, role, cniNeeds(s))
	vital := g.vital()
	switch {
	case len(vital) > 0:
		f := c.cniLacks(s, who, role, g, vital)
		if who.doubt != nil {
			f.Confidence = Likely
			f.Evidence = append(f.Evidence, Evidence{What: "Pod Identity associations", Value: "could not be read: one for aws-node would change which role it uses"})
		}
		return c.judged(f)
	case len(g.undecided(c.role)) > 0:
		return c.blocked(g.undecided(c.role)...)
	case who.doubt != nil:
		return c.blocked(*who.doubt)
	case len(surelyMissing(g)) > 0:
		f := c.cniLacks(s, who, role, g, surelyMissing(g))
		f.Confidence = Possible
		f.Why = fmt.Sprintf("aws-node uses %s (%s), which may not %s: %s. It starts without, and fails when a node needs a further interface.",
			c.role, who.how, and(actionNames(surelyMissing(g))), because(surelyMissing(g)))
		return c.judged(f)
	}
	return []Finding{c.pass("aws-node", fmt.Sprintf("uses %s (%s), which may %s", c.role, who.how, strings.Join(vitalActions(cniNeeds(s)), ", ")))}
}

// surelyMissing are the missing needs, unless a policy is not understood.
func surelyMissing(g grants) []refusal {
	if len(g.unread) > 0 {
		return slices.DeleteFunc(slices.Clone(g.missing), func(r refusal) bool { return r.by.Verdict != policy.Denied })
	}
	return g.missing
}

func (c crew) cniLacks(s *View, who cniIdentity, role snapshot.Role, g grants, lacks []refusal) Finding {
	f := Finding{
		Outcome: Fail,
		Title:   title("aws-node may not %s", some(actionNames(lacks), 1)),
		Why: fmt.Sprintf("aws-node uses %s (%s), which may not %s: %s. Until it may, the network of a new node is not ready.",
			c.role, who.how, and(actionNames(lacks)), because(lacks)),
		Evidence: []Evidence{
			{What: "aws-node", Value: "uses " + c.role + ": " + who.how},
			policiesHeld(role),
			{What: "Not allowed", Value: strings.Join(actionNames(g.missing), ", ")},
		},
		Fix: Fix{Console: roleLink(s, c.role)},
	}
	if s.CNI != nil && s.CNI.Image != "" {
		f.Evidence = append(f.Evidence, Evidence{What: "Image of aws-node", Value: s.CNI.Image})
	}
	f.Fix.Text, f.Fix.Command = howToGrant(s, c.role, lacks)
	if who.later != "" {
		f.Fix.Text = fmt.Sprintf("Make the pods of aws-node anew: they then use %s. A pod keeps the credentials that it was made with.", who.later)
		f.Fix.Command = "kubectl rollout restart daemonset/aws-node --namespace kube-system"
	}
	return f
}

func (c crew) cniGone(s *View, who cniIdentity) Finding {
	f := Finding{
		Outcome: Fail,
		Title:   title("aws-node's role %s was deleted", c.name()),
		Why: fmt.Sprintf("aws-node uses %s (%s), which IAM no longer has. It gets no credentials, so the network of a new node is not ready.",
			c.role, who.how),
		Evidence: []Evidence{{What: c.role, Value: "iam:GetRole: " + noSuchEntity}, {What: "aws-node", Value: "uses " + c.role + ": " + who.how}},
		Fix: Fix{
			Text:    "Make the role again, or let aws-node use another one, and restart its pods.",
			Console: roleLink(s, c.role),
		},
	}
	if who.doubt != nil {
		f.Confidence = Likely
	}
	return f
}
