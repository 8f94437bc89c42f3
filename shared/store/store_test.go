package store

import (
	"context"
	"encoding"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/backoff"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/interaction"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/store/incoming"
	"rollcall/shared/store/outgoing"
	"rollcall/shared/store/table"
	"rollcall/stage/platform/dynamo/dynalite"
	"rollcall/tools/expect"
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
	expect.OK(t, server.CreateTable(t.Context(), table))
	return New(server.Client(), table).WithClock(func() time.Time { return *now })
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
	expect.OK(t, err)
	one, three := launch("i-1", 1), launch("i-3", 3)
	one.Version, three.Version = 1, 1
	expect.Same(t, "launches", got, map[string]LaunchRecord{"i-1": one, "i-3": three})

	three.Status, three.Ready = outcome.Joined, start.Add(4*time.Minute)
	expect.OK(t, s.SaveLaunch(t.Context(), three))
	var conflict *Conflict
	if err := s.SaveLaunch(t.Context(), three); !errors.As(err, &conflict) || conflict.Over != 1 {
		t.Errorf("saving over an old version gave %v, want a conflict over version 1", err)
	}
	if err := s.SaveLaunch(t.Context(), launch("i-3", 3)); err == nil {
		t.Error("saving what was never read gave no error")
	}
	var ids []string
	list, err := s.OpenLaunches(t.Context(), "prod")
	expect.OK(t, err)
	for _, l := range list {
		ids = append(ids, l.Instance)
	}
	expect.Same(t, "open launches, oldest first", ids, []string{"i-1", "i-2"})
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

func incidentOf(check checkid.ID, resource string) incident.Incident {
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
	expect.OK(t, err)
	first.Delivery.TS = "1.2"
	if first, err = s.SaveIncident(t.Context(), first); err != nil || first.Version != 2 {
		t.Fatalf("version %d, %v; want 2", first.Version, err)
	}
	got, err := s.Incidents(t.Context(), "prod")
	expect.OK(t, err)
	expect.Same(t, "incidents", got, []incident.Incident{first, second})
	first.State, first.Resolved = incident.Closed, start
	if _, err := s.SaveIncident(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	now = start.Add(outgoing.KeepClosed)
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
	inc.Cause.Why = strings.Repeat("x", table.MaxItem)
	var large *table.TooLarge
	if _, err := s.SaveIncident(t.Context(), inc); !errors.As(err, &large) || large.Bytes < table.MaxItem {
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
	s := New(nil, "t").WithClock(func() time.Time { return start })
	f.Fuzz(func(t *testing.T, pk, sk, format, expires, body string) {
		attributes := map[string]types.AttributeValue{table.AttrPK: table.Text(pk), table.AttrSK: table.Text(sk), table.AttrBody: table.Text(body)}
		if format != "" {
			attributes[table.AttrFormat] = &types.AttributeValueMemberN{Value: format}
		}
		if expires != "" {
			attributes[table.AttrExpires] = &types.AttributeValueMemberN{Value: expires}
		}
		var l LaunchRecord
		there, err := s.t.Decode(attributes, LaunchFormat, &l)
		if there && err != nil {
			t.Errorf("both a record and %v", err)
		}
		if there && format != "" && strings.TrimLeft(format, "-+0") > "1" && len(strings.TrimLeft(format, "-+0")) == 1 && !strings.HasPrefix(format, "-") {
			t.Errorf("a record of format %q was read", format)
		}
	})
}

func TestActsAreNeverWrittenOver(t *testing.T) {
	at := time.Date(2026, 11, 20, 15, 4, 5, 600e6, time.UTC)
	s := open(t, &at)
	key := report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0cd2"}
	refused := incident.ActRecord{ID: "a", At: at, Decided: at, Key: key, Action: report.ApprovePlan, User: report.User{ID: "U0STRANGER"}, Answer: incident.Answer{Reason: incident.NotAllowed}}
	if created, err := s.RecordAct(t.Context(), refused); !created || err != nil {
		t.Fatalf("created %v, %v", created, err)
	}
	forged := refused
	forged.Answer.Reason = incident.AnswerApproved
	if created, err := s.RecordAct(t.Context(), forged); created || err != nil {
		t.Errorf("written over: %v, %v", created, err)
	}
	later := refused
	later.ID, later.At = "b", at.Add(time.Second)
	elsewhere := refused
	elsewhere.Key.Cluster = "dev"
	for _, a := range []incident.ActRecord{later, elsewhere} {
		if _, err := s.RecordAct(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	refused.Format, refused.Audited = incident.RecordFormat, true
	later.Format, later.Audited = incident.RecordFormat, true
	for _, test := range []struct {
		since time.Time
		want  []incident.ActRecord
	}{
		{at, []incident.ActRecord{refused, later}},
		{at.Add(time.Millisecond), []incident.ActRecord{later}},
		{at.Add(time.Hour), nil},
	} {
		got, err := s.Acts(t.Context(), "prod", test.since)
		expect.OK(t, err)
		expect.Same(t, fmt.Sprintf("since %s", test.since), got, test.want)
	}
}

func TestBackoffs(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	none, err := s.Backoff(t.Context(), "prod")
	if diff := cmp.Diff(backoff.Record{Cluster: "prod"}, none); err != nil || diff != "" {
		t.Fatalf("%v, before there is one (-want +got):\n%s", err, diff)
	}
	silent, _ := backoff.After(none, backoff.Silent, backoff.Silence{Endpoint: "https://a", Reason: snapshot.TimedOut, Message: "timed out"}, now, 5*time.Minute)
	expect.OK(t, s.SaveBackoff(t.Context(), silent))
	var taken *Conflict
	if err := s.SaveBackoff(t.Context(), silent); !errors.As(err, &taken) {
		t.Errorf("written over another: %v, want a conflict", err)
	}
	silent.Version = 1
	got, err := s.Backoff(t.Context(), "prod")
	if diff := cmp.Diff(silent, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// What answers again is remembered no more, nor what is not written for a day.
	well, _ := backoff.After(got, backoff.Answered, backoff.Silence{}, now, 5*time.Minute)
	expect.OK(t, s.SaveBackoff(t.Context(), well))
	if gone, err := s.Backoff(t.Context(), "prod"); err != nil || gone.Version != 0 {
		t.Errorf("%+v, %v; want none", gone, err)
	}
	silent.Version = 0
	expect.OK(t, s.SaveBackoff(t.Context(), silent))
	now = now.Add(keepBackoff)
	if old, err := s.Backoff(t.Context(), "prod"); err != nil || old.Attempts != 0 {
		t.Errorf("%+v, %v; want none", old, err)
	}
}

const vpc = "vpc-0a1b2c3d4e5f60718"

func audit(id string, minute int, result leak.Result) leak.Audit {
	return leak.Audit{
		Format: leak.AuditFormat, Cluster: "prod", VPC: vpc, Interface: id, Subnet: "subnet-1", Owner: "i-1", At: start.Add(time.Duration(minute) * time.Minute),
		Result: result, Run: "run-1", IPs: []netip.Addr{netip.MustParseAddr("10.42.1.4")}, Prefixes: []netip.Prefix{netip.MustParsePrefix("10.42.2.0/28")},
	}
}

func compareAddresses(a, b netip.Addr) bool  { return a == b }
func comparePrefixes(a, b netip.Prefix) bool { return a == b }
func addresses() []cmp.Option {
	return []cmp.Option{cmp.Comparer(compareAddresses), cmp.Comparer(comparePrefixes)}
}

func TestSightings(t *testing.T) {
	now := start
	s := open(t, &now)
	first := leak.Sighting{Interface: "eni-1", First: start, Print: "a"}
	saved, err := s.SaveSighting(t.Context(), vpc, first)
	if err != nil || saved.Version != 1 {
		t.Fatalf("%+v, %v", saved, err)
	}
	var conflict *Conflict
	if _, err := s.SaveSighting(t.Context(), vpc, first); !errors.As(err, &conflict) {
		t.Errorf("two runs that saw it first: %v", err)
	}
	// Of two runs that would delete it one alone may.
	mine := audit("eni-1", 1, leak.Deleting)
	saved.Deleting = &mine
	marked, err := s.SaveSighting(t.Context(), vpc, saved)
	if err != nil || marked.Version != 2 {
		t.Fatalf("%+v, %v", marked, err)
	}
	if _, err := s.SaveSighting(t.Context(), vpc, saved); !errors.As(err, &conflict) {
		t.Errorf("the second to write ahead: %v", err)
	}
	if err := s.ForgetSighting(t.Context(), vpc, saved); !errors.As(err, &conflict) {
		t.Errorf("what another run writes ahead is forgotten: %v", err)
	}
	got, err := s.Sightings(t.Context(), vpc)
	if diff := cmp.Diff(map[string]leak.Sighting{"eni-1": marked}, got, addresses()...); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	expect.OK(t, s.ForgetSighting(t.Context(), vpc, marked))
	if got, err := s.Sightings(t.Context(), vpc); err != nil || len(got) > 0 {
		t.Errorf("forgotten, and still there: %v, %v", got, err)
	}
	if _, err := s.SaveSighting(t.Context(), vpc, marked); err == nil {
		// DynamoDB has not dropped it yet, its version is another.
		t.Error("what was forgotten is written over")
	}
	if again, err := s.SaveSighting(t.Context(), vpc, first); err != nil || again.Version != 1 {
		t.Errorf("seen again: %+v, %v", again, err)
	}
	if got, err := s.Sightings(t.Context(), "vpc-other"); err != nil || len(got) > 0 {
		t.Errorf("another VPC's: %v, %v", got, err)
	}
}

func TestAudits(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, a := range []leak.Audit{audit("eni-2", 2, leak.Deleted), audit("eni-1", 1, leak.Deleted), audit("eni-3", 3, leak.LostInUse)} {
		if got, created, err := s.RecordAudit(t.Context(), a); err != nil || !created || got.Interface != a.Interface {
			t.Fatalf("%+v, %v, %v", got, created, err)
		}
	}
	// The record stays as it was written first.
	other := audit("eni-3", 3, leak.Deleted)
	if got, created, err := s.RecordAudit(t.Context(), other); err != nil || created || got.Result != leak.LostInUse {
		t.Errorf("written twice: %+v, %v, %v", got, created, err)
	}
	got, err := s.Audits(t.Context(), "prod", start.Add(2*time.Minute))
	if diff := cmp.Diff([]leak.Audit{audit("eni-2", 2, leak.Deleted), audit("eni-3", 3, leak.LostInUse)}, got, addresses()...); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	back, err := s.Returned(t.Context(), "prod", start)
	want := []snapshot.Returned{{Subnet: "subnet-1", Interfaces: 2, Addresses: 34, Nodes: 1, Last: start.Add(2 * time.Minute)}}
	if diff := cmp.Diff(want, back); diff != "" || err != nil {
		t.Errorf("returned: %v (-want +got):\n%s", err, diff)
	}
	if back, err := s.Returned(t.Context(), "dev", start); err != nil || len(back) > 0 {
		t.Errorf("another cluster's: %v, %v", back, err)
	}
	for after, n := range map[time.Duration]int{365 * 24 * time.Hour: 3, 367 * 24 * time.Hour: 0} {
		now = start.Add(after)
		if list, err := s.Audits(t.Context(), "prod", start); err != nil || len(list) != n {
			t.Errorf("after %s: %d records, %v", after, len(list), err)
		}
	}
}

func TestPaceAndWhatWasTold(t *testing.T) {
	now := start
	s := open(t, &now)
	if p, err := s.Pace(t.Context(), "111122223333", "us-west-2"); err != nil || p != (leak.Pace{}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, p := range []leak.Pace{{Level: 12.5, At: start, Rate: 5}, {Level: 1, At: start, Rate: 2.5, Cut: start}} {
		expect.OK(t, s.SavePace(t.Context(), "111122223333", "us-west-2", p))
		if got, err := s.Pace(t.Context(), "111122223333", "us-west-2"); err != nil || got != p {
			t.Errorf("%+v, %v; want %+v", got, err, p)
		}
	}
	if p, err := s.Pace(t.Context(), "111122223333", "eu-west-1"); err != nil || p != (leak.Pace{}) {
		t.Errorf("another region's: %+v, %v", p, err)
	}
	for _, digest := range []string{"a", "b"} {
		expect.OK(t, s.SaveCleanupTold(t.Context(), "prod", "2026-11-20", digest))
	}
	got, err := s.CleanupDigests(t.Context(), "prod")
	if diff := cmp.Diff(map[string]string{"2026-11-20": "b"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestClusterRecords(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	empty, err := s.ClusterRecord(t.Context(), "prod")
	if diff := cmp.Diff(outbox.ClusterRecord{Cluster: "prod"}, empty); err != nil || diff != "" {
		t.Fatalf("%v, before there is one (-want +got):\n%s", err, diff)
	}
	prod := empty
	prod.Follow(true, false, now)
	refused := outbox.ClusterRecord{Cluster: "prod-2"}
	refused.Refused(outbox.ToSlack, "token_revoked", now)
	for _, r := range []outbox.ClusterRecord{prod, refused} {
		expect.OK(t, s.SaveClusterRecord(t.Context(), r))
	}
	var taken *Conflict
	if err := s.SaveClusterRecord(t.Context(), prod); !errors.As(err, &taken) {
		t.Errorf("written over another: %v, want a conflict", err)
	}
	prod.Version, prod.Format = 1, outbox.ClusterFormat
	refused.Version, refused.Format = 1, outbox.ClusterFormat
	got, err := s.ClusterRecord(t.Context(), "prod") // and not that of prod-2
	if diff := cmp.Diff(prod, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	all, err := s.ClusterRecords(t.Context())
	if diff := cmp.Diff([]outbox.ClusterRecord{prod, refused}, all); err != nil || diff != "" {
		t.Errorf("%v, all (-want +got):\n%s", err, diff)
	}
	// With nothing open a record is listed no more, and may be again; its closed incidents are
	// found by it, as long as they are kept.
	got.Follow(false, false, now)
	expect.OK(t, s.SaveClusterRecord(t.Context(), got))
	if all, err := s.ClusterRecords(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v; want that of prod-2", all, err)
	}
	for _, tt := range []struct {
		after time.Duration
		want  []string
	}{{0, []string{"prod", "prod-2"}}, {outgoing.KeepClosed, []string{"prod", "prod-2"}}, {keepQuiet, []string{"prod-2"}}} {
		names, err := s.WithClock(func() time.Time { return now.Add(tt.after) }).Clusters(t.Context())
		if diff := cmp.Diff(tt.want, names); err != nil || diff != "" {
			t.Errorf("%v, clusters after %s (-want +got):\n%s", err, tt.after, diff)
		}
	}
	again, err := s.ClusterRecord(t.Context(), "prod")
	if err != nil || again.Version != 2 {
		t.Errorf("%+v, %v", again, err)
	}
	again.Follow(true, false, now)
	if err := s.SaveClusterRecord(t.Context(), again); err != nil {
		t.Error(err)
	}
	newer := outbox.ClusterRecord{Cluster: "prod"}
	expect.OK(t, s.t.Put(t.Context(), table.Item{PK: clusterPrefix, SK: "later", Kind: "cluster", Format: outbox.ClusterFormat + 1, Version: 1, Body: newer}, 0))
	all, err = s.ClusterRecords(t.Context())
	if unknown := new(NewerFormat); !errors.As(err, &unknown) || len(all) != 2 {
		t.Errorf("%d records, %v; want the others, and that one is newer", len(all), err)
	}
	expect.OK(t, s.SaveSweep(t.Context(), overview.Sweep{Cluster: "swept", At: now}))
	names, err := s.Clusters(t.Context())
	if diff := cmp.Diff([]string{"later", "prod", "prod-2", "swept"}, names); err != nil || diff != "" {
		t.Errorf("%v, clusters (-want +got):\n%s", err, diff)
	}
}

// The record of a burst of any size can be written, and counts them all.
func TestIncidentOfACrowd(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, n := range []int{1000, 5000} {
		inc := incidentOf("node/not-registered", fmt.Sprintf("workers-%d", n))
		inc.Covers, inc.Verdicts = nil, nil
		for i := range n {
			id := fmt.Sprintf("i-%017x", i)
			inc.Covers = append(inc.Covers, id)
			inc.Verdicts = append(inc.Verdicts, incident.Verdict{Of: id, Found: incident.Failing, At: start})
			if i >= incident.MaxLaunches {
				inc.More = append(inc.More, id)
				continue
			}
			inc.Launches = append(inc.Launches, report.Launch{
				Instance: id, Nodegroup: "workers", Group: strings.Repeat("g", 100), Subnet: "subnet-0123456789abcdef0", Zone: "us-west-2a", Type: "m5.24xlarge",
				Started: start, Status: report.Gone, Ended: start, EndedWhy: strings.Repeat("why", 300),
			})
		}
		inc.Cause.Covers, inc.Affected = inc.Covers, n
		saved, err := s.SaveIncident(t.Context(), inc)
		if err != nil {
			t.Fatalf("%d launches: %v", n, err)
		}
		got, err := s.Incidents(t.Context(), "prod")
		expect.OK(t, err)
		i := slices.IndexFunc(got, func(other incident.Incident) bool { return other.Key == inc.Key })
		if i < 0 || got[i].Affected != n || len(got[i].Verdicts) != n {
			t.Fatalf("%d launches: read back %d of them", n, len(got[i].Verdicts))
		}
		if diff := cmp.Diff(saved, got[i]); diff != "" {
			t.Errorf("%d launches (-saved +read):\n%.2000s", n, diff)
		}
	}
}

// answers is a DynamoDB that gives the answers in order, then the last again.
func answers(t *testing.T, list ...string) (*Store, *int) {
	t.Helper()
	calls := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := list[min(calls, len(list)-1)]
		calls++
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if strings.Contains(answer, "__type") {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(h.Close)
	client := dynamodb.New(dynamodb.Options{
		Region: "us-west-2", BaseEndpoint: aws.String(h.URL), Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
	})
	s := New(client, "t").WithClock(func() time.Time { return start })
	s.wait = func(context.Context, time.Duration) error { return nil }
	return s, &calls
}

func TestUnprocessedKeys(t *testing.T) {
	const left = `{"Responses":{"t":[]},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"launch#i-1"},"sk":{"S":"launch"}}]}}}`
	const there = `{"Responses":{"t":[{"pk":{"S":"launch#i-1"},"sk":{"S":"launch"},"format":{"N":"1"},"version":{"N":"1"},"body":{"S":"{\"instance\":\"i-1\"}"}}]},"UnprocessedKeys":{}}`
	s, calls := answers(t, left, left, there)
	got, err := s.GetLaunches(t.Context(), []string{"i-1"})
	if err != nil || got["i-1"].Instance != "i-1" || *calls != 3 {
		t.Errorf("got %v, %v after %d calls; want i-1 after 3", got, err, *calls)
	}
	s, calls = answers(t, left)
	var limit *AtLimit
	if _, err := s.GetLaunches(t.Context(), []string{"i-1"}); !errors.As(err, &limit) || *calls != batchAttempts {
		t.Errorf("error is %v after %d calls, want a table at its limit after %d", err, *calls, batchAttempts)
	}
}

func TestAtLimit(t *testing.T) {
	for _, code := range []string{"ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"} {
		t.Run(code, func(t *testing.T) {
			s, _ := answers(t, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"slow down"}`)
			var limit *AtLimit
			if _, err := s.SaveIncident(t.Context(), incidentOf("c", "r")); !errors.As(err, &limit) || limit.Code != code {
				t.Errorf("write: %v, want at limit", err)
			}
			if _, err := s.Incidents(t.Context(), "prod"); !errors.As(err, &limit) {
				t.Errorf("query: %v, want at limit", err)
			}
			if _, err := s.GetLaunches(t.Context(), []string{"i-1"}); !errors.As(err, &limit) {
				t.Errorf("get: %v, want at limit", err)
			}
			if _, err := s.OpenLaunches(t.Context(), "prod"); !errors.As(err, &limit) {
				t.Errorf("index: %v, want at limit", err)
			}
		})
	}
}

func TestOtherErrorsStayWhatTheyAre(t *testing.T) {
	s, _ := answers(t, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no table"}`)
	var missing *types.ResourceNotFoundException
	if _, err := s.Incidents(t.Context(), "prod"); !errors.As(err, &missing) {
		t.Errorf("error is %v, want ResourceNotFoundException", err)
	}
	if created, err := s.CreateLaunch(t.Context(), launch("i-1", 0)); created || !errors.As(err, &missing) {
		t.Errorf("create gave %v, %v", created, err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("wait gave %v", err)
	}
	if err := wait(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("wait gave %v", err)
	}
}

// recordKind is the format of a kind of record, and its type.
type recordKind struct {
	format int
	of     any
}

// records are the kinds of record, with the format that this release writes.
func records() map[string]recordKind {
	return map[string]recordKind{
		"alias":        {aliasFormat, Alias{}},
		"launch":       {LaunchFormat, LaunchRecord{}},
		"jointime":     {joinTimesFormat, JoinTimes{}},
		"incident":     {report.Format, incident.Incident{}},
		"nodegroup":    {nodegroup.Format, nodegroup.Record{}},
		"summary":      {report.SummaryFormat, outbox.Posting{}},
		"sighting":     {sightingFormat, leak.Sighting{}},
		"audit":        {leak.AuditFormat, leak.Audit{}},
		"act":          {incident.RecordFormat, incident.ActRecord{}},
		"deed":         {remedy.Format, remedy.Run{}},
		"deeds-lately": {lateFormat, late{}},
		"pace":         {paceFormat, leak.Pace{}},
		"cleanup":      {cleanupFormat, summaryDigest{}},
		"cluster":      {outbox.ClusterFormat, outbox.ClusterRecord{}},
		"sample":       {sampleFormat, sample{}},
		"sample#hours": {hourFormat, sampleHour{}},
		"backoff":      {backoff.Format, backoff.Record{}},
		"refusal":      {interaction.RecordFormat, interaction.Record{}},
	}
}

// droppedByRollback are the fields that were added without a new format, and
// what it means that an older release, which reads the record and writes it
// again, drops them. A field whose loss would do harm needs a new format.
func droppedByRollback() map[string]string {
	return map[string]string{}
}

// firstFields lists the fields of the first release's records, a line for each:
// the kind, its format and the field's path. A later release adds a list of its
// own when it raises a format.
const firstFields = "testdata/fields-1.txt"

// update writes the fields of the first release anew, until it has a tag.
var update = flag.Bool("update", false, "write the fields of the first release anew, before it is tagged")

// linesOf lists the fields of today's records.
func linesOf(list map[string]recordKind) (lines []string) {
	for kind, r := range list {
		for _, path := range fieldsOf(reflect.TypeOf(r.of), "$", nil) {
			lines = append(lines, fmt.Sprintf("%s %d %s", kind, r.format, path))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestFieldsOfRecords holds that a record's form changes knowingly: a field that
// is gone loses what older releases wrote, and a new one is lost when an older
// release writes the record again.
func TestFieldsOfRecords(t *testing.T) {
	if *update {
		expect.OK(t, os.WriteFile(firstFields, []byte(strings.Join(linesOf(records()), "\n")+"\n"), 0o644))
	}
	data, err := os.ReadFile(firstFields)
	expect.OK(t, err)
	was := strings.Split(strings.TrimSpace(string(data)), "\n")
	said := droppedByRollback()
	for kind, r := range records() {
		format := fmt.Sprintf("%s %d ", kind, r.format)
		if !slices.ContainsFunc(was, func(line string) bool { return strings.HasPrefix(line, format) }) {
			continue // of a format that no earlier release knows, and so leaves alone
		}
		is := fieldsOf(reflect.TypeOf(r.of), "$", nil)
		for _, path := range is {
			field := kind + " " + path
			if !slices.Contains(was, format+path) && said[field] == "" {
				t.Errorf("new field %s: raise the format of the record, or say in droppedByRollback what it means that an older release drops it", field)
			}
			if !slices.Contains(was, format+path) {
				delete(said, field)
			}
		}
		for _, line := range was {
			if path, ok := strings.CutPrefix(line, format); ok && !slices.Contains(is, path) {
				t.Errorf("field %s of %s is gone: what an older release wrote in it would be lost", path, kind)
			}
		}
	}
	for field := range said {
		t.Errorf("droppedByRollback names %s, which is not new, or is not there", field)
	}
}

// fieldsOf are the paths that a type has in JSON.
func fieldsOf(t reflect.Type, path string, within []reflect.Type) (out []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	marshals := t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	switch {
	case slices.Contains(within, t), marshals:
		return []string{path}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		return fieldsOf(t.Elem(), path+"[]", within)
	case t.Kind() == reflect.Map:
		return fieldsOf(t.Elem(), path+".*", within)
	case t.Kind() != reflect.Struct:
		return []string{path}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			out = append(out, fieldsOf(f.Type, path, append(within, t))...)
			continue
		case name == "":
			name = f.Name
		}
		out = append(out, fieldsOf(f.Type, path+"."+name, append(slices.Clone(within), t))...)
	}
	return out
}

// The permissions are the client's operations, and the conditions are the keys
// that the store really writes.
func TestGrants(t *testing.T) {
	expect.Same(t, "reads", Reads(), []spec.Read{{Actions: []string{"dynamodb:BatchGetItem", "dynamodb:Query"}, Resources: []string{"table", "table-index"}}})
	expect.Same(t, "reading incidents", outgoing.ReadIncidents(), []spec.Read{{Actions: []string{"dynamodb:Query"}, Resources: []string{"table"}}})
	expect.Same(t, "reading the history", ReadHistory(), []spec.Read{{Actions: []string{"dynamodb:Query"}, Resources: []string{"table", "table-index", "ended-index"}}})
	for prefix, grant := range map[string]spec.Grant{
		launchPrefix: RecordLaunches(), "incident#": outgoing.RecordIncidents(), joinTimePrefix: RecordJoinTimes(), samplePrefix: RecordSamples(),
		sightingPrefix: RecordSightings(), auditPrefix: RecordAudits(), pacePrefix: RecordCleanups()[0], refusedPrefix: RecordRefusedLaunches(), cleanupPrefix: RecordCleanups()[1],
	} {
		if got := grant.Conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"][0]; got != prefix+"*" {
			t.Errorf("a grant is for %q, the store writes %q", got, prefix)
		}
	}
}

func record(cluster, name, status string) nodegroup.Record {
	return nodegroup.Record{
		Format: nodegroup.Format, Cluster: cluster, Nodegroup: name, Status: status, Since: start, First: start, Seen: start,
		Issues: []nodegroup.Issue{{Code: "AccessDenied", Since: start}}, Events: 1, Untold: []nodegroup.Event{{ID: "1", Status: status}},
	}
}

func TestNodegroups(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, r := range []nodegroup.Record{record("prod", "b", "ACTIVE"), record("prod", "a", "DEGRADED"), record("dev", "a", "ACTIVE")} {
		saved, err := s.SaveNodegroup(t.Context(), r)
		if err != nil || saved.Version != 1 {
			t.Fatalf("%s: version %d, %v", r.Nodegroup, saved.Version, err)
		}
	}
	got, err := s.Nodegroups(t.Context(), "prod")
	expect.OK(t, err)
	a, b := record("prod", "a", "DEGRADED"), record("prod", "b", "ACTIVE")
	a.Version, b.Version = 1, 1
	expect.Same(t, "nodegroups", got, map[string]nodegroup.Record{"a": a, "b": b})
	// Two who read the same version: the second to write has lost.
	if _, err := s.SaveNodegroup(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	var conflict *Conflict
	if _, err := s.SaveNodegroup(t.Context(), a); !errors.As(err, &conflict) || conflict.Over != 1 {
		t.Errorf("the second write over version 1 gave %v", err)
	}
	if _, err := s.SaveNodegroup(t.Context(), record("prod", "a", "ACTIVE")); !errors.As(err, &conflict) || conflict.Over != 0 {
		t.Errorf("a record that was never read gave %v", err)
	}
}

// What was deleted is remembered for a month; what is there, for ever.
func TestDeletedNodegroupsExpire(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, r := range []nodegroup.Record{record("prod", "a", nodegroup.Deleted), record("prod", "b", "ACTIVE")} {
		if _, err := s.SaveNodegroup(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for after, want := range map[time.Duration]int{29 * 24 * time.Hour: 2, 31 * 24 * time.Hour: 1} {
		now = start.Add(after)
		if got, err := s.Nodegroups(t.Context(), "prod"); err != nil || len(got) != want {
			t.Errorf("after %s: %d records, %v; want %d", after, len(got), err, want)
		}
	}
}

func TestNewerNodegroupIsLeftAlone(t *testing.T) {
	now := start
	s := open(t, &now)
	newer := record("prod", "b", "ACTIVE")
	newer.Format = nodegroup.Format + 1
	for _, r := range []nodegroup.Record{record("prod", "a", "ACTIVE"), newer} {
		if _, err := s.SaveNodegroup(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Nodegroups(t.Context(), "prod")
	var format *NewerFormat
	if !errors.As(err, &format) || len(got) != 1 || got["a"].Status != "ACTIVE" {
		t.Errorf("records %v, error %v; want the one that is known, and the other's format", got, err)
	}
}

func TestNodegroupGrants(t *testing.T) {
	expect.Same(t, "reads", ReadNodegroups(), []spec.Read{{Actions: []string{"dynamodb:BatchGetItem", "dynamodb:Query"}, Resources: []string{"table"}}})
	if got := RecordNodegroups().Conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]; len(got) != 1 || got[0] != nodegroupPrefix+"*" {
		t.Errorf("the grant is for %q, the store writes %q", got, nodegroupPrefix)
	}
}

func TestAPressIsClaimedOnce(t *testing.T) {
	now := start
	s := open(t, &now)
	claim := func(by string, want bool) {
		t.Helper()
		if got, err := s.ClaimPress(t.Context(), "abc", by); err != nil || got != want {
			t.Errorf("%s claims it: %v, %v; want %v", by, got, err, want)
		}
	}
	claim("one", true)
	claim("two", false)
	claim("one", true) // its own write, repeated by the client
	if got, err := s.ClaimPress(t.Context(), "abd", "two"); err != nil || !got {
		t.Errorf("another press: %v, %v", got, err)
	}
	now = now.Add(incoming.KeepPresses - time.Second)
	claim("two", false)
	now = now.Add(2 * time.Second)
	claim("two", true)
}

func TestAReleasedPressMayComeAgain(t *testing.T) {
	now := start
	s := open(t, &now)
	if _, err := s.ClaimPress(t.Context(), "abc", "one"); err != nil {
		t.Fatal(err)
	}
	if err := s.ReleasePress(t.Context(), "abc", "two"); err == nil {
		t.Error("somebody else released it")
	}
	expect.OK(t, s.ReleasePress(t.Context(), "abc", "one"))
	if got, err := s.ClaimPress(t.Context(), "abc", "two"); err != nil || !got {
		t.Errorf("after it was released: %v, %v", got, err)
	}
	if got, err := s.ClaimPress(t.Context(), "abc", "one"); err != nil || got {
		t.Errorf("the first one again: %v, %v", got, err)
	}
}

// TestWhatAPressIsPassedOnAs: only who claimed it says so, and report reads it as
// long as its message may lie in a queue.
func TestWhatAPressIsPassedOnAs(t *testing.T) {
	now := start
	s := open(t, &now)
	want := func(what string, want *report.PressRecord) {
		t.Helper()
		got, err := s.PassedPress(t.Context(), "abc")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", what, diff, err)
		}
	}
	want("nobody took it", nil)
	if err := s.PassPress(t.Context(), "abc", "one", "digest"); err == nil {
		t.Error("it is passed on without a claim")
	}
	if _, err := s.ClaimPress(t.Context(), "abc", "one"); err != nil {
		t.Fatal(err)
	}
	want("claimed", &report.PressRecord{Format: 1})
	if err := s.PassPress(t.Context(), "abc", "two", "another"); err == nil {
		t.Error("somebody else passes it on")
	}
	expect.OK(t, s.PassPress(t.Context(), "abc", "one", "digest"))
	now = now.Add(18 * 24 * time.Hour)
	want("passed on", &report.PressRecord{Format: 1, Digest: "digest"})
	expect.OK(t, s.ReleasePress(t.Context(), "abc", "one"))
	want("given back", nil)
}

// TestAPressOfTheReleaseBefore has a record that says no more than that.
func TestAPressOfTheReleaseBefore(t *testing.T) {
	now := start
	s := open(t, &now)
	_, err := s.t.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.t.Name, Item: map[string]types.AttributeValue{
		table.AttrPK: table.Text("press#abc"), table.AttrSK: table.Text("press"), "by": table.Text("x"), table.AttrFormat: table.Number(1), table.AttrVersion: table.Number(1), table.AttrExpires: table.Number(now.Add(time.Hour).Unix()), table.AttrBody: table.Text("{}"),
	}})
	expect.OK(t, err)
	got, err := s.PassedPress(t.Context(), "abc")
	if diff := cmp.Diff(&report.PressRecord{Format: 1}, got); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
}

func TestRefusals(t *testing.T) {
	now := start
	s := open(t, &now)
	record := func(reason interaction.Reason, request string, after time.Duration) interaction.Record {
		return interaction.Record{Format: interaction.RecordFormat, At: start.Add(after), Reason: reason, Says: "why", Source: "192.0.2.1", Request: request, Bytes: 9}
	}
	var want []interaction.Record
	for _, test := range []struct {
		record  interaction.Record
		written bool
	}{
		{record(interaction.Forged, "a", time.Second), true},
		{record(interaction.Forged, "b", 2*time.Second), false}, // one stands for its minute
		{record(interaction.Replayed, "c", 5*time.Second), true},
		{record(interaction.Replayed, "d", 5*time.Second), true},
		{record(interaction.Replayed, "d", 5*time.Second), false},
		{record(interaction.TooOld, "e", 61*time.Second), true},
		{record(interaction.Forged, "f", 62*time.Second), true},
	} {
		written, err := s.RecordRefusal(t.Context(), test.record)
		if err != nil || written != test.written {
			t.Errorf("%s %s: written %v, %v; want %v", test.record.Reason, test.record.Request, written, err, test.written)
		}
		if test.written {
			want = append(want, test.record)
		}
	}
	// By minute for the unsigned, by time for the others; forged sorts before too-old.
	want[3], want[4] = want[4], want[3]
	got, err := s.Refusals(t.Context(), start)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("refusals: %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Refusals(t.Context(), start.Add(time.Minute)); err != nil || len(got) != 2 {
		t.Errorf("since a minute later: %d, %v; want 2", len(got), err)
	}
}

// TestRefusalsAreNobodysIncidents: a cluster may have the function's name.
func TestRefusalsAreNobodysIncidents(t *testing.T) {
	now := start
	s := open(t, &now)
	if _, err := s.RecordRefusal(t.Context(), interaction.Record{At: start, Reason: interaction.Forged, Request: "a"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Incidents(t.Context(), "slack-actions")
	if diff := cmp.Diff([]incident.Incident(nil), got); err != nil || diff != "" {
		t.Errorf("incidents: %v (-want +got):\n%s", err, diff)
	}
}

// A launcher's runs are remembered one for each class, over the version that was
// read, until hours after the last call.
func TestRefusedLaunches(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	s, ctx := open(t, &now), t.Context()
	of := func(pool string, class checkid.ID, cluster string) RefusedRecord {
		return RefusedRecord{Cluster: cluster, RefusedLaunch: snapshot.RefusedLaunch{Launcher: snapshot.PoolKey(pool), Class: class, First: now, Last: now, Text: "no"}}
	}
	list := []RefusedRecord{of("a", checkid.LaunchKMSKey, "prod"), of("a", checkid.LaunchUnauthorized, "prod"), of("b", checkid.LaunchUnauthorized, "prod")}
	for _, r := range append(list, of("a", checkid.LaunchKMSKey, "other")) {
		expect.OK(t, s.SaveRefusedLaunch(ctx, r))
	}
	for i := range list {
		list[i].Version = 1
	}
	got, err := s.RefusedLaunches(ctx, "prod")
	expect.OK(t, err)
	expect.Same(t, "got", got, list)
	var conflict *Conflict
	if err := s.SaveRefusedLaunch(ctx, of("a", checkid.LaunchKMSKey, "prod")); !errors.As(err, &conflict) {
		t.Errorf("written over what was not read: %v", err)
	}
	now = now.Add(keepRefused)
	if got, err := s.RefusedLaunches(ctx, "prod"); err != nil || len(got) > 0 {
		t.Errorf("hours later: %v, %v", got, err)
	}
}
