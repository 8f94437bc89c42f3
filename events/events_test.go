package events

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/template"
)

func committed(t *testing.T) *template.Template {
	t.Helper()
	data, err := os.ReadFile("../infra/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := template.Parse(data, template.Options{})
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
		"ec2-rebalance-recommendation.json":                  {"launch-watch"},
		"health-ec2-scheduled-change.json":                   {"launch-watch"},
		"eks-call-create-nodegroup.json":                     {"nodegroup-watch"},
		"eks-call-update-nodegroup-config.json":              {"nodegroup-watch"},
		"eks-call-delete-nodegroup.json":                     {"nodegroup-watch"},
		"eks-call-refused.json":                              nil,
		"eks-addon-health-degraded.json":                     {"nodegroup-watch"},
		"cloudformation-nodegroup-create-failed.json":        {"nodegroup-watch"},
		"schedule-rule.json":                                 {"eni-cleanup", "join-check", "nodegroup-watch", "spot-report", "subnet-watch"},
		"schedule-scheduler.json":                            {"eni-cleanup", "join-check", "nodegroup-watch", "spot-report", "subnet-watch"},
		"spot-report-wanted.json":                            {"spot-report"},
	}
	samples, err := Samples("in")
	if err != nil {
		t.Fatal(err)
	}
	tmpl := committed(t)
	got := map[string][]string{}
	for _, s := range samples {
		if got[s.File], err = Route(tmpl, s.Event); err != nil {
			t.Fatalf("%s: %v", s.File, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("woken (-want +got):\n%s", diff)
	}
}

func TestForeignEventsWakeNobody(t *testing.T) {
	tmpl := committed(t)
	for name, event := range map[string]string{
		"a made-up EKS event": `{"source":"aws.eks","detail-type":"EKS Nodegroup State Change","detail":{}}`,
		"pending":             `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"state":"pending"}}`,
		"a termination":       `{"source":"aws.autoscaling","detail-type":"EC2 Instance Terminate Successful","detail":{}}`,
		"our own":             `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{}}`,
	} {
		got, err := Route(tmpl, []byte(event))
		if err != nil || len(got) > 0 {
			t.Errorf("%s wakes %q, %v; want nobody", name, got, err)
		}
	}
}

func TestIndexIsFresh(t *testing.T) {
	want, err := Index(committed(t), "in", "out")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("README.md is stale, run make generate (-want +got):\n%s", diff)
	}
}
