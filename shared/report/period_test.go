package report_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/report"
)

func aPeriod() report.Period {
	to := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	return report.Period{From: to.AddDate(0, 0, -7), To: to, At: to.Add(8 * time.Hour)}
}

// A weekly summary without a week is none, nor is one whose week ends before it begins.
func TestWeeklyIsDecoded(t *testing.T) {
	for name, change := range map[string]func(*report.Summary){
		"":               func(*report.Summary) {},
		"without a week": func(s *report.Summary) { s.Period = nil },
		"backwards":      func(s *report.Summary) { s.Period.From, s.Period.To = s.Period.To, s.Period.From },
		"of no time":     func(s *report.Summary) { s.Period.At = time.Time{} },
	} {
		s := report.Weekly("spot-report", aPeriod())
		change(&s)
		body, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		m, err := report.DecodeMessage(body)
		if ok := err == nil && m.Summary != nil && m.Summary.ID == "weekly/2026-11-23"; ok != (name == "") {
			t.Errorf("%q: %+v, %v", name, m.Summary, err)
		}
	}
}

// However much there was, a week fits into a message and a record, and counts what it leaves out.
func TestPeriodIsBounded(t *testing.T) {
	p, long := aPeriod(), strings.Repeat("ü", 5000)
	for i := range 5000 {
		name := fmt.Sprintf("cluster-%d", i)
		p.Incidents = append(p.Incidents, report.PeriodIncident{Cluster: name, Title: long, Nodegroups: slices.Repeat([]string{"workers"}, 50)})
		p.Wrong = append(p.Wrong, report.PeriodCluster{Cluster: name})
		p.Unseen = append(p.Unseen, report.Unseen{Cluster: name, Says: long})
		p.Silences = append(p.Silences, report.Quiet{})
		p.Soonest = append(p.Soonest, report.PeriodSubnet{Cluster: name})
		p.Faults = append(p.Faults, report.Fault{Cluster: name})
		p.Unread = append(p.Unread, long)
	}
	s := report.Weekly("spot-report", p)
	if _, err := s.Fit(report.MaxSummary); err != nil {
		t.Error(err)
	}
	if b := s.Period; len(b.Wrong)+b.MoreWrong != 5000 || len(b.Unseen)+b.MoreUnseen != 5000 || len(b.Faults)+b.MoreFaults != 5000 || len(b.Unread)+b.MoreUnread != 5000 {
		t.Errorf("what is left out is not counted: %d, %d, %d, %d", b.MoreWrong, b.MoreUnseen, b.MoreFaults, b.MoreUnread)
	}
	if len(p.Incidents[0].Title) != len(long) || len(p.Incidents[0].Nodegroups) != 50 {
		t.Error("the period that was given was changed")
	}
}

// What to do next is the worst thing that nobody has, and one of each kind.
func TestNext(t *testing.T) {
	at := aPeriod().At
	open := report.PeriodIncident{Cluster: "prod", Severity: "critical", Opened: at.Add(-time.Hour)}
	acked, advice, closed := open, open, open
	acked.Acked, advice.Severity, closed.Closed = true, "info", at
	for name, c := range map[string]struct {
		change func(*report.Period)
		want   []report.NextKind
	}{
		"nothing":              {func(*report.Period) {}, nil},
		"closed":               {func(p *report.Period) { p.Incidents = []report.PeriodIncident{closed} }, nil},
		"somebody has it":      {func(p *report.Period) { p.Incidents = []report.PeriodIncident{acked} }, nil},
		"advice":               {func(p *report.Period) { p.Incidents = []report.PeriodIncident{advice} }, nil},
		"open":                 {func(p *report.Period) { p.Incidents = []report.PeriodIncident{acked, open, open} }, []report.NextKind{report.FixIncident}},
		"a plan":               {func(p *report.Period) { p.Remedies = []report.PeriodRemedy{{Came: report.RemedyWaits, N: 2}} }, []report.NextKind{report.DecideOnPlans}},
		"a remedy that helped": {func(p *report.Period) { p.Remedies = []report.PeriodRemedy{{Came: report.RemedyHelped, N: 2}} }, nil},
		"blind":                {func(p *report.Period) { p.Unseen = make([]report.Unseen, 2) }, []report.NextKind{report.LookWhy}},
		"unread":               {func(p *report.Period) { p.Unread = []string{"x"} }, []report.NextKind{report.LookWhy}},
		"runs out soon":        {func(p *report.Period) { p.Soonest = []report.PeriodSubnet{{Empty: at.AddDate(0, 0, 13)}} }, []report.NextKind{report.FindRoom}},
		"runs out some day":    {func(p *report.Period) { p.Soonest = []report.PeriodSubnet{{Empty: at.AddDate(0, 0, 15)}} }, nil},
		"does not run out":     {func(p *report.Period) { p.Soonest = []report.PeriodSubnet{{Free: 1}} }, nil},
		"refused":              {func(p *report.Period) { p.Faults = make([]report.Fault, 1) }, []report.NextKind{report.MendDelivery}},
	} {
		p := aPeriod()
		c.change(&p)
		var got []report.NextKind
		for _, n := range p.Next() {
			got = append(got, n.Kind)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
