package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

const bootLines = "[    0.000000] Linux version 6.1.112\n[  OK  ] Reached target Basic System.\n"

// wrote gives the worlds' instance a console.
func wrote(line string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = []snapshot.Console{{Instance: w.Node, Text: bootLines + line + "\n"}}
	}
}

// registered makes a node of the instance that is not Ready, with a message.
func registered(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes = []snapshot.Node{{Name: "n", Instance: w.Node, Ready: snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: message}}}
	}
}

const networkDown = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized"

// noImage is a node whose network plugin's image cannot be pulled.
func noImage(s *snapshot.Snapshot) {
	registered(networkDown)(s)
	s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x", Node: "n", Phase: "Pending", Containers: []snapshot.Container{
		{Name: "aws-vpc-cni-init", Init: true, State: "waiting", Reason: "ImagePullBackOff", Message: "Back-off pulling image"},
	}}}
}

// What the machine itself and Kubernetes tell, each first and alone among the
// certain causes.
func TestMachineFaultsHaveOneName(t *testing.T) {
	const (
		fatal  = `nodeadm[1]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration"}`
		denied = "kubelet[2]: reflector.go:123] Failed to list *v1.Service: Unauthorized\n"
	)
	tests := []struct {
		name     string
		cause    checks.ID
		resource string
		breakIt  func(*snapshot.Snapshot)
		alone    bool
	}{
		{"nodeadm says why", "instance/console-error", w.Nodegroup, wrote(fatal), true},
		{"the API refuses the node", "instance/console-error", w.Nodegroup, wrote(denied + denied), true},
		{"a kernel panic, and EC2 sees it too", "instance/console-error", w.Nodegroup, func(s *snapshot.Snapshot) {
			wrote("[    2.6] Kernel panic - not syncing: Attempted to kill init!")(s)
			s.Statuses[0].OS = "impaired"
		}, true},
		{"the image is newer than the control plane", "instance/version-skew", w.Nodegroup, func(s *snapshot.Snapshot) {
			s.Images[0].Name = "amazon-eks-node-al2023-x86_64-standard-1.37-v1"
		}, true},
		{"the image is too new, and the kubelet says so", "instance/version-skew", w.Nodegroup, func(s *snapshot.Snapshot) {
			s.Images[0].Name = "amazon-eks-node-al2023-x86_64-standard-1.37-v1"
			wrote(denied + denied)(s)
		}, true},
		{"the network plugin's image cannot be pulled", "node/cni-not-ready", "kube-system/aws-node", noImage, true},
		{"the same, and EKS says so", "node/cni-not-ready", "kube-system/aws-node", func(s *snapshot.Snapshot) {
			noImage(s)
			s.Addons[2].Status, s.Addons[2].Issues = "DEGRADED", []snapshot.Issue{{Code: "InsufficientNumberOfReplicas"}}
		}, true},
		{"vpc-cni is degraded", "addon/degraded", "vpc-cni", func(s *snapshot.Snapshot) {
			registered(networkDown)(s)
			s.Pods = []snapshot.Pod{{Name: "aws-node-x", Node: "n", Phase: "Running", Containers: []snapshot.Container{{Name: "aws-node", Ready: true, State: "running"}}}}
			s.Addons[2].Status, s.Addons[2].Issues = "DEGRADED", []snapshot.Issue{{Code: "ConfigurationConflict"}}
		}, true},
		// The cluster's own health claims no instance: the symptom stays.
		{"the cluster has an issue", "cluster/health", w.ClusterName, func(s *snapshot.Snapshot) {
			s.Cluster.Issues = []snapshot.Issue{{Code: "Ec2SubnetNotFound"}}
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			tt.breakIt(s)
			d := diagnosis(s)
			var certain []string
			for _, c := range d.Causes {
				if c.Confidence == checks.Certain {
					certain = append(certain, string(c.Check)+" "+c.Resource)
				}
			}
			if want := []string{string(tt.cause) + " " + tt.resource}; !slices.Equal(certain, want) || d.Causes[0].Check != tt.cause {
				t.Fatalf("certain causes %q, want first and only %q", certain, want)
			}
			if tt.alone && (len(d.Causes) != 1 || !slices.ContainsFunc(d.Causes[0].Symptoms, ofNode)) {
				t.Errorf("%d causes, the first with symptoms %v, want one with the node's", len(d.Causes), d.Causes[0].Symptoms)
			}
		})
	}
}

func ofNode(id checks.ID) bool { return strings.HasPrefix(string(id), "node/") }

// A fault of the network is the cause, and what the machine says of it is not.
func TestTheConsoleIsHiddenByItsCause(t *testing.T) {
	timeout := `kubelet[2]: "Unable to register node with API server" err="Post \"https://A.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.0.0.1:443: i/o timeout"` + "\n"
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	noWayOut(s)
	wrote(strings.Repeat(timeout, 9))(s)
	got := short(diagnosis(s))
	if !slices.Equal(got.Causes, []string{"route/no-egress " + w.PrivateRTB}) || !slices.Contains(got.Hidden, Hidden{Check: "instance/console-error", Because: "route/no-egress"}) {
		t.Errorf("diagnosis %+v, want route/no-egress with instance/console-error hidden by it", got)
	}
}

// coredns without a node to run on follows from whatever keeps nodes away.
func TestAddonWithoutNodesIsASymptom(t *testing.T) {
	degraded := func(s *snapshot.Snapshot) {
		s.Addons[0].Status, s.Addons[0].Issues = "DEGRADED", []snapshot.Issue{{Code: "InsufficientNumberOfReplicas"}}
	}
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	degraded(s)
	noWayOut(s)
	got := short(diagnosis(s))
	if !slices.Equal(got.Causes, []string{"route/no-egress " + w.PrivateRTB}) || !slices.Contains(got.Symptoms, "addon/degraded") {
		t.Errorf("diagnosis %+v, want route/no-egress with the symptom addon/degraded", got)
	}

	s = w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	degraded(s)
	for _, c := range diagnosis(s).Causes {
		if c.Confidence != checks.Symptom {
			t.Errorf("%s, want only symptoms: nothing explains them", line(c))
		}
	}
}

// What is likely only explains a node that failed; Ready nodes make it advice.
func TestLikelyMachineFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		cause   checks.ID
		breakIt func(*snapshot.Snapshot)
	}{
		"impaired": {"instance/status-check", func(s *snapshot.Snapshot) { s.Statuses[0].System = "impaired" }},
		"retirement": {"instance/scheduled-event", func(s *snapshot.Snapshot) {
			s.Statuses[0].Events = []snapshot.ScheduledEvent{{Code: "instance-retirement", NotBefore: s.Time.Add(time.Hour)}}
		}},
		"both": {"instance/scheduled-event", func(s *snapshot.Snapshot) {
			s.Statuses[0].System = "impaired"
			s.Statuses[0].Events = []snapshot.ScheduledEvent{{Code: "instance-stop"}}
		}},
		"image":     {"instance/ami", func(s *snapshot.Snapshot) { s.Images[0].Architecture = "arm64" }},
		"disk full": {"instance/console-error", wrote("kubelet[2]: write /x: no space left on device")},
		"uninitialised": {"node/uninitialized", func(s *snapshot.Snapshot) {
			s.Nodes = []snapshot.Node{{Name: "n", Instance: w.Node, Ready: snapshot.Condition{Status: "True"}, Uninitialized: true}}
		}},
	} {
		s := w.PrivateWithNAT()
		w.Unjoin(s, w.Node)
		tt.breakIt(s)
		d := diagnosis(s)
		if len(d.Causes) != 1 || d.Causes[0].Check != tt.cause || d.Causes[0].Confidence != checks.Likely || len(d.Causes[0].Symptoms) != 1 {
			t.Errorf("%s: %+v, want one likely cause %s with the symptom", name, short(d), tt.cause)
		}
	}
	// A Ready node's certificate that waits is advice.
	s := w.PrivateWithNAT()
	s.CSRs = []snapshot.CSR{{Name: "csr-1", Signer: "kubernetes.io/kubelet-serving", Username: "test", Created: s.Time.Add(-time.Hour)}}
	if d := diagnosis(s); len(d.Causes) != 1 || d.Causes[0].Check != "node/csr-pending" || d.Causes[0].Confidence != checks.Advice {
		t.Errorf("a pending certificate: %+v, want advice", short(d))
	}
}
