package message

import (
	"testing"
	"time"

	"rollcall/shared/incident"
)

func TestFuture(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	late := now.Add(6 * time.Minute)
	for name, tt := range map[string]struct {
		n    News
		want bool
	}{
		"now":                  {News{At: now.Add(5 * time.Minute)}, false},
		"later":                {News{At: late}, true},
		"an opening to come":   {News{At: now, Incident: &incident.Event{Opened: late}}, true},
		"a beginning to come":  {News{At: now, Incident: &incident.Event{Began: late}}, true},
		"an end to come":       {News{At: now, Incident: &incident.Event{Resolved: late}}, true},
		"an incident of today": {News{At: now, Incident: &incident.Event{Opened: now}}, false},
		"a week to come":       {News{At: now, Week: &Week{To: late}}, true},
		"a week that is over":  {News{At: now, Week: &Week{To: now}}, false},
	} {
		if got := tt.n.Future(now); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestWithEvent(t *testing.T) {
	n, err := News{Raw: []byte(`{"source":"rollcall","detail":{"title":"forged"}}`)}.WithEvent(incident.Event{ID: "a/2", Cluster: "prod", Title: "recorded"})
	if err != nil || n.ID != "a/2" || n.Incident.Title != "recorded" || n.Words.Headline == "" {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := (News{Raw: []byte(`[]`)}).WithEvent(incident.Event{}); err == nil {
		t.Error("an envelope that is none is taken")
	}
}
