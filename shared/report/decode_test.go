package report

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestDecode(t *testing.T) {
	obs := observe(route("i-1"), launched("i-1", 0, Waiting), passed("node/not-ready", "i-2"), blindTo("ec2:DescribeVpcs", snapshot.VPCs, snapshot.Denied), couldRead(snapshot.Nodes), named("x"))
	obs.At = start
	whole, err := json.Marshal(obs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(whole)
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
		{"newer", `{"format":2,"launches":"of another shape"}`, func(err error) bool { return errors.Is(err, ErrNewerFormat) }},
		{"no format", `{"id":"x","cluster":"c","at":"2026-11-20T14:59:00Z"}`, func(err error) bool { return errors.Is(err, ErrIncomplete) }},
		{"no cluster", `{"format":1,"id":"x","at":"2026-11-20T14:59:00Z"}`, func(err error) bool { return errors.Is(err, ErrIncomplete) }},
		{"another event", `{"version":"0","source":"aws.ec2"}`, func(err error) bool { return errors.Is(err, ErrIncomplete) }},
		{"wrong types", `{"format":1,"launches":3}`, func(err error) bool { return err != nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Decode([]byte(test.body)); !test.is(err) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// Whatever can be decoded can be decided on, and what comes out can be stored
// and read again.
func FuzzDecode(f *testing.F) {
	for _, o := range []Observation{
		observe(route("i-1"), launched("i-1", 0, Waiting), named("a")),
		observe(notRegistered("i-1"), launched("i-1", 0, Missed), blindTo("c", snapshot.VPCs, snapshot.Denied), named("b")),
		observe(passed("route/no-egress", subnet), launched("i-2", 3, Joined), absent(subnet), named("c")),
	} {
		o.At = start
		body, err := json.Marshal(o)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte(`{"format":1,"id":"","cluster":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		obs, err := Decode(body)
		if err != nil {
			return
		}
		var incidents []Incident
		for i, now := range []time.Time{start, start.Add(2 * time.Hour)} {
			obs.ID += string(rune('0' + i))
			for _, d := range Decide(incidents, obs, now, policy) {
				data, err := json.Marshal(d.Incident)
				if err != nil {
					continue // times past the year 9999
				}
				var back Incident
				if err := json.Unmarshal(data, &back); err != nil {
					t.Fatalf("the record cannot be read again: %v", err)
				}
				incidents = with(incidents, back)
			}
		}
	})
}
