package bus

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack"
)

// week is a week with an open incident, and something that was not looked at.
func week() report.Summary {
	to := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	at := to.Add(8*time.Hour + 4*time.Minute)
	return report.Weekly("spot-report", report.Period{
		From: to.AddDate(0, 0, -7), To: to, At: at, Clusters: 12,
		Launches: report.Tally{All: 2530, Joined: 2512, Failed: 11, Reclaimed: 5, Waiting: 1, Other: 1},
		Joining:  &report.Joining{Median: 62 * time.Second, Most95: 118 * time.Second, N: 2512},
		Causes:   []report.CauseCount{{Check: "route/no-egress", N: 11}},
		Opened:   2, Resolved: 1, Open: 1, Critical: 1, Seen: 2,
		Incidents: []report.PeriodIncident{
			{
				Whose: "payments", Cluster: "prod", Nodegroups: []string{"workers"}, Check: "route/no-egress", Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet",
				Severity: "critical", Opened: at.Add(-40 * time.Hour), Affected: 9, Number: 1, Approval: true, Channel: "C0123456789", TS: "1795000000.000100",
			},
			{
				Whose: "platform", Cluster: "batch", Check: "launch/subnet-full", Title: "subnet-0b20000000000000b has no free address",
				Severity: "info", Opened: at.Add(-130 * time.Hour), Closed: at.Add(-122 * time.Hour), Affected: 12, Number: 2, Ending: "proved",
			},
		},
		Remedies: []report.PeriodRemedy{{Remedy: "add-nat-route", Came: report.RemedyWaits, N: 1}},
		Looks:    report.Looks{Made: 23_900, Silent: 40},
		Unseen:   []report.Unseen{{Reason: report.APISilent, Whose: "platform", Cluster: "edge", N: 40, Of: 2016}},
	})
}

func weekSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../../events/schema/rollcall-weekly-report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const weekFile = "weekly-report.json"

// The sample is what the code really sends.
func TestWeekSampleIsWhatIsSent(t *testing.T) {
	var e eventBridge
	if err := bus(t, &e).TellWeek(t.Context(), slack.WeekEvent(week())); err != nil {
		t.Fatal(err)
	}
	p := e.calls[0][0]
	file := filepath.Join(samples, weekFile)
	holdSample(t, file, envelope{
		Version: "0", ID: "5b7f3e7a-0c3d-4f0e-9a55-2f6c1d8b9e10", DetailType: p.DetailType, Source: p.Source, Account: "111122223333",
		Time: time.Unix(int64(p.Time), 0).UTC(), Region: "us-west-2", Resources: []string{}, Detail: json.RawMessage(p.Detail),
	})
	if p.EventBusName != "rollcall" || p.Source != "rollcall" || p.DetailType != "Rollcall Weekly Report" {
		t.Errorf("entry for %q: %q from %q", p.EventBusName, p.DetailType, p.Source)
	}
	if err := weekSchema(t).Validate(parsed(t, file, "", "")); err != nil {
		t.Error(err)
	}
}

func TestWeekSchemaRefuses(t *testing.T) {
	s, file := weekSchema(t), filepath.Join(samples, weekFile)
	for _, test := range []struct{ name, old, replacement string }{
		{"another source", `"source": "rollcall"`, `"source": "aws.ec2"`},
		{"an unknown field", `"unseenCount":`, `"unseen-count":`},
		{"another result", `"result": "critical"`, `"result": "bad"`},
		{"a count that is none", `"joined": 2512`, `"joined": -1`},
		{"no words", `"headline": "Week`, `"head": "Week`},
		{"a reason that there is not", `"kubernetes-silent"`, `"tired"`},
	} {
		if s.Validate(parsed(t, file, test.old, test.replacement)) == nil {
			t.Errorf("%s: the schema takes it", test.name)
		}
	}
}

// However long what is in it is, an event fits into an entry with room for the message in
// which each target gets it; what it lists is left out first, and counted.
func TestWeekFits(t *testing.T) {
	s := week()
	w := slack.WeekEvent(s)
	for range 500 {
		w.Open = append(w.Open, report.PeriodIncident{Title: strings.Repeat("<", 300)})
		w.Unseen = append(w.Unseen, report.Unseen{Says: strings.Repeat("<", 300)})
	}
	w.UnseenCount = 500
	var e eventBridge
	if err := bus(t, &e).TellWeek(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	var sent incident.Week
	p := e.calls[0][0]
	if err := json.Unmarshal([]byte(p.Detail), &sent); err != nil {
		t.Fatal(err)
	}
	if len(p.Detail) > incident.MaxWeek || len(sent.Open)+len(sent.Unseen) > 0 || sent.UnseenCount != 500 || len(sent.Words.Lines) != len(w.Words.Lines) {
		t.Errorf("%d bytes: %d open, %d of %d unseen, %d lines", len(p.Detail), len(sent.Open), len(sent.Unseen), sent.UnseenCount, len(sent.Words.Lines))
	}
	w.Words.Headline = strings.Repeat("<", incident.MaxWeek)
	if err := bus(t, &e).TellWeek(t.Context(), w); !errors.Is(err, ErrTooLarge) || len(e.calls) != 1 {
		t.Errorf("larger than that: %v, %d calls", err, len(e.calls))
	}
	e = eventBridge{refuse: func(int, put) string { return "ThrottlingException" }}
	var refused *Refused
	if err := bus(t, &e).TellWeek(t.Context(), slack.WeekEvent(s)); !errors.As(err, &refused) || refused.Code != "ThrottlingException" {
		t.Errorf("refused: %v", err)
	}
}
