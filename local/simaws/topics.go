package simaws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"rollcall/local/platform/wire"
)

// Mail is a message that SNS took for a topic.
type Mail struct {
	Topic, Subject, Message string
	Attributes              map[string]string
}

// SNS's limits (botocore's model sns/2010-03-31, Publish: "at most 256 KB in size (262,144
// bytes, not 262,144 characters)", of which attributes are a part; a subject is "less than
// 100 characters long", "with no line breaks or control characters").
const (
	maxPublished = 262_144
	maxSubject   = 100
)

// attributeName is the form of an attribute's name (SNS developer guide, "Message
// attributes": letters, digits, underscore, hyphen and period, 256 at most).
var attributeName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,256}$`)

// publish is SNS's Publish for topics. Nobody is subscribed: what is taken is kept.
func (c *Cloud) publish(_ context.Context, _ *wire.Call, in *sns.PublishInput) (*sns.PublishOutput, error) {
	invalid := func(what string) (*sns.PublishOutput, error) {
		return nil, wire.Errorf("InvalidParameter", "Invalid parameter: %s", what)
	}
	m := Mail{Topic: aws.ToString(in.TopicArn), Subject: aws.ToString(in.Subject), Message: aws.ToString(in.Message), Attributes: map[string]string{}}
	if !strings.HasPrefix(m.Topic, "arn:") {
		return invalid("TopicArn")
	}
	if !slices.Contains(c.cfg.Topics, m.Topic) {
		return nil, &wire.Error{Code: "NotFound", Status: http.StatusNotFound, Message: "Topic does not exist"}
	}
	if m.Message == "" {
		return invalid("Empty message")
	}
	if in.Subject != nil && (m.Subject == "" || utf8.RuneCountInString(m.Subject) >= maxSubject || strings.ContainsFunc(m.Subject, unicode.IsControl)) {
		return invalid("Subject")
	}
	size := len(m.Message)
	for name, a := range in.MessageAttributes {
		if !attributeName.MatchString(name) || aws.ToString(a.DataType) == "" {
			return invalid("The message attribute name or type is not valid")
		}
		if aws.ToString(a.StringValue) == "" && len(a.BinaryValue) == 0 {
			return invalid("The message attribute '" + name + "' must contain non-empty message attribute value")
		}
		size += len(name) + len(aws.ToString(a.DataType)) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
		m.Attributes[name] = aws.ToString(a.StringValue)
	}
	if size > maxPublished {
		return invalid("Message too long")
	}
	c.secrets.Lock()
	defer c.secrets.Unlock()
	c.mails = append(c.mails, m)
	sum := sha256.Sum256([]byte(m.Topic + m.Subject + m.Message))
	return &sns.PublishOutput{MessageId: aws.String(hex.EncodeToString(sum[:16]))}, nil
}

// Mails are the messages that SNS took, in their order.
func (c *Cloud) Mails() []Mail {
	c.secrets.RLock()
	defer c.secrets.RUnlock()
	return slices.Clone(c.mails)
}
