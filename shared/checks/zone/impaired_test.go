package zone

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// launches adds to the history.
func launches(n int, zone string, end snapshot.End, cause checkid.ID) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for range n {
			s.History = append(s.History, snapshot.Past{
				ID: fmt.Sprintf("i-%d", len(s.History)), Group: "eks-workers", Zone: zone, End: end, Cause: cause, Started: s.Time.Add(-40 * time.Minute),
			})
		}
	}
}

func state(zone, word string, messages ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := slices.IndexFunc(s.Zones, func(z snapshot.Zone) bool { return z.Name == zone })
		s.Zones[i].State, s.Zones[i].Messages = word, messages
	}
}

func TestZoneImpaired(t *testing.T) { checktest.RunCases(t, Impaired(), zoneImpairedCases()) }

func zoneImpairedCases() []checktest.Case {
	const (
		well   = "pass prod [us-west-2a us-west-2b us-west-2c]"
		others = "pass prod [us-west-2a us-west-2b]"
		bad    = " us-west-2c [us-west-2c] [] us-west-2c (usw2-az3) is in trouble: not your settings"
	)
	beside := []func(*snapshot.Snapshot){launches(3, zoneA, snapshot.Joined, ""), launches(3, zoneB, snapshot.Joined, "")}
	with := func(more ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(threeZones(beside...), more...)
	}
	ways := []func(*snapshot.Snapshot){launches(3, zoneC, snapshot.NotJoined, "instance/status-check"), launches(2, zoneC, snapshot.Refused, "launch/unclassified")}
	return []checktest.Case{
		{"healthy", snapshottest.PrivateWithNAT(), []string{"pass prod [us-west-2a]"}},
		{"information is no trouble", threeZones(state(zoneC, "information", "maintenance is planned")), []string{well}},
		{"short of capacity alone", with(launches(9, zoneC, snapshot.Refused, "launch/insufficient-capacity")), []string{well}},
		{"capacity and one more way", with(launches(9, zoneC, snapshot.Refused, "launch/insufficient-capacity"), launches(2, zoneC, snapshot.NotJoined, "")), []string{well}},
		{"one way of failing", with(launches(9, zoneC, snapshot.NotJoined, "instance/status-check")), []string{well}},
		{"a setting explains it", with(launches(5, zoneC, snapshot.NotJoined, "route/no-egress"), launches(4, zoneC, snapshot.NotJoined, "")), []string{well}},
		{"the same beside it", with(append(slices.Clone(ways), launches(2, zoneA, snapshot.NotJoined, "instance/status-check"))...), []string{well}},
		{"most join there", with(append(slices.Clone(ways), launches(9, zoneC, snapshot.Joined, ""))...), []string{well}},
		{"a zone in which no group launches", threeZones(group(func(g *snapshot.Group) { g.Zones = []string{zoneA, zoneB} }), state(zoneC, "impaired")), []string{well}},

		{"EC2 says so", threeZones(state(zoneC, "impaired", "increased error rates")), []string{others, "fail" + bad}},
		{"unavailable", threeZones(state(zoneC, "unavailable")), []string{others, "fail" + bad}},
		{"several ways in one zone", with(ways...), []string{others, "fail (likely)" + bad}},
		{"a word that is new", threeZones(state(zoneC, "wobbling")), []string{others, `unknown us-west-2c [us-west-2c] availability zones: broken: EC2 says that us-west-2c is "wobbling", which is not known here`}},
		{"history unread", threeZones(checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [us-west-2a us-west-2b us-west-2c] launch history: denied"}},
	}
}
