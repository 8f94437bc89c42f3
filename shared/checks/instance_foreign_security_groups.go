package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

func foreignSecurityGroups() Check {
	return usingStart(walking(Check{
		ID:         "instance/foreign-security-groups",
		Title:      "The launch template's security groups replace the cluster's",
		Confidence: Likely,
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

func runForeignSecurityGroups(s *View) []Finding {
	st := s.Boot()
	suspects, well := st.s.Suspects()
	passed := ids(well)
	blind := map[snapshot.Failure][]string{}
	g := newGrouped(st)
	suffice := sufficient(s)
	for _, i := range suspects {
		group, managed := st.nodegroup(i)
		lt := st.template(templateOf(i))
		if group != nil && (lt == nil || len(lt.Groups) == 0) {
			if given := st.template(group.Template); given != nil {
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
			g.add(i)
		}
	}
	var list []Finding
	if len(passed) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for origin, of := range g.all() {
		list = append(list, st.foreign(origin, of))
	}
	return list
}

// sufficient tells of which instances every security group was read and lets
// through what a node and the control plane need of each other: each check of
// security groups says so of it, and none says or doubts otherwise.
func sufficient(s *View) func(id string) bool {
	for _, source := range nodeEgress().Needs {
		if !s.Has(source) {
			return func(string) bool { return false }
		}
	}
	checks := []func(*View) []Finding{runNodeEgress, runClusterIngress, runKubeletIngress}
	passed, not := map[string]int{}, map[string]bool{}
	for _, run := range checks {
		seen := map[string]bool{}
		for _, f := range run(s) {
			for _, id := range f.Covers {
				if f.Outcome != Pass {
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

func (st *starts) foreign(origin string, of []string) Finding {
	i := st.instances[of[0]]
	want := st.s.Cluster.SecurityGroup
	f := Finding{
		Outcome: Fail, Resource: origin, Covers: of, Instances: of, Resources: append([]string{want}, i.Groups...),
		Title: title("%s keeps %s off %s", origin, want, subject(of, "instance")),
		Why: fmt.Sprintf("%s sets the security groups %s, so EKS did not add the cluster's, %s. What nodes and control plane need of each other must be in those groups.",
			origin, some(i.Groups, 3), want),
		Evidence: []Evidence{
			{What: "Security groups of " + i.ID, Value: strings.Join(i.Groups, ", ")},
			{What: "Security group of the cluster", Value: want},
		},
		Fix: Fix{
			Text:    fmt.Sprintf("Add %s to the security groups of %s in a new version, and update the node group to it. For the instances that run, the command does it.", want, origin),
			Console: st.console(origin),
		},
	}
	if len(i.Interfaces) > 0 {
		f.Fix.Command = aws(st.s, "ec2 modify-network-interface-attribute", "--network-interface-id", i.Interfaces[0], "--groups", i.Groups, want)
	} else {
		f.Fix.Command = aws(st.s, "ec2 modify-instance-attribute", "--instance-id", i.ID, "--groups", i.Groups, want)
	}
	return f
}
