package stage

import (
	"strings"
	"testing"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/queue"
	"rollcall/local/simaws"

	"rollcall/shared/config"
)

// send puts a message into a queue, by its deployed name.
func (r *running) send(name string, m queue.Outgoing) {
	r.t.Helper()
	for _, q := range r.Template.Queues {
		if q.Name == name {
			if _, err := r.Queues.Send(q.ARN, m); err != nil {
				r.t.Fatal(err)
			}
			return
		}
	}
	r.t.Fatalf("no queue %s", name)
}

// logged tells whether a line of the functions' logs holds all of the texts.
func (r *running) logged(texts ...string) func() bool {
	return func() bool {
	lines:
		for line := range strings.Lines(r.out.String()) {
			for _, text := range texts {
				if !strings.Contains(line, text) {
					continue lines
				}
			}
			return true
		}
		return false
	}
}

func TestMalformedMessagesEndInTheDeadLetterQueue(t *testing.T) {
	virtual(t, malformedMessagesEndInTheDeadLetterQueue)
}

func malformedMessagesEndInTheDeadLetterQueue(t *testing.T) {
	r := start(t, "route")
	for queueName, bodies := range map[string][]string{
		"rollcall-launches": {"hello", `{"source":"aws.ec2","detail-type":"EC2 Instance State-change Notification","time":"2026-11-20T15:00:00Z","detail":{}}`},
		"rollcall-joins":    {`{"half": `},
	} {
		for _, body := range bodies {
			r.send(queueName, queue.Outgoing{Body: body})
		}
	}
	r.send("rollcall-results.fifo", queue.Outgoing{Body: `{"format":99,"cluster":"eks-workshop"}`, Group: "eks-workshop", Dedup: "newer"})
	r.send("rollcall-results.fifo", queue.Outgoing{Body: `nonsense`, Group: "eks-workshop", Dedup: "nonsense"})
	r.until("all are in dead-letter queues", func() bool {
		return r.queued("rollcall-launches-dead") == 2 && r.queued("rollcall-joins-dead") == 1 && r.queued("rollcall-results-dead.fifo") == 2
	})
	for _, text := range []string{"message cannot be read", "instance-id is missing", "the envelope"} {
		if !r.logged(`"level":"ERROR"`, text)() {
			t.Errorf("no error line says %q", text)
		}
	}
	if n := len(r.messages()); n > 0 {
		t.Errorf("%d messages in Slack", n)
	}
}

func TestForeignInstancesAreIgnoredAndCounted(t *testing.T) {
	virtual(t, foreignInstancesAreIgnoredAndCounted)
}

func foreignInstancesAreIgnoredAndCounted(t *testing.T) {
	r := start(t, "route", func(o *Options) { o.Settings = map[string]string{"ROLLCALL_CLUSTERS": "another"} })
	r.scale(1, 1)
	r.until("the launch is counted", r.logged(`"msg":"done"`, `"ForeignInstances":1`))
	r.until("the unknown cluster is named", r.logged("EKS does not have", `"another"`))
	r.pass(10 * time.Minute)
	if n := len(r.messages()); n > 0 {
		t.Errorf("%d messages in Slack about a cluster that is not watched", n)
	}
	r.nothingLost()
}

func TestMissingSettingLosesNothing(t *testing.T) { virtual(t, missingSettingLosesNothing) }

func missingSettingLosesNothing(t *testing.T) {
	r := start(t, "route", func(o *Options) { o.Settings = map[string]string{"ROLLCALL_RESULT_QUEUE_URL": ""} })
	r.scale(1, 1)
	r.until("the setting is named", r.logged(`"level":"ERROR"`, "ROLLCALL_RESULT_QUEUE_URL", "is not set"))
	r.until("the events wait in dead-letter queues", func() bool {
		return r.queued("rollcall-launches-dead") > 0 && r.queued("rollcall-joins-dead") > 0
	})
}

func TestWrongSlackTokenLosesNothing(t *testing.T) { virtual(t, wrongSlackTokenLosesNothing) }

func wrongSlackTokenLosesNothing(t *testing.T) {
	wrong := "xoxb-another-token"
	r := start(t, "route", func(o *Options) { o.SlackToken = &wrong })
	r.scale(1, 1)
	r.until("the refusal is logged", r.logged(`"level":"ERROR"`, "invalid_auth"))
	if strings.Contains(r.out.String(), wrong) {
		t.Error("the token is in the logs")
	}
	r.until("the incident is kept", func() bool {
		i := r.incidents()
		return len(i) == 1 && i[0].Delivery.TS == ""
	})
	secret, _ := r.SecretFor(config.SlackSecretARN)
	r.Cloud.SetSecret(secret.Name, SlackToken)
	r.until("it is said once the token is right", r.says("cannot join", table))
}

func TestSlackDownIsSaidLater(t *testing.T) { virtual(t, slackDownIsSaidLater) }

func slackDownIsSaidLater(t *testing.T) {
	r := start(t, "route")
	if err := r.Slack.Inject(fakeslack.Fault{Method: "chat.*", Status: 503, For: 20 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	r.scale(1, 1)
	r.until("the incident is kept", func() bool { return len(r.incidents()) == 1 })
	r.until("it is said when Slack is back", r.says("cannot join", table))
	if len(r.messages()) != 1 {
		t.Errorf("%d messages, want 1", len(r.messages()))
	}
	r.nothingLost()
}

// TestUnreachableKubernetesIsSaid holds that a cluster whose API does not
// answer is neither fine nor a reason to accuse its nodes.
func TestUnreachableKubernetesIsSaid(t *testing.T) { virtual(t, unreachableKubernetesIsSaid) }

func unreachableKubernetesIsSaid(t *testing.T) {
	r := start(t, "healthy-nat", func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "kubernetes:list nodes", Reset: true}}
	})
	r.until("it is logged", r.logged(`"level":"WARN"`, "could not look", "kubernetes: list nodes"))
	r.until("it is said", func() bool {
		return len(r.messages()) > 0 && strings.Contains(whole(r.messages()[0]), "its Kubernetes API cannot be reached")
	})
	for _, m := range r.messages() {
		if strings.Contains(m.Text, "✅") || strings.Contains(m.Text, "has not registered") {
			t.Errorf("said of nodes that could not be looked at: %s", m.Text)
		}
	}
}

func TestThrottledCallsAreTriedAgain(t *testing.T) { virtual(t, throttledCallsAreTriedAgain) }

func throttledCallsAreTriedAgain(t *testing.T) {
	r := start(t, "route", func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "ec2:*", Throttle: 0.2}, {Call: "autoscaling:*", Throttle: 0.2}, {Call: "dynamodb:*", Fail: 0.05}}
	})
	r.scale(1, 1)
	r.until("the missed roll call", r.says("1 instance cannot join", table))
	r.nothingLost()
}

func TestTableAtItsLimitLosesNothing(t *testing.T) { virtual(t, tableAtItsLimitLosesNothing) }

func tableAtItsLimitLosesNothing(t *testing.T) {
	// Some tries of each message, six minutes apart, and fewer than the five after
	// which it is given up.
	r := start(t, "route", func(o *Options) {
		o.CallFaults = []simaws.FaultRule{{Call: "dynamodb:PutItem", Throttle: 1, Until: time.Date(2026, 11, 20, 15, 12, 0, 0, time.UTC)}}
	})
	r.scale(1, 1)
	r.until("it is logged", r.logged(`"level":"ERROR"`, "dynamodb"))
	r.until("it is said when the table takes writes again", r.says("cannot join", table))
}

// TestKilledFunctionIsStartedAgain has real programs: it kills processes, and is the route story with what is deployed.
func TestKilledFunctionIsStartedAgain(t *testing.T) {
	t.Parallel()
	r := startReal(t, "route")
	r.scale(1, 1)
	r.until("the message at launch", r.says("will not be able to join"))
	r.Runtime.Kill("rollcall-report")
	r.Runtime.Kill("rollcall-join-check")
	r.until("the missed roll call", r.says("1 instance cannot join"))
	r.nothingLost()
}
