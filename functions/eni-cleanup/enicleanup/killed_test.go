package enicleanup

import (
	"slices"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
)

// TestKilledAtEachWrite: wherever a run ends, the next ones delete, record and tell
// the rest, each interface once; nothing that is kept goes, and nothing stays
// written ahead.
func TestKilledAtEachWrite(t *testing.T) {
	writes := []string{"DeleteNetworkInterface", "PutEvents", "PutItem", "SendMessage"}
	stagetest.KilledAtEachWrite(t, writes, func(t *testing.T, k *stagetest.Kill) any {
		s := open(t, stagetest.Options{Kill: k})
		first, second := s.make(s.left()), s.make(s.left())
		m := s.left()
		m.tags[leak.TagCluster] = "theirs"
		kept := s.make(m)
		for range 5 {
			s.Advance(cadence)
			k.Invoke(s.Sweep())
		}
		type end struct {
			There   map[string]bool
			Records map[string]leak.Result
			Told    []string
			Ahead   int
			Days    []string
			Deletes bool // each was asked for once, one of them once more at most
		}
		sightings, err := s.Store.At(s.Now).Sightings(t.Context(), vpc)
		if err != nil {
			t.Fatal(err)
		}
		e := end{There: map[string]bool{}, Records: map[string]leak.Result{}, Deletes: s.Calls()["ec2:DeleteNetworkInterface"] <= 3}
		for i, id := range []string{first, second, kept} {
			e.There[[]string{"first", "second", "kept"}[i]] = s.there(id)
		}
		for _, x := range sightings {
			if x.Deleting != nil {
				e.Ahead++
			}
		}
		for _, a := range s.audits() {
			name := "second"
			if a.Interface == first {
				name = "first"
			}
			if _, twice := e.Records[name]; twice {
				t.Errorf("%s is recorded twice", a.Interface)
			}
			e.Records[name] = a.Result
		}
		names := map[string]string{stagetest.Cluster + "/" + first + "/deleted": "first", stagetest.Cluster + "/" + second + "/deleted": "second"}
		for _, id := range s.told() {
			e.Told = append(e.Told, names[id])
		}
		slices.Sort(e.Told)
		e.Told = slices.Compact(e.Told) // an event may be sent twice, with the same id
		_, summaries := s.sent()
		for _, x := range summaries {
			e.Days = append(e.Days, x.Cleanup.Day.Format(time.DateOnly))
		}
		e.Days = slices.Compact(e.Days)
		return e
	})
}
