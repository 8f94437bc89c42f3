package spot

import (
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestManyRefusals(t *testing.T) { checktest.RunCases(t, ManyRefusals(), manyRefusalsCases()) }

func manyRefusalsCases() []checktest.Case {
	refuse := func(cause checkid.ID, when func(i int, p *snapshot.Past) bool) *snapshot.Snapshot {
		return healthySpot(func(i int, p *snapshot.Past) {
			if when(i, p) {
				cameTo(p, snapshot.Refused, cause)
			}
		})
	}
	inPool := func(_ int, p *snapshot.Past) bool { return p.Type == "c5.large" && p.Zone == "us-west-2b" }
	return []checktest.Case{
		{"no history", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"one pool refuses", refuse("launch/insufficient-capacity", inPool), []string{"fail workers [workers] [] workers: EC2 refused 96 of 384 Spot launches"}},
		{"one in sixteen", refuse("launch/insufficient-capacity", func(i int, p *snapshot.Past) bool { return i%16 == 0 }), []string{"pass workers [workers]"}},
		{"for another reason", refuse("launch/kms-key", inPool), []string{"pass workers [workers]"}},
		{"nobody knows in which pools", healthySpot(func(i int, p *snapshot.Past) {
			if i%2 == 0 {
				cameTo(p, snapshot.Refused, "launch/insufficient-capacity")
				p.Type, p.Zone = "", ""
			}
		}), []string{"unknown workers [workers] launch history: not read: EC2 refused 192 of 384 Spot launches of workers, and did not say in which pools"}},
		{"history unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.LaunchHistory)), []string{"unknown prod [] launch history: denied"}},
	}
}

func TestManyRefusalsNamesThePools(t *testing.T) {
	f := checktest.Failed(t, ManyRefusals(), healthySpot(func(i int, p *snapshot.Past) {
		if p.Type == "c5.large" || i%16 == 3 {
			cameTo(p, snapshot.Refused, "launch/insufficient-capacity")
		}
	}))
	want := "EC2 had no Spot capacity for 216 of 384 launches of workers; 192 of them were in c5.large/us-west-2a and c5.large/us-west-2b."
	if f.Why != want {
		t.Errorf("Why = %q, want %q", f.Why, want)
	}
}
