package enicleanup

import (
	"slices"
	"testing"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// TestWhoCannotAskProvesNothing: where EC2 refuses the question about the owners,
// managed ones included, none of them is dead.
func TestWhoCannotAskProvesNothing(t *testing.T) {
	s := open(t, stagetest.Options{Over: autoWorld, Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	m := s.left()
	m.description = "aws-K8S-" + autoNode
	m.tags[leak.TagInstance] = autoNode
	kept := []string{s.make(m), s.make(s.left())}
	for range 3 {
		s.sweep()
	}
	for _, id := range kept {
		if !s.there(id) {
			t.Errorf("%s is deleted, and nobody could ask for its owner", id)
		}
	}
	observations, _ := s.sent()
	for _, o := range observations {
		if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool {
			return f.Source == snapshot.CreatorsOf && f.Reason == snapshot.Denied && f.Call == "ec2:DescribeInstances"
		}) {
			t.Errorf("blind %+v, want the creators denied", o.Blind)
		}
	}
	if len(observations) == 0 {
		t.Error("nothing was told")
	}
}
