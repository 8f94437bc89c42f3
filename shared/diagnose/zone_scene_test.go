package diagnose

import (
	"fmt"
	"strings"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// town is a cluster of zones, made of what is put into it.
type town struct{ *snapshot.Snapshot }

const waiting = "0/3 nodes are available: 3 node(s) had volume node affinity conflict. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."

// newTown has the zones a to d, of which the groups' own are told, and nothing
// else.
func newTown() town {
	s := snapshottest.PrivateWithNAT()
	s.Instances, s.Nodes, s.Launches, s.Groups, s.Nodegroups, s.Zones = nil, nil, nil, nil, nil, nil
	s.Volumes, s.PersistentVolumes, s.Claims, s.Subnets, s.Scope = nil, nil, nil, nil, snapshot.Scope{}
	for i, z := range []string{"a", "b", "c", "d"} {
		s.Zones = append(s.Zones, snapshot.Zone{Name: "us-west-2" + z, ID: fmt.Sprintf("usw2-az%d", i+1), Kind: "availability-zone", State: "available"})
	}
	return town{s}
}

// group adds a managed nodegroup over zones ("abc"), with a node in each of
// those of nodes ("ab").
func (t town) group(name, zones, nodes string, desired, most int) town {
	g := snapshot.Group{Name: "eks-" + name, Desired: desired, Max: most, Tags: map[string]string{"eks:cluster-name": "prod", "eks:nodegroup-name": name}}
	for _, z := range zones {
		g.Zones = append(g.Zones, "us-west-2"+string(z))
	}
	for i, z := range nodes {
		id := fmt.Sprintf("i-0%s%d", name, i)
		g.Instances = append(g.Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService", Zone: "us-west-2" + string(z)})
		t.node(id, string(z), map[string]string{"eks.amazonaws.com/nodegroup": name})
	}
	t.Groups = append(t.Groups, g)
	t.Nodegroups = append(t.Nodegroups, snapshot.Nodegroup{Name: name, Cluster: "prod", Status: "ACTIVE", Groups: []string{g.Name}, AMIType: "AL2023_x86_64_STANDARD", Desired: desired, Max: most})
	return t
}

func (t town) node(id, zone string, labels map[string]string) town {
	full := map[string]string{"kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": "us-west-2" + zone}
	for k, v := range labels {
		full[k] = v
	}
	t.Nodes = append(t.Nodes, snapshot.Node{
		Name: id + ".internal", Instance: id, Zone: "us-west-2" + zone, Created: t.Time.Add(-time.Hour), Ready: snapshot.Condition{Status: "True"}, Labels: full,
	})
	return t
}

// volume adds a detached volume whose claim is bound.
func (t town) volume(id, zone, claim string) town {
	ns, name, _ := strings.Cut(claim, "/")
	t.Volumes = append(t.Volumes, snapshot.Volume{ID: id, Zone: "us-west-2" + zone, State: "available", Tags: map[string]string{
		"kubernetes.io/cluster/prod": "owned", "CSIVolumeName": "pv-" + id,
		"kubernetes.io/created-for/pvc/namespace": ns, "kubernetes.io/created-for/pvc/name": name,
	}})
	t.PersistentVolumes = append(t.PersistentVolumes, snapshot.PersistentVolume{Name: "pv-" + id, Phase: "Bound", Volume: id, Zones: []string{"us-west-2" + zone}, Claim: claim})
	t.Claims = append(t.Claims, snapshot.Claim{Namespace: ns, Name: name, Phase: "Bound", Volume: "pv-" + id})
	return t
}

// used attaches all volumes that are there so far.
func (t town) used() town {
	for i := range t.Volumes {
		t.Volumes[i].State, t.Volumes[i].Attached = "in-use", []string{"i-0somewhere"}
	}
	return t
}

// pod adds one that waits for a claim since a time.
func (t town) pod(name, claim string, ago time.Duration, with ...func(*snapshot.WaitingPod)) town {
	ns, of, _ := strings.Cut(claim, "/")
	p := snapshot.WaitingPod{
		Namespace: ns, Name: name, Owner: "StatefulSet x", Created: t.Time.Add(-ago), Claims: []string{of},
		Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: waiting, Since: t.Time.Add(-ago)},
	}
	for _, f := range with {
		f(&p)
	}
	t.WaitingPods = append(t.WaitingPods, p)
	return t
}

// but changes it otherwise.
func (t town) but(f func(*snapshot.Snapshot)) town {
	f(t.Snapshot)
	return t
}
