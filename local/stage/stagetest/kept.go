package stagetest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
)

// Kept are the records of the table, by their keys, without their times. What
// subnets had at one minute or another is left out: a later look adds its own.
func (b *Bench) Kept() map[string]any {
	b.t.Helper()
	list, err := b.Stage.Records(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	kept := map[string]any{}
	text := func(v types.AttributeValue) string {
		if s, ok := v.(*types.AttributeValueMemberS); ok {
			return s.Value
		}
		return ""
	}
	for _, item := range list {
		if strings.HasPrefix(text(item["pk"]), "sample#") {
			continue
		}
		var body any
		if err := json.Unmarshal([]byte(text(item["body"])), &body); err != nil {
			b.t.Fatal(err)
		}
		if record, ok := body.(map[string]any); ok {
			delete(record, "version") // it counts the writes
		}
		key := Timeless(b.t, text(item["pk"])+" "+text(item["sk"])).(string)
		for kept[key] != nil {
			key += " and another"
		}
		kept[key] = Timeless(b.t, map[string]any{"body": body, "open": text(item["open"])})
	}
	return kept
}

// Concluded is what report makes of observations: of those that arrive twice, and
// of a look that was taken again later, it makes no more than of one.
func (b *Bench) Concluded(list []report.Observation) []any {
	b.t.Helper()
	var incidents []incident.Incident
	for _, o := range list {
		for _, d := range reconcile.Decide(incidents, o, o.At, incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}) {
			i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
			switch {
			case !d.Changed:
			case i < 0:
				incidents = append(incidents, d.Incident)
			default:
				incidents[i] = d.Incident
			}
		}
	}
	slices.SortFunc(incidents, func(a, b incident.Incident) int {
		return cmp.Or(cmp.Compare(a.Key.Check, b.Key.Check), cmp.Compare(a.Key.Resource, b.Key.Resource))
	})
	var all []any
	for _, inc := range incidents {
		notes := []string{}
		for _, n := range inc.Delivery.Notes {
			notes = append(notes, n.ID)
		}
		all = append(all, Timeless(b.t, map[string]any{
			"key": inc.Key, "state": inc.State, "number": inc.Number, "cause": inc.Cause, "covers": inc.Covers,
			"launches": inc.Launches, "affected": inc.Affected, "notes": notes, "events": inc.Events,
		}))
	}
	return all
}

// times are RFC 3339's, those in the ids of records and that are said to people,
// and Slack's timestamps. requests are the ids that AWS gives to requests.
var (
	times    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)|\d{8}T\d{6}\.\d{3}Z|\d\d:\d\d(:\d\d)? UTC|\b\d{10}\.\d{6}\b`)
	requests = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// Timeless is a value as JSON has it, without its times and requests: an
// invocation that is killed is done again later.
func Timeless(t interface {
	Helper()
	Fatal(...any)
}, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	text = times.ReplaceAllFunc(text, func(at []byte) []byte {
		if bytes.HasPrefix(at, []byte("0001-")) {
			return at // the zero time: not yet, or never
		}
		return []byte("TIME")
	})
	if err := json.Unmarshal(requests.ReplaceAll(text, []byte("REQUEST")), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Waiting is how many messages are in a queue, those with a delay too.
func (b *Bench) Waiting(queue string) int {
	b.t.Helper()
	for _, q := range b.Template.Queues {
		if q.Name == queue {
			depth, err := b.Queues.Depth(q.ARN)
			if err != nil {
				b.t.Fatal(err)
			}
			return depth.Visible + depth.Delayed
		}
	}
	b.t.Fatalf("the template has no queue %s", queue)
	return 0
}
