package simaws

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
)

func entry(source, detailType, detail string) types.PutEventsRequestEntry {
	return types.PutEventsRequestEntry{Source: &source, DetailType: &detailType, Detail: &detail}
}

func TestPutEvents(t *testing.T) {
	got := map[string]string{}
	c := start(t, func(cfg *Config) {
		cfg.Events = func(_ context.Context, bus string, event json.RawMessage) error {
			switch bus {
			case "broken":
				return errors.New("a defect")
			case "missing":
				return wire.Errorf("ResourceNotFoundException", "Event bus missing does not exist.")
			}
			got[bus] = string(event)
			return nil
		}
	})
	client := eventbridge.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	onBus := func(e types.PutEventsRequestEntry, bus string) types.PutEventsRequestEntry {
		e.EventBusName = &bus
		return e
	}
	out, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{
		onBus(entry("rollcall", "Rollcall Finding Opened", `{"a":1}`), "rollcall"),
		entry("rollcall", "x", `{}`),
		entry("aws.ec2", "x", `{}`),
		entry("", "x", `{}`),
		entry("rollcall", "x", `[]`),
		entry("rollcall", "x", `{"a":`),
		onBus(entry("rollcall", "x", `{}`), "broken"),
		onBus(entry("rollcall", "x", `{}`), "missing"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, e := range out.Entries {
		codes = append(codes, aws.ToString(e.ErrorCode))
	}
	want := []string{"", "", "NotAuthorizedForSourceException", "InvalidArgument", "MalformedDetail", "MalformedDetail", "InternalFailure", "ResourceNotFoundException"}
	if diff := cmp.Diff(codes, want); diff != "" || out.FailedEntryCount != 6 {
		t.Errorf("%d failed, codes (-got +want):\n%s", out.FailedEntryCount, diff)
	}
	if len(got) != 2 || got["default"] == "" {
		t.Errorf("events went to %v, want the buses rollcall and default", got)
	}
	wantEvent := `{"version":"0","id":"00000000-0001-4000-8000-000000000001","detail-type":"Rollcall Finding Opened","source":"rollcall","account":"123456789012",` +
		`"time":"2026-11-20T21:00:00Z","region":"us-west-2","resources":[],"detail":{"a":1}}`
	if diff := cmp.Diff(got["rollcall"], wantEvent); diff != "" {
		t.Errorf("event (-got +want):\n%s", diff)
	}
	if id := aws.ToString(out.Entries[0].EventId); !strings.Contains(wantEvent, id) || id == "" {
		t.Errorf("event id = %q, want that of the event", id)
	}
}

func TestPutEventsLimits(t *testing.T) {
	c := start(t, func(cfg *Config) {
		cfg.Events = func(context.Context, string, json.RawMessage) error { t.Error("an event passed"); return nil }
	})
	client := eventbridge.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	big := entry("s", "t", `{"a":"`+strings.Repeat("x", maxEntryBytes)+`"}`)
	for name, entries := range map[string][]types.PutEventsRequestEntry{
		"none": {}, "eleven": make([]types.PutEventsRequestEntry, 11), "too big": {big},
	} {
		if _, err := client.PutEvents(t.Context(), &eventbridge.PutEventsInput{Entries: entries}); errorCode(err) != "ValidationException" {
			t.Errorf("%s: error = %v, want ValidationException", name, err)
		}
	}
}
