package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/dynamo/dynalite"
	"rollcall/shared/incident"

	"rollcall/shared/checks"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
)

// server is one DynamoDB for all tests of the package, the one that others keep:
// what the store sends is held against it. Each test has its own table.
var server *dynalite.Server

func TestMain(m *testing.M) {
	os.Exit(func() int {
		s, err := dynalite.Start(context.Background(), dynalite.Options{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer s.Close()
		server = s
		return m.Run()
	}())
}

var start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

// open makes a store on a table of its own, whose time is now.
func open(t *testing.T, now *time.Time) *Store {
	t.Helper()
	table := "test-" + strconv.FormatInt(time.Now().UnixNano(), 36) // its own, also when a test runs twice
	if err := server.CreateTable(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	return New(server.Client(), table).At(func() time.Time { return *now })
}

func launch(id string, minute int) LaunchRecord {
	started := start.Add(time.Duration(minute) * time.Minute)
	return LaunchRecord{
		Launch:  outcome.Launch{Instance: id, Nodegroup: "workers", Group: "eks-workers", Subnet: "subnet-1", Zone: "us-west-2a", Type: "m5.large", Started: started, Status: outcome.Waiting},
		Cluster: "prod",
		Spot:    true,
		Due:     started.Add(5 * time.Minute),
	}
}

func TestLaunches(t *testing.T) {
	now := start
	s := open(t, &now)
	for i, l := range []LaunchRecord{launch("i-2", 2), launch("i-1", 1), launch("i-3", 3)} {
		if created, err := s.CreateLaunch(t.Context(), l); err != nil || !created {
			t.Fatalf("create %d: %v, %v", i, created, err)
		}
	}
	again := launch("i-1", 9)
	if created, err := s.CreateLaunch(t.Context(), again); err != nil || created {
		t.Errorf("the second create gave %v, %v; want false, nil", created, err)
	}

	got, err := s.GetLaunches(t.Context(), []string{"i-1", "i-unknown", "i-1", "i-3"})
	if err != nil {
		t.Fatal(err)
	}
	one, three := launch("i-1", 1), launch("i-3", 3)
	one.Version, three.Version = 1, 1
	if diff := cmp.Diff(map[string]LaunchRecord{"i-1": one, "i-3": three}, got); diff != "" {
		t.Errorf("launches (-want +got):\n%s", diff)
	}

	three.Status, three.Ready = outcome.Joined, start.Add(4*time.Minute)
	if err := s.SaveLaunch(t.Context(), three); err != nil {
		t.Fatal(err)
	}
	var conflict *Conflict
	if err := s.SaveLaunch(t.Context(), three); !errors.As(err, &conflict) || conflict.Over != 1 {
		t.Errorf("saving over an old version gave %v, want a conflict over version 1", err)
	}
	if err := s.SaveLaunch(t.Context(), launch("i-3", 3)); err == nil {
		t.Error("saving what was never read gave no error")
	}
	var ids []string
	list, err := s.OpenLaunches(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		ids = append(ids, l.Instance)
	}
	if diff := cmp.Diff([]string{"i-1", "i-2"}, ids); diff != "" {
		t.Errorf("open launches, oldest first (-want +got):\n%s", diff)
	}
	if list, err := s.OpenLaunches(t.Context(), "other"); err != nil || len(list) != 0 {
		t.Errorf("another cluster's open launches are %v, %v", list, err)
	}

	now = start.Add(keepLaunches + time.Hour)
	if got, err := s.GetLaunches(t.Context(), []string{"i-1"}); err != nil || len(got) != 0 {
		t.Errorf("expired launches are %v, %v; want none", got, err)
	}
	if created, err := s.CreateLaunch(t.Context(), launch("i-1", 1)); err != nil || !created {
		t.Errorf("create over an expired record gave %v, %v; want true, nil", created, err)
	}
}

func TestGetManyLaunches(t *testing.T) {
	now := start
	s := open(t, &now)
	var ids []string
	for i := range 230 {
		id := fmt.Sprintf("i-%03d", i)
		ids = append(ids, id)
		if _, err := s.CreateLaunch(t.Context(), launch(id, i)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(ids)
	got, err := s.GetLaunches(t.Context(), ids)
	if err != nil || len(got) != len(ids) {
		t.Errorf("got %d launches, %v; want %d", len(got), err, len(ids))
	}
	if got, err := s.GetLaunches(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no ids gave %v, %v", got, err)
	}
}

func incidentOf(check checks.ID, resource string) incident.Incident {
	return incident.Incident{
		Key:    report.Key{Cluster: "prod", Check: check, Resource: resource},
		Format: report.Format, State: incident.Open, Number: 1, Opened: start,
		Covers:   []string{"subnet-1"},
		Delivery: incident.Delivery{Channel: "C0123", Notes: []incident.Note{{ID: "opened", At: start, Reason: incident.Opened}}},
	}
}

func TestIncidents(t *testing.T) {
	now := start
	s := open(t, &now)
	first, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1"))
	if err != nil || first.Version != 1 {
		t.Fatalf("version %d, %v; want 1", first.Version, err)
	}
	var conflict *Conflict
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1")); !errors.As(err, &conflict) {
		t.Errorf("a second new record gave %v, want a conflict", err)
	}
	second, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-2"))
	if err != nil {
		t.Fatal(err)
	}
	first.Delivery.TS = "1.2"
	if first, err = s.SaveIncident(t.Context(), first); err != nil || first.Version != 2 {
		t.Fatalf("version %d, %v; want 2", first.Version, err)
	}
	got, err := s.Incidents(t.Context(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]incident.Incident{first, second}, got); diff != "" {
		t.Errorf("incidents (-want +got):\n%s", diff)
	}
	first.State, first.Resolved = incident.Closed, start
	if _, err := s.SaveIncident(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	now = start.Add(keepClosed)
	if got, err := s.Incidents(t.Context(), "prod"); err != nil || len(got) != 1 || got[0].Key.Resource != "rtb-2" {
		t.Errorf("after a month: %v, %v; want the open one only", got, err)
	}
	if again, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1")); err != nil || again.Version != 1 {
		t.Errorf("a new record over the expired one: version %d, %v", again.Version, err)
	}
}

func TestIncidentsOverSeveralPages(t *testing.T) {
	now := start
	s := open(t, &now)
	for i := range 5 {
		inc := incidentOf("route/no-egress", fmt.Sprintf("rtb-%d", i))
		inc.Cause.Why = strings.Repeat("x", 300<<10) // a page has 1 MB
		if _, err := s.SaveIncident(t.Context(), inc); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Incidents(t.Context(), "prod"); err != nil || len(got) != 5 {
		t.Errorf("got %d incidents, %v; want 5", len(got), err)
	}
}

// A newer version's records are left alone, and said.
func TestNewerFormat(t *testing.T) {
	now := start
	s := open(t, &now)
	newer := incidentOf("route/no-egress", "rtb-new")
	newer.Format = report.Format + 1
	if _, err := s.SaveIncident(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-old")); err != nil {
		t.Fatal(err)
	}
	got, err := s.Incidents(t.Context(), "prod")
	var typed *NewerFormat
	if !errors.As(err, &typed) || typed.Written != report.Format+1 {
		t.Errorf("error is %v, want a newer format", err)
	}
	if len(got) != 1 || got[0].Key.Resource != "rtb-old" {
		t.Errorf("incidents are %v, want the one that is known", got)
	}
	var conflict *Conflict
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-new")); !errors.As(err, &conflict) {
		t.Errorf("writing over it gave %v, want a conflict", err)
	}
}

func TestTooLarge(t *testing.T) {
	now := start
	s := open(t, &now)
	inc := incidentOf("route/no-egress", "rtb-1")
	inc.Cause.Why = strings.Repeat("x", maxItem)
	var large *TooLarge
	if _, err := s.SaveIncident(t.Context(), inc); !errors.As(err, &large) || large.Bytes < maxItem {
		t.Errorf("error is %v, want too large", err)
	}
}

// Whatever lies in the table, reading it ends in a record, in nothing or in an
// error.
func FuzzDecode(f *testing.F) {
	f.Add("launch#i-1", "launch", "1", "2000000000", `{"instance":"i-1"}`)
	f.Add("x", "", "2", "", `{`)
	f.Add("x", "y", "one", "never", ``)
	f.Add("x", "y", "99999999999999999999", "-1", `null`)
	s := New(nil, "t").At(func() time.Time { return start })
	f.Fuzz(func(t *testing.T, pk, sk, format, expires, body string) {
		attributes := map[string]types.AttributeValue{attrPK: text(pk), attrSK: text(sk), attrBody: text(body)}
		if format != "" {
			attributes[attrFormat] = &types.AttributeValueMemberN{Value: format}
		}
		if expires != "" {
			attributes[attrExpires] = &types.AttributeValueMemberN{Value: expires}
		}
		var l LaunchRecord
		there, err := s.decode(attributes, LaunchFormat, &l)
		if there && err != nil {
			t.Errorf("both a record and %v", err)
		}
		if there && format != "" && strings.TrimLeft(format, "-+0") > "1" && len(strings.TrimLeft(format, "-+0")) == 1 && !strings.HasPrefix(format, "-") {
			t.Errorf("a record of format %q was read", format)
		}
	})
}
