package kubernetes

import (
	"testing"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, node)
	gathertest.Converts(t, pod)
	gathertest.Converts(t, csr)
	gathertest.Converts(t, nodeEvent)
	gathertest.Converts(t, eniConfig)
	gathertest.Converts(t, nodePool)
	gathertest.Converts(t, nodeClaim)
	gathertest.Converts(t, nodeClass)
	gathertest.Converts(t, waitingPod)
	gathertest.Converts(t, func(d kube.DaemonSet) snapshot.CNI { return cni(d, nil) })
	gathertest.Converts(t, func(a kube.ServiceAccount) snapshot.CNI { return cni(kube.DaemonSet{}, &a) })
}
