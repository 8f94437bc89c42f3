package simaws

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/google/go-cmp/cmp"
)

func TestPublish(t *testing.T) {
	const topic = "arn:aws:sns:us-west-2:111122223333:oncall"
	c := start(t, func(cfg *Config) { cfg.Topics = []string{topic} })
	client := sns.NewFromConfig(c.sdk(RoleIdentity(testAccount, "report")))
	attributes := map[string]types.MessageAttributeValue{
		"severity": {DataType: aws.String("String"), StringValue: aws.String("critical")},
		"cluster":  {DataType: aws.String("String"), StringValue: aws.String("a.b & c")},
	}
	for name, test := range map[string]struct {
		in   sns.PublishInput
		code string
	}{
		"a mail":               {sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String("s"), Message: aws.String("m"), MessageAttributes: attributes}, ""},
		"another topic":        {sns.PublishInput{TopicArn: aws.String(topic + "2"), Message: aws.String("m")}, "NotFound"},
		"a subject of 100":     {sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String(strings.Repeat("s", 100)), Message: aws.String("m")}, "InvalidParameter"},
		"a subject of 2 lines": {sns.PublishInput{TopicArn: aws.String(topic), Subject: aws.String("a\nb"), Message: aws.String("m")}, "InvalidParameter"},
		"no message":           {sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String("")}, "InvalidParameter"},
		"too long":             {sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String(strings.Repeat("é", maxPublished/2+1))}, "InvalidParameter"},
		"an empty attribute": {sns.PublishInput{TopicArn: aws.String(topic), Message: aws.String("m"), MessageAttributes: map[string]types.MessageAttributeValue{
			"severity": {DataType: aws.String("String"), StringValue: aws.String("")},
		}}, "InvalidParameter"},
	} {
		_, err := client.Publish(t.Context(), &test.in)
		if got := errorCode(err); got != test.code {
			t.Errorf("%s: %v, want %q", name, err, test.code)
		}
	}
	want := []Mail{{Topic: topic, Subject: "s", Message: "m", Attributes: map[string]string{"severity": "critical", "cluster": "a.b & c"}}}
	if diff := cmp.Diff(want, c.Mails()); diff != "" {
		t.Errorf("mails (-want +got):\n%s", diff)
	}
}
