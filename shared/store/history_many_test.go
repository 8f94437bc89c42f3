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

	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// pager answers queries of the index of launches with an outcome with many of
// them, a megabyte a page as DynamoDB does; no launch is open. Launches begin
// every three quarters of a second, 4800 an hour, until a time.
type pager struct {
	Client
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
	since, err := time.Parse(sortable, in.ExpressionAttributeValues[":since"].(*types.AttributeValueMemberS).Value)
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
		out.LastEvaluatedKey = map[string]types.AttributeValue{"i": number(int64(i))}
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
		attrPK: text(launchPrefix + l.ID()), attrSK: text(launchSort), attrFormat: number(LaunchFormat), attrExpires: number(at.Add(keepLaunches).Unix()),
		attrDay: text(dayOf("prod", at)), attrBegan: text(at.Format(sortable)), attrPast: text(past),
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
		{n: 3_000, most: 3_000, want: 2_999}, // whether there are more nobody looked
		{n: 3_000, most: 3_001, want: 3_000},
	} {
		s := &Store{client: &pager{until: now, n: test.n}, table: "t", now: func() time.Time { return now }, most: test.most}
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
		s := &Store{client: p, table: "t", now: func() time.Time { return now }, most: n + 1}
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
