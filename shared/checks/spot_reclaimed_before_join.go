package checks

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

func reclaimedBeforeJoin() Check {
	return Check{
		ID:         reclaimed,
		Title:      "EC2 took the instance back before it was a node",
		Confidence: Advice,
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

func runReclaimed(s *View) []Finding {
	l := s.Index()
	var well, unseen, order []string
	groups := map[string][]*snapshot.Instance{}
	for _, i := range s.Scoped() {
		switch verdict := l.reclaim(i); verdict {
		case Pass:
			well = append(well, i.ID)
		case Unknown:
			unseen = append(unseen, i.ID)
		case Fail:
			key := cmp.Or(i.Owner(), i.ID)
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], i)
		}
	}
	var list []Finding
	if len(well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: well})
	}
	if len(unseen) > 0 {
		list = append(list, Finding{Outcome: Unknown, Resource: s.Cluster.Name, Covers: unseen, Blocked: l.unreclaimed()})
	}
	for _, key := range order {
		list = append(list, l.reclaimedBeforeJoin(key, groups[key]))
	}
	return list
}

// reclaim judges one instance. The empty outcome is "nothing to say".
func (l ledger) reclaim(i *snapshot.Instance) Outcome {
	launch, remembered := l.launches[i.ID]
	at := l.endOf(i)
	switch taken := l.takenBack(i); {
	case l.warm[i.ID], l.wasNode(i):
		return Pass
	case !taken && l.rebalanced(i) && l.activity[i.ID] == "" && (!l.s.Has(snapshot.Activities) || !l.reaches(i)):
		return Unknown // perhaps its group replaced it
	case !taken:
		return Pass
	case !remembered:
		return "" // nobody waited for it; it may have been a node for months
	case at.Before(launch.Due):
		return Fail
	case launch.Cause != "", at.Sub(launch.Started) > longest, l.served(i, at.Sub(launch.Due)):
		return "" // it had its time: what kept it is told elsewhere, or it had been a node
	case !l.s.Has(snapshot.Nodes):
		return Unknown
	}
	return Fail
}

func (l ledger) unreclaimed() []snapshot.Failure {
	var list []snapshot.Failure
	if !l.s.Has(snapshot.Nodes) {
		list = append(list, l.s.Why(snapshot.Nodes))
	}
	if !l.s.Has(snapshot.Activities) {
		return append(list, l.s.Why(snapshot.Activities))
	}
	if len(list) == 0 {
		list = append(list, snapshot.Failure{
			Source: snapshot.Activities, Reason: snapshot.NotRead,
			Message: "the scaling activities that were read do not go back to the launch: its group may have replaced it as EC2 recommended",
		})
	}
	return list
}

func (l ledger) reclaimedBeforeJoin(key string, list []*snapshot.Instance) Finding {
	f := Finding{Outcome: Fail, Resource: key}
	for n, i := range list {
		f.Covers = append(f.Covers, i.ID)
		if n < maxTaken {
			f.Evidence = append(f.Evidence, Evidence{What: i.ID, Value: l.takenLine(i)})
		}
	}
	if more := len(list) - maxTaken; more > 0 {
		f.Evidence = append(f.Evidence, Evidence{What: "Instances", Value: fmt.Sprintf("and %d more", more)})
	}
	f.Instances = f.Covers
	first := list[0]
	launch := l.launches[first.ID]
	f.Title = title("%s %s taken back by EC2 before %s %s", subject(f.Covers, "instance"), verb(f.Covers, "was", "were"), verb(f.Covers, "it was", "they were"), verb(f.Covers, "a node", "nodes"))
	f.Why = fmt.Sprintf("%s was launched at %s and had %s to join: %s.", first.ID, clockTime(launch.Started), minutes(launch.Due.Sub(launch.Started)), l.takenHow(first))
	f.Fix = Fix{
		Text:    "Nothing is wrong with the node. More instance types and zones make it rarer.",
		Console: ec2Console(l.s, "InstanceDetails:instanceId="+first.ID),
	}
	return f
}

// maxTaken is how many instances are told one by one.
const maxTaken = 5

// takenHow is what shows that EC2 took an instance back. When, never how long
// ago: the words must not change with each look.
func (l ledger) takenHow(i *snapshot.Instance) string {
	launch := l.launches[i.ID]
	switch {
	case i.Ended() && l.reason(i).Class == activity.Class(reclaimed):
		return fmt.Sprintf("%s (%s)%s", l.reason(i).Meaning, i.StateReason.Code, l.lived(i))
	case !launch.Noticed.IsZero():
		return fmt.Sprintf("EC2 warned at %s that it takes the Spot capacity back", clockTime(launch.Noticed))
	}
	return fmt.Sprintf("its group replaced it after EC2's rebalance recommendation of %s", clockTime(launch.Rebalance))
}

// lived is how long after its launch an instance ended, if EC2 says when.
func (l ledger) lived(i *snapshot.Instance) string {
	if i.StateReason.When.IsZero() {
		return ""
	}
	return fmt.Sprintf(" %s after the launch", i.StateReason.When.Sub(l.launches[i.ID].Started).Round(time.Second))
}

func (l ledger) takenLine(i *snapshot.Instance) string {
	launch := l.launches[i.ID]
	parts := []string{i.State}
	if code := i.StateReason.Code; code != "" {
		parts = append(parts, code)
	}
	if !launch.Noticed.IsZero() {
		parts = append(parts, "warned "+clockTime(launch.Noticed))
	}
	if !launch.Rebalance.IsZero() {
		parts = append(parts, "rebalance recommended "+clockTime(launch.Rebalance))
	}
	for _, p := range []string{i.Type, i.Zone} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if cause := l.activity[i.ID]; cause != "" {
		parts = append(parts, clip(cause))
	}
	return strings.Join(parts, ", ")
}
