package incidents

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/dynamo"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// TestEverywhere: incidents of clusters of one name in several accounts are listed, each by
// a name of its own, by which it is found.
func TestEverywhere(t *testing.T) {
	server := dynamo.New()
	if err := server.CreateTable(t.Context(), "rollcall"); err != nil {
		t.Fatal(err)
	}
	table := store.New(server.Client(), "rollcall")
	payments := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for _, id := range []spoke.ID{{}, payments} {
		inc := incident.Incident{Key: report.Key{Spoke: id, Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, State: incident.Open, Number: 1, Began: time.Now(), Opened: time.Now()}
		if _, err := table.In(id).SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
		if err := table.In(id).SaveClusterRecord(t.Context(), outbox.ClusterRecord{Cluster: "prod", Open: true}); err != nil {
			t.Fatal(err)
		}
	}
	all := Everywhere(table, []config.Spoke{{ID: payments}})
	rows, err := List(t.Context(), all, Query{})
	if err != nil {
		t.Fatal(err)
	}
	var ids, clusters []string
	for _, r := range rows {
		ids, clusters = append(ids, r.ID), append(clusters, r.Cluster)
	}
	if diff := cmp.Diff([]string{"prod", "222233334444/eu-west-1/prod"}, clusters); diff != "" {
		t.Errorf("clusters (-want +got):\n%s", diff)
	}
	for i, id := range ids {
		inc, err := Find(t.Context(), all, id)
		if err != nil || inc.Key.Of().String() != clusters[i] {
			t.Errorf("%s is %s, %v", id, inc.Key.Name(), err)
		}
	}
	if rows, err := List(t.Context(), all, Query{Clusters: []string{"222233334444/eu-west-1/prod"}}); err != nil || len(rows) != 1 {
		t.Errorf("of one cluster: %+v, %v", rows, err)
	}
	if _, err := List(t.Context(), all, Query{Clusters: []string{"2222/prod"}}); err == nil {
		t.Error("a name that is none was looked for")
	}

	// The spoke is taken out of the settings, and what was open there is closed.
	inc, err := Find(t.Context(), all, ids[1])
	if err != nil {
		t.Fatal(err)
	}
	inc.State, inc.Resolved = incident.Closed, time.Now()
	if _, err := table.In(payments).SaveIncident(t.Context(), inc); err != nil {
		t.Fatal(err)
	}
	if err := table.In(payments).SaveClusterRecord(t.Context(), outbox.ClusterRecord{Cluster: "prod", Version: 1}); err != nil {
		t.Fatal(err)
	}
	if err := table.SaveWatchedSpoke(t.Context(), store.WatchedSpoke{Spoke: payments, Left: time.Now(), Done: true}); err != nil {
		t.Fatal(err)
	}
	rows, err = List(t.Context(), Everywhere(table, nil), Query{Closed: true})
	if err != nil || len(rows) != 2 || rows[1].ID != ids[1] {
		t.Errorf("after it was taken out: %+v, %v", rows, err)
	}
}
