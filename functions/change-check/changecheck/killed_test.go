package changecheck

import (
	"fmt"
	"testing"
	"time"

	"rollcall/functions/change-check/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// TestKilledAtEachWrite: what was changed is told under one id, and looked for
// again, wherever the function ends.
func TestKilledAtEachWrite(t *testing.T) {
	stagetest.KilledAtEachWrite(t, []string{"SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
		b := stagetest.Start(t, spec.Spec(), Build, stagetest.Options{Kill: k})
		key := report.Key{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: stagetest.Table}
		if _, err := b.Store.SaveIncident(t.Context(), incident.Incident{
			Key: key, Format: report.Format, Account: b.Template.AccountID, Region: b.Template.Region, Partition: "aws",
			State: incident.Open, Number: 1, Began: b.Now(), Opened: b.Now(), Changed: b.Now(), Seen: b.Now(), Covers: []string{stagetest.Subnet},
			Cause: diagnose.Cause{Check: key.Check, Confidence: checks.Certain, Resource: key.Resource, Covers: []string{stagetest.Subnet}, Title: "no route to the internet"},
		}); err != nil {
			t.Fatal(err)
		}
		k.Invoke(stagetest.Batch(fmt.Sprintf(`{"version":"0","id":"e-1","source":"rollcall","detail-type":"Rollcall Incident Opened","account":"111122223333","region":"us-west-2","time":%q,"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
			b.Now().UTC().Format(time.RFC3339), key.Cluster, key.Check, key.Resource)))
		told := map[string]any{} // report takes in each once, by its id
		for _, m := range b.Results() {
			if m.Changes != nil {
				told[m.Changes.ID] = m.Changes.Found.Changes
			}
		}
		if len(told) != 1 {
			t.Errorf("told is %v, want one", told)
		}
		return stagetest.Timeless(t, map[string]any{"told": told, "records": b.Kept(), "again": b.Waiting("rollcall-changes") > 0})
	})
}
