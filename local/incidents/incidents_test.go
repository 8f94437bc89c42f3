package incidents

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

func made(cluster string, id checkid.ID, resource string, s incident.State, began int) incident.Incident {
	inc := incident.Incident{
		Key: report.Key{Cluster: cluster, Check: id, Resource: resource}, State: s, Began: at(began), Number: 1, Affected: 2,
		Cause: diagnose.Cause{Check: id, Confidence: checks.Certain, Resource: resource, Title: resource + " has a fault"},
	}
	if s == incident.Closed {
		inc.Resolved, inc.Resolution = at(began+10), incident.Proved
	}
	return inc
}

// table is a table of incidents.
type table struct {
	of    map[string][]incident.Incident
	newer string // the cluster of which some are of a newer format
	err   error
}

func (t table) Clusters(context.Context) ([]string, error) { return []string{"prod", "staging"}, t.err }

func (t table) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	if cluster == t.newer {
		return t.of[cluster], &store.NewerFormat{Record: cluster, Written: 9, Known: 8}
	}
	return t.of[cluster], t.err
}

func both() table {
	return table{of: map[string][]incident.Incident{
		"prod": {
			made("prod", checkid.RouteNoEgress, "rtb-2", incident.Open, 20), made("prod", checkid.RouteNoEgress, "rtb-1", incident.Cleared, 10),
			made("prod", checkid.IPSubnetExhausted, "subnet-1", incident.Closed, 1), made("prod", checkid.IPSubnetExhausted, "subnet-2", incident.Pending, 1),
		},
		"staging": {made("staging", checkid.RouteNoEgress, "rtb-9", incident.Closed, 30)},
	}}
}

func ids(rows []Row) []string {
	list := []string{}
	for _, r := range rows {
		list = append(list, r.ID)
	}
	return list
}

// What hurts longest stands first, what is over last and only where it is asked for;
// what nobody was told of yet is in no list.
func TestList(t *testing.T) {
	for name, tt := range map[string]struct {
		query Query
		want  []string
	}{
		"what is open":          {Query{}, []string{"prod:route/no-egress:rtb-1", "prod:route/no-egress:rtb-2"}},
		"what was, too":         {Query{Closed: true}, []string{"prod:route/no-egress:rtb-1", "prod:route/no-egress:rtb-2", "staging:route/no-egress:rtb-9", "prod:ip/subnet-exhausted:subnet-1"}},
		"a cluster":             {Query{Clusters: []string{"staging"}, Closed: true}, []string{"staging:route/no-egress:rtb-9"}},
		"a cluster without any": {Query{Clusters: []string{"other"}}, []string{}},
	} {
		rows, err := List(t.Context(), both(), tt.query)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tt.want, ids(rows)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Records of a newer release hide no others; a table that cannot be read is no empty one.
func TestListOfHalfATable(t *testing.T) {
	half := both()
	half.newer = "staging"
	rows, err := List(t.Context(), half, Query{})
	var newer *store.NewerFormat
	if len(rows) != 2 || !errors.As(err, &newer) {
		t.Errorf("%d incidents, %v", len(rows), err)
	}
	denied := errors.New("denied")
	if rows, err := List(t.Context(), table{err: denied}, Query{}); rows != nil || !errors.Is(err, denied) {
		t.Errorf("%v, %v", rows, err)
	}
}

// An incident is found by its name, and by what of it no other has.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"prod:route/no-egress:rtb-2": "prod:route/no-egress:rtb-2", "rtb-9": "staging:route/no-egress:rtb-9", "prod:ip/subnet-exhausted:subnet-2": "prod:ip/subnet-exhausted:subnet-2",
	} {
		inc, err := Find(t.Context(), both(), name)
		if err != nil || ID(inc.Key) != want {
			t.Errorf("%s: %s, %v", name, ID(inc.Key), err)
		}
	}
	if _, err := Find(t.Context(), both(), "rtb-7"); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "rollcall incidents --all lists them") {
		t.Errorf("none: %v", err)
	}
	if _, err := Find(t.Context(), both(), "subnet-2"); !errors.Is(err, ErrNone) {
		t.Errorf("one that nobody was told of is found by a part of its name: %v", err)
	}
	if _, err := Find(t.Context(), both(), "no-egress"); err == nil || err.Error() != `"no-egress" is part of 3 incidents: prod:route/no-egress:rtb-1, prod:route/no-egress:rtb-2, staging:route/no-egress:rtb-9` {
		t.Errorf("several: %v", err)
	}
}
