package diagnose

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func arm(p *snapshot.WaitingPod) { p.Selector = map[string]string{"kubernetes.io/arch": "arm64"} }

// blindToKubernetes has nothing of the cluster's own API.
func blindToKubernetes(s *snapshot.Snapshot) {
	for _, source := range []snapshot.Source{snapshot.Nodes, snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods} {
		snapshottest.Without(s, source)
	}
}

// history adds launches of a group in a zone.
func history(group, zone string, n int, end snapshot.End, cause checkid.ID) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for range n {
			s.History = append(s.History, snapshot.Past{ID: fmt.Sprint(len(s.History)), Group: group, Zone: "us-west-2" + zone, End: end, Cause: cause, Started: s.Time.Add(-40 * time.Minute)})
		}
	}
}

// TestHealthyZones: nothing is said of any of these.
func TestHealthyZones(t *testing.T) {
	const redis = "redash/redis"
	for name, w := range map[string]town{
		"three zones, desired three":              newTown().group("w", "abc", "abc", 3, 5).volume("vol-1", "c", redis).used(),
		"the volume is detached, a node is there": newTown().group("w", "abc", "abc", 3, 5).volume("vol-1", "c", redis),
		"desired two, volumes where the two are":  newTown().group("w", "abc", "ac", 2, 5).volume("vol-1", "c", redis).volume("vol-2", "a", "x/y").used(),
		"Karpenter alone":                         newTown().node("i-0k", "a", map[string]string{"karpenter.sh/nodepool": "default"}).volume("vol-1", "c", redis),
		"Karpenter beside a group":                newTown().group("w", "ab", "ab", 2, 2).node("i-0k", "b", map[string]string{"karpenter.sh/nodepool": "default"}).volume("vol-1", "c", redis),
		"Auto Mode":                               newTown().volume("vol-1", "c", redis).but(func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }),
		"a node is coming": newTown().group("w", "abc", "ab", 3, 3).volume("vol-1", "c", redis).pod("redis-0", redis, 3*time.Minute).but(func(s *snapshot.Snapshot) {
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: "i-0new", Lifecycle: "Pending:Wait", Zone: "us-west-2c"})
		}),
		"a node has just registered": newTown().group("w", "abc", "abc", 3, 3).volume("vol-1", "c", redis).pod("redis-0", redis, 3*time.Minute).but(func(s *snapshot.Snapshot) {
			s.Nodes[2].Ready.Status, s.Nodes[2].Created = "False", s.Time.Add(-time.Minute)
			s.WaitingPods[0].Scheduled.Message = "0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }."
		}),
		"the node is cordoned, its pods still run": newTown().group("w", "abc", "abc", 3, 3).volume("vol-1", "c", redis).used().but(func(s *snapshot.Snapshot) { s.Nodes[2].Cordoned = true }),
		"a volume of another cluster": newTown().group("w", "ab", "ab", 2, 2).volume("vol-1", "c", redis).but(func(s *snapshot.Snapshot) {
			s.Volumes[0].Tags = map[string]string{"kubernetes.io/cluster/dev": "owned", "CSIVolumeName": "x"}
			s.PersistentVolumes, s.Claims = nil, nil
		}),
		"a volume that names no cluster": newTown().group("w", "ab", "ab", 2, 2).volume("vol-1", "c", redis).but(func(s *snapshot.Snapshot) {
			s.Volumes[0].Tags = map[string]string{"ebs.csi.aws.com/cluster": "true", "CSIVolumeName": "x"}
			s.PersistentVolumes, s.Claims = nil, nil
		}),
		"detached, and nobody claims it":                     newTown().group("w", "abc", "ab", 2, 3).volume("vol-1", "c", redis).but(func(s *snapshot.Snapshot) { s.PersistentVolumes[0].Phase, s.Claims = "Released", nil }),
		"a group of that zone alone at zero, which can grow": newTown().group("w", "ab", "ab", 2, 2).group("c", "c", "", 0, 3).volume("vol-1", "c", redis),
		"one nodegroup per zone":                             newTown().group("a", "a", "a", 1, 2).group("b", "b", "b", 1, 2).group("c", "c", "c", 1, 2).volume("vol-1", "c", redis).used(),
		"the claim waits for its first consumer":             newTown().group("w", "abc", "ab", 2, 3).pod("redis-0", redis, time.Hour, func(p *snapshot.WaitingPod) { p.Scheduled.Message = "0/2 nodes are available: 2 Insufficient cpu." }),
		"a Fargate pod without volumes":                      newTown().group("w", "ab", "ab", 2, 2).but(func(s *snapshot.Snapshot) { s.Nodes = append(s.Nodes, snapshot.Node{Name: "fargate-1"}) }),
		"a group is short of capacity in one zone":           newTown().group("w", "abc", "ab", 2, 3).but(history("eks-w", "c", 8, snapshot.Refused, "launch/insufficient-capacity")).but(history("eks-w", "a", 4, snapshot.Joined, "")),
		"an io2 volume whose node is in one of two":          newTown().group("w", "ab", "ab", 2, 2).volume("vol-1", "c", redis).but(func(s *snapshot.Snapshot) { s.PersistentVolumes[0].Zones = []string{"us-west-2b", "us-west-2c"} }),
	} {
		d := Rank(checks.OfZones(), check.Eval(checks.OfZones(), w.Snapshot), w.Snapshot)
		for _, c := range d.Causes {
			if c.Confidence != finding.Advice {
				t.Errorf("%s: %s (%s) of %s: %s", name, c.Check, c.Confidence, c.Resource, c.Title)
			}
		}
	}
}

// TestBrokenZones: the cause that is named first, and how many there are beside
// advice.
func TestBrokenZones(t *testing.T) {
	const redis = "redash/redis"
	const long = 10 * time.Minute
	gap, lost, stuck, bad := "zone/nodegroup-gap", "zone/volume-stranded", "zone/pod-unschedulable", "zone/impaired"
	for name, test := range map[string]struct {
		world town
		want  string
	}{
		"the story":                         {newTown().group("w", "abc", "ab", 2, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long), gap + " certain w"},
		"before a pod waits":                {newTown().group("w", "abc", "ab", 2, 3).volume("vol-1", "c", redis), gap + " likely w"},
		"at the maximum":                    {newTown().group("w", "abc", "ab", 2, 2).volume("vol-1", "c", redis).pod("redis-0", redis, long), gap + " certain w"},
		"Kubernetes cannot be asked":        {newTown().group("w", "abc", "ab", 2, 3).volume("vol-1", "c", redis).but(blindToKubernetes), gap + " possible w"},
		"no group there":                    {newTown().group("w", "ab", "ab", 2, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long), lost + " certain us-west-2c"},
		"no group there, nobody waits":      {newTown().group("w", "ab", "ab", 2, 3).volume("vol-1", "c", redis), lost + " likely us-west-2c"},
		"the group of that zone is gone":    {newTown().group("w", "ab", "ab", 2, 3).group("c", "c", "", 0, 0).volume("vol-1", "c", redis).pod("redis-0", redis, long), lost + " certain us-west-2c"},
		"Karpenter does not come":           {newTown().node("i-0k", "a", map[string]string{"karpenter.sh/nodepool": "default"}).volume("vol-1", "c", redis).pod("redis-0", redis, long), lost + " likely us-west-2c"},
		"a node of another architecture":    {newTown().group("w", "abc", "abc", 3, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long, arm), lost + " certain us-west-2c"},
		"the node there is for others":      {newTown().group("w", "ab", "ab", 2, 3).group("gpu", "c", "c", 1, 1).volume("vol-1", "c", redis).pod("redis-0", redis, long).but(func(s *snapshot.Snapshot) { s.Nodes[2].Repels = []snapshot.Taint{{Key: "gpu", Effect: "NoSchedule"}} }), lost + " certain us-west-2c"},
		"the autoscaler's group stays at 0": {newTown().group("w", "ab", "ab", 2, 2).group("c", "c", "", 0, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long), gap + " likely c"},
		"the node there is full": {newTown().group("w", "abc", "abc", 3, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long, func(p *snapshot.WaitingPod) {
			p.Scheduled.Message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had volume node affinity conflict."
		}), stuck + " likely us-west-2c"},
		"the zone is impaired":            {newTown().group("w", "abc", "ab", 2, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long).but(func(s *snapshot.Snapshot) { s.Zones[2].State = "impaired" }), bad + " certain us-west-2c"},
		"several failures in one zone":    {newTown().group("w", "abc", "ab", 2, 3).but(history("eks-w", "c", 3, snapshot.NotJoined, "instance/status-check")).but(history("eks-w", "c", 2, snapshot.NotJoined, "")).but(history("eks-w", "a", 4, snapshot.Joined, "")), bad + " likely us-west-2c"},
		"launches there fail":             {newTown().group("w", "abc", "ab", 2, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long).but(history("eks-w", "c", 3, snapshot.Refused, "launch/insufficient-capacity")), lost + " certain us-west-2c"},
		"two groups, one takes the pod":   {newTown().group("w", "abc", "ab", 2, 3).group("arm", "abc", "a", 1, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long, arm).but(func(s *snapshot.Snapshot) { s.Nodes[2].Labels["kubernetes.io/arch"] = "arm64" }), gap + " certain arm"},
		"ten volumes are one cause":       {many(newTown().group("w", "abc", "ab", 2, 3)), gap + " likely w"},
		"only its PersistentVolume names": {newTown().group("w", "ab", "ab", 2, 3).volume("vol-1", "c", redis).pod("redis-0", redis, long).but(func(s *snapshot.Snapshot) { s.Volumes[0].Tags = nil }), lost + " certain us-west-2c"},
	} {
		s := test.world.Snapshot
		d := Rank(checks.OfZones(), check.Eval(checks.OfZones(), s), s)
		var got []string
		for _, c := range d.Causes {
			if c.Confidence != finding.Advice {
				got = append(got, fmt.Sprintf("%s %s %s", c.Check, c.Confidence, c.Resource))
			}
		}
		if diff := cmp.Diff([]string{test.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func many(t town) town {
	for i := range 10 {
		t.volume(fmt.Sprintf("vol-%d", i), "c", fmt.Sprintf("db/data-%d", i))
	}
	return t
}

// town is a cluster of zones, made of what is put into it.
type town struct{ *snapshot.Snapshot }

const waiting = "0/3 nodes are available: 3 node(s) had volume node affinity conflict. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."

// newTown has the zones a to d, of which the groups' own are known, and nothing
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
