package report_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/reconcile"
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
