package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	joincheck "rollcall/functions/join-check/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	sweep "rollcall/functions/sweep/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/local/platform/template"
	"rollcall/shared/event"
	"rollcall/shared/spec"

	"rollcall/shared/network/leak"
	"rollcall/shared/spoke"
)

// TestCalledIsGranted holds that least privilege is true in both directions:
// the functions make every call that the committed template lets them
// make, and no other.
func TestCalledIsGranted(t *testing.T) { virtual(t, calledIsGranted) }

func calledIsGranted(t *testing.T) {
	r := start(t, "../stage/testdata/everything", func(o *Options) {
		o.Quiet, o.Rights = true, "../../deploy/clusterrole.yaml"
		o.Settings = map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=delete"}
	})
	r.playAll()
	called := map[string]map[string]bool{}
	cluster := map[string][]string{}
	for _, c := range r.Cloud.Calls() {
		// Two functions look at the same in the same hour, and keep one object of it.
		if kept := c.Action() == "s3:PutObject" && c.Code == "PreconditionFailed"; c.Code != "" && !kept {
			t.Errorf("%s called %s: %s; the calls of this test are all to succeed", c.Caller, c.Action(), c.Code)
		}
		if c.Service == "kubernetes" {
			cluster[c.Caller] = append(cluster[c.Caller], c.Operation)
			continue
		}
		if called[c.Caller] == nil {
			called[c.Caller] = map[string]bool{}
		}
		action := c.Action()
		if action == "sqs:SendMessageBatch" {
			action = "sqs:SendMessage" // the permission of both
		}
		called[c.Caller][action] = true
	}
	for _, f := range r.Template.Functions {
		if Folder(f) == "remediate" {
			continue // what it may do hangs on settings: its own test holds calls and grants
		}
		may := granted(r.Policy(f.Name))
		if Folder(f) == "report" {
			// It asks itself to go on only where its time ends: see TestTurns of functions/report.
			may = slices.DeleteFunc(may, func(a string) bool { return a == "sqs:SendMessage" })
		}
		if Folder(f) != "join-check" && !called[f.Name]["s3:PutObject"] {
			// Those that find nothing here keep evidence of nothing; that each detector keeps
			// it of what it finds is held by TestSameVerdict and TestAtLaunch of local/replay.
			may = slices.DeleteFunc(may, func(a string) bool { return a == "s3:PutObject" })
		}
		if diff := cmp.Diff(may, slices.Sorted(maps.Keys(called[f.Name]))); diff != "" {
			t.Errorf("%s: calls (-granted +called):\n%s", f.Name, diff)
		}
		var want []string
		for _, spec := range []spec.Spec{joincheck.Spec(), nodegroupwatch.Spec(), spotreport.Spec(), subnetwatch.Spec(), sweep.Spec(), zonewatch.Spec()} {
			if Folder(f) != spec.Name {
				continue
			}
			for _, rule := range spec.Kube {
				for _, verb := range rule.Verbs {
					for _, resource := range rule.Resources {
						want = append(want, verb+" "+resource)
					}
				}
			}
		}
		// Pods are listed in kube-system and, where they wait, everywhere: what was
		// called tells no namespace.
		slices.Sort(want)
		want = slices.Compact(want)
		slices.Sort(cluster[f.Name])
		if diff := cmp.Diff(want, slices.Compact(cluster[f.Name])); diff != "" {
			t.Errorf("%s: calls to Kubernetes (-granted +called):\n%s", f.Name, diff)
		}
	}
}

// granted are the actions that a function's own code may take. Left out are
// the statements by which Lambda itself acts in the function's name: it writes
// the log, takes messages from the queue, and puts an event that failed into
// the dead-letter queue.
func granted(policy []template.Statement) []string {
	var list []string
	for _, s := range policy {
		if s.Effect != "Allow" || slices.Contains([]string{"WriteLogs", "TakeMessages", "KeepFailures"}, s.SID) {
			continue
		}
		list = append(list, s.Actions...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// playAll wakes each function with what makes it use all of its code: a
// launch, a warm pool, a launch that waits, one that missed the roll, a sweep,
// a nodegroup that is degraded, and an incident that is opened.
func (r *running) playAll() {
	r.t.Helper()
	r.call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007","MinSize":1}`)
	r.call("eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2","scalingConfig":{"minSize":0,"maxSize":1,"desiredSize":1}}`)
	r.until("the launch", func() bool { return len(r.launches()) > 0 })
	// The queue is read by nobody here, so what one function sends is handed to
	// the next by hand.
	r.invoke("nodegroup-watch", r.direct())
	r.invoke("launch-watch", r.batch("", r.launches()...))
	r.invoke("report", r.results()...)
	r.invoke("join-check", r.batch("", r.launches()...), r.direct())
	r.invoke("report", r.results()...)
	// launch-watch misses the second launch: join-check records it.
	r.call("eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2","scalingConfig":{"minSize":0,"maxSize":2,"desiredSize":2}}`)
	before := len(r.launches())
	r.until("the second launch", func() bool { return len(r.launches()) > before })
	r.invoke("join-check", r.batch("", r.launches()[before:]...))
	r.invoke("spot-report", r.sweep())
	r.invoke("subnet-watch", r.direct())
	r.invoke("zone-watch", r.direct())
	r.invoke("sweep", r.sweep(), r.turn())
	// What one run has seen another one deletes.
	r.invoke("eni-cleanup", r.sweep())
	r.pass(leak.Apart + time.Minute)
	r.invoke("eni-cleanup", r.sweep())
	// The history of what is open, and report telling the rest of what it knows.
	inc := r.incidents()[0]
	r.invoke("change-check", r.batch("", fmt.Sprintf(`{"version":"0","id":"opened","detail-type":"Rollcall Incident Opened","source":"rollcall","account":%q,"time":%q,"region":%q,"resources":[],"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
		r.Template.AccountID, r.Clock.Now().UTC().Format(time.RFC3339), r.Template.Region, inc.Key.Cluster, inc.Key.Check, inc.Key.Resource)))
	// A press that is passed on, and one that is refused.
	for _, press := range []struct {
		secret string
		status int
	}{{SigningSecret, 200}, {"another-secret-0123456789", 401}} {
		if status, text := r.attempt(forgedPress{body: form("acknowledge", someValue(r.t, ""), ""), secret: press.secret}); status != press.status {
			r.t.Errorf("a press is answered %d %q, want %d", status, text, press.status)
		}
	}
}

func (r *running) call(op, input string) {
	r.t.Helper()
	if _, err := r.World.Call(op, json.RawMessage(input)); err != nil {
		r.t.Fatal(err)
	}
}

// launches are the events of launches so far.
func (r *running) launches() []string {
	r.t.Helper()
	var list []string
	for _, p := range r.Events() {
		e, err := event.Parse(p.Event)
		if err != nil {
			r.t.Fatal(err)
		}
		if e.Kind == event.LaunchStarted && !e.Warm {
			list = append(list, string(p.Event))
		}
	}
	return list
}

// results takes what waits for report, as one invocation for each message.
func (r *running) results() []string {
	r.t.Helper()
	const name = "rollcall-results.fifo"
	i := slices.IndexFunc(r.Template.Queues, func(q template.Queue) bool { return q.Name == name })
	if i < 0 {
		r.t.Fatalf("the template has no queue %s", name)
	}
	arn := r.Template.Queues[i].ARN
	var list []string
	for r.queued(name) > 0 {
		messages, err := r.Queues.Receive(context.Background(), arn, 10, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, m := range messages {
			list = append(list, r.batch("eks-workshop", m.Body))
		}
		if err := r.Queues.Delete(arn, messages...); err != nil {
			r.t.Fatal(err)
		}
	}
	return list
}

// batch is the invocation by which Lambda hands over messages.
func (r *running) batch(group string, bodies ...string) string {
	r.t.Helper()
	var e events.SQSEvent
	for i, body := range bodies {
		m := events.SQSMessage{MessageId: fmt.Sprint(i), Body: body, EventSource: "aws:sqs", Attributes: map[string]string{"ApproximateReceiveCount": "1"}}
		if group != "" {
			m.Attributes["MessageGroupId"] = group
		}
		e.Records = append(e.Records, m)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

// direct is a cluster's turn as a detector's own function would get it, and turn as
// sweep does.
func (r *running) direct() string {
	raw, err := event.SweepCluster(spoke.ID{}, "eks-workshop", r.Template.AccountID, r.Template.Region, r.Clock.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func (r *running) turn() string { return r.batch("", r.direct()) }

func (r *running) sweep() string {
	return fmt.Sprintf(`{"version":"0","id":"sweep","detail-type":"Scheduled Event","source":"aws.events","account":%q,"time":%q,"region":%q,"resources":[],"detail":{}}`,
		r.Template.AccountID, r.Clock.Now().UTC().Format(time.RFC3339), r.Template.Region)
}

// invoke gives a function events, each of which is to succeed in full.
func (r *running) invoke(folder string, list ...string) {
	r.t.Helper()
	f, ok := r.Function(folder)
	if !ok {
		r.t.Fatalf("the template has no function %s", folder)
	}
	if len(list) == 0 {
		r.t.Fatalf("there is nothing for %s", folder)
	}
	for _, raw := range list {
		result, err := r.Runtime.Invoke(context.Background(), f.Name, []byte(raw))
		if err != nil {
			r.t.Fatal(err)
		}
		if result.FunctionError != "" || strings.Contains(string(result.Payload), "itemIdentifier") {
			r.t.Fatalf("%s: %s", folder, result.Payload)
		}
	}
}
