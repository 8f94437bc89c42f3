package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"rollcall/events"
	"rollcall/stage/platform/pattern"
	"rollcall/stage/platform/template"
	"rollcall/tools/testfile"
)

// patterns are the event patterns in the snippets of docs/remedies.md, by the
// rule's name.
func patterns(t *testing.T) map[string][]byte {
	t.Helper()
	page := testfile.Read(t, "../../docs/remedies.md")
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
			text := testfile.JSON(t, r.Properties.EventPattern)
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

func committed(t *testing.T) *template.Template {
	t.Helper()
	tmpl, err := template.Parse(testfile.Read(t, "../../infra/Rollcall.template.json"), template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

func TestEverySampleWakesWhatItShould(t *testing.T) {
	launch := []string{"join-check (after 5m)", "launch-watch"}
	want := map[string][]string{
		"autoscaling-launch-lifecycle-action.json":           launch,
		"autoscaling-launch-lifecycle-action-warm-pool.json": launch,
		"autoscaling-launch-successful.json":                 launch,
		"autoscaling-launch-unsuccessful.json":               launch,
		"ec2-state-running.json":                             launch,
		"ec2-state-terminated.json":                          {"launch-watch"},
		"ec2-spot-interruption.json":                         {"launch-watch"},
		"ec2-capacity-reservation-interruption.json":         {"launch-watch"},
		"ec2-rebalance-recommendation.json":                  {"launch-watch"},
		"health-ec2-scheduled-change.json":                   {"launch-watch"},
		"ec2-call-create-fleet-refused.json":                 {"launch-watch"},
		"ec2-call-create-fleet-no-capacity.json":             {"launch-watch"},
		"ec2-call-create-fleet-auto-mode.json":               {"launch-watch"},
		"ec2-call-create-fleet-answer-left-out.json":         {"launch-watch"},
		"ec2-call-create-fleet-partial.json":                 nil,
		"ec2-call-create-fleet-dry-run.json":                 nil,
		"ec2-call-create-fleet-autoscaling.json":             nil,
		"ec2-call-run-instances-refused.json":                {"launch-watch"},
		"ec2-call-run-instances-by-fleet.json":               nil,
		"eks-call-create-nodegroup.json":                     {"nodegroup-watch"},
		"eks-call-update-nodegroup-config.json":              {"nodegroup-watch"},
		"eks-call-delete-nodegroup.json":                     {"nodegroup-watch"},
		"eks-call-refused.json":                              nil,
		"eks-addon-health-degraded.json":                     {"nodegroup-watch"},
		"cloudformation-nodegroup-create-failed.json":        {"nodegroup-watch"},
		"schedule-rule.json":                                 {"eni-cleanup", "notify-targets", "report", "spot-report", "sweep"},
		"schedule-scheduler.json":                            {"eni-cleanup", "notify-targets", "report", "spot-report", "sweep"},
		"spot-report-wanted.json":                            {"spot-report"},
	}
	samples, err := events.Samples("../../events/in")
	if err != nil {
		t.Fatal(err)
	}
	tmpl := committed(t)
	got := map[string][]string{}
	for _, s := range samples {
		if got[s.File], err = Route(tmpl, "default", s.Event); err != nil {
			t.Fatalf("%s: %v", s.File, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

// What Rollcall tells its own bus wakes its own functions by rules like anybody's.
func TestWhatIsWokenByTheOwnBus(t *testing.T) {
	tmpl := committed(t)
	wanted := func(check string) string {
		return `{"source":"rollcall","detail-type":"Rollcall Check Wanted","detail":{"cluster":"prod","check":"` + check + `","resource":"x"}}`
	}
	for name, test := range map[string]struct {
		event string
		want  []string
	}{
		"a route":      {wanted("route/no-egress"), []string{"join-check"}},
		"a node":       {wanted("node/not-registered"), []string{"join-check"}},
		"a nodegroup":  {wanted("nodegroup/status"), []string{"nodegroup-watch"}},
		"an add-on":    {wanted("addon/degraded"), []string{"nodegroup-watch"}},
		"a subnet":     {wanted("ip/leaked-interfaces"), []string{"subnet-watch"}},
		"another one":  {wanted("iproute/x"), nil},
		"another's":    {strings.Replace(wanted("route/no-egress"), "rollcall", "somebody", 1), nil},
		"another wish": {strings.Replace(wanted("route/no-egress"), "Check Wanted", "Check Unwanted", 1), nil},
	} {
		got, err := Route(tmpl, Own(tmpl), []byte(test.event))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s wakes (-want +got):\n%s", name, diff)
		}
		if got, err := Route(tmpl, "default", []byte(test.event)); err != nil || len(got) > 0 {
			t.Errorf("%s on the default bus wakes %v, %v", name, got, err)
		}
	}
}

func TestForeignEventsWakeNoFunction(t *testing.T) {
	tmpl := committed(t)
	for name, event := range map[string]string{
		"a made-up EKS event": `{"source":"aws.eks","detail-type":"EKS Nodegroup State Change","detail":{}}`,
		"pending":             `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"state":"pending"}}`,
		"a termination":       `{"source":"aws.autoscaling","detail-type":"EC2 Instance Terminate Successful","detail":{}}`,
		"our own":             `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{}}`,
	} {
		got, err := Route(tmpl, "default", []byte(event))
		if err != nil || len(got) > 0 {
			t.Errorf("%s wakes %q, %v; want no function", name, got, err)
		}
	}
}

func TestIndexIsFresh(t *testing.T) {
	want, err := Index(committed(t), "../../events/in", "../../events/out")
	if err != nil {
		t.Fatal(err)
	}
	got := testfile.Read(t, "../../events/README.md")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("README.md is stale, run make generate (-want +got):\n%s", diff)
	}
}
