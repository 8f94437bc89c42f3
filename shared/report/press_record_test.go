package report

import (
	"testing"
	"time"
)

func TestVet(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	good := Press{ID: "p", At: now, Key: Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, User: User{ID: "U1"}, Channel: "C1", TS: "1.2"}
	known := &PressRecord{Format: PressRecordFormat, Digest: "d"}
	for name, test := range map[string]struct {
		change func(*Press)
		digest string
		record *PressRecord
		want   AnswerReason
	}{
		"passed on":          {nil, "d", known, ""},
		"no record":          {nil, "d", nil, NotPassedOn},
		"claimed alone":      {nil, "", &PressRecord{Format: PressRecordFormat}, NotPassedOn},
		"another message":    {nil, "e", known, NotPassedOn},
		"the release before": {nil, "d", &PressRecord{Format: 1}, OlderRelease},
		"no channel":         {func(p *Press) { p.Channel = "" }, "d", known, Incomplete},
		"no message":         {func(p *Press) { p.TS = "" }, "d", known, Incomplete},
		"nobody":             {func(p *Press) { p.User.ID = "" }, "d", known, Incomplete},
		"three hours old":    {func(p *Press) { p.At = now.Add(-PressLasts) }, "d", known, ""},
		"older":              {func(p *Press) { p.At = now.Add(-PressLasts - 1) }, "d", known, TooLate},
		"a minute ahead":     {func(p *Press) { p.At = now.Add(time.Minute) }, "d", known, ""},
		"further ahead":      {func(p *Press) { p.At = now.Add(time.Minute + 1) }, "d", known, FromFuture},
		"no time":            {func(p *Press) { p.At = time.Time{} }, "d", known, TooLate},
	} {
		p := good
		if test.change != nil {
			test.change(&p)
		}
		a := p.Vet(test.digest, test.record, now)
		if a.Reason != test.want || a.Done() || a.Proven() != (test.want != NotPassedOn) {
			t.Errorf("%s: %+v, want %q", name, a, test.want)
		}
	}
}

// TestTheDigestIsOfTheBytesThatTravel: what arrives has the digest of what was
// sent, and one that differs anywhere has another.
func TestTheDigestIsOfTheBytesThatTravel(t *testing.T) {
	p := Press{ID: "p", At: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Key: Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}, Action: ApprovePlan, Plan: "a"}
	sent, err := EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeMessage(sent.Body)
	if err != nil || got.Press == nil || got.Digest != sent.Digest() || len(got.Digest) != 64 || got.Press.Plan != "a" {
		t.Errorf("arrived %+v, %v", got, err)
	}
	p.Plan = "b"
	if other, err := EncodePress(p); err != nil || other.Digest() == sent.Digest() {
		t.Errorf("another plan has the same digest: %v", err)
	}
}
