package response_test

import (
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/report"
)

func TestVet(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	good := report.Press{ID: "p", At: now, Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, User: report.User{ID: "U1"}, Channel: "C1", TS: "1.2"}
	known := &report.PressRecord{Format: report.PressRecordFormat, Digest: "d"}
	for name, test := range map[string]struct {
		change func(*report.Press)
		digest string
		record *report.PressRecord
		want   incident.AnswerReason
	}{
		"passed on":       {nil, "d", known, ""},
		"no record":       {nil, "d", nil, incident.NotPassedOn},
		"claimed alone":   {nil, "", &report.PressRecord{Format: report.PressRecordFormat}, incident.NotPassedOn},
		"another message": {nil, "e", known, incident.NotPassedOn},
		"no channel":      {func(p *report.Press) { p.Channel = "" }, "d", known, incident.Incomplete},
		"no message":      {func(p *report.Press) { p.TS = "" }, "d", known, incident.Incomplete},
		"nobody":          {func(p *report.Press) { p.User.ID = "" }, "d", known, incident.Incomplete},
		"three hours old": {func(p *report.Press) { p.At = now.Add(-response.PressLasts) }, "d", known, ""},
		"older":           {func(p *report.Press) { p.At = now.Add(-response.PressLasts - 1) }, "d", known, incident.TooLate},
		"a minute ahead":  {func(p *report.Press) { p.At = now.Add(time.Minute) }, "d", known, ""},
		"further ahead":   {func(p *report.Press) { p.At = now.Add(time.Minute + 1) }, "d", known, incident.FromFuture},
		"no time":         {func(p *report.Press) { p.At = time.Time{} }, "d", known, incident.TooLate},
	} {
		p := good
		if test.change != nil {
			test.change(&p)
		}
		a := response.VetPress(p, test.digest, test.record, now)
		if a.Reason != test.want || a.Done() || a.Proven() != (test.want != incident.NotPassedOn) {
			t.Errorf("%s: %+v, want %q", name, a, test.want)
		}
	}
}

// TestTheDigestIsOfTheBytesThatTravel: what arrives has the digest of what was
// sent, and one that differs anywhere has another.
func TestTheDigestIsOfTheBytesThatTravel(t *testing.T) {
	p := report.Press{ID: "p", At: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, Action: report.ApprovePlan, Plan: "a"}
	sent, err := report.EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.DecodeMessage(sent.Body)
	if err != nil || got.Press == nil || got.Digest != sent.Digest() || len(got.Digest) != 64 || got.Press.Plan != "a" {
		t.Errorf("arrived %+v, %v", got, err)
	}
	p.Plan = "b"
	if other, err := report.EncodePress(p); err != nil || other.Digest() == sent.Digest() {
		t.Errorf("another plan has the same digest: %v", err)
	}
}
