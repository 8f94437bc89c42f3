package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/node/spot"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
)

func summary(pools, chart int) report.Summary {
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod/2026-11-20", By: "spot-report", At: incidenttest.Start, Cluster: "prod",
		Spot:  spot.Report{Cluster: "prod", Spot: spot.Funnel{Requested: 412, Joined: 381, NotJoined: 31}},
		Chart: bytes.Repeat([]byte{0xff, 0x51}, chart/2), Slowest: &report.Slowest{Type: "m5.large", Zone: "us-west-2a", Median: 90 * time.Second, Joined: 9},
	}
	for i := range pools {
		s.Spot.Pools = append(s.Spot.Pools, spot.Pool{Type: fmt.Sprintf("m5.%dxlarge", i), Zone: "us-west-2a", Spot: true, Nodegroups: []string{"workers-with-a-rather-long-name"}})
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
		for _, p := range m.Summary.Parts() {
			if len(outbox.Renew([]outbox.Posting{{Summary: p}}, *m.Summary)) > 2 {
				t.Fatalf("more than two messages of %+v", m.Summary)
			}
		}
		again, err := report.DecodeMessage(incidenttest.Encoded(t, m.Summary))
		if err != nil || again.Summary == nil || again.Summary.ID != m.Summary.ID {
			t.Fatalf("read again: %+v, %v", again, err)
		}
	})
}
