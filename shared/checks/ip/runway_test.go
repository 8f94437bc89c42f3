package ip

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// trend is a world whose private subnet, of 4,091 addresses, had as many free as
// the function says of each five minutes since so many hours.
func trend(hours int, free func(ago time.Duration) int, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	s.Scope.Launchable = []string{snapshottest.Private}
	for ago := time.Duration(hours) * time.Hour; ago >= 0; ago -= 5 * time.Minute {
		s.Samples = append(s.Samples, snapshot.Sample{Subnet: snapshottest.Private, At: s.Time.Add(-ago), Free: free(ago), Total: 4091})
	}
	snapshottest.Subnet(s, snapshottest.Private).Free = free(0)
	s.Groups[0].Desired = len(s.Groups[0].Instances)
	return checktest.Change(s, changes...)
}

func level(n int) func(time.Duration) int { return func(time.Duration) int { return n } }

// losing is a subnet with 3,000 free, of which it has lost some an hour for some
// hours, down to what is left.
func losing(perHour, left float64) func(time.Duration) int {
	return func(ago time.Duration) int { return int(min(left+perHour*ago.Hours(), 3000)) }
}

func TestRunway(t *testing.T) { checktest.RunCases(t, Runway(), runwayCases()) }

func runwayCases() []checktest.Case {
	wanted := func(n int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups[0].Desired += n
			s.Groups[0].Subnets = []string{snapshottest.Private}
		}
	}
	fail := func(confidence, at string) []string {
		return []string{"fail (" + confidence + ") subnet-0private [subnet-0private] [] subnet-0private runs out of addresses at about " + at}
	}
	pass := []string{"pass subnet-0private [subnet-0private]"}
	return []checktest.Case{
		{"no fall", trend(72, level(3000)), pass},
		{"a fall of hours", trend(72, losing(200, 1009)), fail("likely", "19:55 UTC")},
		{"a week would be left", trend(72, losing(5, 1009)), pass},
		{"it is left by a longer horizon", trend(120, losing(30, 1089), func(s *snapshot.Snapshot) { s.Horizon = 72 * time.Hour }), fail("likely", "22 Nov 02:35 UTC")},
		{"and not by a shorter one", trend(120, losing(30, 1089)), pass},
		{"launches that are wanted are taken off", trend(72, losing(200, 1009), wanted(20)), fail("likely", "18:55 UTC")},
		{"a group that launches nothing wants none", trend(72, losing(200, 1009), wanted(20), func(s *snapshot.Snapshot) {
			s.Groups[0].Suspended = []snapshot.Suspended{{Process: "Launch"}}
		}), fail("likely", "19:55 UTC")},
		{"of types that were not read each address counts", trend(72, losing(200, 1000), checktest.Unread(snapshot.InstanceTypes)), fail("likely", "19:55 UTC")},
		{"nothing is left", trend(72, losing(200, 5)), []string{"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no addresses left for one more node"}},
		{"what is wanted may go elsewhere", trend(72, func(time.Duration) int { return 100 }, wanted(20)), pass},
		{"a subnet of IPv6 addresses", trend(72, level(0), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Private).CIDR = netip.Prefix{} }), pass},
		{"nobody looked", trend(0, level(3000)), []string{"unknown subnet-0private [subnet-0private] launch history: not read: what subnet-0private has left was not recorded often enough lately (1 samples)"}},
		{"nobody looked lately", trend(72, losing(200, 1009), func(s *snapshot.Snapshot) { s.Samples = s.Samples[:len(s.Samples)-12] }), []string{
			"unknown subnet-0private [subnet-0private] launch history: not read: what subnet-0private has left was not recorded often enough lately (853 samples)",
		}},
		{"no group launches anywhere", checktest.Change(trend(72, losing(200, 1009)), func(s *snapshot.Snapshot) { s.Scope.Launchable = nil }), []string{"pass prod [prod]"}},
		{"samples unread", trend(72, losing(200, 1009), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestRunwayWords(t *testing.T) {
	f := checktest.Failed(t, Runway(), trend(72, losing(200, 1009)))
	want := "Since 05:00 UTC subnet-0private lost 201 addresses an hour, from 3,000 to 1,009. At that pace one more m5.large fits (10 addresses) until 19:55 UTC"
	if !strings.HasPrefix(f.Why, want) {
		t.Errorf("why = %q, want %q …", f.Why, want)
	}
	for n, want := range map[float64]string{0.44: "0.4 addresses", 1: "1.0 address", 42.4: "42 addresses", 1204: "1,204 addresses"} {
		if got := addressesOf(n); got != want {
			t.Errorf("addressesOf(%v) = %q, want %q", n, got, want)
		}
	}
}
