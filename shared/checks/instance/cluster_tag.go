package instance

import (
	"fmt"
	"maps"
	"rollcall/shared/checkid"
	"slices"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func ClusterTag() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceClusterTag,
		Title:      "The instance lacks the cluster's tag",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		AtLaunch:   true,
		Cause:      "An instance outside of managed node groups has no tag kubernetes.io/cluster/<name>. By it the cloud provider and the network plugin know the cluster's instances. EKS and Karpenter set it themselves; the template of one's own Auto Scaling group must.",
		Fix:        "Tag the Auto Scaling group with kubernetes.io/cluster/<name> = owned, passed on at launch, and the instances that run.",
		Links:      []string{"https://docs.aws.amazon.com/eks/latest/userguide/worker.html"},
		Run:        runClusterTag,
	})
}

func runClusterTag(s *facts.View) []finding.Finding {
	st := s.Boot()
	tag := "kubernetes.io/cluster/" + s.Cluster.Name
	suspects, well := st.S.Suspects()
	passed := facts.IDs(well)
	blind := map[snapshot.Failure][]string{}
	g := facts.NewGrouped(st)
	g.Of = func(i *snapshot.Instance) string {
		if group := i.Tags["aws:autoscaling:groupName"]; group != "" {
			return group
		}
		return i.ID
	}
	for _, i := range suspects {
		_, managed := st.Nodegroup(i)
		_, tagged := i.Tags[tag]
		// Auto Mode starts instances itself, as a managed node group does.
		merges, _ := st.Merges(i)
		switch {
		case managed, tagged, merges:
			passed = append(passed, i.ID)
		case i.Ended() && len(i.Tags) == 0:
			why := snapshot.Failure{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: "EC2 takes the tags off instances that have ended"}
			blind[why] = append(blind[why], i.ID)
		default:
			g.Add(i)
		}
	}
	var list []finding.Finding
	if len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for resource, of := range g.All() {
		f := finding.Finding{
			Outcome: finding.Fail, Resource: resource, Covers: of, Instances: of,
			Title: phrase.Title("%s %s no tag of cluster %s", phrase.Subject(of, "instance"), phrase.Verb(of, "has", "have"), s.Cluster.Name),
			Why: fmt.Sprintf("%s %s not tagged %s. By this tag the cloud provider and the network plugin know the cluster's instances; outside of managed node groups nobody sets it but the group's own template.",
				phrase.Some(of, 3), phrase.Verb(of, "is", "are"), tag),
			Evidence: []finding.Evidence{{What: "Tags of " + of[0], Value: tagKeys(st.Instances[of[0]])}},
			Fix: finding.Fix{
				Text:    fmt.Sprintf("Tag %s with %s = owned.", phrase.Subject(of, "instance"), tag),
				Command: command.AWS(s, "ec2 create-tags", "--resources", of[:min(len(of), 20)], "--tags", fmt.Sprintf("Key=%s,Value=owned", tag)),
				Console: link.EC2(s, "InstanceDetails:instanceId="+of[0]),
			},
		}
		if resource != of[0] {
			f.Fix.Text = fmt.Sprintf("Tag group %s with %s = owned, passed on at launch, and %s too.", resource, tag, phrase.Subject(of, "instance"))
			f.Fix.Command = shell.All(command.AWS(s, "autoscaling create-or-update-tags", "--tags",
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
	return phrase.Some(keys, 20)
}
