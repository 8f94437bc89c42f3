package zone

import (
	"fmt"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// The zones of the worlds below.
const (
	zoneA = "us-west-2a"
	zoneB = "us-west-2b"
	zoneC = "us-west-2c"
)

const conflict = "0/2 nodes are available: 2 node(s) had volume node affinity conflict. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."

// threeZones is a cluster with one nodegroup over three zones whose nodes are
// in the given ones, and with the volume of claim redash/redis in the third,
// which a pod waits for since ten minutes.
func threeZones(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.Instances, s.Nodes, s.Launches, s.Scope = nil, nil, nil, snapshot.Scope{}
	s.Volumes, s.PersistentVolumes, s.Claims = nil, nil, nil
	s.Zones = nil
	for i, z := range []string{zoneA, zoneB, zoneC} {
		s.Zones = append(s.Zones, snapshot.Zone{Name: z, ID: fmt.Sprintf("usw2-az%d", i+1), Kind: "availability-zone", State: "available"})
	}
	g := &s.Groups[0]
	g.Zones, g.Desired, g.Max = []string{zoneA, zoneB, zoneC}, 2, 3
	standing(zoneA, zoneB)(s)
	volumeIn("vol-0redis", zoneC, "redash/redis")(s)
	waits("redash/redis-0", "redis", 10*time.Minute, conflict)(s)
	return checktest.Change(s, changes...)
}

// standing puts Ready nodes of the group into zones, in place of those it has.
func standing(zones ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		g := &s.Groups[0]
		g.Instances, s.Nodes, s.Instances = nil, nil, nil
		for i, z := range zones {
			nodeOf(s, g, fmt.Sprintf("i-0node%d", i), z)
		}
		g.Desired = len(zones)
	}
}

func nodeOf(s *snapshot.Snapshot, g *snapshot.Group, id, zone string) {
	g.Instances = append(g.Instances, snapshot.GroupInstance{ID: id, Lifecycle: "InService", Health: "Healthy", Zone: zone})
	s.Instances = append(s.Instances, snapshot.Instance{ID: id, State: "running", Zone: zone, Launched: s.Time.Add(-time.Hour), Tags: map[string]string{"kubernetes.io/cluster/prod": "owned", "aws:autoscaling:groupName": g.Name}})
	s.Nodes = append(s.Nodes, snapshot.Node{
		Name: id + ".internal", Instance: id, Zone: zone, Created: s.Time.Add(-time.Hour), Ready: snapshot.Condition{Status: "True"},
		Labels: map[string]string{"kubernetes.io/arch": "amd64", scheduling.ZoneLabel: zone, scheduling.GroupLabel: "workers", scheduling.HostLabel: id},
	})
}

// volumeIn adds a volume of the cluster, detached, with its claim bound.
func volumeIn(id, zone, claim string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		var ns, name string
		for i, r := range claim {
			if r == '/' {
				ns, name = claim[:i], claim[i+1:]
			}
		}
		s.Volumes = append(s.Volumes, snapshot.Volume{ID: id, Zone: zone, State: "available", Type: "gp3", GiB: 8, Tags: map[string]string{
			"kubernetes.io/cluster/prod": "owned", "ebs.csi.aws.com/cluster": "true", csiTag: "pv-" + id,
			"kubernetes.io/created-for/pvc/namespace": ns, "kubernetes.io/created-for/pvc/name": name,
		}})
		s.PersistentVolumes = append(s.PersistentVolumes, snapshot.PersistentVolume{Name: "pv-" + id, Phase: "Bound", Volume: id, Zones: []string{zone}, Claim: claim})
		s.Claims = append(s.Claims, snapshot.Claim{Namespace: ns, Name: name, Phase: "Bound", Volume: "pv-" + id})
	}
}

const csiTag = "CSIVolumeName"

// waits adds a pod that has been waiting.
func waits(pod, claim string, ago time.Duration, message string, changes ...func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		var ns, name string
		for i, r := range pod {
			if r == '/' {
				ns, name = pod[:i], pod[i+1:]
			}
		}
		p := snapshot.WaitingPod{
			Namespace: ns, Name: name, Created: s.Time.Add(-ago), Claims: []string{claim},
			Scheduled: snapshot.Condition{Status: "False", Reason: "Unschedulable", Message: message, Since: s.Time.Add(-ago)},
		}
		for _, f := range changes {
			f(&p)
		}
		s.WaitingPods = append(s.WaitingPods, p)
	}
}

// noPods takes away the pods that wait.
func noPods(s *snapshot.Snapshot) { s.WaitingPods = nil }

// attached attaches the volume to an instance.
func attached(to string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Volumes[0].State, s.Volumes[0].Attached = "in-use", []string{to} }
}

// pod changes the pod that waits.
func pod(f func(*snapshot.WaitingPod)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { f(&s.WaitingPods[0]) }
}

// group changes the nodegroup's Auto Scaling group.
func group(f func(*snapshot.Group)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { f(&s.Groups[0]) }
}

// anotherGroup adds a second group, without nodes.
func anotherGroup(name string, desired, most int, zones ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Groups = append(s.Groups, snapshot.Group{Name: name, Desired: desired, Max: most, Zones: zones, Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}})
	}
}

// karpenter adds a node that Karpenter launched.
func karpenter(s *snapshot.Snapshot) {
	s.Nodes = append(s.Nodes, snapshot.Node{
		Name: "kp.internal", Instance: "i-0karpenter", Zone: zoneA, Created: s.Time.Add(-time.Hour), Ready: snapshot.Condition{Status: "True"},
		Labels: map[string]string{scheduling.PoolLabel: "default", scheduling.ZoneLabel: zoneA, "kubernetes.io/arch": "amd64"},
	})
}

// pooled has a NodePool of Karpenter whose class found a subnet in each of the
// zones; for no zone it does not say which it found.
func pooled(zones ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		class := snapshot.NodeClass{Name: "default"}
		for _, z := range zones {
			class.Selected = append(class.Selected, snapshot.ZonedSubnet{ID: "subnet-" + z, Zone: z})
		}
		s.NodePools = []snapshot.NodePool{{Name: "default", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "default"}}}
		s.EC2NodeClasses = []snapshot.NodeClass{class}
		for _, source := range []snapshot.Source{snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf} {
			s.Read[source] = true
		}
	}
}
