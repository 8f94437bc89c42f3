package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
)

// output says what an operator needs after a deployment.
func output(stack awscdk.Stack, chosen settings.Settings, r resources, a alarms, functions []function) {
	say := func(id, about string, value *string) {
		awscdk.NewCfnOutput(stack, jsii.String(id), &awscdk.CfnOutputProps{Description: jsii.String(about), Value: value})
	}
	say("TableName", "State: launches and incidents", r.table.TableName())
	say("BusName", "Every opened, changed or resolved incident is an event on this bus", r.bus.EventBusName())
	say("AlarmTopicArn", "Alarms are published here: subscribe whoever is on call", jsii.String(a.topic))
	say("SlackSecretArn", "Where the Slack bot token is. Its app needs the bot scopes chat:write, channels:history (groups:history in a private channel) and files:write (pictures of reports)", jsii.String(r.secret.arn))
	if r.secret.made {
		say("SlackSecretCommand", "Puts the Slack bot token in (read from the terminal: not in the shell's history, not in the list of processes)",
			jsii.String(`read -rsp "Slack bot token: " T && printf %s "$T" | aws secretsmanager put-secret-value --secret-id `+r.secret.arn+` --secret-string file:///dev/stdin; unset T`))
	}
	for _, f := range functions {
		if len(f.spec.Kube) == 0 {
			continue
		}
		id := camel(f.spec.Name)
		say(id+"RoleArn", "Role that lists the nodes of each watched cluster", f.role.RoleArn())
		say(id+"AccessCommand", "Admits the role to a cluster in which the stack has not made an access entry", jsii.String(accessCommand(chosen, *f.role.RoleArn())))
	}
}
