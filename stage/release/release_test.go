package release

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/store"
)

// TestLost: what is not lost is the same value, the same moment, or nothing at
// all; all else is.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		written, read string
		want          []string
	}{
		{`{"a":1}`, `{"a":1,"b":2}`, nil},
		{`{"a":"2026-11-20T15:00:00Z"}`, `{"a":"2026-11-20T16:00:00+01:00"}`, nil},
		{`{"a":"","b":0,"c":false,"d":[],"e":{"f":""},"g":"0001-01-01T00:00:00Z"}`, `{}`, nil},
		{`{"a":1}`, `{}`, []string{"$.a: 1, read <nil>"}},
		{`{"a":{"b":"x"}}`, `{"a":{}}`, []string{"$.a.b: x, read <nil>"}},
		{`{"a":[1,2]}`, `{"a":[1]}`, []string{"$.a: 2 elements, read 1"}},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, []string{"$.a[0].b: 1, read 2"}},
		{`{"a":false}`, `{"a":true}`, []string{"$.a: false, read true"}},
		{`{"a":"2026-11-20T15:00:00Z"}`, `{"a":"2026-11-20T15:00:01Z"}`, []string{"$.a: 2026-11-20T15:00:00Z, read 2026-11-20T15:00:01Z"}},
	} {
		if diff := cmp.Diff(c.want, Lost(json.RawMessage(c.written), json.RawMessage(c.read))); diff != "" {
			t.Errorf("written %s, read %s (-want +got):\n%s", c.written, c.read, diff)
		}
	}
}

// resultsQueue has Rollcall's own messages; all others have events.
const resultsQueue = "rollcall-results.fifo"

// TestMessagesOfEachReleaseAreRead holds that what waited in a queue while
// Rollcall was upgraded is read, and says all that it said.
func TestMessagesOfEachReleaseAreRead(t *testing.T) {
	for _, name := range releases(t) {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]bool{}
			for _, m := range samples(t, name).Messages {
				kinds[m.Kind()] = true
				if m.Queue == resultsQueue {
					readResult(t, m)
					continue
				}
				trigger, err := event.Parse(m.Body)
				if err != nil {
					t.Errorf("%s: %v\n%s", m.Kind(), err, m.Body)
				} else if trigger.Kind == event.Foreign {
					t.Errorf("%s: nothing is done with it any more: %s", m.Kind(), trigger.Why)
				}
			}
			if len(kinds) < 15 {
				t.Errorf("samples of %d kinds of message, want at least 15: %v", len(kinds), slices.Sorted(maps.Keys(kinds)))
			}
		})
	}
}

// readResult reads a message of the results queue, and compares.
func readResult(t *testing.T, m Message) {
	t.Helper()
	read, err := report.DecodeMessage(m.Body)
	if err != nil {
		t.Errorf("%s: %v", m.Kind(), err)
		return
	}
	again, err := json.Marshal(content(read))
	if err != nil {
		t.Fatal(err)
	}
	if lost := Lost(m.Body, again); len(lost) > 0 {
		t.Errorf("%s: what is read is empty of\n%s", m.Kind(), strings.Join(lost, "\n"))
	}
}

// content is the one thing that a message holds.
func content(m report.Message) any {
	switch {
	case m.Observation != nil:
		return m.Observation
	case m.Summary != nil:
		return m.Summary
	case m.Press != nil:
		return m.Press
	case m.Proposal != nil:
		return m.Proposal
	case m.RemedyResult != nil:
		return m.RemedyResult
	case m.Changes != nil:
		return m.Changes
	case m.Alert != nil:
		return m.Alert
	}
	return nil
}

// releases are those whose samples are kept, oldest first.
func releases(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/*/" + recordsFile)
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no samples in testdata: %v", err)
	}
	var names []string
	for _, d := range dirs {
		names = append(names, filepath.Base(filepath.Dir(d)))
	}
	slices.Sort(names)
	return names
}

func samples(t *testing.T, name string) Samples {
	t.Helper()
	s, err := Read(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readers read all records of a partition as today's functions do, by kind. What
// follows the kind in the partition key is given: a cluster, a VPC, a subnet.
func readers(s *store.Store) map[string]func(ctx context.Context, of string) (any, error) {
	long := time.Time{} // from the beginning of time
	return map[string]func(context.Context, string) (any, error){
		"launch": func(ctx context.Context, of string) (any, error) {
			found, err := s.GetLaunches(ctx, []string{of})
			return values(found), err
		},
		"incident": func(ctx context.Context, of string) (any, error) { return s.Incidents(ctx, of) },
		"jointime": func(ctx context.Context, of string) (any, error) {
			m, err := s.JoinTimes(ctx, of)
			return values(m), err
		},
		"nodegroup": func(ctx context.Context, of string) (any, error) {
			m, err := s.Nodegroups(ctx, of)
			return values(m), err
		},
		"sighting": func(ctx context.Context, of string) (any, error) {
			m, err := s.Sightings(ctx, of)
			return values(m), err
		},
		"summary": func(ctx context.Context, of string) (any, error) { return s.Postings(ctx, of) },
		"act":     func(ctx context.Context, of string) (any, error) { return s.Acts(ctx, of, long) },
		"audit":   func(ctx context.Context, of string) (any, error) { return s.Audits(ctx, of, long) },
		"deed":    func(ctx context.Context, of string) (any, error) { return s.Runs(ctx, of) },
		"press": func(ctx context.Context, of string) (any, error) {
			r, err := s.PassedPress(ctx, of)
			if r == nil {
				return nil, err
			}
			return []any{*r}, err
		},
		"refusal": func(ctx context.Context, _ string) (any, error) { return s.Refusals(ctx, long) },
		"sample": func(ctx context.Context, of string) (any, error) {
			list, err := s.Samples(ctx, of, long)
			var out []any
			for _, x := range list {
				out = append(out, map[string]any{"t": x.At, "f": x.Free, "n": x.Total})
			}
			return out, err
		},
		"sample#hours": func(ctx context.Context, of string) (any, error) {
			// Hours are read once the samples themselves have expired.
			list, err := s.Samples(ctx, strings.TrimSuffix(of, "#hours"), long)
			var out []any
			for _, x := range list {
				out = append(out, map[string]any{"h": x.At.Truncate(time.Hour), "a": x.At, "l": x.Free, "n": x.Total})
			}
			return out, err
		},
		"pace": func(ctx context.Context, of string) (any, error) {
			account, region, _ := strings.Cut(of, "#")
			p, err := s.Pace(ctx, account, region)
			return []any{p}, err
		},
		"cluster": func(ctx context.Context, _ string) (any, error) { return s.ClusterRecords(ctx) },
		"swept":   func(ctx context.Context, _ string) (any, error) { return s.Sweeps(ctx) },
		"spoke":   func(ctx context.Context, _ string) (any, error) { return s.AllSpokes(ctx) },
		"refused": func(ctx context.Context, of string) (any, error) { return s.RefusedLaunches(ctx, of) },
		"cleanup": func(ctx context.Context, of string) (any, error) {
			m, err := s.CleanupDigests(ctx, of)
			var list []any
			for day, digest := range m {
				list = append(list, map[string]string{"day": day, "digest": digest})
			}
			return list, err
		},
	}
}

func values[V any](m map[string]V) []V {
	list := make([]V, 0, len(m))
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// unread are kinds whose records no function reads back as such, and why that
// is enough.
func unread() map[string]string {
	return map[string]string{
		"deeds-lately": "TestUpgradeKeepsTheLimitOfRemedies",
	}
}

// unasked are fields that no function reads yet, by kind.
func unasked() map[string][]string {
	return map[string][]string{"sample#hours": {"$.c", "$.f", "$.u"}} // how many samples, the last one, the highest
}

// TestRecordsOfEachReleaseAreRead holds that nothing that a release wrote is
// lost on those after it: each record is read, and what is read says all that
// was written.
func TestRecordsOfEachReleaseAreRead(t *testing.T) {
	for _, name := range releases(t) {
		t.Run(name, func(t *testing.T) {
			kinds := byKind(samples(t, name).Records)
			for kind := range readers(nil) {
				if len(kinds[kind]) == 0 {
					t.Errorf("no sample of kind %s", kind)
				}
			}
			for kind, records := range kinds {
				if unread()[kind] != "" {
					continue
				}
				t.Run(kind, func(t *testing.T) {
					// Each by itself: samples are of several moments of one record.
					for _, r := range records {
						readBack(t, kind, r)
					}
				})
			}
		})
	}
}

// readBack reads one record and compares.
func readBack(t *testing.T, kind string, r Record) {
	t.Helper()
	read, ok := readers(storeOf(r))[kind]
	if !ok {
		t.Fatalf("no reader of records of kind %q: what a release wrote must be read, or be named in unread", kind)
	}
	_, of, _ := strings.Cut(r.Texts["pk"], "#")
	list, err := read(t.Context(), of)
	if err != nil {
		t.Errorf("%s %s: %v", r.Texts["pk"], r.Texts["sk"], err)
		return
	}
	lost := slices.DeleteFunc(lost(t, r.Body, list), func(line string) bool {
		path, _, _ := strings.Cut(line, ":")
		return slices.Contains(unasked()[kind], path)
	})
	if len(lost) > 0 {
		t.Errorf("%s %s: what is read is empty of\n%s", r.Texts["pk"], r.Texts["sk"], strings.Join(lost, "\n"))
	}
}

// lost is what a body says and the one record of a list does not.
func lost(t *testing.T, body json.RawMessage, list any) []string {
	t.Helper()
	encoded, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var read []json.RawMessage
	if err := json.Unmarshal(encoded, &read); err != nil {
		t.Fatal(err)
	}
	if len(read) != 1 {
		return []string{"all of it: " + string(encoded)}
	}
	return Lost(body, read[0])
}

// TestUpgradeKeepsTheLimitOfRemedies: what remedies did within the hour counts
// on in the next release. An upgrade is no way around the limit.
func TestUpgradeKeepsTheLimitOfRemedies(t *testing.T) {
	for _, name := range releases(t) {
		counted := 0
		for _, r := range byKind(samples(t, name).Records)["deeds-lately"] {
			var body struct {
				Remedy optin.Remedy `json:"remedy"`
				Runs   []struct {
					At time.Time `json:"at"`
				} `json:"deeds"`
			}
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			cluster := strings.TrimPrefix(r.Texts["pk"], "deeds-lately#")
			for _, d := range body.Runs {
				counted++
				room, err := storeOf(r).RoomForRuns(t.Context(), cluster, body.Remedy, 1, len(body.Runs), d.At.Add(time.Minute))
				if err != nil || !room.After(d.At) {
					t.Errorf("release %s: %s in %s, whose limit of %d is reached: there is room from %s (error %v)", name, body.Remedy, cluster, len(body.Runs), room, err)
				}
			}
		}
		if counted == 0 {
			t.Errorf("release %s: no count of remedies among the samples", name)
		}
	}
}

func byKind(records []Record) map[string][]Record {
	out := map[string][]Record{}
	for _, r := range records {
		out[r.Kind()] = append(out[r.Kind()], r)
	}
	return out
}

// oneRecord is a table with one record in it.
type oneRecord struct{ Record }

func (o oneRecord) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out := &dynamodb.QueryOutput{}
	if pk, ok := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); ok && pk.Value == o.Texts["pk"] {
		out.Items = append(out.Items, o.Item())
	}
	return out, nil
}

func (o oneRecord) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	for table, wanted := range in.RequestItems {
		for _, key := range wanted.Keys {
			if pk, ok := key["pk"].(*types.AttributeValueMemberS); ok && pk.Value == o.Texts["pk"] {
				out.Responses[table] = append(out.Responses[table], o.Item())
			}
		}
	}
	return out, nil
}

func (oneRecord) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	panic("these tests read")
}

// storeOf is a store of one record, a minute before that expires.
func storeOf(r Record) *store.Store {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	if seconds, err := r.Numbers["expires"].Int64(); err == nil {
		now = time.Unix(seconds, 0).Add(-time.Minute)
	}
	return store.New(oneRecord{r}, "rollcall").WithClock(func() time.Time { return now })
}
