package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
)

// newTargetTopic makes the topic by which people hear of incidents by mail, where the
// settings want one. It is another than that of the alarms: those are about Rollcall
// itself. Only the function that its role lets may publish to it, over TLS; SNS encrypts
// its disks (see newTopic). Who is subscribed may choose by the attributes severity,
// cluster, check, account and region (docs/targets.md).
func newTargetTopic(stack awscdk.Stack, chosen settings.Settings) awssns.Topic {
	if !chosen.MakesTopic {
		return nil
	}
	topic := awssns.NewTopic(stack, jsii.String("TargetTopic"), &awssns.TopicProps{
		DisplayName: jsii.String(chosen.StackName),
		EnforceSSL:  jsii.Bool(true),
	})
	for i, address := range chosen.TargetEmails {
		awssns.NewCfnSubscription(stack, jsii.String(fmt.Sprint("TargetEmail", i+1)), &awssns.CfnSubscriptionProps{
			TopicArn: topic.TopicArn(),
			Protocol: jsii.String("email"),
			Endpoint: jsii.String(address),
		})
	}
	return topic
}
