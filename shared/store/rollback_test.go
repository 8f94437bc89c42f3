package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/interaction"
	"rollcall/shared/network/leak"
	"rollcall/shared/node/outcome"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store/outgoing"
	"rollcall/shared/store/table"
	"rollcall/tools/expect"
)

// TestRollbackDestroysNothing: after a rollback the older release finds records
// of the newer one. Whatever it tries to write over them is refused, and they
// stay as they were.
func TestRollbackDestroysNothing(t *testing.T) {
	run := remedy.Run{ID: "deed-1", Began: start, Plan: remedy.Plan{Cluster: "prod", Remedy: optin.AddNATRoute}}
	for name, write := range map[string]func(context.Context, *Store) error{
		"launch": func(ctx context.Context, s *Store) error {
			l := launch("i-1", 0)
			if created, err := s.CreateLaunch(ctx, l); err != nil || created {
				return err
			}
			l.Version = 1
			return s.SaveLaunch(ctx, l)
		},
		"incident": func(ctx context.Context, s *Store) error {
			inc := incidentOf("route/no-egress", "rtb-1")
			_, err := s.SaveIncident(ctx, inc)
			if err != nil {
				inc.Version = 1
				_, err = s.SaveIncident(ctx, inc)
			}
			return err
		},
		"join times": func(ctx context.Context, s *Store) error {
			err := s.SaveJoinTimes(ctx, "prod", JoinTimes{Nodegroup: "workers"})
			if err != nil {
				err = s.SaveJoinTimes(ctx, "prod", JoinTimes{Nodegroup: "workers", Version: 1})
			}
			return err
		},
		"nodegroup": func(ctx context.Context, s *Store) error {
			r := nodegroup.Record{Format: nodegroup.Format, Cluster: "prod", Nodegroup: "workers"}
			_, err := s.SaveNodegroup(ctx, r)
			if err != nil {
				r.Version = 1
				_, err = s.SaveNodegroup(ctx, r)
			}
			return err
		},
		"summary": func(ctx context.Context, s *Store) error {
			p := outbox.Posting{Summary: report.Summary{Cluster: "prod", ID: "day", At: start}}
			_, err := s.SavePosting(ctx, p)
			if err != nil {
				p.Version = 1
				_, err = s.SavePosting(ctx, p)
			}
			return err
		},
		"sighting": func(ctx context.Context, s *Store) error {
			x := leak.Sighting{Interface: "eni-1"}
			_, err := s.SaveSighting(ctx, "vpc-1", x)
			if err != nil {
				x.Version = 1
				_, err = s.SaveSighting(ctx, "vpc-1", x)
			}
			return err
		},
		"deed": func(ctx context.Context, s *Store) error {
			_, err := s.SaveRun(ctx, run)
			if err != nil {
				again := run
				again.Version = 1
				_, err = s.SaveRun(ctx, again)
			}
			return err
		},
		"count of runs": func(ctx context.Context, s *Store) error {
			_, err := s.CountRun(ctx, run, 5)
			return err
		},
		"audit": func(ctx context.Context, s *Store) error {
			a := leak.Audit{Cluster: "prod", Interface: "eni-1", At: start}
			_, created, err := s.RecordAudit(ctx, a)
			return refused(created, err)
		},
		"act": func(ctx context.Context, s *Store) error {
			created, err := s.RecordAct(ctx, incident.ActRecord{ID: "act-1", At: start, Key: report.Key{Cluster: "prod"}})
			return refused(created, err)
		},
		"refusal": func(ctx context.Context, s *Store) error {
			created, err := s.RecordRefusal(ctx, interaction.Record{At: start, Request: "r-1", Reason: interaction.Replayed})
			return refused(created, err)
		},
		"cluster": func(ctx context.Context, s *Store) error {
			r := outbox.ClusterRecord{Cluster: "prod", Open: true}
			err := s.SaveClusterRecord(ctx, r)
			if err != nil {
				r.Version = 1
				err = s.SaveClusterRecord(ctx, r)
			}
			return err
		},
		"pace": func(ctx context.Context, s *Store) error { return s.SavePace(ctx, "1", "r", leak.Pace{}) },
		"cleanup": func(ctx context.Context, s *Store) error {
			return s.SaveCleanupTold(ctx, "prod", "2026-11-20", "digest")
		},
		"sample": func(ctx context.Context, s *Store) error {
			return s.RecordSamples(ctx, []snapshot.Sample{{Subnet: "subnet-1", At: start, Free: 1, Total: 2}})
		},
		"hour of samples": func(ctx context.Context, s *Store) error {
			if err := s.RecordSamples(ctx, []snapshot.Sample{{Subnet: "subnet-1", At: start, Free: 1, Total: 2}}); err != nil {
				return err
			}
			return s.RollUp(ctx, "subnet-1", start)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			s := open(t, &now)
			if err := write(t.Context(), s); err != nil {
				t.Fatalf("into an empty table: %v", err)
			}
			newer := withNewerFormat(t, s)
			err := write(t.Context(), s)
			var format *NewerFormat
			var conflict *Conflict
			if !errors.As(err, &format) && !errors.As(err, &conflict) {
				t.Errorf("writing over a record of a newer release gave %v, want it refused", err)
			}
			if diff := cmp.Diff(newer, contents(t, s)); diff != "" {
				t.Errorf("the newer release's records (-before +after):\n%s", diff)
			}
		})
	}
}

// refused is what a write that leaves alone what is there comes to.
func refused(created bool, err error) error {
	if err == nil && !created {
		return &Conflict{}
	}
	return err
}

// withNewerFormat makes all records those of a newer release, and gives them.
func withNewerFormat(t *testing.T, s *Store) map[string]string {
	t.Helper()
	for _, item := range scan(t, s) {
		format, _, err := table.Integer(item[table.AttrFormat])
		expect.OK(t, err)
		item[table.AttrFormat], item[table.AttrBody] = table.Number(format+1), table.Text(`{"of":"a newer release"}`)
		if _, err := server.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &s.t.Name, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	return contents(t, s)
}

func scan(t *testing.T, s *Store) []map[string]types.AttributeValue {
	t.Helper()
	out, err := server.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: &s.t.Name, ConsistentRead: aws.Bool(true)})
	expect.OK(t, err)
	if len(out.Items) == 0 {
		t.Fatal("the table is empty")
	}
	return out.Items
}

// contents are the bodies of all records, by key and format.
func contents(t *testing.T, s *Store) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, item := range scan(t, s) {
		word := func(name string) string {
			switch v := item[name].(type) {
			case *types.AttributeValueMemberS:
				return v.Value
			case *types.AttributeValueMemberN:
				return v.Value
			}
			return ""
		}
		out[word(table.AttrPK)+" "+word(table.AttrSK)+" "+word(table.AttrFormat)] = word(table.AttrBody)
	}
	return out
}

func run(id string, r optin.Remedy, at time.Time) remedy.Run {
	return remedy.Run{Format: remedy.Format, ID: id, Plan: remedy.Plan{Format: remedy.Format, Remedy: r, Cluster: "prod"}, Began: at}
}

func TestRunIsClaimedOnce(t *testing.T) {
	now := start
	s := open(t, &now)
	var all sync.WaitGroup
	var mu sync.Mutex
	claims := 0
	for range 8 {
		all.Go(func() {
			there, claimed, err := s.ClaimRun(t.Context(), run("a", optin.AddNATRoute, now))
			mu.Lock()
			defer mu.Unlock()
			if err != nil || there.ID != "a" || there.Version != 1 {
				t.Errorf("%+v, %v", there, err)
			}
			if claimed {
				claims++
			}
		})
	}
	all.Wait()
	if claims != 1 {
		t.Errorf("%d claimed it", claims)
	}
	list, err := s.Runs(t.Context(), "prod")
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	list[0].Result, list[0].Ended = remedy.Done, now
	if _, err := s.SaveRun(t.Context(), list[0]); err != nil {
		t.Fatal(err)
	}
	var taken *Conflict
	if _, err := s.SaveRun(t.Context(), list[0]); !errors.As(err, &taken) {
		t.Errorf("written over what was not read: %v", err)
	}
	if there, claimed, err := s.ClaimRun(t.Context(), run("a", optin.AddNATRoute, now)); err != nil || claimed || there.Result != remedy.Done {
		t.Errorf("claimed %v, %+v, %v", claimed, there, err)
	}
	now = now.Add(table.KeepAudits - time.Hour)
	if list, _ := s.Runs(t.Context(), "prod"); len(list) != 1 {
		t.Error("it is not kept for a year")
	}
	if list, _ := s.Runs(t.Context(), "dev"); len(list) != 0 {
		t.Error("another cluster's")
	}
}

func TestRunsAreLimited(t *testing.T) {
	now := start
	s := open(t, &now)
	count := func(d remedy.Run) bool {
		t.Helper()
		room, err := s.CountRun(t.Context(), d, 3)
		expect.OK(t, err)
		return room.IsZero()
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	within := 0
	for n := range 6 {
		all.Go(func() {
			room, err := s.CountRun(t.Context(), run(fmt.Sprint(n), optin.ReplaceInstance, now), 3)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if err == nil && room.IsZero() {
				within++
			}
		})
	}
	all.Wait()
	if within != 3 {
		t.Errorf("%d within a limit of 3", within)
	}
	now = now.Add(59 * time.Minute)
	if count(run("x", optin.ReplaceInstance, now)) {
		t.Error("over the limit within the hour")
	}
	for n := range 6 {
		if !count(run("x", optin.AddNATRoute, now)) {
			t.Errorf("count %d: another remedy has a limit of its own, and the same deed counts once", n)
		}
	}
	now = start.Add(lately)
	if !count(run("x", optin.ReplaceInstance, now)) {
		t.Error("an hour later")
	}
}

// Each instance counts, and when there is room for more is known.
func TestLimitTellsWhenThereIsRoom(t *testing.T) {
	now := start
	s := open(t, &now)
	of := func(id string, n int) remedy.Run {
		d := run(id, optin.ReplaceInstance, now)
		d.Plan.Replace = &remedy.ReplaceInstance{Instances: make([]remedy.Replaced, n)}
		return d
	}
	count := func(id string, n int) time.Time {
		t.Helper()
		room, err := s.CountRun(t.Context(), of(id, n), 5)
		expect.OK(t, err)
		return room
	}
	for _, step := range []struct {
		at   time.Duration
		id   string
		n    int
		room time.Duration // 0: it is counted
	}{
		{0, "a", 2, 0},
		{10 * time.Minute, "b", 2, 0},
		{20 * time.Minute, "c", 2, lately},
		{20 * time.Minute, "d", 1, 0},
		{21 * time.Minute, "e", 5, 20*time.Minute + lately},
		{21 * time.Minute, "e", 3, 10*time.Minute + lately},
		{30 * time.Minute, "a", 2, 0}, // counted, and done only now
		{lately, "c", 1, 10*time.Minute + lately},
		{10*time.Minute + lately, "c", 2, 0},
	} {
		now = start.Add(step.at)
		want := time.Time{}
		if step.room > 0 {
			want = start.Add(step.room)
		}
		if got := count(step.id, step.n); !got.Equal(want) {
			t.Errorf("after %s: %d of %s: room at %s, want %s", step.at, step.n, step.id, got, want)
		}
	}
	if _, err := s.CountRun(t.Context(), of("f", 6), 5); err == nil {
		t.Error("more than the limit is counted")
	}
}

// A subnet is looked at every five minutes for ten days; one day is not rolled up.
func TestSamplesAreRolledUp(t *testing.T) {
	now := start.Truncate(time.Hour)
	s := open(t, &now)
	begin := now
	var all []snapshot.Sample
	rolled := 0
	for i := range 240 * 2 { // every half hour
		now = begin.Add(time.Duration(i) * 30 * time.Minute)
		x := snapshot.Sample{Subnet: "subnet-1", At: now, Free: 1000 - i, Total: 1019}
		all = append(all, x)
		expect.OK(t, s.RecordSamples(t.Context(), []snapshot.Sample{x}))
		if i > 48 && i < 96 {
			continue
		}
		n, err := s.CatchUp(t.Context(), "subnet-1")
		expect.OK(t, err)
		rolled += n
	}
	if rolled != 239 {
		t.Errorf("%d hours were rolled up, want each of the 239 that are over once", rolled)
	}
	got, err := s.Samples(t.Context(), "subnet-1", begin)
	expect.OK(t, err)
	whole := now.Add(-keepSamples).Add(time.Hour).Truncate(time.Hour)
	var want []snapshot.Sample
	for i, x := range all {
		// Of an hour that was rolled up the later sample, which has less.
		if !x.At.Before(whole) || i%2 == 1 {
			want = append(want, x)
		}
	}
	expect.Same(t, "ten days", got, want)
	if got, err = s.Samples(t.Context(), "subnet-1", now.Add(-time.Hour)); err != nil || len(got) != 3 {
		t.Errorf("the last hour: %v, %v", got, err)
	}
	now = begin.Add(keepHours + 300*time.Hour)
	if got, err = s.Samples(t.Context(), "subnet-1", begin); err != nil || len(got) != 0 {
		t.Errorf("when all has expired: %v, %v", got, err)
	}
}

func TestRollUpAgain(t *testing.T) {
	now := start.Truncate(time.Hour)
	hour := now
	s := open(t, &now)
	for i, free := range []int{9, 3, 7} {
		expect.OK(t, s.RecordSamples(t.Context(), []snapshot.Sample{{Subnet: "subnet-1", At: hour.Add(time.Duration(5*i) * time.Minute), Free: free, Total: 11}}))
	}
	want := []sampleHour{{Hour: hour.UTC(), Low: 3, At: hour.Add(5 * time.Minute).UTC(), High: 9, Last: 7, Total: 11, Count: 3}}
	for _, later := range []time.Duration{time.Hour, time.Hour, keepSamples + time.Minute} {
		now = hour.Add(later)
		expect.OK(t, s.RollUp(t.Context(), "subnet-1", hour.Add(20*time.Minute)))
		got, err := s.hours(t.Context(), "subnet-1", hour, hour.Add(time.Hour))
		expect.OK(t, err)
		expect.Same(t, fmt.Sprintf("after %s", later), got, want)
	}
	// Nothing is there to roll up.
	if n, err := s.CatchUp(t.Context(), "subnet-2"); n != 0 || err != nil {
		t.Errorf("another subnet: %d, %v", n, err)
	}
	if err := s.RollUp(t.Context(), "subnet-2", hour); err != nil {
		t.Error(err)
	}
}

func silenced(cluster, id string, until time.Time) silence.Silence {
	return silence.Silence{ID: id, Cluster: cluster, From: until.Add(-time.Hour), Until: until, At: until.Add(-time.Hour), By: silence.Person{ID: "U0ONCALL01"}}
}

// A cluster's silences are its own: not those of one whose name begins with its name, nor
// of one of its name in another account.
func TestSilencesAreOfOneCluster(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	elsewhere := s.ForSpoke(spoke.ID{Account: "222233334444", Region: "eu-west-1"})
	for _, x := range []silence.Silence{silenced("prod", "00000001", now.Add(time.Hour)), silenced("prod", "ffffffff", now.Add(time.Hour)), silenced("prod-2", "00000002", now), silenced("pro", "00000003", now)} {
		if _, err := s.SaveSilence(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	theirs := silenced("prod", "00000004", now.Add(time.Hour))
	if _, err := s.SaveSilence(t.Context(), silence.Silence{ID: "x", Cluster: "prod", Spoke: spoke.ID{Account: "222233334444", Region: "eu-west-1"}}); !errors.Is(err, table.ErrForeign) {
		t.Errorf("another account's is written: %v", err)
	}
	theirs.Spoke = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	if _, err := elsewhere.SaveSilence(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	ids := func(list []silence.Silence, err error) (ids []string) {
		expect.OK(t, err)
		for _, x := range list {
			ids = append(ids, x.Cluster+" "+x.ID)
		}
		return ids
	}
	for _, test := range []struct {
		got, want []string
	}{
		{ids(s.Silences(t.Context(), "prod")), []string{"prod 00000001", "prod ffffffff"}},
		{ids(s.Silences(t.Context(), "prod-2")), []string{"prod-2 00000002"}},
		{ids(s.Silences(t.Context(), "dev")), nil},
		{ids(elsewhere.Silences(t.Context(), "prod")), []string{"prod 00000004"}},
		{ids(elsewhere.AllSilences(t.Context())), []string{"prod 00000004"}},
		{ids(s.AllSilences(t.Context())), []string{"pro 00000003", "prod 00000001", "prod ffffffff", "prod-2 00000002"}},
	} {
		expect.Same(t, "got", test.got, test.want)
	}
}

// What a newer version wrote is never taken for no silence: the cluster's cannot be read,
// and another cluster's can.
func TestNewerSilences(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	x := silenced("prod", "00000001", now.Add(time.Hour))
	expect.OK(t, s.t.Put(t.Context(), table.Item{PK: silencePrefix, SK: "prod#00000001", Kind: "silence", Format: silence.Format + 1, Version: 1, Body: x, Expires: now.Add(time.Hour)}, 0))
	var newer *NewerFormat
	if list, err := s.Silences(t.Context(), "prod"); !errors.As(err, &newer) || list != nil {
		t.Errorf("%v, %v; want that it cannot be read", list, err)
	}
	if list, err := s.Silences(t.Context(), "prod-2"); err != nil || list != nil {
		t.Errorf("another cluster's: %v, %v", list, err)
	}
	if _, err := s.AllSilences(t.Context()); !errors.As(err, &newer) {
		t.Errorf("all: %v", err)
	}
	x.Version = 1
	var taken *Conflict
	if _, err := s.SaveSilence(t.Context(), x); !errors.As(err, &taken) {
		t.Errorf("written over: %v", err)
	}
}

// A silence is written once for each version, and forgotten a month after its end.
func TestSaveSilence(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	x, err := s.SaveSilence(t.Context(), silenced("prod", "00000001", now.Add(time.Hour)))
	if err != nil || x.Version != 1 || x.Format != silence.Format {
		t.Fatalf("%+v, %v", x, err)
	}
	var taken *Conflict
	if _, err := s.SaveSilence(t.Context(), silenced("prod", "00000001", now.Add(time.Hour))); !errors.As(err, &taken) {
		t.Errorf("a second time: %v", err)
	}
	x.Ended = now
	if x, err = s.SaveSilence(t.Context(), x); err != nil || x.Version != 2 {
		t.Errorf("%+v, %v", x, err)
	}
	now = x.Until.Add(keepSilences)
	if list, err := s.Silences(t.Context(), "prod"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestSweeps(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	for _, w := range []overview.Sweep{{Cluster: "prod", At: now}, {Cluster: "dev", At: now}, {Cluster: "prod", At: now.Add(time.Second), Failed: []string{"zone-watch"}}} {
		expect.OK(t, s.SaveSweep(t.Context(), w))
	}
	want := []overview.Sweep{{Cluster: "dev", Format: 1, At: now}, {Cluster: "prod", Format: 1, At: now.Add(time.Second), Failed: []string{"zone-watch"}}}
	got, err := s.Sweeps(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	now = now.Add(keepSwept + time.Second)
	if got, err := s.Sweeps(t.Context()); err != nil || len(got) > 0 {
		t.Errorf("two days later: %v, %v", got, err)
	}
}

func TestOneLaunch(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Second)
	s := open(t, &now)
	if l, err := s.Launch(t.Context(), "i-1"); err != nil || l != nil {
		t.Errorf("%v, %v; want none", l, err)
	}
	l := LaunchRecord{Cluster: "prod"}
	l.Instance, l.Started = "i-1", now
	if _, err := s.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Launch(t.Context(), "i-1"); err != nil || got == nil || got.Cluster != "prod" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := s.ForSpoke(spoke.ID{Account: "222233334444", Region: "eu-west-1"}).Launch(t.Context(), "i-1"); err != nil || got != nil {
		t.Errorf("of another account: %v, %v", got, err)
	}
}

// What has the same names in the hub's own account, in another account, and in that one's
// other region.
var namesakes = []spoke.ID{{}, {Account: "222233334444", Region: "us-west-2"}, {Account: "222233334444", Region: "eu-west-1"}}

// fill writes a record of each kind that is a spoke's, and fails if one is there.
func fill(ctx context.Context, s *Store, id spoke.ID) error {
	l := launch("i-1", 0)
	open, err := s.CreateLaunch(ctx, l)
	l.Instance, l.End, l.Status = "i-2", snapshot.Joined, outcome.Joined
	ended, wrong := s.CreateLaunch(ctx, l)
	inc := incidentOf("route/no-egress", "rtb-1")
	inc.Key.Spoke = id
	_, failed := s.SaveIncident(ctx, inc)
	audit := leak.Audit{Cluster: "prod", Interface: "eni-1", At: start}
	_, audited, refusedAudit := s.RecordAudit(ctx, audit)
	acted, refusedAct := s.RecordAct(ctx, incident.ActRecord{ID: "act-1", At: start, Key: inc.Key})
	run := remedy.Run{ID: "deed-1", Began: start, Plan: remedy.Plan{Cluster: "prod", Remedy: optin.AddNATRoute, Account: id.Account, Region: id.Region}}
	_, claimed, refusedRun := s.ClaimRun(ctx, run)
	room, refusedCount := s.CountRun(ctx, run, 1)
	if !open || !ended || !audited || !acted || !claimed || !room.IsZero() {
		return errors.New("it was there already")
	}
	_, first := s.SaveNodegroup(ctx, nodegroup.Record{Format: nodegroup.Format, Cluster: "prod", Nodegroup: "workers"})
	_, second := s.SavePosting(ctx, outbox.Posting{Summary: report.Summary{Cluster: "prod", ID: "day", At: start}})
	_, third := s.SaveSighting(ctx, "vpc-1", leak.Sighting{Interface: "eni-1"})
	return errors.Join(err, wrong, failed, refusedAudit, refusedAct, refusedRun, refusedCount, first, second, third,
		s.SaveJoinTimes(ctx, "prod", JoinTimes{Nodegroup: "workers"}),
		s.SaveRefusedLaunch(ctx, RefusedRecord{Cluster: "prod", RefusedLaunch: snapshot.RefusedLaunch{Launcher: "karpenter", Last: start}}),
		s.SaveClusterRecord(ctx, outbox.ClusterRecord{Cluster: "prod", Open: true}),
		s.RecordSamples(ctx, []snapshot.Sample{{Subnet: "subnet-1", At: start, Free: 1, Total: 2}}),
		s.RollUp(ctx, "subnet-1", start),
		s.SaveAlias(ctx, Alias{At: start, Alias: "shop"}),
		s.SaveCleanupTold(ctx, "prod", "2026-11-20", "digest of "+id.String()))
}

// TestNamesakesShareNothing: of two accounts, or two regions, with the same names, each has
// its own records, in the table and in its indexes.
func TestNamesakesShareNothing(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, id := range namesakes {
		if err := fill(t.Context(), s.ForSpoke(id), id); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	keys := map[string][]string{}
	for _, item := range scan(t, s) {
		for _, name := range []string{table.AttrPK, table.AttrOpen, table.AttrDay} {
			v, is := item[name].(*types.AttributeValueMemberS)
			if !is {
				continue
			}
			whose := ""
			for _, id := range namesakes[1:] {
				if strings.Contains(v.Value, id.String()+"/") {
					whose = id.String()
				}
			}
			keys[whose] = append(keys[whose], name+" "+strings.Replace(v.Value, whose+"/", "", 1))
		}
	}
	for _, list := range keys {
		slices.Sort(list)
	}
	if len(keys[""]) < 16 {
		t.Errorf("the hub's own keys are %q", keys[""])
	}
	for _, id := range namesakes[1:] {
		if diff := cmp.Diff(keys[""], keys[id.String()]); diff != "" {
			t.Errorf("keys of %s beside the hub's own, without account and region (-hub +spoke):\n%s", id, diff)
		}
	}
	for _, id := range namesakes {
		own := s.ForSpoke(id)
		list, err := own.Incidents(t.Context(), "prod")
		if err != nil || len(list) != 1 || list[0].Key.Spoke != id {
			t.Errorf("%s: incidents %+v, %v", id, list, err)
		}
		launches, err := own.OpenLaunches(t.Context(), "prod")
		if err != nil || len(launches) != 1 {
			t.Errorf("%s: %d open launches, %v", id, len(launches), err)
		}
		past, err := own.History(t.Context(), "prod", start.Add(-1))
		if err != nil || len(past) != 2 {
			t.Errorf("%s: %d launches, %v", id, len(past), err)
		}
		records, err := own.ClusterRecords(t.Context())
		if err != nil || len(records) != 1 {
			t.Errorf("%s: %d records of clusters, %v", id, len(records), err)
		}
		told, err := own.CleanupDigests(t.Context(), "prod")
		if err != nil || told["2026-11-20"] != "digest of "+id.String() {
			t.Errorf("%s: told %v, %v", id, told, err)
		}
	}
}

// TestAnothersRecordIsRefused: a store writes no incident, press or run of another spoke.
func TestAnothersRecordIsRefused(t *testing.T) {
	now := start
	s := open(t, &now)
	for _, own := range namesakes {
		for _, other := range namesakes {
			if own == other {
				continue
			}
			in := s.ForSpoke(own)
			inc := incidentOf("route/no-egress", "rtb-1")
			inc.Key.Spoke = other
			if _, err := in.SaveIncident(t.Context(), inc); !errors.Is(err, table.ErrForeign) {
				t.Errorf("an incident of %q in %q: %v", other, own, err)
			}
			if _, err := in.RecordAct(t.Context(), incident.ActRecord{ID: "act-1", At: start, Key: inc.Key}); !errors.Is(err, table.ErrForeign) {
				t.Errorf("a press of %q in %q: %v", other, own, err)
			}
			run := remedy.Run{ID: "deed-1", Began: start, Plan: remedy.Plan{Cluster: "prod", Account: other.Account, Region: other.Region}}
			if _, _, err := in.ClaimRun(t.Context(), run); !own.Hub() && !errors.Is(err, table.ErrForeign) {
				t.Errorf("a run of %q in %q: %v", other, own, err)
			}
		}
	}
}

// TestRecordsOfEarlierReleases: what the releases before there were spokes wrote is the
// hub's own, and of no spoke.
func TestRecordsOfEarlierReleases(t *testing.T) {
	now := start
	s := open(t, &now)
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1")); err != nil {
		t.Fatal(err)
	}
	item := scan(t, s)[0]
	if pk := item[table.AttrPK].(*types.AttributeValueMemberS).Value; pk != "incident#prod" {
		t.Errorf("the hub's own key is %s, which an earlier release would not find", pk)
	}
	if body := item[table.AttrBody].(*types.AttributeValueMemberS).Value; strings.Contains(body, "spoke") {
		t.Errorf("the hub's own record is %s, as no earlier release wrote it", body)
	}
	for _, id := range namesakes[1:] {
		if list, err := s.ForSpoke(id).Incidents(t.Context(), "prod"); err != nil || len(list) != 0 {
			t.Errorf("%s: %+v, %v", id, list, err)
		}
	}
}

func posting(id string) outbox.Posting {
	return outbox.Posting{Summary: report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: id, By: "spot-report", At: start, Cluster: "prod",
		Spot: spotreport.Report{Cluster: "prod", Spot: spotreport.Funnel{Requested: 3}}, Chart: []byte("\x89PNG"),
	}}
}

func TestPostings(t *testing.T) {
	now := start
	s := open(t, &now)
	first, err := s.SavePosting(t.Context(), posting("spot/prod/2026-11-20"))
	if err != nil || first.Version != 1 {
		t.Fatalf("version %d, %v; want 1", first.Version, err)
	}
	var conflict *Conflict
	if _, err := s.SavePosting(t.Context(), posting("spot/prod/2026-11-20")); !errors.As(err, &conflict) {
		t.Errorf("a second new record gave %v, want a conflict", err)
	}
	first.TS = "1.2"
	if first, err = s.SavePosting(t.Context(), first); err != nil || first.Version != 2 {
		t.Fatalf("version %d, %v; want 2", first.Version, err)
	}
	if _, err := s.SaveIncident(t.Context(), incidentOf("route/no-egress", "rtb-1")); err != nil {
		t.Fatal(err)
	}
	second, err := s.SavePosting(t.Context(), posting("spot/prod/2026-11-21"))
	expect.OK(t, err)
	got, err := s.Postings(t.Context(), "prod")
	if diff := cmp.Diff([]outbox.Posting{first, second}, got); err != nil || diff != "" {
		t.Errorf("postings: %v (-want +got):\n%s", err, diff)
	}
	if got, err := s.Postings(t.Context(), "other"); err != nil || len(got) != 0 {
		t.Errorf("another cluster's are %v, %v", got, err)
	}
	now = start.Add(outgoing.KeepSummaries)
	if got, err := s.Postings(t.Context(), "prod"); err != nil || len(got) != 0 {
		t.Errorf("after a month: %v, %v; want none", got, err)
	}
}

// The largest summary that may be sent can be recorded.
func TestLargestPosting(t *testing.T) {
	now := start
	s := open(t, &now)
	p := posting("spot/prod/2026-11-20")
	p.Summary.Spot.Assumed = []string{strings.Repeat("x", report.MaxSummary-1000)}
	if _, err := s.SavePosting(t.Context(), p); err != nil {
		t.Error(err)
	}
}

func TestPostingOfANewerFormat(t *testing.T) {
	now := start
	s := open(t, &now)
	newer := posting("newer")
	newer.Summary.Format++
	for _, p := range []outbox.Posting{newer, posting("ours")} {
		if _, err := s.SavePosting(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Postings(t.Context(), "prod")
	var typed *NewerFormat
	if !errors.As(err, &typed) || len(got) != 1 || got[0].Summary.ID != "ours" {
		t.Errorf("%v, %v; want ours, and a newer format", got, err)
	}
}

// A summary outlives its message in the queues.
func TestSummariesAreKeptLongerThanQueues(t *testing.T) {
	const queue, dead = 4 * 24 * time.Hour, 14 * 24 * time.Hour
	if outgoing.KeepSummaries <= queue+dead {
		t.Errorf("kept for %s, a message can wait %s", outgoing.KeepSummaries, queue+dead)
	}
	if got := outgoing.RecordSummaries().Conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]; got[0] != "summary#*" {
		t.Errorf("the grant is for %q, the store writes summary#", got)
	}
}
