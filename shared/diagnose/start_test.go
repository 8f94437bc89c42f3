package diagnose

import (
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// What an instance was started with, broken in one way: the cause is named
// first and alone among the certain ones, and nothing else is certain.
func TestOneFaultOfAStartHasOneName(t *testing.T) {
	const other = "https://FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF.gr7.us-west-2.eks.amazonaws.com"
	replace := func(old, with string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte(strings.Replace(string(s.UserData[0].Data), old, with, 1))
		}
	}
	data := func(text string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.UserData[0].Data = []byte(text) }
	}
	both := func(list ...func(*snapshot.Snapshot)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for _, f := range list {
				f(s)
			}
		}
	}
	custom := func(s *snapshot.Snapshot) { s.Nodegroups[0].AMIType = "CUSTOM" }
	al2 := func(s *snapshot.Snapshot) {
		s.Nodegroups[0].AMIType = "AL2_x86_64"
		s.Images[0].Name = "amazon-eks-node-1.35-v20261112"
	}
	tests := []struct {
		name  string
		cause checks.ID
		fault func(*snapshot.Snapshot)
	}{
		{"cluster name", "instance/user-data", replace("name: prod", "name: staging")},
		{"endpoint", "instance/user-data", replace(w.Endpoint, other)},
		{"authority", "instance/user-data", replace("Ck1JSUIK", "Ck1JSUMK")},
		{"service range that is none", "instance/user-data", replace("172.20.0.0/16", "172.20.0.0")},
		{"apiVersion", "instance/user-data", replace("v1alpha1", "v1alpha")},
		{"MIME", "instance/user-data", replace("--//\n", "--//\nContent-Type: text/x-shellscript\n#!/bin/bash\n--//\n")},
		{"bootstrap.sh on Amazon Linux 2023", "instance/user-data", data("#!/bin/bash\n/etc/eks/bootstrap.sh prod\n")},
		{"NodeConfig on Amazon Linux 2", "instance/user-data", al2},
		{"nothing on an image that EKS does not choose", "instance/user-data", both(custom, data(""))},
		{"label in the user data", "instance/forbidden-node-label", replace("--node-labels=", "--node-labels=node-role.kubernetes.io/worker=,")},
		{"label in the user data, and another cluster's name", "instance/forbidden-node-label", both(replace("name: prod", "name: staging"), replace("--node-labels=", "--node-labels=k8s.io/x=y,"))},
		{"label in the node group", "instance/forbidden-node-label", both(replace("--node-labels=eks.amazonaws.com/nodegroup=workers,eks.amazonaws.com/capacityType=ON_DEMAND", "--v=2"), func(s *snapshot.Snapshot) {
			s.Nodegroups[0].Labels = map[string]string{"node-role.kubernetes.io/worker": ""}
		})},
		{"metadata service off", "instance/imds", func(s *snapshot.Snapshot) { w.Instance(s, w.Node).Metadata.Endpoint = "disabled" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			tt.fault(s)
			d := diagnosis(s)
			var certain []checks.ID
			for _, c := range d.Causes {
				if c.Confidence == checks.Certain {
					certain = append(certain, c.Check)
				}
			}
			if !slices.Equal(certain, []checks.ID{tt.cause}) || d.Causes[0].Check != tt.cause {
				t.Fatalf("causes %v, want only %s certain", short(d).Causes, tt.cause)
			}
			if c := d.Causes[0]; !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Symptoms, []checks.ID{"node/not-registered"}) {
				t.Errorf("instances %q, symptoms %q", c.Instances, c.Symptoms)
			}
		})
	}
}

// A fault of the network is not blamed on how the instance was started, and
// weaker findings on the start only contribute to it.
func TestStartContributesToCertainCauses(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
	i := w.Instance(s, w.Node)
	i.Metadata.HopLimit = 1
	i.Groups = []string{"sg-0mine"}
	s.LaunchTemplates[0].Groups = []string{"sg-0mine"}
	got := short(diagnosis(s))
	if len(got.Causes) == 0 || got.Causes[0] != "route/no-egress "+w.PrivateRTB {
		t.Fatalf("causes %q, want route/no-egress first", got.Causes)
	}
	for _, id := range []checks.ID{"instance/imds", "instance/foreign-security-groups"} {
		if !slices.Contains(got.Contributing, id) {
			t.Errorf("contributing %q, want %s among them", got.Contributing, id)
		}
	}
}
