package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// lambdaOf finds the function of a spec.
func lambdaOf(t *testing.T, tpl template, of spec.Spec) resource {
	t.Helper()
	for _, r := range tpl.all("AWS::Lambda::Function") {
		if r.Properties["FunctionName"] == "rollcall-"+of.Name {
			return r
		}
	}
	t.Fatalf("no function for %s", of.Name)
	return resource{}
}

func TestFunctionsAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	if got, want := len(tpl.all("AWS::Lambda::Function")), len(specs.All()); got != want {
		t.Errorf("got %d functions, want %d", got, want)
	}
	for _, of := range specs.All() {
		t.Run(of.Name, func(t *testing.T) {
			r := lambdaOf(t, tpl, of)
			got := map[string]any{}
			for _, key := range []string{"Runtime", "Handler", "Architectures", "MemorySize", "Timeout", "Description"} {
				got[key] = r.Properties[key]
			}
			want := map[string]any{
				"Runtime":       "provided.al2023",
				"Handler":       "bootstrap",
				"Architectures": []any{"arm64"},
				"MemorySize":    float64(of.Memory),
				"Timeout":       of.Timeout.Seconds(),
				"Description":   of.About,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			if got, want := r.Metadata["Rollcall::Folder"], "functions/"+of.Name; got != want {
				t.Errorf("folder: got %q, want %q", got, want)
			}
			if got := get(r.Properties, "LoggingConfig", "LogFormat"); got != "Text" {
				t.Errorf("log format: got %q, want Text: with JSON, Lambda would wrap the metrics lines", got)
			}
			logs := tpl.Resources[to(get(r.Properties, "LoggingConfig", "LogGroup"))]
			if got := logs.Properties["RetentionInDays"]; got != 30.0 {
				t.Errorf("log retention: got %v, want 30", got)
			}
			loops := of.Name == "join-check" || of.Name == "nodegroup-watch" || of.Name == "change-check" || of.Name == "report" || of.Name == "remediate" || of.Name == "sweep" || of.Name == "notify-targets" // they write to their own queues
			if got, want := r.Properties["RecursiveLoop"], map[bool]string{true: "Allow", false: "Terminate"}[loops]; got != want {
				t.Errorf("recursive loop: got %q, want %q", got, want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		variables, _ := get(lambdaOf(t, tpl, of).Properties, "Environment", "Variables").(map[string]any)
		var want []string
		for _, v := range of.Environment {
			want = append(want, string(v))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(variables))); diff != "" {
			t.Errorf("%s: variables (-spec +template):\n%s", of.Name, diff)
		}
		for _, v := range []spec.Variable{config.StageClock, config.StageEndpoints} {
			if _, ok := variables[string(v)]; ok {
				t.Errorf("%s: %s is for the local stage only", of.Name, v)
			}
		}
		for name, value := range variables {
			text := flat(value)
			if strings.Contains(text, "{{resolve:") || strings.Contains(text, "xox") {
				t.Errorf("%s: %s holds a secret: %q", of.Name, name, text)
			}
			if text == "" {
				t.Errorf("%s: %s is empty", of.Name, name)
			}
		}
	}
}

// What the functions are told must be what they accept.
func TestEnvironmentLoads(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		variables, _ := get(lambdaOf(t, tpl, of).Properties, "Environment", "Variables").(map[string]any)
		getenv := func(name string) string {
			value, ok := variables[name]
			if !ok {
				return ""
			}
			if text, ok := value.(string); ok {
				return text
			}
			return "https://" + to(value) + ".example" // what a reference will be
		}
		if _, err := config.Load(getenv, of.Environment); err != nil {
			t.Errorf("%s: %v", of.Name, err)
		}
	}
}

func TestEventSources(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		if of.Queue == nil {
			continue
		}
		function := lambdaOf(t, tpl, of)
		var found int
		for _, m := range tpl.all("AWS::Lambda::EventSourceMapping") {
			if to(m.Properties["FunctionName"]) != function.id {
				continue
			}
			found++
			got := map[string]any{}
			for _, key := range []string{"BatchSize", "MaximumBatchingWindowInSeconds", "FunctionResponseTypes", "ScalingConfig"} {
				if value, ok := m.Properties[key]; ok {
					got[key] = value
				}
			}
			want := map[string]any{
				"BatchSize":             float64(of.Queue.Batch),
				"FunctionResponseTypes": []any{"ReportBatchItemFailures"},
				"ScalingConfig":         map[string]any{"MaximumConcurrency": float64(of.Queue.Concurrency)},
			}
			if of.Queue.Window > 0 {
				want["MaximumBatchingWindowInSeconds"] = of.Queue.Window.Seconds()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: event source (-want +got):\n%s", of.Name, diff)
			}
			if got, want := flat(tpl.Resources[to(m.Properties["EventSourceArn"])].Properties["QueueName"]), queueName(*of.Queue); got != want {
				t.Errorf("%s reads %q, want %q", of.Name, got, want)
			}
		}
		if found != 1 {
			t.Errorf("%s has %d event sources, want 1", of.Name, found)
		}
	}
}

func queueName(q spec.Queue) string {
	if q.FIFO {
		return "rollcall-" + string(q.Resource) + ".fifo"
	}
	return "rollcall-" + string(q.Resource)
}

func TestRulesAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	type waker struct{ Function, Target, Bus, Pattern, Schedule string }
	var want, got []waker
	for _, of := range specs.All() {
		for _, r := range of.Rules {
			target := "function"
			if of.Queue != nil && !r.Direct {
				target = queueName(*of.Queue)
			}
			bus := ""
			if r.Bus == spec.Bus {
				bus = "rollcall"
			}
			want = append(want, waker{Function: of.Name, Target: target, Bus: bus, Pattern: canonical(t, []byte(r.Pattern))})
		}
		for _, s := range of.Schedules {
			want = append(want, waker{Function: of.Name, Target: "function", Schedule: rate(s.Every)})
		}
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		if targets, _ := r.Properties["Targets"].([]any); len(targets) != 1 {
			t.Fatalf("%s has %d targets, want 1", r.id, len(targets))
		}
		w := waker{Function: flat(get(r.Properties, "Targets", 0, "Id")), Target: "function"}
		target := tpl.Resources[to(get(r.Properties, "Targets", 0, "Arn"))]
		if target.Type == "AWS::SQS::Queue" {
			w.Target = flat(target.Properties["QueueName"])
		} else if target.Properties["FunctionName"] != "rollcall-"+w.Function {
			t.Errorf("%s wakes %v", r.id, target.Properties["FunctionName"])
		}
		if on, ok := r.Properties["EventBusName"]; ok {
			w.Bus = flat(tpl.Resources[to(on)].Properties["Name"])
		}
		if pattern, ok := r.Properties["EventPattern"]; ok {
			data, err := json.Marshal(pattern)
			if err != nil {
				t.Fatal(err)
			}
			w.Pattern = canonical(t, data)
		}
		w.Schedule, _ = r.Properties["ScheduleExpression"].(string)
		if got := r.Properties["State"]; got != "ENABLED" {
			t.Errorf("%s is %v", r.id, got)
		}
		got = append(got, w)
	}
	order := func(a, b waker) int {
		return strings.Compare(a.Function+a.Schedule+a.Pattern, b.Function+b.Schedule+b.Pattern)
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-spec +template):\n%s", diff)
	}
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A rule may wake a function only through a permission for that rule.
func TestInvokePermissions(t *testing.T) {
	tpl := theTemplate(t)
	allowed := map[string]string{}
	for _, p := range tpl.all("AWS::Lambda::Permission") {
		if p.Properties["Principal"] == "*" {
			continue // of an address: TestAddressesAreThoseOfTheSpecs
		}
		rule := to(p.Properties["SourceArn"])
		if p.Properties["Principal"] != "events.amazonaws.com" || tpl.Resources[rule].Type != "AWS::Events::Rule" {
			t.Errorf("%s lets %v invoke from %q", p.id, p.Properties["Principal"], rule)
		}
		allowed[rule] = to(p.Properties["FunctionName"])
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		target := to(get(r.Properties, "Targets", 0, "Arn"))
		if tpl.Resources[target].Type == "AWS::Lambda::Function" && allowed[r.id] != target {
			t.Errorf("%s may not invoke %s", r.id, target)
		}
	}
}

func TestRate(t *testing.T) {
	tests := []struct {
		every time.Duration
		want  string
	}{
		{time.Minute, "rate(1 minute)"},
		{5 * time.Minute, "rate(5 minutes)"},
		{90 * time.Minute, "rate(90 minutes)"},
		{time.Hour, "rate(1 hour)"},
		{24 * time.Hour, "rate(24 hours)"},
	}
	for _, test := range tests {
		if got := rate(test.every); got != test.want {
			t.Errorf("rate(%s): got %q, want %q", test.every, got, test.want)
		}
	}
}

func TestSpan(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{10 * time.Minute, "10m"},
		{90 * time.Second, "1m30s"},
		{24 * time.Hour, "24h"},
		{90 * time.Minute, "1h30m"},
		{10 * time.Second, "10s"},
		{time.Hour + 20*time.Minute, "1h20m"},
	}
	for _, test := range tests {
		if got := span(test.d); got != test.want {
			t.Errorf("span(%v): got %q, want %q", test.d, got, test.want)
		}
	}
}

func TestLambdaHasLogsOfItsOwnName(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		logs := tpl.Resources[to(get(lambdaOf(t, tpl, of).Properties, "LoggingConfig", "LogGroup"))]
		if got, want := logs.Properties["LogGroupName"], "/aws/lambda/rollcall-"+of.Name; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
