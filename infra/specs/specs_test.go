package specs

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	relay "rollcall/functions/relay/spec"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/tools/expect"
)

func TestSpecsAreSound(t *testing.T) {
	if err := Check(All()); err != nil {
		t.Error(err)
	}
}

// A folder below functions/ is a function, and is listed.
func TestEveryFunctionIsListed(t *testing.T) {
	entries, err := os.ReadDir("../../functions")
	expect.OK(t, err)
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if e.Name() == relay.Name {
			continue // has a template of its own (infra, NewRelayStack)
		}
		if !slices.ContainsFunc(All(), func(s spec.Spec) bool { return s.Name == e.Name() }) {
			t.Errorf("functions/%s is not deployed", e.Name())
		}
	}
}

func sound() spec.Spec {
	return spec.Spec{
		Name: "some-function", About: "Does.", FailureImpact: "It is not done.", Memory: 128, Timeout: time.Minute,
		Queue:  &spec.Queue{Resource: "some", Batch: 10, Concurrency: 2, Attempts: 5, Retention: time.Hour},
		Rules:  []spec.Rule{{Name: "launches", Why: "They do.", Pattern: `{"source":["aws.ec2"]}`}},
		Grants: []spec.Grant{{Sid: "Send", Why: "Needed.", Actions: []string{"sqs:SendMessage"}, Resources: []spec.Resource{"some"}}},
		Reads:  []spec.Read{{Actions: []string{"ec2:DescribeInstances"}, Resources: []string{"*"}}},
	}
}

func TestCheck(t *testing.T) {
	if err := Check([]spec.Spec{sound()}); err != nil {
		t.Fatalf("the sound spec: %v", err)
	}
	tests := []struct {
		name  string
		spoil func(*spec.Spec)
		want  string
	}{
		{"name", func(s *spec.Spec) { s.Name = "Some_Function" }, "is not made of lower-case words"},
		{"spokes without a role", func(s *spec.Spec) { s.Environment = []spec.Variable{config.Spokes} }, "assumes no role there"},
		{"words", func(s *spec.Spec) { s.FailureImpact = "" }, "must be said"},
		{"memory", func(s *spec.Spec) { s.Memory = 64 }, "memory 64 MiB is outside"},
		{"timeout", func(s *spec.Spec) { s.Timeout = 16 * time.Minute }, "timeout 16m0s is outside"},
		{"rules of one name", func(s *spec.Spec) { s.Rules = append(s.Rules, s.Rules[0]) }, "two rules or schedules are called launches"},
		{"rule and schedule of one name", func(s *spec.Spec) { s.Schedules = []spec.Schedule{{Name: "launches", Every: time.Hour}} }, "two rules or schedules"},
		{"pattern", func(s *spec.Spec) { s.Rules[0].Pattern = `["source"]` }, "rule launches: pattern"},
		{"schedule", func(s *spec.Spec) { s.Schedules = []spec.Schedule{{Name: "a", Every: 90 * time.Second}} }, "1m30s is not a whole number of minutes"},
		{"grants of one name", func(s *spec.Spec) { s.Grants = append(s.Grants, s.Grants[0]) }, "two grants are called Send"},
		{"no reason", func(s *spec.Spec) { s.Grants[0].Why = "" }, "grant Send has no reason"},
		{"no resource", func(s *spec.Spec) { s.Grants[0].Resources = nil }, "grant Send is on no resource"},
		{"wildcard", func(s *spec.Spec) { s.Grants[0].Actions = []string{"sqs:*"} }, "sqs:* is a wildcard"},
		{"a write among the reads", func(s *spec.Spec) { s.Reads[0].Actions = []string{"ec2:CreateRoute"} }, "ec2:CreateRoute among the reads"},
		{"a wildcard among the reads", func(s *spec.Spec) { s.Reads[0].Actions = []string{"ec2:Describe*"} }, "ec2:Describe* among the reads"},
		{"batch", func(s *spec.Spec) { s.Queue.Batch = 10_001 }, "batch 10001 is outside"},
		{"batch without window", func(s *spec.Spec) { s.Queue.Batch = 11 }, "a batch of 11 needs a window"},
		{"window", func(s *spec.Spec) { s.Queue.Window = 301 * time.Second }, "window 5m1s is not whole seconds"},
		{"concurrency", func(s *spec.Spec) { s.Queue.Concurrency = 1 }, "concurrency 1 is outside 2 to 1000"},
		{"attempts", func(s *spec.Spec) { s.Queue.Attempts = 0 }, "attempts 0 is outside"},
		{"retention", func(s *spec.Spec) { s.Queue.Retention = 15 * 24 * time.Hour }, "retention 360h0m0s is outside"},
		{"FIFO with rules", func(s *spec.Spec) { s.Queue.FIFO = true }, "a rule cannot fill a FIFO queue"},
		{"FIFO with window", func(s *spec.Spec) { s.Queue.FIFO, s.Rules, s.Queue.Window = true, nil, time.Second }, "FIFO queues have no batch window"},
		{"FIFO with delay", func(s *spec.Spec) { s.Queue.FIFO, s.Rules, s.Queue.DelayFrom = true, nil, "X" }, "a delay on a FIFO queue"},
		{"FIFO with a large batch", func(s *spec.Spec) { s.Queue.FIFO, s.Rules, s.Queue.Batch = true, nil, 11 }, "batch 11 is outside 1 to 10"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := sound()
			test.spoil(&s)
			if err := Check([]spec.Spec{s}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestCheckSeesAllSpecs(t *testing.T) {
	err := Check([]spec.Spec{sound(), sound()})
	for _, want := range []string{"function some-function is listed twice", "queue some is read by both some-function and some-function"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The setting takes two permissions from all functions, and nothing else.
func TestDeployedWithoutInstanceData(t *testing.T) {
	actions := func(setting string) (all []string) {
		for _, s := range Deployed(All(), map[spec.Variable]string{config.InstanceData: setting}) {
			for _, r := range s.Reads {
				for _, action := range r.Actions {
					all = append(all, s.Name+" "+action)
				}
			}
		}
		return all
	}
	off := actions("off")
	gone := slices.DeleteFunc(actions("on"), func(a string) bool { return slices.Contains(off, a) })
	expect.Same(t, "withheld", gone, []string{
		"launch-watch ec2:DescribeInstanceAttribute",
		"join-check ec2:DescribeInstanceAttribute", "join-check ec2:GetConsoleOutput",
		"sweep ec2:DescribeInstanceAttribute", "sweep ec2:GetConsoleOutput",
		"nodegroup-watch ec2:DescribeInstanceAttribute", "nodegroup-watch ec2:GetConsoleOutput",
		"remediate ec2:DescribeInstanceAttribute", "remediate ec2:GetConsoleOutput",
	})
	expect.Same(t, "what is left of All", actions("on"), actions(""))
}

func TestIsRead(t *testing.T) {
	tests := []struct {
		action string
		want   bool
	}{
		{"ec2:DescribeInstances", true},
		{"dynamodb:BatchGetItem", true},
		{"dynamodb:Query", true},
		{"eks:ListClusters", true},
		{"secretsmanager:GetSecretValue", true},
		{"ec2:Describe*", false},
		{"dynamodb:PutItem", false},
		{"ec2:CreateRoute", false},
		{"DescribeInstances", false},
		{"", false},
	}
	for _, test := range tests {
		expect.Equal(t, fmt.Sprintf("IsRead(%q)", test.action), IsRead(test.action), test.want)
	}
}

// TestSpokeDigest: a spoke whose template does something else has another digest, so that
// rollcall doctor reports it as old; and what is the hub's alone changes nothing.
func TestSpokeDigest(t *testing.T) {
	list := func(change func(*spec.Spec)) []spec.Spec {
		s := spec.Spec{
			Name: "f", Assumes: []spec.SpokeRole{spec.SpokeReader}, Reads: []spec.Read{{Actions: []string{"ec2:DescribeVpcs"}, Resources: []string{"*"}}},
			Rules: []spec.Rule{{Name: "r", Pattern: `{"source":["aws.ec2"]}`}},
		}
		if change != nil {
			change(&s)
		}
		return []spec.Spec{s}
	}
	asks := []string{AskRelays, "x-relay-*"}
	was := digest(list(nil), asks)
	for name, got := range map[string]string{
		"it asks no relays":       digest(list(nil), nil),
		"it asks by another name": digest(list(nil), []string{AskRelays, "x-*"}),
		"it reads more":           digest(list(func(s *spec.Spec) { s.Reads[0].Actions = append(s.Reads[0].Actions, "ec2:DescribeSubnets") }), asks),
		"it forwards other":       digest(list(func(s *spec.Spec) { s.Rules[0].Pattern = `{"source":["aws.eks"]}` }), asks),
		"another function":        digest(list(func(s *spec.Spec) { s.Name = "g" }), asks),
		"another role":            digest(list(func(s *spec.Spec) { s.Assumes = append(s.Assumes, spec.SpokeCleaner) }), asks),
	} {
		if got == was {
			t.Errorf("%s, and the digest is the same", name)
		}
	}
	if got := digest(list(func(s *spec.Spec) {
		s.Reads = append(s.Reads, spec.Read{Actions: []string{"dynamodb:Query"}, Resources: []string{string(spec.Table)}})
	}), asks); got != was {
		t.Error("what the hub reads of its own stack changes the digest")
	}
}
