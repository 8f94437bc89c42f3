package spot

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

func ReclaimedBeforeJoin() check.Check {
	return check.Check{
		ID:         checkid.SpotReclaimedBeforeJoin,
		Title:      "EC2 took the instance back before it was a node",
		Confidence: finding.Advice,
		// Nodes are looked at where they were read, like in instance/ended-early.
		Needs:    []snapshot.Source{snapshot.Instances},
		Uses:     []snapshot.Source{snapshot.NodeEventsOf},
		AtLaunch: true,
		Cause:    "EC2 took the Spot capacity back within the instance's time to join, or had warned that it would: by its reason for the end, by an interruption warning, or by a rebalance recommendation after which the group replaced the instance. It is no fault of the node, of the network or of the cluster, and no other check accuses that instance. One that had missed roll call for a cause that was found stays that cause's.",
		Fix:      "Nothing is to be repaired. More instance types and zones in the nodegroup, and the allocation strategy price-capacity-optimized, make it rarer; the Spot report tells which pools do it.",
		Links: []string{
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-capacity-rebalancing.html",
		},
		Run: runReclaimed,
	}
}

func runReclaimed(s *facts.View) []finding.Finding {
	l := s.Index()
	var well, unseen, order []string
	groups := map[string][]*snapshot.Instance{}
	for _, i := range s.Scoped() {
		switch verdict := reclaim(l, i); verdict {
		case finding.Pass:
			well = append(well, i.ID)
		case finding.Unknown:
			unseen = append(unseen, i.ID)
		case finding.Fail:
			key := cmp.Or(i.Owner(), i.ID)
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], i)
		}
	}
	var list []finding.Finding
	if len(well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
	}
	if len(unseen) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: unseen, Blocked: unreclaimed(l)})
	}
	for _, key := range order {
		list = append(list, reclaimedBeforeJoinFinding(l, key, groups[key]))
	}
	return list
}

// reclaim judges one instance. The empty outcome is "nothing to say".
func reclaim(l facts.InstanceIndex, i *snapshot.Instance) finding.Outcome {
	launch, remembered := l.Launches[i.ID]
	at := l.EndOf(i)
	switch taken := l.TakenBack(i); {
	case l.Warm[i.ID], l.Past(i) == facts.Served:
		return finding.Pass
	case !taken && l.Rebalanced(i) && l.Activity[i.ID] == "" && (!l.S.Has(snapshot.Activities) || !l.Reaches(i)):
		return finding.Unknown // perhaps its group replaced it
	case !taken:
		return finding.Pass
	case !remembered:
		return "" // nobody waited for it; it may have been a node for months
	case at.Before(launch.Due):
		return finding.Fail
	case launch.Cause != "", at.Sub(launch.Started) > outcome.Longest, l.Activity[i.ID] != "":
		return "" // it had its time: what kept it is told elsewhere, or it had been a node
	case !l.S.Has(snapshot.Nodes):
		return finding.Unknown
	}
	return finding.Fail
}

func unreclaimed(l facts.InstanceIndex) []snapshot.Failure {
	var list []snapshot.Failure
	if !l.S.Has(snapshot.Nodes) {
		list = append(list, l.S.Why(snapshot.Nodes))
	}
	if !l.S.Has(snapshot.Activities) {
		return append(list, l.S.Why(snapshot.Activities))
	}
	if len(list) == 0 {
		list = append(list, snapshot.Failure{
			Source: snapshot.Activities, Reason: snapshot.NotRead,
			Message: "the scaling activities that were read do not go back to the launch: its group may have replaced it as EC2 recommended",
		})
	}
	return list
}

func reclaimedBeforeJoinFinding(l facts.InstanceIndex, key string, list []*snapshot.Instance) finding.Finding {
	f := finding.Finding{Outcome: finding.Fail, Resource: key}
	for n, i := range list {
		f.Covers = append(f.Covers, i.ID)
		if n < maxTaken {
			f.Evidence = append(f.Evidence, finding.Evidence{What: i.ID, Value: takenLine(l, i)})
		}
	}
	if more := len(list) - maxTaken; more > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Instances", Value: fmt.Sprintf("and %d more", more)})
	}
	f.Instances = f.Covers
	first := list[0]
	launch := l.Launches[first.ID]
	f.Title = phrase.Title("%s %s taken back by EC2 before %s %s", phrase.Subject(f.Covers, "instance"), phrase.Verb(f.Covers, "was", "were"), phrase.Verb(f.Covers, "it was", "they were"), phrase.Verb(f.Covers, "a node", "nodes"))
	f.Why = fmt.Sprintf("%s was launched at %s and had %s to join: %s.", first.ID, phrase.ClockTime(launch.Started), phrase.Minutes(launch.Due.Sub(launch.Started)), takenHow(l, first))
	f.Fix = finding.Fix{
		Text:    "Nothing is wrong with the node. More instance types and zones make it rarer.",
		Console: link.EC2(l.S, "InstanceDetails:instanceId="+first.ID),
	}
	return f
}

// maxTaken is how many instances are told one by one.
const maxTaken = 5

// takenHow is what shows that EC2 took an instance back. When, never how long
// ago: the words must not change with each look.
func takenHow(l facts.InstanceIndex, i *snapshot.Instance) string {
	launch := l.Launches[i.ID]
	switch {
	case i.Ended() && l.Reason(i).Class == checkid.SpotReclaimedBeforeJoin:
		return fmt.Sprintf("%s (%s)%s", l.Reason(i).Meaning, i.StateReason.Code, lived(l, i))
	case !launch.Noticed.IsZero():
		what := "Spot capacity"
		if !i.Spot {
			// EC2 warns of one other: an instance in an interruptible capacity reservation.
			what = "capacity reservation"
		}
		return fmt.Sprintf("EC2 warned at %s that it takes the %s back", phrase.ClockTime(launch.Noticed), what)
	}
	return fmt.Sprintf("its group replaced it after EC2's rebalance recommendation of %s", phrase.ClockTime(launch.Rebalance))
}

// lived is how long after its launch an instance ended, if EC2 says when.
func lived(l facts.InstanceIndex, i *snapshot.Instance) string {
	if i.StateReason.When.IsZero() {
		return ""
	}
	return fmt.Sprintf(" %s after the launch", i.StateReason.When.Sub(l.Launches[i.ID].Started).Round(time.Second))
}

func takenLine(l facts.InstanceIndex, i *snapshot.Instance) string {
	launch := l.Launches[i.ID]
	parts := []string{i.State}
	if code := i.StateReason.Code; code != "" {
		parts = append(parts, code)
	}
	if !launch.Noticed.IsZero() {
		parts = append(parts, "warned "+phrase.ClockTime(launch.Noticed))
	}
	if !launch.Rebalance.IsZero() {
		parts = append(parts, "rebalance recommended "+phrase.ClockTime(launch.Rebalance))
	}
	for _, p := range []string{i.Type, i.Zone} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if cause := l.Activity[i.ID]; cause != "" {
		parts = append(parts, phrase.Clip(cause))
	}
	return strings.Join(parts, ", ")
}
