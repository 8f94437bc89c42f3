package checks

import (
	"fmt"
	"maps"
	"slices"

	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func clusterTag() Check {
	return usingStart(Check{
		ID:         "instance/cluster-tag",
		Title:      "The instance lacks the cluster's tag",
		Confidence: Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		AtLaunch:   true,
		Cause:      "An instance outside of managed node groups has no tag kubernetes.io/cluster/<name>. By it the cloud provider and the network plugin know the cluster's instances. EKS and Karpenter set it themselves; the template of one's own Auto Scaling group must.",
		Fix:        "Tag the Auto Scaling group with kubernetes.io/cluster/<name> = owned, passed on at launch, and the instances that run.",
		Links:      []string{"https://docs.aws.amazon.com/eks/latest/userguide/worker.html"},
		Run:        runClusterTag,
	})
}

func runClusterTag(s *View) []Finding {
	st := s.Boot()
	tag := "kubernetes.io/cluster/" + s.Cluster.Name
	suspects, well := st.s.Suspects()
	passed := ids(well)
	blind := map[snapshot.Failure][]string{}
	g := newGrouped(st)
	g.of = func(i *snapshot.Instance) string {
		if group := i.Tags["aws:autoscaling:groupName"]; group != "" {
			return group
		}
		return i.ID
	}
	for _, i := range suspects {
		_, managed := st.nodegroup(i)
		_, tagged := i.Tags[tag]
		// Auto Mode starts instances itself, as a managed node group does.
		merges, _ := st.merges(i)
		switch {
		case managed, tagged, merges:
			passed = append(passed, i.ID)
		case i.Ended() && len(i.Tags) == 0:
			why := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 takes the tags off instances that have ended"}
			blind[why] = append(blind[why], i.ID)
		default:
			g.add(i)
		}
	}
	var list []Finding
	if len(passed) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for resource, of := range g.all() {
		f := Finding{
			Outcome: Fail, Resource: resource, Covers: of, Instances: of,
			Title: title("%s %s no tag of cluster %s", subject(of, "instance"), verb(of, "has", "have"), s.Cluster.Name),
			Why: fmt.Sprintf("%s %s not tagged %s. By this tag the cloud provider and the network plugin know the cluster's instances; outside of managed node groups nobody sets it but the group's own template.",
				some(of, 3), verb(of, "is", "are"), tag),
			Evidence: []Evidence{{What: "Tags of " + of[0], Value: tagKeys(st.instances[of[0]])}},
			Fix: Fix{
				Text:    fmt.Sprintf("Tag %s with %s = owned.", subject(of, "instance"), tag),
				Command: aws(s, "ec2 create-tags", "--resources", of[:min(len(of), 20)], "--tags", fmt.Sprintf("Key=%s,Value=owned", tag)),
				Console: ec2Console(s, "InstanceDetails:instanceId="+of[0]),
			},
		}
		if resource != of[0] {
			f.Fix.Text = fmt.Sprintf("Tag group %s with %s = owned, passed on at launch, and %s too.", resource, tag, subject(of, "instance"))
			f.Fix.Command = shell.All(aws(s, "autoscaling create-or-update-tags", "--tags",
				fmt.Sprintf("ResourceId=%s,ResourceType=auto-scaling-group,Key=%s,Value=owned,PropagateAtLaunch=true", resource, tag)), f.Fix.Command)
		}
		list = append(list, f)
	}
	return list
}

// tagKeys are the names of an instance's tags: values may be private.
func tagKeys(i *snapshot.Instance) string {
	keys := slices.Sorted(maps.Keys(i.Tags))
	if len(keys) == 0 {
		return "none"
	}
	return some(keys, 20)
}
