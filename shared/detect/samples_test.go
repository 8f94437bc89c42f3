package detect

import (
	"testing"

	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// The version of the VPC CNI is noted once, where it was read, and only in the copy.
func TestHadNotesThePlugin(t *testing.T) {
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.AWSNode: true}}
	for image, want := range map[string]string{
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.20.4-eksbuild.1": "v1.20.4-eksbuild.1",
		"localhost:5000/cni@sha256:0123":                                                 "sha256:0123",
		"localhost:5000/cni:v1@sha256:0":                                                 "v1",
		"":                                                                               "",
	} {
		s.CNI = &snapshot.CNI{Image: image}
		read := &store.Machine{}
		l := store.LaunchRecord{Machine: read}
		if Had(s, &l); l.Machine.Plugin != want || read.Plugin != "" {
			t.Errorf("%q: %q, and in the record as it was read %q", image, l.Machine.Plugin, read.Plugin)
		}
		l.Machine.Plugin = "v1.19.0"
		if Had(s, &l); l.Machine.Plugin != "v1.19.0" {
			t.Errorf("%q: noted again as %q", image, l.Machine.Plugin)
		}
	}
	delete(s.Read, snapshot.AWSNode)
	l := store.LaunchRecord{Machine: &store.Machine{}}
	if Had(s, &l); l.Machine.Plugin != "" {
		t.Errorf("not read, and noted as %q", l.Machine.Plugin)
	}
}
