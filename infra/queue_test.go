package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

const queueType = "AWS::SQS::Queue"

// lettersOf gives, for each dead-letter queue, what sends to it.
func lettersOf(tpl template) map[string][]string {
	dead := map[string][]string{}
	note := func(queue, from string) {
		if queue != "" {
			dead[queue] = append(dead[queue], from)
		}
	}
	for _, q := range tpl.all(queueType) {
		note(to(get(q.Properties, "RedrivePolicy", "deadLetterTargetArn")), q.id)
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		note(to(get(r.Properties, "Targets", 0, "DeadLetterConfig", "Arn")), r.id)
	}
	for _, c := range tpl.all("AWS::Lambda::EventInvokeConfig") {
		note(to(get(c.Properties, "DestinationConfig", "OnFailure", "Destination")), to(c.Properties["FunctionName"]))
	}
	return dead
}

func TestNothingIsLostInSilence(t *testing.T) {
	tpl := theTemplate(t)
	dead := lettersOf(tpl)
	var senders []string
	for queue, from := range dead {
		senders = append(senders, from...)
		if got, want := tpl.Resources[queue].Properties["MessageRetentionPeriod"], (14 * 24 * time.Hour).Seconds(); got != want {
			t.Errorf("%s keeps messages for %v s, want %v", queue, got, want)
		}
	}
	for _, kind := range []string{queueType, "AWS::Lambda::Function", "AWS::Events::Rule"} {
		for _, r := range tpl.all(kind) {
			if _, isDead := dead[r.id]; !isDead && !slices.Contains(senders, r.id) {
				t.Errorf("%s has no dead-letter queue", r.id)
			}
		}
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		if get(r.Properties, "Targets", 0, "RetryPolicy", "MaximumEventAgeInSeconds") == nil {
			t.Errorf("%s has no retry policy", r.id)
		}
	}
}

func mainQueue(t *testing.T, tpl template, q spec.Queue) resource {
	t.Helper()
	for _, r := range tpl.all(queueType) {
		if r.Properties["QueueName"] == queueName(q) {
			return r
		}
	}
	t.Fatalf("no queue %s", queueName(q))
	return resource{}
}

func TestQueuesAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	for _, spec := range specs.All() {
		if spec.Queue == nil {
			continue
		}
		q := mainQueue(t, tpl, *spec.Queue)
		got := maps.Clone(q.Properties)
		delete(got, "Tags")
		dead := tpl.Resources[to(get(got, "RedrivePolicy", "deadLetterTargetArn"))]
		want := map[string]any{
			"QueueName":              queueName(*spec.Queue),
			"MessageRetentionPeriod": spec.Queue.Retention.Seconds(),
			"VisibilityTimeout":      6*spec.Timeout.Seconds() + spec.Queue.Window.Seconds(),
			"SqsManagedSseEnabled":   true,
			"RedrivePolicy": map[string]any{
				"deadLetterTargetArn": map[string]any{"Fn::GetAtt": []any{dead.id, "Arn"}},
				"maxReceiveCount":     float64(spec.Queue.Attempts),
			},
		}
		if spec.Queue.DelayFrom != "" {
			want["DelaySeconds"] = 300.0 // joinTime's default
		}
		if spec.Queue.FIFO {
			want["FifoQueue"] = true
			want["ContentBasedDeduplication"] = false
			want["DeduplicationScope"] = "messageGroup"
			want["FifoThroughputLimit"] = "perMessageGroupId"
			if dead.Properties["FifoQueue"] != true {
				t.Errorf("%s: the dead-letter queue of a FIFO queue must be one", q.id)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", q.id, diff)
		}
	}
}

func TestAllQueuesAreEncrypted(t *testing.T) {
	for _, q := range theTemplate(t).all(queueType) {
		if q.Properties["SqsManagedSseEnabled"] != true {
			t.Errorf("%s is not encrypted", q.id)
		}
	}
}

func TestJoinTimeDelaysTheQueue(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "joinTime": "7m30s"})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs.All() {
		if spec.Queue == nil || spec.Queue.DelayFrom == "" {
			continue
		}
		if got := mainQueue(t, tpl, *spec.Queue).Properties["DelaySeconds"]; got != 450.0 {
			t.Errorf("%s: delay: got %v, want 450", spec.Queue.Resource, got)
		}
		if got := get(lambdaOf(t, tpl, spec).Properties, "Environment", "Variables", "ROLLCALL_JOIN_TIME"); got != "7m30s" {
			t.Errorf("%s: join time: got %v, want 7m30s", spec.Name, got)
		}
	}
}

// The setting decides how many clusters are looked at at once, and sweep takes its shares
// by it.
func TestSweepConcurrency(t *testing.T) {
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "sweepConcurrency": "20"})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range specs.All() {
		if spec.Queue == nil || spec.Queue.ConcurrencyFrom == "" {
			continue
		}
		f := lambdaOf(t, tpl, spec)
		for _, m := range tpl.all("AWS::Lambda::EventSourceMapping") {
			if got := get(m.Properties, "ScalingConfig", "MaximumConcurrency"); to(m.Properties["FunctionName"]) == f.id && got != 20.0 {
				t.Errorf("%s: %v at once, want 20", spec.Name, got)
			}
		}
		if got := get(f.Properties, "Environment", "Variables", "ROLLCALL_SWEEP_CONCURRENCY"); got != "20" {
			t.Errorf("%s: it takes shares of %v, want 20", spec.Name, got)
		}
	}
	if _, err := synthesise(map[string]any{"slackChannel": channel, "sweepConcurrency": "1"}); err == nil || !strings.Contains(err.Error(), "sweepConcurrency") {
		t.Errorf("error %v, want that one at once is refused", err)
	}
}

// A queue takes messages from the rules whose target or dead-letter queue it
// is, from no other, and only over TLS.
func TestQueuePolicies(t *testing.T) {
	tpl := theTemplate(t)
	want := map[string][]string{}
	for _, q := range tpl.all(queueType) {
		want[q.id] = nil
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		for _, q := range []string{to(get(r.Properties, "Targets", 0, "Arn")), to(get(r.Properties, "Targets", 0, "DeadLetterConfig", "Arn"))} {
			if tpl.Resources[q].Type == queueType {
				want[q] = append(want[q], r.id)
			}
		}
	}
	got := map[string][]string{}
	for _, p := range tpl.all("AWS::SQS::QueuePolicy") {
		queue := to(get(p.Properties, "Queues", 0))
		got[queue] = nil
		secure := false
		for _, s := range several(get(p.Properties, "PolicyDocument", "Statement")) {
			if got := to(get(s, "Resource")); got != queue {
				t.Errorf("%s speaks of %q", p.id, got)
			}
			if get(s, "Effect") == "Deny" {
				secure = secure || get(s, "Condition", "Bool", "aws:SecureTransport") == "false"
				continue
			}
			if get(s, "Principal", "Service") != "events.amazonaws.com" || get(s, "Action") != "sqs:SendMessage" {
				t.Errorf("%s allows %v to %v", p.id, get(s, "Action"), get(s, "Principal"))
			}
			for _, rule := range several(get(s, "Condition", "ArnEquals", "aws:SourceArn")) {
				got[queue] = append(got[queue], to(rule))
			}
		}
		if !secure {
			t.Errorf("%s lets messages in without TLS", queue)
		}
	}
	for _, rules := range got {
		slices.Sort(rules)
	}
	for _, rules := range want {
		slices.Sort(rules)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules that may send, by queue (-want +got):\n%s", diff)
	}
}

func TestVisibility(t *testing.T) {
	if got, want := visibility(time.Minute, 20*time.Second), 380*time.Second; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
