package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store/table"
	"rollcall/tools/expect"
)

// concluded is a launch some minutes after start with all that can be known.
func concluded(id string, minute int) LaunchRecord {
	l := launch(id, minute)
	l.Machine = &Machine{Template: "lt-1", Version: "3", AMI: "ami-1", Architecture: "arm64", Plugin: "v1.20.4"}
	l.Free, l.FreeAt = 17, l.Started
	l.Learn(outcome.Facts{
		Registered: l.Started.Add(40 * time.Second), Noticed: l.Started.Add(time.Minute), Rebalance: l.Started.Add(50 * time.Second),
		Ended: l.Started.Add(3 * time.Minute), Reason: outcome.EndReason{Code: "Server.SpotInstanceTermination", Message: "Server.SpotInstanceTermination: Spot instance termination"},
	})
	return l
}

func TestHistory(t *testing.T) {
	now := start.Add(3 * 24 * time.Hour)
	s := open(t, &now)
	refused := LaunchRecord{Launch: outcome.Launch{Nodegroup: "workers", Group: "eks-workers", Subnet: "subnet-1", Zone: "us-west-2a", Started: start.Add(30 * time.Hour)}, Activity: "a-1", Cluster: "prod"}
	refused.Learn(outcome.Facts{Refused: "launch/insufficient-capacity", Reason: outcome.EndReason{Message: "no capacity"}})
	joined := launch("i-joined", 10)
	joined.Learn(outcome.Facts{Ready: joined.Started.Add(58 * time.Second)})
	other := concluded("i-other", 2)
	other.Cluster = "dev"
	for _, l := range []LaunchRecord{joined, refused, concluded("i-spot", 4), launch("i-open", 60*50), concluded("i-old", -60*24), other} {
		if created, err := s.CreateLaunch(t.Context(), l); err != nil || !created {
			t.Fatalf("create %s: %v, %v", l.ID(), created, err)
		}
	}
	got, err := s.History(t.Context(), "prod", start)
	expect.OK(t, err)
	want := []snapshot.Past{concluded("i-spot", 4).Past(), joined.Past(), refused.Past(), launch("i-open", 60*50).Past()}
	expect.Same(t, "history", got, want)
	if want[0].End != snapshot.Reclaimed || want[2].ID != "a-1" || want[2].End != snapshot.Refused || want[3].End != snapshot.Open || want[0].Template.Version != "3" ||
		want[0].AMI != "ami-1" || want[0].Architecture != "arm64" || want[0].Plugin != "v1.20.4" {
		t.Errorf("the launches themselves are %+v", want)
	}
	if known, err := s.GetLaunches(t.Context(), []string{"a-1"}); err != nil || known["a-1"].Cause != "launch/insufficient-capacity" {
		t.Errorf("by the activity: %+v, %v", known, err)
	}
	now = start.Add(keepLaunches + 24*time.Hour + 10*time.Hour)
	if got, err := s.History(t.Context(), "prod", start); err != nil || len(got) != 1 || got[0].ID != "i-open" {
		t.Errorf("90 days later: %+v, %v; want the one that has not expired", got, err)
	}
}

// A launch that ends leaves the index of the open ones; a late fact changes its
// end in the other one.
func TestLateFactsChangeTheHistory(t *testing.T) {
	now := start.Add(time.Hour)
	s := open(t, &now)
	l := launch("i-1", 0)
	l.Learn(outcome.Facts{Ended: start.Add(2 * time.Minute), Reason: outcome.EndReason{Code: "Client.UserInitiatedShutdown"}})
	if _, err := s.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	ends := func() []snapshot.End {
		t.Helper()
		list, err := s.History(t.Context(), "prod", start.Add(-time.Hour))
		expect.OK(t, err)
		var ends []snapshot.End
		for _, p := range list {
			ends = append(ends, p.End)
		}
		return ends
	}
	if diff := cmp.Diff([]snapshot.End{snapshot.Terminated}, ends()); diff != "" {
		t.Error(diff)
	}
	known, err := s.GetLaunches(t.Context(), []string{"i-1"})
	expect.OK(t, err)
	l = known["i-1"]
	if changed := l.Learn(outcome.Facts{Noticed: start.Add(time.Minute)}); !changed || l.Learn(outcome.Facts{Noticed: start.Add(time.Minute)}) {
		t.Error("a fact is news once")
	}
	expect.OK(t, s.SaveLaunch(t.Context(), l))
	if diff := cmp.Diff([]snapshot.End{snapshot.Reclaimed}, ends()); diff != "" {
		t.Error(diff)
	}
}

// A record of a newer version is left out, and said.
func TestHistoryOfANewerVersion(t *testing.T) {
	now := start.Add(time.Hour)
	s := open(t, &now)
	if _, err := s.CreateLaunch(t.Context(), concluded("i-1", 0)); err != nil {
		t.Fatal(err)
	}
	newer := map[string]types.AttributeValue{
		table.AttrPK: table.Text("launch#i-2"), table.AttrSK: table.Text(launchSort), table.AttrFormat: table.Number(LaunchFormat + 1), table.AttrVersion: table.Number(1), table.AttrBody: table.Text("{}"),
		table.AttrDay: table.Text(dayOf("prod", start)), table.AttrBegan: table.Text(start.Format(table.Sortable)), table.AttrPast: table.Text(`{"who":"knows"}`),
	}
	if _, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.t.Name, Item: newer}); err != nil {
		t.Fatal(err)
	}
	list, err := s.History(t.Context(), "prod", start)
	var format *NewerFormat
	if !errors.As(err, &format) || format.Record != "launch#i-2 launch" || len(list) != 1 || list[0].ID != "i-1" {
		t.Errorf("history %+v, error %v; want the other one and which was left out", list, err)
	}
}

// What the version before wrote is read as it was meant.
func TestRecordOfTheVersionBefore(t *testing.T) {
	now := start.Add(time.Hour)
	s := open(t, &now)
	bodies := map[string]string{
		"i-0aaa": `{"instance":"i-0aaa","cluster":"prod","nodegroup":"workers","subnet":"subnet-1","zone":"us-west-2a","type":"m5.large","spot":true,"started":"2026-11-20T14:59:00Z","due":"2026-11-20T15:04:00Z","standing":"gone","ended":"2026-11-20T15:01:00Z","endedWhy":"Server.SpotInstanceTermination: Spot instance termination","machine":{"vpc":"vpc-1","template":"lt-1","templateVersion":"3"},"looks":2,"version":2}`,
		"i-0bbb": `{"instance":"i-0bbb","cluster":"prod","started":"2026-11-20T14:59:00Z","due":"2026-11-20T15:04:00Z","standing":"joined","registered":"2026-11-20T14:59:40Z","ready":"2026-11-20T14:59:58Z","looks":1,"version":2}`,
		"i-0ccc": `{"instance":"i-0ccc","cluster":"prod","started":"2026-11-20T14:59:00Z","due":"2026-11-20T15:04:00Z","standing":"missed","looks":1,"version":1}`,
	}
	for id, body := range bodies {
		_, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.t.Name, Item: map[string]types.AttributeValue{
			table.AttrPK: table.Text(launchPrefix + id), table.AttrSK: table.Text(launchSort), table.AttrFormat: table.Number(1), table.AttrVersion: table.Number(2), table.AttrBody: table.Text(body),
		}})
		expect.OK(t, err)
	}
	known, err := s.GetLaunches(t.Context(), []string{"i-0aaa", "i-0bbb", "i-0ccc"})
	expect.OK(t, err)
	for id, want := range map[string]snapshot.End{"i-0aaa": snapshot.Reclaimed, "i-0bbb": snapshot.Joined, "i-0ccc": snapshot.Open} {
		l := known[id]
		if l.Learn(outcome.Facts{}); l.End != want {
			t.Errorf("%s: %q because of %q, want %q", id, l.End, l.Why, want)
		}
		if l.Looks == 0 || id == "i-0aaa" && (l.Machine == nil || l.Machine.Version != "3" || l.EndedCode != "Server.SpotInstanceTermination") {
			t.Errorf("%s: %+v", id, l)
		}
	}
}

func TestPastIsShort(t *testing.T) {
	l := concluded("i-0123456789abcdef0", 0)
	l.Nodegroup, l.Group, l.Subnet = "workers-spot-large", "eks-workers-spot-large-e2ca4e02-248f-cb7e-45a7-6fa9b0230007", "subnet-0123456789abcdef0"
	body, err := encodePast(l.Past())
	expect.OK(t, err)
	if len(body) > 450 {
		t.Errorf("%d bytes: %s", len(body), body)
	}
}

func FuzzPast(f *testing.F) {
	for i, l := range []LaunchRecord{concluded("i-1", 0), concluded("i-2", 1)} {
		body, err := encodePast(l.Past())
		if err != nil {
			f.Fatal(i, err)
		}
		f.Add(body)
	}
	f.Add(`{"i":"a","e":"joined","b":-1,"y":9223372036854775807}`)
	f.Fuzz(func(t *testing.T, body string) {
		p, err := decodePast(body)
		if err != nil {
			return
		}
		if p.ID == "" || p.End == snapshot.Open {
			t.Errorf("%q is read as %+v", body, p)
		}
		again, err := encodePast(p)
		expect.OK(t, err)
		if q, err := decodePast(again); err != nil || !cmp.Equal(p, q) && len([]rune(p.Why)) <= maxWhy {
			t.Errorf("%q: %+v, then %+v, %v", body, p, q, err)
		}
	})
}

func TestSamples(t *testing.T) {
	now := start.Add(time.Hour)
	s := open(t, &now)
	at := func(seconds, free int) snapshot.Sample {
		return snapshot.Sample{Subnet: "subnet-1", At: start.Add(time.Duration(seconds) * time.Second), Free: free, Total: 251}
	}
	for range 2 {
		expect.OK(t, s.RecordSamples(t.Context(), []snapshot.Sample{at(120, 3), at(0, 9), at(20, 8), at(61, 5), {Subnet: "subnet-2", At: start, Free: 1, Total: 11}}))
	}
	got, err := s.Samples(t.Context(), "subnet-1", start)
	expect.OK(t, err)
	expect.Same(t, "one a minute", got, []snapshot.Sample{at(0, 9), at(61, 5), at(120, 3)})
	if got, err = s.Samples(t.Context(), "subnet-1", start.Add(2*time.Minute)); err != nil || len(got) != 1 {
		t.Errorf("since two minutes: %v, %v", got, err)
	}
	now = start.Add(keepSamples + time.Hour)
	if got, err = s.Samples(t.Context(), "subnet-1", start); err != nil || len(got) != 0 {
		t.Errorf("8 days later, not rolled up: %v, %v", got, err)
	}
}

func TestJoinTimes(t *testing.T) {
	now := start.Add(time.Hour)
	s := open(t, &now)
	var joins []outcome.Join
	for i := range 300 {
		joins = append(joins, outcome.Join{Instance: fmt.Sprintf("i-%017x", i), At: start.Add(time.Duration(i) * time.Second), Seconds: 60})
	}
	one := JoinTimes{Nodegroup: "workers", Joins: outcome.Joins(nil).With(joins, now)}
	expect.OK(t, s.SaveJoinTimes(t.Context(), "prod", one))
	var conflict *Conflict
	if err := s.SaveJoinTimes(t.Context(), "prod", one); !errors.As(err, &conflict) {
		t.Errorf("saving over what was never read gave %v, want a conflict", err)
	}
	times, err := s.JoinTimes(t.Context(), "prod")
	expect.OK(t, err)
	one.Version = 1
	expect.Same(t, "join times", times, map[string]JoinTimes{"workers": one})
	if err := s.SaveJoinTimes(t.Context(), "prod", times["workers"]); err != nil {
		t.Errorf("saving over what was read: %v", err)
	}
	if times, err := s.JoinTimes(t.Context(), "dev"); err != nil || len(times) != 0 {
		t.Errorf("another cluster's: %v, %v", times, err)
	}
}

// Of an open launch that has missed its time it is said when, and why; of a
// node that was lost that it was. Both come back from the table.
func TestHistoryTellsMissedAndLost(t *testing.T) {
	now := start.Add(time.Hour)
	s := open(t, &now)
	missed, lost, scaledIn := launch("i-missed", 0), launch("i-lost", 1), launch("i-scaled-in", 2)
	missed.Learn(outcome.Facts{Missed: missed.Due, Root: outcome.Root{Check: "route/no-egress", Sure: true}})
	for l, code := range map[*LaunchRecord]string{&lost: "Server.SpotInstanceTermination", &scaledIn: "Client.UserInitiatedShutdown"} {
		l.Learn(outcome.Facts{Ready: l.Started.Add(time.Minute), Ended: l.Started.Add(20 * time.Minute), Reason: outcome.EndReason{Code: code}})
	}
	for _, l := range []LaunchRecord{missed, lost, scaledIn} {
		if _, err := s.CreateLaunch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.History(t.Context(), "prod", start.Add(-time.Hour))
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if p := list[0]; p.End != snapshot.Open || !p.Missed.Equal(missed.Due) || p.Cause != "route/no-egress" || p.Lost {
		t.Errorf("missed: %+v", p)
	}
	if !list[1].Lost || list[2].Lost || list[1].End != snapshot.Joined || !list[1].Missed.IsZero() {
		t.Errorf("lost: %+v; scaled in: %+v", list[1], list[2])
	}
}

// Of more launches than are asked for the newest are given, and that is no error.
func TestRecentHistory(t *testing.T) {
	now := start.Add(24 * time.Hour)
	s := open(t, &now)
	for minute := range 5 {
		if _, err := s.CreateLaunch(t.Context(), concluded("i-"+string(rune('a'+minute)), minute)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.RecentHistory(t.Context(), "prod", start, 3)
	expect.OK(t, err)
	expect.Same(t, "the newest, without the oldest moment that was read", got, []snapshot.Past{concluded("i-d", 3).Past(), concluded("i-e", 4).Past()})
}

// A launch in the index of a release before knew its image is read without one.
func TestPastOfEarlierReleases(t *testing.T) {
	p, err := decodePast(`{"i":"i-1","n":"workers","t":"m5.large","l":"lt-1","v":"3","b":1795168200000,"e":"joined"}`)
	if err != nil || p.AMI != "" || p.Architecture != "" || p.Plugin != "" || p.Template.Version != "3" || p.End != snapshot.Joined {
		t.Errorf("%+v, %v", p, err)
	}
}

// pager answers queries of the index of launches with an outcome with many of
// them, a megabyte a page as DynamoDB does; no launch is open. Launches begin
// every three quarters of a second, 4800 an hour, until a time.
type pager struct {
	table.Client
	until time.Time
	n     int
	pages int
	took  time.Duration // to make the items
	bytes int
}

const apart = 750 * time.Millisecond

// perPage is how many items of 440 bytes a page of 1 MB holds.
const perPage = 2300

func (p *pager) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	began := time.Now()
	defer func() { p.took += time.Since(began) }()
	out := &dynamodb.QueryOutput{}
	if *in.IndexName == OpenIndex {
		return out, nil
	}
	key := in.ExpressionAttributeValues[":day"].(*types.AttributeValueMemberS).Value
	day, err := time.Parse("prod#"+time.DateOnly, key)
	if err != nil {
		return nil, err
	}
	since, err := time.Parse(table.Sortable, in.ExpressionAttributeValues[":since"].(*types.AttributeValueMemberS).Value)
	if err != nil {
		return nil, err
	}
	// The newest of the day, or where the page before ended.
	i := max(0, int(p.until.Sub(day.Add(24*time.Hour))/apart))
	if from, ok := in.ExclusiveStartKey["i"].(*types.AttributeValueMemberN); ok {
		if i, err = strconv.Atoi(from.Value); err != nil {
			return nil, err
		}
	}
	for ; i < p.n && len(out.Items) < perPage; i++ {
		at := p.until.Add(-time.Duration(i) * apart)
		if !at.Before(day.Add(24 * time.Hour)) {
			continue
		}
		if at.Before(day) || at.Before(since) {
			i = p.n
			break
		}
		out.Items = append(out.Items, p.item(i, at))
	}
	p.pages++
	if i < p.n {
		out.LastEvaluatedKey = map[string]types.AttributeValue{"i": table.Number(int64(i))}
	}
	return out, nil
}

func (p *pager) item(i int, at time.Time) map[string]types.AttributeValue {
	l := LaunchRecord{
		Launch:  outcome.Launch{Instance: fmt.Sprintf("i-%017x", i), Nodegroup: fmt.Sprintf("workers-spot-%d", i%5), Group: fmt.Sprintf("eks-workers-spot-%d-e2ca4e02-248f-cb7e-45a7-6fa9b0230007", i%5), Type: fmt.Sprintf("m%d.2xlarge", i%9), Zone: "us-west-2" + string(rune('a'+i%3)), Subnet: fmt.Sprintf("subnet-0b20000000000%03x", i%12), Started: at},
		Cluster: "prod",
		Spot:    true,
		Due:     at.Add(5 * time.Minute),
		Machine: &Machine{Template: "lt-0123456789abcdef0", Version: "12"},
		Free:    i % 8000,
		FreeAt:  at.Add(3 * time.Second),
	}
	if i%50 == 0 {
		l.Learn(outcome.Facts{Missed: l.Due, Root: outcome.Root{Check: "route/no-egress", Sure: true}, GivenUp: at.Add(2 * time.Hour)})
	} else {
		ready := at.Add(time.Duration(50+i%90) * time.Second)
		l.Learn(outcome.Facts{Registered: ready.Add(-15 * time.Second), Ready: ready})
	}
	past, err := encodePast(l.Past())
	if err != nil {
		panic(err)
	}
	it := map[string]types.AttributeValue{
		table.AttrPK: table.Text(launchPrefix + l.ID()), table.AttrSK: table.Text(launchSort), table.AttrFormat: table.Number(LaunchFormat), table.AttrExpires: table.Number(at.Add(keepLaunches).Unix()),
		table.AttrDay: table.Text(dayOf("prod", at)), table.AttrBegan: table.Text(at.Format(table.Sortable)), table.AttrPast: table.Text(past),
	}
	for name, v := range it {
		p.bytes += len(name)
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			p.bytes += len(v.Value)
		case *types.AttributeValueMemberN:
			p.bytes += len(v.Value)/2 + 1
		}
	}
	return it
}

// Of more launches than are read the newest are given, whole from a moment on.
func TestHistoryIsBounded(t *testing.T) {
	now := start.Truncate(24 * time.Hour).Add(30 * time.Minute) // 2,400 launches are of this day
	for _, test := range []struct{ n, most, want int }{
		{n: 100, most: 1000, want: 100},
		{n: 9_000, most: 7_000, want: 6_999}, // over several pages and two days
		{n: 9_000, most: 2_300, want: 2_299}, // a page, to the launch
		{n: 3_000, most: 3_000, want: 2_999}, // not checked whether there are more
		{n: 3_000, most: 3_001, want: 3_000},
	} {
		s := New(&pager{until: now, n: test.n}, "t").WithClock(func() time.Time { return now })
		s.most = test.most
		list, err := s.History(t.Context(), "prod", now.Add(-7*24*time.Hour))
		if len(list) != test.want {
			t.Fatalf("%d of %d: %d launches, want %d", test.most, test.n, len(list), test.want)
		}
		newest, oldest := list[len(list)-1], list[0]
		if !newest.Started.Equal(now) || !oldest.Started.Equal(now.Add(-time.Duration(test.want-1)*apart)) {
			t.Errorf("%d of %d: from %s to %s", test.most, test.n, oldest.Started, newest.Started)
		}
		var older *OlderLeftOut
		if cut := test.n >= test.most; errors.As(err, &older) != cut {
			t.Errorf("%d of %d: %v", test.most, test.n, err)
		}
		if older != nil && !older.Since.Equal(oldest.Started) {
			t.Errorf("%d of %d: since %s, and the oldest is of %s", test.most, test.n, older.Since, oldest.Started)
		}
	}
}

// What the history of many launches takes. It is measured on demand: it holds
// a hundred megabytes.
//
//	MEASURE=1 go test -run TestHistoryTakes -v ./shared/store
func TestHistoryTakes(t *testing.T) {
	if os.Getenv("MEASURE") == "" {
		t.Skip("set MEASURE=1")
	}
	now := start.Add(30 * time.Hour)
	for _, n := range []int{10_000, 100_000, MaxHistory, 400_000} {
		p := &pager{until: now, n: n}
		s := New(p, "t").WithClock(func() time.Time { return now })
		s.most = n + 1
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		list, err := s.History(t.Context(), "prod", now.Add(-7*24*time.Hour))
		if err != nil || len(list) != n {
			t.Fatalf("%d launches, %v", len(list), err)
		}
		took := time.Since(began) - p.took
		runtime.ReadMemStats(&after)
		peak := after.HeapSys
		runtime.GC()
		runtime.ReadMemStats(&after)
		t.Logf("%d launches: %s, %d MB held (%d bytes each), heap grown to %d MB, %d pages, %d MB of items (%d bytes each), %d read units",
			n, took.Round(time.Millisecond), (after.HeapAlloc-before.HeapAlloc)>>20, (after.HeapAlloc-before.HeapAlloc)/uint64(n), peak>>20, p.pages, p.bytes>>20, p.bytes/n, p.bytes/8192)
		if list[0].End == snapshot.Open {
			t.Error("an open launch")
		}
	}
}
