package eventindex

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/events"
	"rollcall/local/platform/template"
)

func committed(t *testing.T) *template.Template {
	t.Helper()
	data, err := os.ReadFile("../../infra/Rollcall.template.json")
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
		"schedule-rule.json":                                 {"eni-cleanup", "report", "spot-report", "sweep"},
		"schedule-scheduler.json":                            {"eni-cleanup", "report", "spot-report", "sweep"},
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

func TestForeignEventsWakeNobody(t *testing.T) {
	tmpl := committed(t)
	for name, event := range map[string]string{
		"a made-up EKS event": `{"source":"aws.eks","detail-type":"EKS Nodegroup State Change","detail":{}}`,
		"pending":             `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","detail":{"state":"pending"}}`,
		"a termination":       `{"source":"aws.autoscaling","detail-type":"EC2 Instance Terminate Successful","detail":{}}`,
		"our own":             `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{}}`,
	} {
		got, err := Route(tmpl, "default", []byte(event))
		if err != nil || len(got) > 0 {
			t.Errorf("%s wakes %q, %v; want nobody", name, got, err)
		}
	}
}

func TestIndexIsFresh(t *testing.T) {
	want, err := Index(committed(t), "../../events/in", "../../events/out")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../events/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("README.md is stale, run make generate (-want +got):\n%s", diff)
	}
}
