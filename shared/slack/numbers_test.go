package slack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/tools/expect"
)

// TestEveryNumberIsOfTheRecord: no message makes a number up, and none mixes two looks:
// each stands in the one record that it is drawn from, or is counted there.
func TestEveryNumberIsOfTheRecord(t *testing.T) {
	for _, s := range scenes() {
		known := numbersOf(t, s.incident)
		for _, n := range s.notes {
			for number := range numbersOf(t, n) {
				known[number] = true
			}
			// A reply tells of its own moment.
			for _, d := range []time.Duration{n.Within, n.At.Sub(s.incident.Began)} {
				spanned(known, d)
			}
		}
		messages := []slackapi.Message{Render(s.incident, s.options())}
		for _, n := range s.notes {
			messages = append(messages, RenderNote(s.incident, n))
		}
		for _, m := range messages {
			for _, number := range shownNumbers(m) {
				if !known[number] {
					t.Errorf("%s: %s stands in the message, and in nothing that it is drawn from:\n%s", s.name, number, read([]slackapi.Message{m}))
				}
			}
		}
	}
}

// TestANumberThatIsNotOfTheRecordIsSeen: the property is one that a message can break.
func TestANumberThatIsNotOfTheRecordIsSeen(t *testing.T) {
	i := incidentOf(noEgress(), nil)
	other := i
	other.Affected = 4711
	known := numbersOf(t, i)
	for _, number := range shownNumbers(Render(other, Options{})) {
		if !known[number] {
			return
		}
	}
	t.Error("a message of another record breaks nothing")
}

var number = regexp.MustCompile(`\d[\d,]*`)

// numbersOf are the numbers of a record, those counted of it, and the spans between its
// times.
func numbersOf(t *testing.T, record any) map[string]bool {
	t.Helper()
	body, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, n := range number.FindAllString(string(body), -1) {
		known[strings.ReplaceAll(strings.TrimRight(n, ","), ",", "")] = true
	}
	i, is := record.(incident.Incident)
	if !is {
		return known
	}
	count := func(n int) { known[strconv.Itoa(n)] = true }
	k := tallyOf(i)
	for _, n := range []int{k.all, k.waiting, k.missed, k.joined, k.gone, k.givenUp, k.out(), len(i.Cause.Pods), len(i.Cause.Pods) - 1, len(i.Covers), i.Number} {
		count(n)
	}
	count(max(k.all-k.joined-k.missed-k.waiting-k.givenUp-k.gone, 0))
	for _, of := range i.Offers {
		count(len(of.Plan.Commands()))
		for _, text := range append(append(of.Plan.Steps(), of.Plan.Title(), of.Plan.Cost()), of.Plan.Undo()...) {
			for _, n := range number.FindAllString(text, -1) {
				known[strings.ReplaceAll(n, ",", "")] = true
			}
		}
	}
	if i.RecentChanges != nil {
		count(len(i.RecentChanges.Changes) + i.RecentChanges.More)
		count(len(i.RecentChanges.Changes) - 1 + i.RecentChanges.More)
	}
	spanned(known, outage(i))
	if i.Proof != nil {
		if d, ok := joinTime(*i.Proof); ok {
			spanned(known, d)
		}
	}
	return known
}

func spanned(known map[string]bool, d time.Duration) {
	for _, n := range number.FindAllString(slacktext.Span(d), -1) {
		known[n] = true
	}
}

// shownNumbers are the numbers of a message that a reader takes for facts: not those of
// ids, of times, of commands, of lists that say how much they leave out.
func shownNumbers(m slackapi.Message) (list []string) {
	var take func(e any)
	take = func(e any) {
		switch e := e.(type) {
		case *slackgo.RichTextSection:
			for _, x := range e.Elements {
				take(x)
			}
		case *slackgo.RichTextList:
			for _, x := range e.Elements {
				take(x)
			}
		case *slackgo.RichTextSectionTextElement:
			if (e.Style != nil && e.Style.Code) || strings.Contains(e.Text, "more ") || strings.Contains(e.Text, "left out") {
				return
			}
			for _, word := range strings.FieldsFunc(e.Text, func(r rune) bool { return strings.ContainsRune(" \u2003();:%×+→\n", r) }) {
				word = strings.ReplaceAll(strings.Trim(word, ".,\"'"), ",", "")
				if _, err := strconv.Atoi(word); err == nil {
					list = append(list, word)
				}
			}
		}
	}
	for _, b := range m.Blocks {
		if rich, is := b.(*slackgo.RichTextBlock); is {
			for _, e := range rich.Elements {
				take(e)
			}
		}
	}
	return list
}

// TestEveryNumberOfASummaryIsOfItsRecord: reports of Spot, of the cleanup and of a week say
// no number that is not in the record of them, or follows from it as derived says.
func TestEveryNumberOfASummaryIsOfItsRecord(t *testing.T) {
	for _, s := range summaryScenes() {
		known := countedOf(t, s.summary)
		for n := range countedOf(t, s.samples) {
			known[n] = true
		}
		derived(known, s.summary)
		for _, said := range unknownNumbers(known, s.messages()) {
			t.Errorf("%s: %s", s.name, said)
		}
	}
}

// TestEveryNumberOfAnAnswerIsOfWhatWasAsked: the same of what /rollcall and the home page tell.
func TestEveryNumberOfAnAnswerIsOfWhatWasAsked(t *testing.T) {
	known := countedOf(t, someOverview())
	for n := range countedOf(t, askedReport()) {
		known[n] = true
	}
	for _, n := range []string{
		"95", "100", // of a hundred joining times
		"90",       // days that a launch is kept (docs/ask.md)
		"02", "06", // the window of a silence, which is kept as hours
	} {
		known[n] = true
	}
	for name, list := range askedFor() {
		for _, said := range unknownNumbers(known, list) {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// TestANumberThatIsNotOfTheSummaryIsSeen: the property is one that a report can break.
func TestANumberThatIsNotOfTheSummaryIsSeen(t *testing.T) {
	for _, s := range summaryScenes() {
		if s.name == "weekly-quiet" || s.name == "cleanup-dry-run" {
			known := countedOf(t, s.summary)
			derived(known, s.summary)
			other := s
			if p := s.summary.Period; p != nil {
				changed := *p
				changed.Launches.Joined += 4711
				other.summary.Period = &changed
			} else {
				changed := *s.summary.Cleanup
				changed.Subnets = slices.Clone(changed.Subnets)
				changed.Subnets[0].Addresses += 4711
				other.summary.Cleanup = &changed
			}
			if len(unknownNumbers(known, other.messages())) == 0 {
				t.Errorf("%s: a report of another record breaks nothing", s.name)
			}
		}
	}
}

// more is what a list says that it leaves out; how many it shows is below atMost.
var more = regexp.MustCompile(`\band ([\d,]+) more\b`)

const atMost = 40

func unknownNumbers(known map[string]bool, list []slackapi.Message) (found []string) {
	for n, m := range list {
		text := read([]slackapi.Message{m})
		left := map[string]bool{}
		for _, m := range more.FindAllStringSubmatch(text, -1) {
			number := strings.ReplaceAll(m[1], ",", "")
			for shown := range atMost {
				if n, err := strconv.Atoi(number); err == nil && known[strconv.Itoa(n+shown)] {
					left[number] = true
				}
			}
		}
		for _, number := range shownNumbers(m) {
			if !known[number] && !left[number] {
				found = append(found, fmt.Sprintf("message %d tells %s, which is in nothing that it is drawn from:\n%s", n, number, text))
			}
		}
	}
	return found
}

// derived are what a report calculates: failures of pools, shares, ages, percentiles.
func derived(known map[string]bool, s report.Summary) {
	count := func(n int) { known[strconv.Itoa(n)] = true }
	count(s.Spot.Spot.NotJoined + s.Spot.Spot.Reclaimed + s.Spot.Spot.Refused)
	if c := s.Cleanup; c != nil {
		for _, subnet := range c.Subnets {
			count(subnet.Free + subnet.Addresses)
		}
		if c.Stopped != nil && c.Stopped.Interfaces > 0 {
			count(100 * c.Stopped.Candidates / c.Stopped.Interfaces)
		}
	}
	if p := s.Period; p != nil {
		count(95)
		count(100)
		count(p.To.Add(-time.Second).UTC().Day())
	}
}

// countedOf are the numbers of a record that is no incident: those in it, how long its lists
// are, what a field comes to in a list, days, and spans: its own and those between its times.
func countedOf(t *testing.T, record any) map[string]bool {
	t.Helper()
	known := numbersOf(t, record)
	body, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		t.Fatal(err)
	}
	var walk func(v any, around time.Time)
	walk = func(v any, around time.Time) {
		switch v := v.(type) {
		case []any:
			known[strconv.Itoa(len(v))] = true
			sums := map[string]float64{}
			for _, e := range v {
				walk(e, around)
				if m, is := e.(map[string]any); is {
					for key, n := range m {
						if n, is := n.(float64); is {
							sums[key] += n
						}
					}
				}
			}
			for _, n := range sums {
				known[strconv.Itoa(int(n))] = true
			}
		case map[string]any:
			times := []time.Time{around}
			for _, e := range v {
				if text, is := e.(string); is {
					if at, err := time.Parse(time.RFC3339, text); err == nil && at.Year() > 1 {
						known[strconv.Itoa(at.UTC().Day())] = true
						times = append(times, at)
					}
				}
			}
			for _, a := range times {
				for _, b := range times {
					if !a.IsZero() && !b.IsZero() {
						spanned(known, b.Sub(a))
					}
				}
			}
			if at := slices.MaxFunc(times, time.Time.Compare); !at.IsZero() {
				around = at
			}
			for _, e := range v {
				walk(e, around)
			}
		case float64:
			if v >= float64(time.Second) {
				spanned(known, time.Duration(v))
			}
		}
	}
	walk(tree, time.Time{})
	return known
}

// TestImpact has each instance counted once, and both counts where they are of different ones.
func TestImpact(t *testing.T) {
	const check = "route/no-egress"
	capacity := func(desired, ready int) *incident.Capacity { return &incident.Capacity{Desired: desired, Ready: ready} }
	for name, c := range map[string]struct {
		check    checkid.ID
		capacity *incident.Capacity
		affected int
		launches []report.LaunchStatus
		want     []string
	}{
		"no count of nodes":           {check, nil, 1, []report.LaunchStatus{report.Missed}, []string{"1 new instance not Ready"}},
		"the same instances":          {check, capacity(1, 0), 1, []report.LaunchStatus{report.Missed}, []string{"1 of 1 desired nodes missing"}},
		"none of them due":            {check, capacity(12, 10), 2, []report.LaunchStatus{report.Waiting, report.Waiting}, []string{"2 of 12 desired nodes not Ready yet"}},
		"some of them due":            {check, capacity(12, 10), 2, []report.LaunchStatus{report.Waiting, report.Missed}, []string{"2 of 12 desired nodes missing"}},
		"others joined":               {check, capacity(12, 11), 2, []report.LaunchStatus{report.Joined, report.Missed}, []string{"1 of 12 desired nodes missing"}},
		"more nodes than instances":   {check, capacity(12, 9), 2, []report.LaunchStatus{report.Missed, report.Missed}, []string{"3 of 12 desired nodes missing", "2 new instances not Ready"}},
		"more instances than nodes":   {check, capacity(12, 11), 2, []report.LaunchStatus{report.Missed, report.Missed}, []string{"1 of 12 desired nodes missing", "2 new instances not Ready"}},
		"one ended":                   {check, capacity(2, 0), 2, []report.LaunchStatus{report.Missed, report.Gone}, []string{"2 of 2 desired nodes missing", "2 new instances not Ready"}},
		"one no longer checked":       {check, capacity(2, 0), 2, []report.LaunchStatus{report.Missed, report.GivenUp}, []string{"2 of 2 desired nodes missing", "2 new instances not Ready"}},
		"one not listed by name":      {check, capacity(2, 0), 2, []report.LaunchStatus{report.Missed}, []string{"2 of 2 desired nodes missing", "2 new instances not Ready"}},
		"launches that failed":        {"launch/subnet-full", capacity(1, 0), 1, []report.LaunchStatus{report.Missed}, []string{"1 of 1 desired nodes missing", "1 failed launch"}},
		"nobody waits for a new node": {check, capacity(1, 1), 1, []report.LaunchStatus{report.Joined}, nil},
	} {
		i := incident.Incident{Key: report.Key{Check: c.check}, Capacity: c.capacity, Affected: c.affected}
		for _, s := range c.launches {
			i.Launches = append(i.Launches, report.Launch{Status: s})
		}
		expect.Same(t, name, impact(i, tallyOf(i)), c.want)
	}
}

// TestWhySays has an effect left out only where the reason has the same, and none with a time.
func TestWhySays(t *testing.T) {
	const why = "0 are free: nothing can be launched there. It is so since the node group workers was changed."
	for name, c := range map[string]struct {
		cause      checkid.ID
		confidence catalog.Confidence
		effect     incident.Effect
		want       bool
	}{
		"free addresses, never seen alone":        {checkid.IPLeakedInterfaces, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted}, true},
		"free addresses, with a likely cause":     {checkid.IPLeakedInterfaces, catalog.Likely, incident.Effect{Check: checkid.IPSubnetExhausted}, false},
		"of branch interfaces too":                {checkid.IPBranchLeaked, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted}, true},
		"seen alone, in other words":              {checkid.IPLeakedInterfaces, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted, Title: "subnet-1 has no free address"}, false},
		"with a time":                             {checkid.IPLeakedInterfaces, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted, Since: began}, false},
		"the words of the reason":                 {checkid.IPFragmented, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted, Title: "Nothing can be launched there"}, true},
		"the words of the reason, with a time":    {checkid.IPFragmented, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted, Title: "Nothing can be launched there", Since: began}, false},
		"a cause that counts no addresses":        {checkid.IPFragmented, catalog.Certain, incident.Effect{Check: checkid.IPSubnetExhausted}, false},
		"another failure of leaked interfaces":    {checkid.IPLeakedInterfaces, catalog.Certain, incident.Effect{Check: checkid.NodeCNINotReady}, false},
		"a check of another release, without one": {checkid.IPLeakedInterfaces, catalog.Certain, incident.Effect{Check: "ip/later"}, false},
	} {
		i := incident.Incident{Key: report.Key{Check: c.cause}, Cause: diagnosis.Cause{Why: why, Confidence: c.confidence}}
		expect.Same(t, name, whySays(i, c.effect), c.want)
	}
}

// TestRecurredOnce: the first line of what recurred says for which time, and no line below does.
func TestRecurredOnce(t *testing.T) {
	var seen int
	for _, s := range scenes() {
		for _, n := range s.notes {
			if !n.Line || n.Reason != incident.Reopened {
				continue
			}
			seen++
			if text := read([]slackapi.Message{RenderNote(s.incident, n)}); strings.Count(text, "for the 2nd time") != 1 {
				t.Errorf("%s:\n%s", s.name, text)
			}
		}
	}
	if seen == 0 {
		t.Error("no line of what recurred")
	}
}

// TestLinesAreShort: what the channel shows of a reply is no longer than a phone shows beside
// other messages, whichever incident it is of. 44 characters of Slack's text stand beside each
// other at 390 pixels, estimated.
func TestLinesAreShort(t *testing.T) {
	const most, wide = 15, 44
	longest, where := 0, ""
	check := func(name string, i incident.Incident, n incident.Note) {
		n.Line = true
		rows := 0
		for line := range strings.Lines(read([]slackapi.Message{RenderLine(i, n, true)})) {
			rows += max(1, (slacktext.Length(strings.TrimSpace(line))+wide-1)/wide)
		}
		if name += ", " + string(n.Reason); rows > most {
			t.Errorf("%s takes %d lines of a phone, more than %d", name, rows, most)
		}
		if rows > longest {
			longest, where = rows, name
		}
	}
	for _, s := range scenes() {
		for _, n := range s.notes {
			if n.Line {
				check(s.name, s.incident, n)
			}
		}
		for _, r := range []incident.Reason{incident.Reopened, incident.FailedAgain, incident.IsWorse, incident.IsUnsilenced, incident.HasMissed, incident.IsEscalated} {
			check(s.name, s.incident, note(s.incident, r, s.incident.Changed))
		}
		if of := s.incident.LastOffer(incident.Offered); of != nil {
			check(s.name, s.incident, about(note(s.incident, incident.IsProposed, s.incident.Changed), *of))
		}
	}
	t.Logf("the longest is of %s, %d lines", where, longest)
}
