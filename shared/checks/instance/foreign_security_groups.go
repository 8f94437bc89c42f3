package instance

import (
	"fmt"
	"rollcall/shared/checkid"
	"slices"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/checks/sg"
	"rollcall/shared/snapshot"
)

func ForeignSecurityGroups() check.Check {
	return usingStart(check.WithPathSources(check.Check{
		ID:         checkid.InstanceForeignSecurityGroups,
		Title:      "The launch template's security groups replace the cluster's",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.LaunchTemplates},
		// What the groups let through says whether their lack matters.
		Uses: []snapshot.Source{snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.SecurityGroups, snapshot.UserDataOf},
		// Where the groups themselves shut the node out, that is the cause.
		AtLaunch: true,
		Cause:    "A managed node group's launch template sets security groups. EKS then does not add the cluster's security group to the nodes, and what that one allows between nodes and control plane has to be allowed by the template's groups.",
		Fix:      "Add the cluster's security group to the launch template, or take the template's groups out.",
		Links:    []string{"https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-security-groups"},
		Run:      runForeignSecurityGroups,
	}))
}

func runForeignSecurityGroups(s *facts.View) []finding.Finding {
	st := s.Boot()
	suspects, well := st.S.Suspects()
	passed := facts.IDs(well)
	blind := map[snapshot.Failure][]string{}
	g := facts.NewGrouped(st)
	suffice := sufficient(s)
	for _, i := range suspects {
		group, managed := st.Nodegroup(i)
		lt := st.Template(facts.TemplateOf(i))
		if group != nil && (lt == nil || len(lt.Groups) == 0) {
			if given := st.Template(group.Template); given != nil {
				lt = given
			}
		}
		switch {
		case !managed, s.Cluster.SecurityGroup == "", slices.Contains(i.Groups, s.Cluster.SecurityGroup):
			passed = append(passed, i.ID)
		case len(i.Groups) == 0:
			why := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 names no security groups of instances that have ended"}
			blind[why] = append(blind[why], i.ID)
		case lt == nil:
			why := snapshot.Failure{Source: snapshot.LaunchTemplates, Reason: snapshot.NotRead, Message: "the launch template of " + i.ID + " is not among those that were read"}
			blind[why] = append(blind[why], i.ID)
		case len(lt.Groups) == 0:
			passed = append(passed, i.ID) // somebody changed the instance, not the template
		case suffice(i.ID):
			passed = append(passed, i.ID) // they let through what the cluster's would
		default:
			g.Add(i)
		}
	}
	var list []finding.Finding
	if len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for origin, of := range g.All() {
		list = append(list, foreign(st, origin, of))
	}
	return list
}

// sufficient tells of which instances every security group was read and lets
// through what a node and the control plane need of each other: each check of
// security groups says so of it, and none says or doubts otherwise.
func sufficient(s *facts.View) func(id string) bool {
	for _, source := range sg.NodeEgress().Needs {
		if !s.Has(source) {
			return func(string) bool { return false }
		}
	}
	checks := []func(*facts.View) []finding.Finding{sg.RunNodeEgress, sg.RunClusterIngress, sg.RunKubeletIngress}
	passed, not := map[string]int{}, map[string]bool{}
	for _, run := range checks {
		seen := map[string]bool{}
		for _, f := range run(s) {
			for _, id := range f.Covers {
				if f.Outcome != finding.Pass {
					not[id] = true
				} else if !seen[id] {
					seen[id] = true
					passed[id]++
				}
			}
		}
	}
	return func(id string) bool { return passed[id] == len(checks) && !not[id] }
}

func foreign(st *facts.BootConfig, origin string, of []string) finding.Finding {
	i := st.Instances[of[0]]
	want := st.S.Cluster.SecurityGroup
	f := finding.Finding{
		Outcome: finding.Fail, Resource: origin, Covers: of, Instances: of, Resources: append([]string{want}, i.Groups...),
		Title: phrase.Title("%s keeps %s off %s", origin, want, phrase.Subject(of, "instance")),
		Why: fmt.Sprintf("%s sets the security groups %s, so EKS did not add the cluster's, %s. What nodes and control plane need of each other must be in those groups.",
			origin, phrase.Some(i.Groups, 3), want),
		Evidence: []finding.Evidence{
			{What: "Security groups of " + i.ID, Value: strings.Join(i.Groups, ", ")},
			{What: "Security group of the cluster", Value: want},
		},
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Add %s to the security groups of %s in a new version, and update the node group to it. For the instances that run, the command does it.", want, origin),
			Console: console(st, origin),
		},
	}
	if len(i.Interfaces) > 0 {
		f.Fix.Command = command.AWS(st.S, "ec2 modify-network-interface-attribute", "--network-interface-id", i.Interfaces[0], "--groups", i.Groups, want)
	} else {
		f.Fix.Command = command.AWS(st.S, "ec2 modify-instance-attribute", "--instance-id", i.ID, "--groups", i.Groups, want)
	}
	return f
}
