package enicleanup

import (
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
)

// autoNode is an instance that EKS manages: EC2's lists hide it, with what is
// attached to it.
const autoNode = "i-0a070000000000001"

const autoWorld = `
    - InstanceId: ` + autoNode + `
      Operator: {Managed: true, Principal: eks.amazonaws.com}
      InstanceType: m5.large
      SubnetId: ` + subnet + `
      PrivateIpAddress: 10.42.140.77
      LaunchTime: 2026-11-12T09:14:06Z
      Tags: [{Key: eks:eks-cluster-name, Value: eks-workshop}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}]
`

// TestAHiddenOwnerLives: an instance that EC2's lists hide is not dead. What the
// network plugin has just taken off it is not left behind.
func TestAHiddenOwnerLives(t *testing.T) {
	s := open(t, stagetest.Options{Over: autoWorld})
	m := s.left()
	m.description = "aws-K8S-" + autoNode
	m.tags[leak.TagInstance] = autoNode
	kept := s.make(m)
	lost := s.make(s.left())
	for range 3 {
		s.sweep()
	}
	if !s.there(kept) {
		t.Errorf("%s is deleted, and its owner %s runs", kept, autoNode)
	}
	if s.there(lost) {
		t.Errorf("%s is still there, and its owner %s does not exist: nothing was tested", lost, dead)
	}
	for _, a := range s.audits() {
		if a.Interface == kept {
			t.Errorf("audit of the interface of a running instance: %+v", a)
		}
	}
}
