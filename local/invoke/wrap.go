package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/local/lambdaruntime"
	"rollcall/local/template"
)

type function = template.Function

// wrap makes an event what Lambda would give the function, and says how. For a
// function that reads a queue that is a message; a batch of messages, and a
// schedule, which comes directly, are left as they are.
func wrap(raw []byte, f function, t *template.Template, now time.Time) (payload []byte, how string, err error) {
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

// handedBack are the ids of the messages that the function gave back.
func handedBack(r lambdaruntime.Result) []string {
	var answer events.SQSEventResponse
	if json.Unmarshal(r.Payload, &answer) != nil {
		return nil // another kind of answer
	}
	var ids []string
	for _, f := range answer.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	return ids
}

// succeeded tells that the function ended well and gave no message back.
func succeeded(r lambdaruntime.Result) bool {
	return r.FunctionError == "" && len(handedBack(r)) == 0
}

// verdict says in one line how it went.
func verdict(r lambdaruntime.Result, limit int) string {
	how := "succeeded"
	switch back := handedBack(r); {
	case r.FunctionError != "":
		how = "FAILED (" + r.FunctionError + ")"
	case len(back) > 0:
		how = fmt.Sprintf("GAVE BACK %d of its messages", len(back))
	}
	memory := ""
	if r.MaxMemoryMB >= 0 {
		memory = fmt.Sprintf(", %d of %d MB", r.MaxMemoryMB, limit)
	}
	return fmt.Sprintf("Result: %s in %s (start %s)%s", how, r.Duration.Round(time.Millisecond), r.Init.Round(time.Millisecond), memory)
}
