package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	keys "rollcall/infra/settings"
	"rollcall/infra/specs"
)

// No test here runs beside another: jsii is not safe for concurrent use.
func TestMain(m *testing.M) {
	// The validator takes 4 of 5 seconds; `make synth` runs it.
	os.Setenv("CDK_VALIDATION", "false")
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// channel is the one that `make synth` uses when none is given.
const channel = "C0123456789"

// everyTarget is a target of each kind, as `make synth` has them.
const everyTarget = "sns,pagerduty=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook"

type template struct {
	source    []byte
	Resources map[string]resource
	Outputs   map[string]struct {
		Description string
		Value       any
	}
}

type resource struct {
	id             string
	Type           string
	Properties     map[string]any
	Metadata       map[string]any
	DependsOn      any
	DeletionPolicy string
}

// standard is the stack as `make synth` makes it, synthesised once.
var standard = sync.OnceValues(func() (template, error) {
	return synthesise(map[string]any{"slackChannel": channel})
})

func theTemplate(t *testing.T) template {
	t.Helper()
	tpl, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// synthesise does what the CLI does: the context of cdk.json, then that of
// the command line.
func synthesise(given map[string]any) (template, error) {
	dir, err := os.MkdirTemp("", "rollcall-infra")
	if err != nil {
		return template{}, err
	}
	defer os.RemoveAll(dir)
	app, err := newApp(dir, given)
	if err != nil {
		return template{}, err
	}
	return read(app)
}

func newApp(dir string, given map[string]any) (awscdk.App, error) {
	data, err := os.ReadFile("../cdk.json")
	if err != nil {
		return nil, err
	}
	var settings struct{ Context map[string]any }
	if err := json.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	// With every function that there is, as `make synth` does.
	settings.Context["slackActions"] = "on"
	settings.Context["targets"] = everyTarget
	maps.Copy(settings.Context, given)
	for _, spec := range specs.All() {
		folder := filepath.Join(dir, "packages", spec.Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, "bootstrap"), []byte("#!stub"), 0o755); err != nil {
			return nil, err
		}
	}
	app := awscdk.NewApp(&awscdk.AppProps{
		AnalyticsReporting: jsii.Bool(false),
		Context:            &settings.Context,
		Outdir:             jsii.String(filepath.Join(dir, "out")),
	})
	if given[relayTemplate] != nil {
		NewRelayStack(app)
		return app, nil
	}
	if given[keys.SpokeTemplate] != nil {
		return app, NewSpokeStack(app, specs.All())
	}
	return app, NewStack(app, specs.All(), filepath.Join(dir, "packages"))
}

func read(app awscdk.App) (template, error) {
	files, err := assemble(app)
	if err != nil {
		return template{}, err
	}
	if len(files) != 1 {
		return template{}, fmt.Errorf("%d stacks", len(files))
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return template{}, err
	}
	tpl := template{source: data}
	if err := json.Unmarshal(data, &tpl); err != nil {
		return template{}, err
	}
	for id, r := range tpl.Resources {
		r.id = id
		tpl.Resources[id] = r
	}
	return tpl, nil
}

// all gives the resources of a type, by logical id.
func (t template) all(kind string) []resource {
	var found []resource
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		if r := t.Resources[id]; r.Type == kind {
			found = append(found, r)
		}
	}
	return found
}

// get walks into properties: maps by key, lists by index; nil where there is nothing.
func get(node any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := node.(map[string]any)
			node = m[s]
		case int:
			list, _ := node.([]any)
			if s >= len(list) {
				return nil
			}
			node = list[s]
		}
	}
	return node
}

// to is the logical id that a Ref or Fn::GetAtt names, "" for other values.
func to(value any) string {
	if id, ok := get(value, "Ref").(string); ok {
		return id
	}
	id, _ := get(value, "Fn::GetAtt", 0).(string)
	return id
}

// flat writes a value with its references as ${…}.
func flat(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		if id, ok := v["Ref"].(string); ok {
			return "${" + id + "}"
		}
		if id := to(value); id != "" {
			return fmt.Sprintf("${%s.%v}", id, get(value, "Fn::GetAtt", 1))
		}
		if parts, ok := get(v, "Fn::Join", 1).([]any); ok {
			var b strings.Builder
			for _, part := range parts {
				b.WriteString(flat(part))
			}
			return b.String()
		}
	}
	return fmt.Sprint(value)
}

// several makes a list of what CloudFormation lets be one or several.
func several(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	if value == nil {
		return nil
	}
	return []any{value}
}

func flats(value any) []string {
	var list []string
	for _, v := range several(value) {
		list = append(list, flat(v))
	}
	return list
}

// TestNoPartitionIsNamed: what is deployed in China or GovCloud is the same template.
func TestNoPartitionIsNamed(t *testing.T) {
	for _, file := range []string{"Rollcall.template.json", "RollcallSpoke.template.json", "RollcallRelay.template.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`arn:aws[a-z-]*:[^"]*|[a-z0-9.-]+\.amazonaws\.com/[^"]*|"(us|eu|ap)-[a-z]+-[0-9]"`).FindAllString(string(text), -1); len(found) > 0 {
			t.Errorf("%s names %q", file, found)
		}
	}
}
