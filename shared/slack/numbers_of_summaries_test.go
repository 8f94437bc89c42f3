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

	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

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
