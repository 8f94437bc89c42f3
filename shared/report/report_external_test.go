package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

func TestDecode(t *testing.T) {
	obs := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Passed("node/not-ready", "i-2"), incidenttest.BlindTo("ec2:DescribeVpcs", snapshot.VPCs, snapshot.Denied), incidenttest.CouldRead(snapshot.Nodes), incidenttest.Named("x"))
	obs.At = incidenttest.Start
	whole, err := json.Marshal(obs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.Decode(whole)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(obs, got); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}
	var syntax *json.SyntaxError
	for _, test := range []struct {
		name, body string
		is         func(error) bool
	}{
		{"not JSON", `{"format":1,`, func(err error) bool { return errors.As(err, &syntax) }},
		{"newer", `{"format":3,"launches":"of another shape"}`, func(err error) bool { return errors.Is(err, report.ErrNewerFormat) }},
		{"no format", `{"id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`, func(err error) bool { return errors.Is(err, report.ErrIncomplete) }},
		{"no cluster", `{"format":1,"id":"x","at":"2026-11-20T14:59:00Z"}`, func(err error) bool { return errors.Is(err, report.ErrIncomplete) }},
		{"another event", `{"version":"0","source":"aws.ec2"}`, func(err error) bool { return errors.Is(err, report.ErrIncomplete) }},
		{"wrong types", `{"format":1,"launches":3}`, func(err error) bool { return err != nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := report.Decode([]byte(test.body)); !test.is(err) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// Whatever can be decoded can be decided on, and what comes out can be stored
// and read again.
func FuzzDecode(f *testing.F) {
	for _, o := range []report.Observation{
		incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Launched("i-1", 0, report.Waiting), incidenttest.Named("a")),
		incidenttest.Observe(incidenttest.NotRegistered("i-1"), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.BlindTo("c", snapshot.VPCs, snapshot.Denied), incidenttest.Named("b")),
		incidenttest.Observe(incidenttest.Passed("route/no-egress", incidenttest.Subnet), incidenttest.Launched("i-2", 3, report.Joined), incidenttest.Absent(incidenttest.Subnet), incidenttest.Named("c")),
	} {
		o.At = incidenttest.Start
		body, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"format":1,"id":"","cluster":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		obs, err := report.Decode(body)
		if err != nil {
			return
		}
		var incidents []incident.Incident
		for i, now := range []time.Time{incidenttest.Start, incidenttest.Start.Add(2 * time.Hour)} {
			obs.ID += string(rune('0' + i))
			for _, d := range reconcile.Decide(incidents, obs, now, incidenttest.Policy) {
				data, err := json.Marshal(d.Incident)
				if err != nil {
					continue // times past the year 9999
				}
				var back incident.Incident
				if err := json.Unmarshal(data, &back); err != nil {
					t.Fatalf("the record cannot be read again: %v", err)
				}
				incidents = incidenttest.With(incidents, back)
			}
		}
	})
}

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

// What to do next is the worst thing without an owner, and one of each kind.
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

// What is said of no instance is said once, in the first part: facts, and what
// is absent. (Pictures are left out of what needs parts.) What could and could not be read stands in each.
func TestSplitSaysWhatIsOfNoInstanceOnce(t *testing.T) {
	obs := incidenttest.Crowd(4000, "node/not-registered", catalog.Certain)
	obs.Absent = []string{"subnet-gone"}
	parts, err := obs.Split(1 << 20)
	if err != nil || len(parts) < 2 {
		t.Fatalf("%d parts, %v; want some", len(parts), err)
	}
	type once struct {
		Facts  []report.Fact
		Absent []string
	}
	for k, p := range parts {
		want := once{}
		if k == 0 {
			want = once{obs.Facts, obs.Absent}
		}
		if diff := cmp.Diff(want, once{p.Facts, p.Absent}); diff != "" {
			t.Errorf("part %d (-want +got):\n%s", k, diff)
		}
		if diff := cmp.Diff(obs.Read, p.Read); diff != "" {
			t.Errorf("part %d, what was read (-want +got):\n%s", k, diff)
		}
	}
}

func summary(pools, chart int) report.Summary {
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod/2026-11-20", By: "spot-report", At: incidenttest.Start, Cluster: "prod",
		Spot:  spotreport.Report{Cluster: "prod", Spot: spotreport.Funnel{Requested: 412, Joined: 381, NotJoined: 31}},
		Chart: bytes.Repeat([]byte{0xff, 0x51}, chart/2), Slowest: &report.Slowest{Type: "m5.large", Zone: "us-west-2a", Median: 90 * time.Second, Joined: 9},
	}
	for i := range pools {
		s.Spot.Pools = append(s.Spot.Pools, spotreport.Pool{Type: fmt.Sprintf("m5.%dxlarge", i), Zone: "us-west-2a", Spot: true, Nodegroups: []string{"workers-with-a-rather-long-name"}})
	}
	return s
}

func TestDecodeMessage(t *testing.T) {
	want := summary(3, 100)
	got, err := report.DecodeMessage(incidenttest.Encoded(t, want))
	if diff := cmp.Diff(report.Message{Summary: &want}, got); err != nil || diff != "" {
		t.Errorf("a summary: %v (-want +got):\n%s", err, diff)
	}
	obs := incidenttest.Observe(incidenttest.Route("i-1"), incidenttest.Named("x"))
	obs.At = incidenttest.Start
	if got, err := report.DecodeMessage(incidenttest.Encoded(t, obs)); err != nil || got.Observation == nil || got.Summary != nil || got.Cluster() != obs.Cluster {
		t.Errorf("an observation: %+v, %v", got, err)
	}
	for body, is := range map[string]error{
		`{"format":103,"kind":"spot","spot":"of another shape"}`:                                     report.ErrNewerFormat,
		`{"format":101,"kind":"other","id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`:           report.ErrNoSummary,
		`{"format":1,"kind":"spot","id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`:              report.ErrNoSummary,
		`{"format":101,"kind":"spot","cluster":"c","at":"2026-11-20T14:59:00Z"}`:                     report.ErrNoSummary,
		`{"format":101,"kind":null,"id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`:              report.ErrNoSummary,
		`{"format":3,"id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`:                            report.ErrNewerFormat,
		`{"version":"0","source":"aws.ec2"}`:                                                         report.ErrIncomplete,
		`null`:                                                                                       report.ErrIncomplete,
		`{"format":101,"id":"a summary without its kind","cluster":"c","at":"2026-11-20T14:59:00Z"}`: report.ErrNewerFormat,
	} {
		if got, err := report.DecodeMessage([]byte(body)); !errors.Is(err, is) {
			t.Errorf("%s: %+v, %v; want %v", body, got, err, is)
		}
	}
	for _, body := range []string{``, `{`, `[]`, `{"format":101,"kind":3}`, `{"format":101,"kind":"spot","chart":"no base64!"}`} {
		if got, err := report.DecodeMessage([]byte(body)); err == nil {
			t.Errorf("%q is %+v", body, got)
		}
	}
}

// A report function from before there were summaries does not take one for an
// observation of a cluster in which nothing is wrong.
func TestOlderReportsRefuseSummaries(t *testing.T) {
	if _, err := report.Decode(incidenttest.Encoded(t, summary(1, 0))); !errors.Is(err, report.ErrNewerFormat) {
		t.Errorf("Decode of a summary: %v, want %v", err, report.ErrNewerFormat)
	}
}

func TestFit(t *testing.T) {
	for _, test := range []struct {
		name          string
		pools, chart  int
		kept, without int
		chartStays    bool
	}{
		{"a usual one stays as it is", 12, 100 << 10, 12, 0, true},
		{"the largest chart and many pools", 200, 120 << 10, 200, 0, true},
		{"pools go first", 5000, 120 << 10, 156, 4844, true},
		{"then the chart", 20, 400 << 10, 20, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := summary(test.pools, test.chart).Fit(report.MaxSummary)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(incidenttest.Encoded(t, got)); n > report.MaxSummary {
				t.Errorf("%d bytes, want at most %d", n, report.MaxSummary)
			}
			if len(got.Spot.Pools) != test.kept || got.MorePools != test.without || len(got.Chart) > 0 != test.chartStays {
				t.Errorf("%d pools, %d left out, chart of %d bytes", len(got.Spot.Pools), got.MorePools, len(got.Chart))
			}
		})
	}
	if got, err := summary(1, 0).Fit(10); err == nil {
		t.Errorf("into ten bytes: %+v", got)
	}
}

func TestPosting(t *testing.T) {
	p := outbox.Posting{Summary: summary(100, 100_000), Channel: "C0", TS: "1.2", Sending: incidenttest.Start, Picture: outbox.Picture{File: "F0"}}
	if !p.Due() || p.Delivered().TS != "1.2" {
		t.Error("without its details a posting is not done")
	}
	p.DetailsTS = "1.3"
	if n := len(incidenttest.Encoded(t, p.Delivered())); p.Due() || n > 1000 {
		t.Errorf("due %v, and %d bytes are kept of what was said", p.Due(), n)
	}
}

// Whatever can be decoded can be stored and read again.
func FuzzDecodeMessage(f *testing.F) {
	f.Add(incidenttest.Encoded(f, summary(2, 20)))
	f.Add(incidenttest.Encoded(f, incidenttest.Cleaned(0, &report.CleanupStop{Candidates: 1}, 3)))
	f.Add([]byte(`{"format":101,"kind":"spot","id":"x","cluster":"c","at":"2026-11-20T14:59:00Z","spot":{"pools":[{}],"bursts":[{}],"explanations":[{}]}}`))
	f.Add([]byte(`{"format":1,"id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`))
	f.Add([]byte(`{"format":101,"kind":"weekly","id":"x","cluster":"(all)","at":"2026-11-20T14:59:00Z","period":{"from":"2026-11-09T00:00:00Z","to":"2026-11-16T00:00:00Z","at":"2026-11-16T08:00:00Z","incidents":[{}],"unseen":[{}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := report.DecodeMessage(body)
		if err != nil {
			return
		}
		if m.Cluster() == "" {
			t.Fatalf("of no cluster: %+v", m)
		}
		if m.Summary == nil {
			return
		}
		apart := func(string) bool { return false }
		for _, p := range outbox.Parts(*m.Summary, apart) {
			if len(outbox.Renew([]outbox.Posting{{Summary: p}}, *m.Summary, nil)) > 2 {
				t.Fatalf("more than two messages of %+v", m.Summary)
			}
		}
		again, err := report.DecodeMessage(incidenttest.Encoded(t, m.Summary))
		if err != nil || again.Summary == nil || again.Summary.ID != m.Summary.ID {
			t.Fatalf("read again: %+v, %v", again, err)
		}
	})
}
