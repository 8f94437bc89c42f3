package bus

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/event"
)

// What is set aside keeps its body and its group, and says why it is there as far
// as SQS has room for that.
func TestSetAside(t *testing.T) {
	because := func(s string) map[string]types.MessageAttributeValue {
		return map[string]types.MessageAttributeValue{"Reason": {DataType: aws.String("String"), StringValue: aws.String(s)}}
	}
	full := strings.Repeat("x", MaxBody-len("ReasonStringshort"))
	for name, test := range map[string]struct {
		m      event.Message
		reason string
		group  string
		want   map[string]types.MessageAttributeValue
	}{
		"a message":              {event.Message{ID: "1", Body: "{", Group: "prod"}, "short", "prod", because("short")},
		"without a group":        {event.Message{ID: "1", Body: "{"}, "short", "no-cluster", because("short")},
		"a long reason":          {event.Message{ID: "1", Body: "{", Group: "prod"}, strings.Repeat("é", 300), "prod", because(strings.Repeat("é", 200))},
		"cut within a character": {event.Message{ID: "1", Body: "{", Group: "prod"}, "a" + strings.Repeat("é", 300), "prod", because("a" + strings.Repeat("é", 199))},
		"just room for it":       {event.Message{ID: "1", Body: full, Group: "prod"}, "short", "prod", because("short")},
		"no room for it":         {event.Message{ID: "1", Body: full + "x", Group: "prod"}, "short", "prod", nil},
	} {
		q := &queue{}
		if err := (Queues{Client: q, Aside: "dead.fifo", Results: "results.fifo"}).SetAside(t.Context(), test.m, test.reason); err != nil {
			t.Fatal(err)
		}
		want := []*sqs.SendMessageInput{{
			QueueUrl: aws.String("dead.fifo"), MessageBody: aws.String(test.m.Body), MessageGroupId: aws.String(test.group),
			MessageDeduplicationId: aws.String(digest("1")), MessageAttributes: test.want,
		}}
		if diff := cmp.Diff(want, q.sent, cmpopts.IgnoreUnexported(sqs.SendMessageInput{}, types.MessageAttributeValue{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := (Queues{Client: &queue{refuse: 1}}).SetAside(t.Context(), event.Message{ID: "1"}, "x"); err == nil {
		t.Error("SQS refused, and there is no error")
	}
}
