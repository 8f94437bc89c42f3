package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rollcall/infra/specs"
	"rollcall/shared/lambda"
	"rollcall/shared/spec"
)

const dashboardType = "AWS::CloudWatch::Dashboard"

// TestDashboard: it asks only logs of functions that there are, shows each alarm, and no
// more metrics than are free.
func TestDashboard(t *testing.T) {
	tpl := theTemplate(t)
	list := tpl.all(dashboardType)
	if len(list) != 1 {
		t.Fatalf("%d dashboards, want one", len(list))
	}
	var body strings.Builder
	for _, part := range get(list[0].Properties, "DashboardBody", "Fn::Join", 1).([]any) {
		text, ok := part.(string)
		if !ok {
			text = to(part)
		}
		body.WriteString(text)
	}
	var dashboard struct {
		Widgets []struct {
			Type       string
			Properties struct {
				Query   string
				Alarms  []string
				Metrics [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body.String()), &dashboard); err != nil {
		t.Fatalf("%v\n%s", err, body.String())
	}
	metrics := 0
	var alarms []string
	for _, w := range dashboard.Widgets {
		metrics += len(w.Properties.Metrics)
		alarms = append(alarms, w.Properties.Alarms...)
		for _, m := range w.Properties.Metrics {
			if m[0] == lambda.StackNamespace("rollcall") && m[1] != lambda.Failures && !slices.ContainsFunc(specs.All(), func(f spec.Spec) bool { return hasAlarm(f, m[1]) }) {
				t.Errorf("a metric that nobody writes: %v", m)
			}
		}
		if w.Type != "log" {
			continue
		}
		for _, m := range regexp.MustCompile(`SOURCE '([^']+)' \| `).FindAllStringSubmatch(w.Properties.Query, -1) {
			if !slices.ContainsFunc(specs.All(), func(f spec.Spec) bool { return m[1] == "/aws/lambda/rollcall-"+f.Name }) {
				t.Errorf("it asks the log of no function: %s", w.Properties.Query)
			}
		}
	}
	// "First 3 dashboards (up to 50 metrics) per month" are free (CloudWatch pricing).
	if metrics == 0 || metrics > 50 {
		t.Errorf("%d metrics, want 1 to 50", metrics)
	}
	if got, want := len(alarms), len(tpl.all(alarmType)); got != want {
		t.Errorf("it shows %d alarms of %d", got, want)
	}
}

// TestNoDashboard: it can be left out.
func TestNoDashboard(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "dashboard": "off"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tpl.all(dashboardType)); n > 0 {
		t.Errorf("%d dashboards", n)
	}
}

func hasAlarm(f spec.Spec, metric any) bool {
	return slices.ContainsFunc(f.Alarms, func(a spec.Alarm) bool { return a.Metric == metric })
}
