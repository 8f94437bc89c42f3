package router

import (
	"encoding/json"
	"fmt"

	"rollcall/local/platform/queue"
)

// record is a message as functions see it.
type record struct {
	MessageID         string                     `json:"messageId"`
	ReceiptHandle     string                     `json:"receiptHandle"`
	Body              string                     `json:"body"`
	Attributes        map[string]string          `json:"attributes"`
	MessageAttributes map[string]recordAttribute `json:"messageAttributes"`
	MD5OfBody         string                     `json:"md5OfBody"`
	EventSource       string                     `json:"eventSource"`
	EventSourceARN    string                     `json:"eventSourceARN"`
	Region            string                     `json:"awsRegion"`
}

type recordAttribute struct {
	StringValue *string  `json:"stringValue,omitempty"`
	BinaryValue []byte   `json:"binaryValue,omitempty"`
	Strings     []string `json:"stringListValues"`
	Binaries    []string `json:"binaryListValues"`
	DataType    string   `json:"dataType"`
}

func recordOf(m queue.Message, arn, region string) record {
	out := record{
		MessageID: m.ID, ReceiptHandle: m.Receipt, Body: m.Body, Attributes: m.System, MessageAttributes: map[string]recordAttribute{},
		MD5OfBody: m.BodyDigest(), EventSource: "aws:sqs", EventSourceARN: arn, Region: region,
	}
	for name, a := range m.Attributes {
		x := recordAttribute{StringValue: a.StringValue, BinaryValue: a.BinaryValue, Strings: []string{}, Binaries: []string{}}
		if a.DataType != nil {
			x.DataType = *a.DataType
		}
		out.MessageAttributes[name] = x
	}
	return out
}

// sqsEvent is the event with which a batch reaches its function.
func sqsEvent(batch []queue.Message, arn, region string) ([]byte, error) {
	var event struct {
		Records []record `json:"Records"`
	}
	for _, m := range batch {
		event.Records = append(event.Records, recordOf(m, arn, region))
	}
	raw, err := json.Marshal(event)
	if err != nil {
		return nil, fmt.Errorf("write the batch: %w", err)
	}
	return raw, nil
}

// filter splits a batch into what a filter lets through and the rest, which
// Lambda deletes from the queue without a word. A filter sees the record with
// its body parsed, if that is JSON.
func (m mapping) filter(batch []queue.Message, region string) (pass, drop []queue.Message) {
	if len(m.filters) == 0 {
		return batch, nil
	}
	for _, x := range batch {
		if m.lets(x, region) {
			pass = append(pass, x)
		} else {
			drop = append(drop, x)
		}
	}
	return pass, drop
}

func (m mapping) lets(x queue.Message, region string) bool {
	view := struct {
		record
		Body any `json:"body"`
	}{recordOf(x, m.QueueARN, region), x.Body}
	if json.Valid([]byte(x.Body)) {
		view.Body = json.RawMessage(x.Body)
	}
	raw, err := json.Marshal(view)
	if err != nil {
		return false
	}
	for _, f := range m.filters {
		if ok, err := f.Matches(raw); err == nil && ok {
			return true
		}
	}
	return false
}
