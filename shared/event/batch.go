package event

import (
	"encoding/json"
	"slices"
)

// The form of an SQS invocation, as far as it is read. The types of
// aws-lambda-go would bring net/http into a package that only decodes.
type sqsEvent struct {
	Records []struct {
		MessageID   string            `json:"messageId"`
		Handle      string            `json:"receiptHandle"`
		Body        string            `json:"body"`
		EventSource string            `json:"eventSource"`
		Attributes  map[string]string `json:"attributes"`
	}
}

// Message is one message of a queue.
type Message struct {
	ID       string
	Body     string
	Received int    // how often it was handed out, this time included
	Group    string // of a FIFO queue
	// Handle is by what SQS knows this handing out of it.
	Handle string
}

// Batch is the messages of an SQS invocation; ok is false when the
// invocation is not one.
func Batch(raw []byte) (messages []Message, ok bool) {
	var b sqsEvent
	if err := json.Unmarshal(raw, &b); err != nil || len(b.Records) == 0 || b.Records[0].EventSource != "aws:sqs" {
		return nil, false
	}
	for _, r := range b.Records {
		n := 1
		if json.Unmarshal([]byte(r.Attributes["ApproximateReceiveCount"]), &n) != nil {
			n = 1
		}
		messages = append(messages, Message{ID: r.MessageID, Body: r.Body, Received: n, Group: r.Attributes["MessageGroupId"], Handle: r.Handle})
	}
	return messages, true
}

// Answer tells Lambda which messages of a batch to give back to their queue.
type Answer struct {
	Failures []Failed `json:"batchItemFailures"`
}

// Failed is one message to give back.
type Failed struct {
	ID string `json:"itemIdentifier"`
}

// Failures is the answer that gives the named messages back, and no others.
func Failures(ids []string) Answer {
	a := Answer{Failures: make([]Failed, 0, len(ids))} // never nil: it would be written as null
	// A message may have failed for several of its instances.
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		a.Failures = append(a.Failures, Failed{id})
	}
	return a
}
