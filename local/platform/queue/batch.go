package queue

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/local/platform/wire"
)

func purgeInProgress(name string) *wire.Error {
	return &wire.Error{Code: "PurgeQueueInProgress", Status: 403,
		Message: fmt.Sprintf("Only one PurgeQueue operation on %s is allowed every 60 seconds.", name)}
}

// checkBatch judges what makes SQS refuse a batch as a whole.
func checkBatch(ids []string, bytes int) *wire.Error {
	switch {
	case len(ids) == 0:
		return wire.Errorf("EmptyBatchRequest", "There should be at least one entry in the request.")
	case len(ids) > 10:
		return wire.Errorf("TooManyEntriesInBatchRequest", "Maximum number of entries per request are 10. You have sent %d.", len(ids))
	case bytes > MaxMessageBytes:
		return wire.Errorf("BatchRequestTooLong", "Batch requests cannot be longer than %d bytes. You have sent %d bytes.", MaxMessageBytes, bytes)
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if !batchID(id) {
			return wire.Errorf("InvalidBatchEntryId", "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return wire.Errorf("BatchEntryIdsNotDistinct", "Id %s repeated.", id)
		}
		seen[id] = true
	}
	return nil
}

func batchID(id string) bool {
	if len(id) == 0 || len(id) > 80 {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

func failedEntry(id *string, e *wire.Error) types.BatchResultErrorEntry {
	// Entries carry the codes of the query protocol also over JSON.
	return types.BatchResultErrorEntry{Id: id, Code: aws.String(wire.SQSQueryCode(e.Code)), Message: aws.String(e.Message), SenderFault: true}
}

// SendMessageBatch sends up to ten messages; each succeeds or fails alone.
func (q *Queues) SendMessageBatch(in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	ids, total := make([]string, len(in.Entries)), 0
	messages := make([]*message, len(in.Entries))
	for i, e := range in.Entries {
		ids[i] = aws.ToString(e.Id)
		messages[i] = &message{
			body: aws.ToString(e.MessageBody), attributes: e.MessageAttributes,
			group: aws.ToString(e.MessageGroupId), dedup: aws.ToString(e.MessageDeduplicationId),
			trace: traceOf(e.MessageSystemAttributes),
		}
		total += messages[i].size()
	}
	if refused := checkBatch(ids, total); refused != nil {
		return nil, refused
	}
	out := &sqs.SendMessageBatchOutput{}
	for i, e := range in.Entries {
		m := messages[i]
		id, sequence, refused := q.send(s, m, seconds(e.DelaySeconds))
		if refused != nil {
			out.Failed = append(out.Failed, failedEntry(e.Id, refused))
			continue
		}
		done := types.SendMessageBatchResultEntry{Id: e.Id, MessageId: aws.String(id), MD5OfMessageBody: aws.String(bodyDigest(m.body))}
		if d := attributeDigest(m.attributes); d != "" {
			done.MD5OfMessageAttributes = aws.String(d)
		}
		if s.FIFO {
			done.SequenceNumber = aws.String(fmt.Sprintf("%020d", sequence))
		}
		out.Successful = append(out.Successful, done)
	}
	return out, nil
}

// DeleteMessageBatch deletes up to ten messages.
func (q *Queues) DeleteMessageBatch(in *sqs.DeleteMessageBatchInput) (*sqs.DeleteMessageBatchOutput, error) {
	ids := make([]string, len(in.Entries))
	for i, e := range in.Entries {
		ids[i] = aws.ToString(e.Id)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	s, err := q.find(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	if refused := checkBatch(ids, 0); refused != nil {
		return nil, refused
	}
	out := &sqs.DeleteMessageBatchOutput{}
	for _, e := range in.Entries {
		if aws.ToString(e.ReceiptHandle) == "" {
			out.Failed = append(out.Failed, failedEntry(e.Id, missing("ReceiptHandle")))
			continue
		}
		if m, ok := s.receipts[*e.ReceiptHandle]; ok {
			s.remove(m)
		}
		out.Successful = append(out.Successful, types.DeleteMessageBatchResultEntry{Id: e.Id})
	}
	s.compact()
	return out, nil
}
