package event

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spoke"
)

func TestLookForChanges(t *testing.T) {
	opened := time.Date(2026, 11, 20, 14, 59, 4, 120e6, time.UTC)
	now := opened.Add(5 * time.Minute)
	body, err := LookForChanges(spoke.ID{}, "prod", "route/no-egress", "rtb-1", opened, 2, now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(body)
	if err != nil {
		t.Fatal(err)
	}
	want := Trigger{
		ID: "look/prod/route/no-egress/rtb-1/2/2026-11-20T15:04:04.12Z", Kind: Reminder, Source: "rollcall", Type: "Rollcall Look For Changes", Time: now,
		Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1", Opened: opened, Round: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, detail := range []string{`{}`, `{"cluster":"prod","check":"c","resource":"r","round":1}`, `{"cluster":"prod","check":"c","resource":"r","opened":"2026-11-20T14:59:04Z"}`, `5`} {
		var malformed *Malformed
		if _, err := Parse([]byte(`{"id":"1","source":"rollcall","detail-type":"Rollcall Look For Changes","time":"2026-11-20T14:59:04Z","detail":` + detail + `}`)); !errors.As(err, &malformed) {
			t.Errorf("%s: %v", detail, err)
		}
	}
}
