package deliver

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/target/message"
)

// Publisher publishes to a topic.
type Publisher interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

var _ Publisher = (*sns.Client)(nil)

// Publish sends a mail to a topic.
func Publish(ctx context.Context, p Publisher, name, topic string, m message.Mail) error {
	in := &sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String(m.Subject), Message: aws.String(m.Body), MessageAttributes: map[string]types.MessageAttributeValue{}}
	for key, value := range m.Attributes {
		in.MessageAttributes[key] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	_, err := p.Publish(ctx, in)
	if err == nil {
		return nil
	}
	e := &Error{Target: name, Kind: Later, cause: err}
	// What SNS says is wrong with the request, the topic or the permission is so the next
	// time too (SNS API reference, Publish, "Errors"); the client has tried throttled and
	// broken calls again already.
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorFault() == smithy.FaultClient && !strings.Contains(api.ErrorCode(), "Throttl") {
		e.Kind = Refused
	}
	return e
}
