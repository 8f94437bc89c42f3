package doctor

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/local/platform/template"
)

// ring puts an alarm into a state.
func (p *deployed) ring(id, state string) {
	p.Deployment.Ring(p.alarm(id).Name, state, "Threshold Crossed: 1 datapoint", time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC))
}

func (p *deployed) alarm(id string) template.Alarm {
	p.t.Helper()
	i := slices.IndexFunc(p.Template.Alarms, func(a template.Alarm) bool { return a.LogicalID == id })
	if i < 0 {
		p.t.Fatalf("there is no alarm %s", id)
	}
	return p.Template.Alarms[i]
}

// The alarms that are looked for are the template's, and no others.
func TestAlarmsAreTheTemplates(t *testing.T) {
	p := deploy(t, &deployed{})
	var there []functionOf
	for _, s := range specs.All() {
		there = append(there, functionOf{spec: s})
	}
	var want []string
	for _, a := range p.Template.Alarms {
		want = append(want, a.LogicalID)
	}
	got := alarmIDs(there)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An alarm that was made a moment ago, and has no figures, does not ring yet.
func TestNewAlarms(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		alarm Alarm
		want  State
	}{
		"new":              {Alarm{Enabled: true, Actions: []string{"t"}, State: "INSUFFICIENT_DATA", Configured: now}, Well},
		"for silence, new": {Alarm{Enabled: true, SilentActions: []string{"t"}, State: "INSUFFICIENT_DATA", Configured: now.Add(-14 * time.Minute)}, Unknown},
		"for silence":      {Alarm{Enabled: true, SilentActions: []string{"t"}, State: "INSUFFICIENT_DATA", Configured: now.Add(-15 * time.Minute)}, Wrong},
		"well":             {Alarm{Enabled: true, SilentActions: []string{"t"}, State: "OK", Configured: now.Add(-time.Hour)}, Well},
	} {
		if got := alarmState(tt.alarm, now); got.State != tt.want {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}
