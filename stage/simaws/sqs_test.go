package simaws

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"rollcall/stage/platform/queue"
	"rollcall/stage/simclock"
)

var _ Queues = (*queue.Queues)(nil)

// TestSQS sends and receives with the SDK, which checks the MD5 of bodies and
// attributes itself.
func TestSQS(t *testing.T) {
	n := 0
	queues := queue.New(queue.Options{Clock: simclock.NewManual(stageNow), NewID: func() string { n++; return fmt.Sprintf("id-%d", n) }})
	t.Cleanup(queues.Close)
	const queueURL = "https://sqs.us-west-2.amazonaws.com/123456789012/join-check"
	if err := queues.Add(queue.Config{Name: "join-check", ARN: "arn:aws:sqs:us-west-2:123456789012:join-check", URL: queueURL}); err != nil {
		t.Fatal(err)
	}
	c := start(t, func(cfg *Config) { cfg.Queues = queues })
	client := sqs.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	found, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("join-check")})
	if err != nil || aws.ToString(found.QueueUrl) != queueURL {
		t.Fatalf("queue URL = %v, %v, want %q", found, err, queueURL)
	}
	attributes := map[string]types.MessageAttributeValue{
		"n": {DataType: aws.String("Number"), StringValue: aws.String("1")},
		"b": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 255}},
	}
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: found.QueueUrl, MessageBody: aws.String(`{"é":"<&>"}`), MessageAttributes: attributes}); err != nil {
		t.Fatal(err)
	}
	batch, err := client.SendMessageBatch(t.Context(), &sqs.SendMessageBatchInput{QueueUrl: found.QueueUrl, Entries: []types.SendMessageBatchRequestEntry{
		{Id: aws.String("a"), MessageBody: aws.String("second")}, {Id: aws.String("b"), MessageBody: aws.String("third")},
	}})
	if err != nil || len(batch.Successful) != 2 {
		t.Fatalf("batch = %+v, %v, want two sent", batch, err)
	}
	got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: found.QueueUrl, MaxNumberOfMessages: 10,
		MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}})
	if err != nil || len(got.Messages) != 3 {
		t.Fatalf("received %+v, %v, want three messages", got, err)
	}
	var handles []types.DeleteMessageBatchRequestEntry
	for _, m := range got.Messages {
		if m.Attributes["ApproximateReceiveCount"] != "1" {
			t.Errorf("attributes = %v, want a receive count of 1", m.Attributes)
		}
		handles = append(handles, types.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
	}
	if _, err := client.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{QueueUrl: found.QueueUrl, ReceiptHandle: handles[0].ReceiptHandle, VisibilityTimeout: 60}); err != nil {
		t.Error(err)
	}
	if _, err := client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: found.QueueUrl, ReceiptHandle: handles[0].ReceiptHandle}); err != nil {
		t.Error(err)
	}
	deleted, err := client.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: found.QueueUrl, Entries: handles[1:]})
	if err != nil || len(deleted.Successful) != 2 {
		t.Errorf("deleted = %+v, %v, want two", deleted, err)
	}
	state, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: found.QueueUrl, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil || state.Attributes["ApproximateNumberOfMessages"] != "0" || state.Attributes["ApproximateNumberOfMessagesNotVisible"] != "0" {
		t.Errorf("attributes = %+v, %v, want an empty queue", state, err)
	}
	_, err = client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String("https://sqs.us-west-2.amazonaws.com/123456789012/other"), MessageBody: aws.String("x")})
	if got, want := errorCode(err), "AWS.SimpleQueueService.NonExistentQueue"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
}
