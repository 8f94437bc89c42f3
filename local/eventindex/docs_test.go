package eventindex

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"rollcall/events"
	"rollcall/local/platform/pattern"
)

// patterns are the event patterns in the snippets of docs/remedies.md, by the
// rule's name.
func patterns(t *testing.T) map[string][]byte {
	t.Helper()
	page, err := os.ReadFile("../../docs/remedies.md")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]byte{}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		var doc struct {
			Resources map[string]struct {
				Type       string `yaml:"Type"`
				Properties struct {
					EventBusName string         `yaml:"EventBusName"`
					EventPattern map[string]any `yaml:"EventPattern"`
					Targets      []yaml.Node    `yaml:"Targets"`
				} `yaml:"Properties"`
			} `yaml:"Resources"`
		}
		if err := yaml.Unmarshal([]byte(m[1]), &doc); err != nil {
			t.Fatalf("%v in\n%s", err, m[1])
		}
		for name, r := range doc.Resources {
			if r.Type != "AWS::Events::Rule" {
				continue
			}
			if r.Properties.EventBusName != "rollcall" || len(r.Properties.Targets) == 0 {
				t.Errorf("rule %s: bus %q, %d targets", name, r.Properties.EventBusName, len(r.Properties.Targets))
			}
			text, err := json.Marshal(r.Properties.EventPattern)
			if err != nil {
				t.Fatal(err)
			}
			list[name] = text
		}
	}
	for _, m := range regexp.MustCompile(`--name (\w+) --event-pattern '([^']+)'`).FindAllStringSubmatch(string(page), -1) {
		list[m[1]] = []byte(m[2])
	}
	return list
}

// The snippets of the docs match the events that they are for, and no others.
func TestDocumentedPatterns(t *testing.T) {
	opens := []string{"incident-opened.json", "incident-reopened.json"}
	incidents := []string{"incident-changed.json", "incident-opened.json", "incident-reopened.json", "incident-resolved.json"}
	want := map[string][]string{
		"RouteMissing": opens, "Incidents": incidents, "Trigger": opens, "Resolve": {"incident-resolved.json"}, "incidents": incidents,
	}
	samples, err := events.Samples("../../events/out")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for name, text := range patterns(t) {
		p, err := pattern.Compile(text)
		if err != nil {
			t.Fatalf("rule %s: %v", name, err)
		}
		got[name] = []string{}
		for _, s := range samples {
			if hit, err := p.Matches(s.Event); err != nil {
				t.Fatal(err)
			} else if hit {
				got[name] = append(got[name], s.File)
			}
		}
		// Samples of events that are newer than this page are no concern of it.
		got[name] = slices.DeleteFunc(got[name], func(file string) bool {
			return strings.HasPrefix(file, "incident-") && !slices.Contains(incidents, file)
		})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matched samples (-want +got):\n%s", diff)
	}
}
