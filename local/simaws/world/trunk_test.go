package world

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/kubestate"
)

// TestTrunks: where aws-node asks for them a node has a trunk interface beside those
// of the CNI and carries what its type does; the world's own trunk stays.
func TestTrunks(t *testing.T) {
	w, _ := open(t, "corpus/ip-branch-interfaces")
	for id, want := range map[string][]string{
		"i-0a700000000000001": {"interface", "interface", "trunk"},
		"i-0d0000000000000a1": {"interface", "interface", "trunk"},
	} {
		var kinds []string
		for _, e := range w.InterfacesOf(id) {
			kinds = append(kinds, string(e.InterfaceType))
		}
		if diff := cmp.Diff(kinds, want); diff != "" {
			t.Errorf("%s: interfaces (-got +want):\n%s", id, diff)
		}
		_, n := w.NodeOf(id)
		if got := kubestate.At(*n, "status", "capacity", "vpc.amazonaws.com/pod-eni"); got != "9" {
			t.Errorf("%s carries %v branch interfaces, an m5.large 9", id, got)
		}
		if got := kubestate.At(*n, "metadata", "labels", "vpc.amazonaws.com/has-trunk-attached"); got != "true" {
			t.Errorf("%s: trunk label %v", id, got)
		}
	}
	if got := aws.ToString(w.InterfacesOf("i-0a700000000000001")[2].NetworkInterfaceId); got != "eni-0a7000000000000f0" {
		t.Errorf("its trunk is %s, not the world's", got)
	}
	w, _ = open(t, "corpus/base")
	_, n := w.NodeOf("i-0d0000000000000a1")
	if got := kubestate.At(*n, "status", "capacity", "vpc.amazonaws.com/pod-eni"); got != nil || len(w.InterfacesOf("i-0d0000000000000a1")) != 2 {
		t.Errorf("nobody asks for trunks, and a node carries %v", got)
	}
}
