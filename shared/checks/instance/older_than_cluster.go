package instance

import (
	"fmt"
	"rollcall/shared/checkid"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func OlderThanCluster() check.Check {
	return usingStart(check.Check{
		ID:         checkid.InstanceOlderThanCluster,
		Title:      "The instance was launched before its cluster was ready",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		AtLaunch:   true,
		Cause:      "An instance outside of managed node groups is older than the cluster, or the cluster is still being made: at its first start there was nothing to join, and the bootstrap does not try again.",
		Fix:        "Launch nodes once the cluster is ACTIVE, and replace those that came before.",
		Links:      []string{"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#worker-node-fail"},
		Run:        runOlderThanCluster,
	})
}

func runOlderThanCluster(s *facts.View) []finding.Finding {
	st := s.Boot()
	suspects, well := st.S.Suspects()
	passed := facts.IDs(well)
	blind := map[snapshot.Failure][]string{}
	g := facts.NewGrouped(st)
	for _, i := range suspects {
		_, managed := st.Nodegroup(i)
		switch {
		case managed: // EKS launches them once the cluster is there
			passed = append(passed, i.ID)
		case s.Cluster.Created.IsZero() || i.Launched.IsZero():
			why := snapshot.Failure{Source: snapshot.Clusters, Reason: snapshot.NotRead, Message: "when the cluster was created, or the instance was launched, is not said"}
			blind[why] = append(blind[why], i.ID)
		case i.Launched.Before(s.Cluster.Created), s.Cluster.Status == "CREATING":
			g.Add(i)
		default:
			passed = append(passed, i.ID)
		}
	}
	var list []finding.Finding
	if len(passed) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: passed})
	}
	list = append(list, unlooked(s, blind)...)
	for origin, of := range g.All() {
		i := st.Instances[of[0]]
		f := finding.Finding{
			Outcome: finding.Fail, Resource: origin, Covers: of, Instances: of,
			Title: phrase.Title("%s launched before cluster %s was ready", phrase.Subject(of, "instance"), s.Cluster.Name),
			Why: fmt.Sprintf("%s was launched %s, the cluster was created %s and is %s. The bootstrap runs at the first start only.",
				i.ID, clock(i.Launched), clock(s.Cluster.Created), s.Cluster.Status),
			Evidence: []finding.Evidence{
				{What: i.ID + " launched", Value: clock(i.Launched)},
				{What: "Cluster " + s.Cluster.Name + " created", Value: clock(s.Cluster.Created) + ", " + s.Cluster.Status},
			},
			Fix: finding.Fix{
				Text:    fmt.Sprintf("Replace %s once the cluster is ACTIVE.", phrase.Subject(of, "instance")),
				Command: command.AWS(s, "autoscaling terminate-instance-in-auto-scaling-group", "--instance-id", of[0], "--no-should-decrement-desired-capacity"),
				Console: link.EC2(s, "InstanceDetails:instanceId="+of[0]),
			},
		}
		if i.Tags["aws:autoscaling:groupName"] == "" {
			f.Fix.Command = ""
		}
		list = append(list, f)
	}
	return list
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
