package incidents

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/config"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/platform/dynamo"
)

func at(minute int) time.Time {
	return time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC).Add(time.Duration(minute) * time.Minute)
}

func made(cluster string, id checkid.ID, resource string, s incident.State, began int) incident.Incident {
	inc := incident.Incident{
		Key: report.Key{Cluster: cluster, Check: id, Resource: resource}, State: s, Began: at(began), Number: 1, Affected: 2,
		Cause: diagnosis.Cause{Check: id, Confidence: finding.Certain, Resource: resource, Title: resource + " has a fault"},
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
// what was not posted yet is in no list.
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

// A cluster is known that has an incident or a record, or that is watched. That nothing
// is open in another one is not said: the name is wrong, or it could not be read.
func TestKnown(t *testing.T) {
	refused := errors.New("eks:ListClusters: AccessDeniedException")
	for name, tt := range map[string]struct {
		clusters []string
		newer    string
		watched  []string
		err      error
		asked    bool
		says     string
		stranger bool
	}{
		"all":                        {nil, "", nil, nil, false, "", false},
		"with incidents":             {[]string{"prod", "staging"}, "", nil, refused, false, "", false},
		"of a newer release":         {[]string{"new"}, "new", nil, refused, false, "", false},
		"watched, nothing yet":       {[]string{"prod", "dev"}, "", []string{"dev", "prod"}, nil, true, "", false},
		"a slip":                     {[]string{"prdo"}, "", []string{"dev", "prod"}, nil, true, "the deployment knows no cluster prdo; is it prod?", true},
		"one of two":                 {[]string{"prod", "other"}, "", []string{"dev"}, nil, true, "the deployment knows no cluster other, only dev, empty, prod, staging", true},
		"nobody may list clusters":   {[]string{"other"}, "", nil, refused, true, "nothing is recorded of other, and which clusters are watched could not be read: eks:ListClusters: AccessDeniedException", false},
		"recorded, without incident": {[]string{"empty"}, "", nil, refused, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := recorded{both()}
			r.newer = tt.newer
			asked := false
			err := Known(t.Context(), r, tt.clusters, func(context.Context) ([]string, error) {
				asked = true
				return tt.watched, tt.err
			})
			var stranger *StrangerError
			says := ""
			if err != nil {
				says = err.Error()
			}
			if says != tt.says || errors.As(err, &stranger) != tt.stranger || asked != tt.asked {
				t.Errorf("error %q (stranger %t), asked %t; want %q, %t, %t", says, stranger != nil, asked, tt.says, tt.stranger, tt.asked)
			}
		})
	}
	if err := Known(t.Context(), table{err: refused}, []string{"prod"}, nil); !errors.Is(err, refused) {
		t.Errorf("error %v, want that the table could not be read", err)
	}
	if says := (&StrangerError{Cluster: "prod"}).Error(); says != "the deployment knows no cluster prod, nor any other" {
		t.Error(says)
	}
}

// recorded is a table that has a record of a cluster without incidents, too.
type recorded struct{ table }

func (r recorded) Clusters(ctx context.Context) ([]string, error) {
	list, err := r.table.Clusters(ctx)
	return append(list, "empty"), err
}

func TestPrint(t *testing.T) {
	rows, err := List(t.Context(), both(), Query{Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Print(&b, rows[1:3], Query{}, at(150)); err != nil {
		t.Fatal(err)
	}
	want := `STATE   SINCE (UTC)       FOR     AFFECTED  WHAT               INCIDENT
open    2026-11-20 15:20  2 h     2         rtb-2 has a fault  prod:route/no-egress:rtb-2
closed  2026-11-20 15:30  10 min  2         rtb-9 has a fault  staging:route/no-egress:rtb-9
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	rows[1].Whose = "payments"
	if err := Print(&b, rows[1:3], Query{}, at(150)); err != nil {
		t.Fatal(err)
	}
	want = `STATE   SINCE (UTC)       FOR     AFFECTED  OF        WHAT               INCIDENT
open    2026-11-20 15:20  2 h     2         payments  rtb-2 has a fault  prod:route/no-egress:rtb-2
closed  2026-11-20 15:30  10 min  2                   rtb-9 has a fault  staging:route/no-egress:rtb-9
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	for q, want := range map[bool]string{false: "No incident is open.\n", true: "No incidents in the last 30 days.\n"} {
		b.Reset()
		if err := Print(&b, nil, Query{Closed: q}, at(0)); err != nil || b.String() != want {
			t.Errorf("%q, %v, want %q", b.String(), err, want)
		}
	}
}

// All that is known of an incident is said, and nothing that is not.
func TestShow(t *testing.T) {
	inc := made("prod", checkid.RouteNoEgress, "rtb-2", incident.Open, 20)
	inc.Account, inc.Region, inc.Number = "111122223333", "us-west-2", 2
	inc.Cause.Nodegroups, inc.Cause.Why = []string{"workers"}, "It has no route."
	inc.Cause.Evidence = []finding.Evidence{{What: "Routes", Value: "local"}, {What: "Subnet", Value: "a\nb"}}
	inc.Cause.Fix = finding.Fix{Text: "Add one.", Command: "aws ec2 create-route"}
	inc.Evidence = &incident.Evidence{Opened: "a", Newest: "b"}
	inc.Launches = []report.Launch{{Instance: "i-1", Status: report.Missed}}
	inc.RecentChanges = &report.RecentChanges{Changes: []report.Change{{At: at(10), Actor: "ann", Call: "DeleteRoute", Resource: "rtb-2"}}}
	inc.Offers = []incident.Offer{{State: incident.Offered, Made: at(21)}}
	inc.Ack = &incident.Ack{By: report.User{ID: "U1"}, At: at(22)}
	inc.Mute = &incident.Mute{By: report.User{ID: "U1", Name: "ann"}, At: at(22), Until: at(60)}
	inc.Blind = []snapshot.Failure{{Source: snapshot.NetworkACLs, Call: "ec2:DescribeNetworkAcls", Reason: snapshot.Denied}}
	var b strings.Builder
	if err := Show(&b, inc, at(50)); err != nil {
		t.Fatal(err)
	}
	want := `OPEN prod / workers · rtb-2 has a fault
  Incident  prod:route/no-egress:rtb-2
  Account   111122223333 us-west-2
  Cause     route/no-egress (certain)
  Why       It has no route.
  When      since 2026-11-20 15:20 UTC, for 30 min
  Again     occurrence 2
  Affected  2 launches
            i-1 missed
  Seen      Routes: local
            Subnet: a
            b
  Replay    rollcall replay prod:route/no-egress:rtb-2 (using the data saved at the time)
  Do        Add one.
            aws ec2 create-route
  Changed   2026-11-20 15:10 UTC ann called DeleteRoute on rtb-2
  Remedies  2026-11-20 15:21 : offered
  Acked by  U1 at 2026-11-20 15:22
  Muted     until 2026-11-20 16:00 by ann
  Unread    network acls: ec2:DescribeNetworkAcls denied
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Show(&b, made("prod", checkid.RouteNoEgress, "rtb-2", incident.Closed, 20), at(50)); err != nil {
		t.Fatal(err)
	}
	want = `CLOSED prod · rtb-2 has a fault
  Incident  prod:route/no-egress:rtb-2
  Cause     route/no-egress (certain)
  When      2026-11-20 15:20 UTC to 2026-11-20 15:30 UTC, 10 min (proved)
  Affected  2 launches
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

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
		if _, err := table.ForSpoke(id).SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
		if err := table.ForSpoke(id).SaveClusterRecord(t.Context(),
			outbox.ClusterRecord{Cluster: "prod", Open: true}); err != nil {
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
		if err != nil || inc.Key.SpokeCluster().String() != clusters[i] {
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
	if _, err := table.ForSpoke(payments).SaveIncident(t.Context(), inc); err != nil {
		t.Fatal(err)
	}
	if err := table.ForSpoke(payments).SaveClusterRecord(t.Context(), outbox.ClusterRecord{Cluster: "prod", Version: 1}); err != nil {
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
