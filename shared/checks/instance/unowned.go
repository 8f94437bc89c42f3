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

// Unowned judges instances that carry the cluster's tags, and that nothing of the
// cluster launched: whoever may start an instance sets its tags (EC2 user guide, "Tag
// restrictions"). All of them are one finding. What other checks find about them is
// its evidence (diagnose.Judge).
func Unowned() check.Check {
	return check.Check{
		ID:         checkid.InstanceUnowned,
		Title:      "Nothing of the cluster launched the instance",
		Confidence: finding.Possible,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Nodes},
		Uses:       []snapshot.Source{snapshot.NodeClaimsOf},
		Predictive: true,
		Proof:      check.ByPassing,
		Cause: "The instance carries the cluster's tags, and no Auto Scaling group, nodegroup or NodeClaim of the cluster has it, nor is it a node. Anybody who can start an instance can set its tags: " +
			"it is a node that somebody starts by hand or with another tool and that does not join, or it is none of the cluster's. What other checks find about it is listed as possible, without commands: they could open a network for it.",
		Fix:   "Find out who started it. If it is to be a node, start it from an Auto Scaling group or a NodePool of the cluster; else take the cluster's tag off.",
		Links: []string{"https://docs.aws.amazon.com/eks/latest/userguide/worker.html", "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html"},
		Run:   unowned,
	}
}

// mostUnowned is how many of them are described.
const mostUnowned = 5

func unowned(s *facts.View) []finding.Finding {
	l := s.Index()
	var waiting []string
	var evidence []finding.Evidence
	for _, id := range s.Scope.Unowned {
		i := l.Instances[id]
		if i == nil || i.Ended() || l.Nodes[id] != nil || !l.Due(id) {
			continue
		}
		waiting = append(waiting, id)
		if len(waiting) > mostUnowned {
			continue
		}
		evidence = append(evidence, finding.Evidence{What: id, Value: fmt.Sprintf("%s, %s, %s; launched %s; tags %s",
			i.State, i.Type, i.Subnet, i.Launched.UTC().Format(time.DateTime+" UTC"), tagKeys(i))})
	}
	if len(waiting) == 0 {
		return []finding.Finding{{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: append(s.Scope.Unowned[:len(s.Scope.Unowned):len(s.Scope.Unowned)], s.Cluster.Name)}}
	}
	cluster := s.Cluster.Name
	return []finding.Finding{{
		Outcome: finding.Fail, Resource: cluster, Covers: append(waiting[:len(waiting):len(waiting)], cluster), Instances: waiting,
		Title: phrase.Title("%s tagged for %s, launched by nothing of it", phrase.Subject(waiting, "instance"), cluster),
		Why: fmt.Sprintf("%s %s the cluster's tags, and no Auto Scaling group, nodegroup or NodeClaim of %s has %s. Anybody who can start an instance can set its tags.",
			phrase.Some(waiting, 3), phrase.Verb(waiting, "has", "have"), cluster, phrase.Verb(waiting, "it", "them")),
		Evidence: evidence,
		Fix: finding.Fix{
			Text: "Find out who started " + phrase.Some(waiting, 3) + ". If nodes are started by hand or with another tool, start them from a group of the cluster; else take the cluster's tags off.",
			Command: command.AWS(s, "cloudtrail lookup-events", "--lookup-attributes", "AttributeKey=ResourceName,AttributeValue="+waiting[0],
				"--query", "Events[].[EventTime,EventName,Username]", "--output", "text"),
			Console: link.EC2(s, "InstanceDetails:instanceId="+waiting[0]),
		},
	}}
}
