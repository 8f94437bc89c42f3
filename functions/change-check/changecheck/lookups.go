package changecheck

import (
	"cmp"
	"context"
	"time"

	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/trail"
)

// patience is how long all lookups of an invocation may take: what is left of
// the function's three minutes tells what was found.
const patience = 150 * time.Second

// answer is what a lookup gave.
type answer struct {
	records []trail.Record
	failed  *snapshot.Failure
}

// lookUp asks CloudTrail for what the incidents need, each thing once, for the
// longest time that one of them needs. Where CloudTrail refuses us, it refuses
// us all the rest too.
func (h handler) lookUp(ctx context.Context, cases []incidentCase) map[trail.Lookup]answer {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var order []trail.Lookup
	asked := map[trail.Lookup]trail.Lookup{}
	for _, c := range cases {
		for _, l := range c.lookups {
			name := named(l)
			known, ok := asked[name]
			if !ok {
				order, known = append(order, name), l
			}
			if l.Start.Before(known.Start) {
				known.Start = l.Start
			}
			if l.End.After(known.End) {
				known.End = l.End
			}
			asked[name] = known
		}
	}
	answers := map[trail.Lookup]answer{}
	reader := h.reader()
	var refused *snapshot.Failure
	for _, name := range order {
		if refused != nil {
			answers[name] = answer{failed: refused}
			continue
		}
		records, failed := reader.Records(ctx, asked[name])
		answers[name] = answer{records, failed}
		if failed != nil && failed.Reason != snapshot.NotRead && failed.Reason != snapshot.Broken {
			refused = failed
		}
	}
	h.Count("Lookups", len(asked))
	return answers
}

// named is a lookup without its times.
func named(l trail.Lookup) trail.Lookup {
	l.Start, l.End = time.Time{}, time.Time{}
	return l
}

// found is what the answers say of an incident.
func (c incidentCase) found(answers map[trail.Lookup]answer, own []trail.Function) report.RecentChanges {
	t := report.RecentChanges{From: c.window.From, To: c.window.To, LastGood: c.window.LastGood, Blind: c.unread}
	var records []trail.Record
	for _, l := range c.lookups {
		a := answers[named(l)]
		records = append(records, a.records...)
		if a.failed != nil {
			t.Blind = blind(*a.failed)
		}
	}
	if len(c.lookups) == 0 {
		t.Blind = "nothing that CloudTrail could be asked for is known of it"
	}
	t.Changes, t.More = trail.Changes(records, c.targets, c.window, own)
	return t
}

// blind names what could not be looked at, and why.
func blind(f snapshot.Failure) string {
	switch f.Reason {
	case snapshot.NotRead:
		return f.Message
	case snapshot.Denied:
		return f.Call + " " + cmp.Or(f.Code, string(f.Reason))
	}
	return f.Call + " " + string(f.Reason)
}

// rounds are the times after the opening of the looks that follow the first.
// CloudTrail has a call after five minutes typically, and up to 15.
func rounds() []time.Duration {
	return []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute}
}

// late is how long after a call CloudTrail has it for sure.
const late = 20 * time.Minute

// failed is why the last of the incident's lookups that failed did; "" if none.
func (c incidentCase) failed(answers map[trail.Lookup]answer) (why snapshot.Reason) {
	for _, l := range c.lookups {
		if f := answers[named(l)].failed; f != nil {
			why = f.Reason
		}
	}
	return why
}

// again is the next look and in what time; 0 for none. Where the last of the
// time was long ago, CloudTrail has everything, and once is enough, unless it
// could not be asked.
func again(c incidentCase, failed snapshot.Reason, now time.Time) (round int, delay time.Duration) {
	if now.Sub(c.window.To) >= late && (failed == "" || failed == snapshot.NotRead) {
		return 0, 0
	}
	for i, after := range rounds() {
		if due := c.inc.Opened.Add(after); i+1 > c.round && due.After(now) {
			return i + 1, due.Sub(now)
		}
	}
	return 0, 0
}
