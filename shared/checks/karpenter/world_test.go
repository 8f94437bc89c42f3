package karpenter

import (
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// The objects of these worlds: a NodePool "gpu" with a class of the same name.
func ref(group, name string) snapshot.ClassRef {
	kind := "EC2NodeClass"
	if group == snapshot.AutoModeGroup {
		kind = "NodeClass"
	}
	return snapshot.ClassRef{Group: group, Kind: kind, Name: name}
}

// condition has been as it is for some time, in the object's generation.
func condition(s *snapshot.Snapshot, status, reason, message string, ago time.Duration, generation int64) snapshot.ObservedCondition {
	return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Message: message, Since: s.Time.Add(-ago)}, Generation: generation}
}

func pooled(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	ready := condition(s, "True", "Ready", "", time.Hour, 2)
	s.NodePools = []snapshot.NodePool{{Name: "gpu", Generation: 2, Class: ref(snapshot.KarpenterGroup, "gpu"), Conditions: map[string]snapshot.ObservedCondition{"NodeClassReady": ready}}}
	s.EC2NodeClasses = []snapshot.NodeClass{{Name: "gpu", Generation: 2,
		Subnets:    []snapshot.SelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "prd"}}},
		Conditions: map[string]snapshot.ObservedCondition{"Ready": ready, "SubnetsReady": ready}}}
	for _, change := range changes {
		change(s)
	}
	return s
}

// fails makes a condition of the class false, and Ready with it.
func fails(name, reason, message string, ago time.Duration, generation int64) func(*snapshot.Snapshot) {
	return is("False", name, reason, message, ago, generation)
}

func is(status, name, reason, message string, ago time.Duration, generation int64) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.EC2NodeClasses[0].Conditions["Ready"] = condition(s, status, "UnhealthyDependents", name+"="+status, ago, generation)
		s.EC2NodeClasses[0].Conditions[name] = condition(s, status, reason, message, ago, generation)
	}
}

// pending adds a pod that the scheduler has found no node for.
func pending(name, message string, ago time.Duration, requests snapshot.Amounts, changes ...func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		w := snapshot.WaitingPod{Namespace: "ml", Name: name, Created: s.Time.Add(-ago), Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: message, Since: s.Time.Add(-ago)}}
		if requests != nil {
			w.Requests = []snapshot.Amounts{requests}
		}
		for _, change := range changes {
			change(&w)
		}
		s.WaitingPods = append(s.WaitingPods, w)
	}
}

const noRoom = "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."

// forbidden is what a cluster says whose role is older than these rights.
func forbidden(sources ...snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for _, source := range sources {
			snapshottest.Without(s, source)
			s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.NotRead, Code: "Forbidden", Message: "listing takes the rights of deploy/clusterrole.yaml"}
		}
	}
}

func ofKarpenter(s *snapshot.Snapshot) {
	s.Nodes[0].Labels = map[string]string{"karpenter.sh/nodepool": "gpu"}
}
