package zone

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// shiftedAway has a shift of the cluster, or of a group, away from a zone, which cordons
// the nodes there if it is the cluster's.
func shiftedAway(zone, group string, kind snapshot.ShiftKind, changes ...func(*snapshot.Shift)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.ZonalShift = true
		x := snapshot.Shift{ID: "9ac9ec1e", Group: group, ZoneID: strings.Replace(zone, "us-west-2", "usw2-az", 1), Kind: kind, Started: s.Time.Add(-time.Hour), Expires: s.Time.Add(time.Hour)}
		x.ZoneID = map[string]string{zoneA: "usw2-az1", zoneB: "usw2-az2", zoneC: "usw2-az3"}[zone]
		for _, f := range changes {
			f(&x)
		}
		if kind == snapshot.Autoshift {
			x.ID, x.Expires = "", time.Time{}
			s.Autoshifts = append(s.Autoshifts, x)
		} else {
			s.Shifts = append(s.Shifts, x)
		}
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Zone == zone && group == "" && x.Expires.After(s.Time) {
				n.Cordoned = true
			}
		}
	}
}

// selfManaged takes the nodegroup away that the group is of.
func selfManaged(s *snapshot.Snapshot) {
	s.Nodegroups = nil
	delete(s.Groups[0].Tags, "eks:nodegroup-name")
}

const noRoom = "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/3 nodes are available."

func TestShifted(t *testing.T) {
	const (
		person = snapshot.PersonsShift
		abc    = "pass prod [us-west-2a us-west-2b us-west-2c]"
		ab     = "pass prod [us-west-2a us-west-2b]"
		waits1 = " us-west-2c [us-west-2c] [] redash/redis-0 waits for us-west-2c, which is shifted away"
		advice = "fail (advice) us-west-2c [us-west-2c] [] us-west-2c is shifted away until 2026-11-20 16:00 UTC"
	)
	group := func(s *snapshot.Snapshot) string { return s.Groups[0].Name }
	name := group(threeZones())
	spread := standing(zoneA, zoneB, zoneC)
	checktest.RunCases(t, Shifted(), []checktest.Case{
		// What it must not report comes first.
		{"no shift", threeZones(), []string{abc}},
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [us-west-2a]"}},
		{"expired", threeZones(shiftedAway(zoneC, "", person, func(x *snapshot.Shift) { x.Expires = x.Started.Add(time.Minute) })), []string{abc}},
		{"not begun", threeZones(shiftedAway(zoneC, "", person, func(x *snapshot.Shift) { x.Started = x.Expires.Add(-time.Minute) })), []string{abc}},
		{"of a zone that is not the cluster's", twoZones(noPods, shiftedAway(zoneC, "", person)), []string{abc}},
		{"a pod waits for a zone that is not the cluster's", twoZones(shiftedAway(zoneC, "", person)), []string{abc}},
		{"of another group", threeZones(shiftedAway(zoneC, "eks-other", person)), []string{abc}},
		{"a practice run that nothing waits for", threeZones(noPods, spread, shiftedAway(zoneC, "", snapshot.PracticeRun)), []string{abc}},
		{"of the cluster, and the group is self-managed", threeZones(selfManaged, shiftedAway(zoneC, "", person)), []string{abc}},

		{"nothing waits", threeZones(noPods, spread, shiftedAway(zoneC, "", person)), []string{ab, advice}},
		{"a pod waits for another zone", threeZones(spread, shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) {
			s.Volumes[0].Zone, s.PersistentVolumes[0].Zones = zoneB, []string{zoneB}
		}), []string{ab, advice}},
		{"a pod waits for its volume", threeZones(shiftedAway(zoneC, "", person)), []string{ab, "fail" + waits1}},
		{"a pod waits, and its node is cordoned", threeZones(spread, shiftedAway(zoneC, "", person)), []string{ab, "fail" + waits1}},
		{"a practice run, and a pod waits", threeZones(shiftedAway(zoneC, "", snapshot.PracticeRun)), []string{ab, "fail" + waits1}},
		{"an autoshift, and a pod waits", threeZones(shiftedAway(zoneC, "", snapshot.Autoshift)), []string{ab, "fail" + waits1}},
		{"an autoshift comes before a practice run", threeZones(shiftedAway(zoneA, "", snapshot.PracticeRun), shiftedAway(zoneC, "", snapshot.Autoshift)), []string{ab, "fail" + waits1}},
		{"of the group", threeZones(shiftedAway(zoneC, name, person)), []string{ab, "fail" + waits1}},
		{"of the group, and a node is there", threeZones(spread, shiftedAway(zoneC, name, person)), []string{ab, "fail (likely)" + waits1}},
		{"a pod that asks for the zone", threeZones(shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) {
			s.Volumes, s.PersistentVolumes, s.Claims = nil, nil, nil
			s.WaitingPods[0].Claims, s.WaitingPods[0].Selector = nil, map[string]string{"topology.kubernetes.io/zone": zoneC}
			s.WaitingPods[0].Scheduled.Message = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
		}), []string{ab, "fail" + waits1}},
		{"the pod waits for something else too", threeZones(shiftedAway(zoneC, "", person), pod(func(w *snapshot.WaitingPod) {
			w.Scheduled.Message = "0/2 nodes are available: 2 Insufficient memory."
		})), []string{ab, "fail (likely)" + waits1}},
		{"a self-managed group can bring a node", threeZones(shiftedAway(zoneC, "", person), anotherGroup("own", 0, 3, zoneC)), []string{ab, "fail (likely)" + waits1}},
		{"Karpenter can bring a node", threeZones(shiftedAway(zoneC, "", person), pooled(zoneA, zoneC)), []string{ab, "fail (likely)" + waits1}},
		{"Karpenter says that it cannot", threeZones(shiftedAway(zoneC, "", person), pooled(zoneA, zoneC), func(s *snapshot.Snapshot) {
			s.Read[snapshot.PoolEventsOf] = true
			s.PoolEvents = []snapshot.PoolEvent{{Kind: "NodePool", Name: "default", Reason: "ZonalShiftActive", Message: "Zonal shift detected: offerings in zone us-west-2c (usw2-az3) are unavailable for this NodePool"}}
		}), []string{ab, "fail" + waits1}},
		{"Auto Mode", threeZones(group0(zoneA, zoneB), shiftedAway(zoneC, "", person), pooled(zoneA, zoneC), func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }), []string{ab, "fail" + waits1}},
		{"a claim holds a volume there, and no pod waits", threeZones(noPods, shiftedAway(zoneC, "", person)), []string{ab, "fail (likely) us-west-2c [us-west-2c] [] vol-0redis (redash/redis) is in us-west-2c, which is shifted away"}},
		{"no claim holds it", threeZones(noPods, shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) { s.PersistentVolumes, s.Claims = nil, nil }), []string{ab, advice}},
		{"no room on the other nodes", threeZones(spread, shiftedAway(zoneC, "", person), func(s *snapshot.Snapshot) {
			s.WaitingPods[0].Claims = nil
			s.WaitingPods[0].Scheduled.Message = noRoom
		}), []string{ab, "fail (likely) us-west-2c [us-west-2c] [] redash/redis-0 has no room while us-west-2c is shifted away"}},
		{"the group has no other zone", threeZones(noPods, shiftedAway(zoneC, "", person), group0(zoneC), func(s *snapshot.Snapshot) {
			s.Volumes, s.PersistentVolumes, s.Claims = nil, nil, nil
			s.Groups[0].Desired = 3
		}), []string{ab, "fail (likely) us-west-2c [us-west-2c] [] workers cannot launch: us-west-2c is shifted away"}},

		{"not read", threeZones(shiftedAway(zoneC, "", person), checktest.Unread(snapshot.ZonalShifts)), []string{"unknown prod [] zonal shifts: denied"}},
		{"the zone's name not read", threeZones(shiftedAway(zoneC, "", person), checktest.Unread(snapshot.ZonesOf)), []string{"unknown prod [us-west-2a us-west-2b us-west-2c] availability zones: denied"}},
		{"the zones not read, and nothing shifted", threeZones(func(s *snapshot.Snapshot) { s.Cluster.ZonalShift = true }, checktest.Unread(snapshot.ZonesOf)), []string{abc}},
		{"autoshifts not read", threeZones(shiftedAway(zoneC, "", person), checktest.Unread(snapshot.AutoshiftsOf)), []string{"unknown prod [us-west-2a us-west-2b] zonal autoshifts: denied", "fail" + waits1}},
	})
}

// group0 has the nodegroup's group launch in other zones.
func group0(zones ...string) func(*snapshot.Snapshot) {
	return group(func(g *snapshot.Group) { g.Zones = zones })
}

// TestShiftedSaysWhatItDoes: who shifted, until when, what that does, and how it ends.
func TestShiftedSaysWhatItDoes(t *testing.T) {
	for name, tt := range map[string]struct {
		world     *snapshot.Snapshot
		why, text string
		command   string
	}{
		"a person": {
			threeZones(standing(zoneA, zoneC), shiftedAway(zoneC, "", snapshot.PersonsShift)),
			"A zonal shift moves the cluster away from us-west-2c (usw2-az3) since 2026-11-20 14:00 UTC, until 2026-11-20 16:00 UTC: 1 node there is cordoned, and workers launches nothing there. Pod redash/redis-0 waits since 14:50:00 UTC and needs volume vol-0redis of claim redash/redis, which lives there.",
			"Ask who started it whether the zone is well. Once it is, cancel the shift (aws arc-zonal-shift cancel-zonal-shift --region us-west-2 --zonal-shift-id 9ac9ec1e), or let it expire at 2026-11-20 16:00 UTC. Raising a desired count brings no node to the zone meanwhile; what has no volume there can run in the other zones.",
			"aws arc-zonal-shift list-zonal-shifts --region us-west-2 --status ACTIVE",
		},
		"AWS": {
			threeZones(shiftedAway(zoneC, "", snapshot.Autoshift)),
			"A zonal autoshift, which AWS started, moves the cluster away from us-west-2c (usw2-az3) since 2026-11-20 14:00 UTC: workers launches nothing there. Pod redash/redis-0 waits since 14:50:00 UTC and needs volume vol-0redis of claim redash/redis, which lives there.",
			"AWS ends it once the zone has recovered; https://health.aws.amazon.com says what is known. Raising a desired count brings no node to the zone meanwhile; what has no volume there can run in the other zones.",
			"aws arc-zonal-shift list-autoshifts --region us-west-2 --status ACTIVE",
		},
		"a practice run": {
			threeZones(shiftedAway(zoneC, "", snapshot.PracticeRun)),
			"A practice run of zonal autoshift moves the cluster away from us-west-2c (usw2-az3) since 2026-11-20 14:00 UTC, until 2026-11-20 16:00 UTC: workers launches nothing there. Pod redash/redis-0 waits since 14:50:00 UTC and needs volume vol-0redis of claim redash/redis, which lives there.",
			"It ends by itself at 2026-11-20 16:00 UTC. What waits now would wait in an outage of the zone, too: give it room, or its volumes, in the other zones.",
			"aws arc-zonal-shift list-zonal-shifts --region us-west-2 --status ACTIVE",
		},
	} {
		r := checktest.Failed(t, Shifted(), tt.world)
		if r.Why != tt.why || r.Fix.Text != tt.text || r.Fix.Command != tt.command {
			t.Errorf("%s:\n%s\n%s\n%s", name, r.Why, r.Fix.Text, r.Fix.Command)
		}
	}
}

// TestShiftedIsTheCause: what follows from a shift names it, so that the shift hides it, and
// offers no remedy; where the shifts were refused, that is said, and nothing is certain.
func TestShiftedIsTheCause(t *testing.T) {
	s := threeZones(shiftedAway(zoneC, "", snapshot.PersonsShift))
	r := checktest.Failed(t, VolumeStranded(), s)
	if want := "a zonal shift of the cluster until 2026-11-20 16:00 UTC keeps launches of workers out of us-west-2c"; !strings.Contains(r.Why, want) {
		t.Errorf("why %q, want %q", r.Why, want)
	}
	if got := checktest.Lines(checktest.EvalOne(t, NodegroupGap(), s)); strings.Contains(strings.Join(got, ""), "fail") {
		t.Errorf("a gap that a higher count would fill: %q", got)
	}
	s = threeZones(shiftedAway(zoneC, "", snapshot.PersonsShift), checktest.Unread(snapshot.ZonalShifts))
	s.Shifts = nil
	r = checktest.Failed(t, NodegroupGap(), s)
	if r.Confidence != finding.Likely {
		t.Errorf("confidence %q without shifts, want likely", r.Confidence)
	}
	if got, want := checktest.Value(t, r, "Not checked"), "zone/shifted, zonal shifts (denied: test:Read zonal shifts)"; got != want {
		t.Errorf("not checked: %q, want %q", got, want)
	}
}
