package remediate

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

// TestKilledAtEachWrite: what a person approves, or a policy decides, is done
// once, recorded and told, wherever the function ends. Killed between the record
// that it will be done and the call, nobody can tell whether it was: that is said,
// and it is not tried again.
func TestKilledAtEachWrite(t *testing.T) {
	// The claim is the third write of either, the call the fourth.
	unknown := []string{"3 PutItem, answer lost", "4 CreateRoute"}
	for name, remedies := range map[string]string{"by a person": byPerson, "by a policy": byItself} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, []string{"CreateRoute", "PutEvents", "PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
				s := start(t, remedies, stagetest.Options{Kill: k})
				proposals, told := map[string]report.Proposal{}, map[string]remedy.Run{}
				take := func() {
					list, runs := s.said()
					for _, p := range list {
						proposals[p.ID] = p // report takes it in once
					}
					for _, d := range runs {
						told[d.ID+" "+string(d.Result)] = d
					}
				}
				k.Invoke(stagetest.Batch(s.told(opened)))
				take()
				if remedies == byPerson {
					for _, p := range proposals {
						s.approve(p)
					}
					k.Invoke(stagetest.Batch(s.told(approval)))
					take()
				}
				want, calls := action.Done, 1
				if slices.Contains(unknown, k.String()) {
					want, calls = action.Uncertain, 0
				}
				kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range slices.Concat(kept, slices.Collect(maps.Values(told))) {
					if d.Result != want || d.Ended.IsZero() {
						t.Errorf("run %+v, want %s", d, want)
					}
				}
				if n := s.Calls()["ec2:CreateRoute"]; n != calls || (s.routes()["0.0.0.0/0"] == nat) != (calls == 1) || len(s.routes()) != 1+calls {
					t.Errorf("%d calls of CreateRoute, want %d; routes %v", n, calls, s.routes())
				}
				return stagetest.Timeless(t, map[string]any{
					"proposals": proposals, "told": len(told), "runs": len(kept), "wanted": s.wanted() > 0,
					"records": slices.Sorted(maps.Keys(s.Kept())),
				})
			})
		})
	}
}

// TestReplaceKilledAtEachWrite: an instance is ended once, recorded and told,
// wherever the function ends. Killed between the record that it will be and the
// call, it is not ended, and that is what is said.
func TestReplaceKilledAtEachWrite(t *testing.T) {
	unknown := []string{"3 PutItem, answer lost", "4 TerminateInstanceInAutoScalingGroup"}
	stagetest.KilledAtEachWrite(t, []string{"PutEvents", "PutItem", "SendMessage", "TerminateInstanceInAutoScalingGroup"}, func(t *testing.T, k *stagetest.Kill) any {
		s := healed(t, "auto", stagetest.Options{Kill: k})
		s.Advance(replaceinstance.Settle + time.Second)
		k.Invoke(stagetest.Batch(s.told("Rollcall Incident Changed")))
		want, calls := action.Done, 1
		if slices.Contains(unknown, k.String()) {
			want, calls = action.Uncertain, 0
		}
		_, runs := s.said()
		kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, d := range slices.Concat(kept, runs) {
			if d.Result != want || d.Ended.IsZero() {
				t.Errorf("run %+v, want %s", d, want)
			}
			told[d.ID] = true
		}
		if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != calls {
			t.Errorf("%d instances were ended, want %d", n, calls)
		}
		return stagetest.Timeless(t, map[string]any{"runs": len(told), "kept": len(kept), "wanted": s.wanted() > 0, "records": slices.Sorted(maps.Keys(s.Kept()))})
	})
}

// TestRemedyKilledAtEachWrite: so it is with what the other remedies change.
func TestRemedyKilledAtEachWrite(t *testing.T) {
	for _, x := range tales() {
		_, call, _ := strings.Cut(x.call, ":")
		switch x.remedy { // EKS speaks REST: docs.aws.amazon.com/eks/latest/APIReference
		case optin.CoverZones:
			call = "POST /clusters/" + stagetest.Cluster + "/node-groups/default/update-config"
		case optin.CreateAccessEntry:
			call = "POST /clusters/" + stagetest.Cluster + "/access-entries"
		}
		// After an approval the run is counted, then claimed; then comes the call.
		unknown := []string{"2 PutItem, answer lost", "3 " + call}
		t.Run(string(x.remedy), func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, slices.Sorted(slices.Values([]string{"PutEvents", "PutItem", "SendMessage", call})), func(t *testing.T, k *stagetest.Kill) any {
				s := x.openWith(t, optin.Approve, stagetest.Options{Kill: k})
				x.press(s, x.propose(s))
				s.Calls()
				k.Invoke(stagetest.Batch(s.told(approval)))
				want, calls := action.Done, 1
				if slices.Contains(unknown, k.String()) {
					want, calls = action.Uncertain, 0
				}
				_, runs := s.said()
				kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
				if err != nil {
					t.Fatal(err)
				}
				told := map[string]bool{}
				for _, d := range slices.Concat(kept, runs) {
					if d.Result != want || d.Ended.IsZero() {
						t.Errorf("run %+v, want %s", d, want)
					}
					told[d.ID] = true
				}
				s.Advance(10 * time.Minute) // until a nodegroup has changed
				if n := s.Calls()[x.call]; n != calls || x.undone(s) != (calls == 0) {
					t.Errorf("%d calls of %s, want %d; undone %t", n, x.call, calls, x.undone(s))
				}
				return stagetest.Timeless(t, map[string]any{"runs": len(told), "kept": len(kept), "wanted": s.wanted() > 0, "records": slices.Sorted(maps.Keys(s.Kept()))})
			})
		})
	}
}
