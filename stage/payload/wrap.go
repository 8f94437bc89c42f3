// Package payload makes an event what Lambda would hand to a function: a batch
// of one message for a function that reads a queue.
package payload

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/stage/platform/pattern"
	"rollcall/stage/platform/template"
)

// Wrap makes an event what Lambda would give the function, and says how. For a
// function that reads a queue that is a message; a batch of messages, and a
// schedule, which comes directly, are left as they are, and so is an event that a rule
// hands to the function past its queue.
func Wrap(raw []byte, f template.Function, t *template.Template, now time.Time) (payload []byte, how string, err error) {
	var e struct {
		Records    []json.RawMessage
		DetailType string `json:"detail-type"`
		Cluster    string `json:"cluster"`
	}
	// What cannot be read is no batch and no schedule; a queue carries it all
	// the same.
	broken := !json.Valid(raw)
	if json.Unmarshal(raw, &e) == nil && (len(e.Records) > 0 || e.DetailType == "Scheduled Event") {
		return raw, "as it is", nil
	}
	if rule, is := direct(raw, f, t); is {
		return raw, "as the rule " + rule + " hands it over", nil
	}
	for _, m := range t.Mappings {
		if m.FunctionName != f.Name {
			continue
		}
		queue := source(t, m.QueueARN)
		payload, err = json.Marshal(events.SQSEvent{Records: []events.SQSMessage{message(raw, queue, e.Cluster, t.Region, now)}})
		how = "as a message of the queue " + queue.Name
		if broken {
			how += " (it is not JSON)"
		}
		return payload, how, err
	}
	if broken {
		return nil, "", errors.New("the event is not JSON, and Lambda takes nothing else")
	}
	return raw, "as it is", nil
}

// direct is the rule that hands an event to the function itself.
func direct(raw []byte, f template.Function, t *template.Template) (rule string, is bool) {
	for _, r := range t.Rules {
		if len(r.Pattern) == 0 || !slices.ContainsFunc(r.Targets, func(to template.Target) bool { return to.ARN == f.ARN }) {
			continue
		}
		p, err := pattern.Compile(r.Pattern)
		if err != nil {
			continue // the router says what is wrong with it
		}
		if ok, err := p.Matches(raw); err == nil && ok {
			return r.Name, true
		}
	}
	return "", false
}

func source(t *template.Template, arn string) template.Queue {
	for _, q := range t.Queues {
		if q.ARN == arn {
			return q
		}
	}
	return template.Queue{ARN: arn, Name: arn}
}

// message is the event as SQS gives it to a function. The group of the FIFO
// queue of results is the cluster.
func message(raw []byte, q template.Queue, group, region string, now time.Time) events.SQSMessage {
	sent := strconv.FormatInt(now.UnixMilli(), 10)
	m := events.SQSMessage{
		MessageId: "by-hand", Body: string(raw), EventSource: "aws:sqs", EventSourceARN: q.ARN, AWSRegion: region,
		Attributes: map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": sent, "ApproximateFirstReceiveTimestamp": sent},
	}
	if q.FIFO {
		m.Attributes["MessageGroupId"] = group
		m.Attributes["MessageDeduplicationId"] = "by-hand"
		m.Attributes["SequenceNumber"] = "18850000000000000000"
	}
	return m
}
