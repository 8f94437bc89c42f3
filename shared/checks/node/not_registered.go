package node

import (
	"cmp"
	"fmt"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func NotRegistered() check.Check {
	return check.Check{
		ID:         checkid.NodeNotRegistered,
		Title:      "No node registered in time",
		Confidence: finding.Symptom,
		Needs:      []snapshot.Source{snapshot.Instances, snapshot.Nodes},
		After: []checkid.ID{
			checkid.RouteNoEgress, checkid.RouteBlackhole, checkid.RouteNATUnusable, checkid.RouteNATNoInternet, checkid.RouteIGWNoPublicIP,
			checkid.EndpointMissing, checkid.InstanceEndedEarly,
		},
		Cause: "The instance runs, its time to join is over, and no node has its id. It is a symptom: the kubelet did not start, did not reach the cluster API, or was not let in.",
		Fix:   "Fix the cause that another check names. Where none does, read the instance's console output and the kubelet's log (over SSM or SSH), and look for the node role's access entry.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html",
			"https://repost.aws/knowledge-center/eks-worker-nodes-cluster",
		},
		Run: func(s *facts.View) []finding.Finding {
			l := s.Index()
			var registered []string
			var list []finding.Finding
			for _, i := range s.Scoped() {
				switch {
				case l.Nodes[i.ID] != nil:
					registered = append(registered, i.ID)
				case i.Ended(), l.Warm[i.ID], !l.Due(i.ID), l.TakenBack(i): // not expected, or not yet, or not any more
				default:
					list = append(list, notRegisteredFinding(l, i))
				}
			}
			if len(registered) > 0 {
				list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: registered})
			}
			return list
		},
	}
}

func notRegisteredFinding(l facts.InstanceIndex, i *snapshot.Instance) finding.Finding {
	launch := l.Launches[i.ID]
	launched := launch.Started.UTC().Format(time.TimeOnly + " UTC")
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  i.ID,
		Covers:    []string{i.ID},
		Instances: []string{i.ID},
		Title:     phrase.Title("%s has not registered as a node", i.ID),
		// When, never how long ago: the words must not change with each look.
		Why: fmt.Sprintf("%s (%s) should have been a node %s after its launch at %s. No node of %s has its id.%s",
			i.ID, i.Type, phrase.Minutes(launch.Due.Sub(launch.Started)), launched, l.S.Cluster.Name, learned(i, launch)),
		Evidence: []finding.Evidence{{What: i.ID, Value: fmt.Sprintf("%s, %s, %s, %s; launched %s, no node", i.State, i.Type, i.Zone, i.Subnet, launched)}},
		Fix: finding.Fix{
			Text:    "Read the console output of " + i.ID + ".",
			Command: command.AWS(l.S, "ec2 get-console-output", "--latest", "--output", "text", "--instance-id", i.ID),
			Console: link.EC2(l.S, "InstanceDetails:instanceId="+i.ID),
		},
	}
}

// learned says from what the time to join was learned; nothing where it is the
// setting.
func learned(i *snapshot.Instance, launch snapshot.ExpectedJoin) string {
	if launch.Samples == 0 || launch.Usual <= 0 {
		return ""
	}
	return fmt.Sprintf(" 95 of 100 nodes of %s are Ready within %s (%d joins); it had %s.",
		cmp.Or(i.Owner(), "its nodegroup"), phrase.Precisely(launch.Usual), launch.Samples, phrase.Precisely(launch.Due.Sub(launch.Started)))
}
