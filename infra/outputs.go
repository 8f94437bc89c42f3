package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/fn"
)

// output says what an operator needs after a deployment.
func output(stack awscdk.Stack, chosen settings.Settings, r resources, a alarms, functions []function) {
	say := func(id, about string, value *string) {
		awscdk.NewCfnOutput(stack, jsii.String(id), &awscdk.CfnOutputProps{Description: jsii.String(about), Value: value})
	}
	say("TableName", "State: launches and incidents", r.table.TableName())
	say("BusName", "Every opened, changed or resolved incident is an event on this bus", r.bus.EventBusName())
	say("AlarmTopicArn", "Alarms are published here: subscribe whoever is on call", jsii.String(a.topic))
	say("SlackSecretArn", "Where the Slack bot token is. Its app needs the bot scopes chat:write, channels:history (groups:history in a private channel), files:write (pictures of reports) and, where user groups approve remedies, usergroups:read", jsii.String(r.secrets[fn.SlackSecret].arn))
	if r.secrets[fn.SlackSecret].made {
		say("SlackSecretCommand", "Puts the Slack bot token in (read from the terminal: not in the shell's history, not in the list of processes)",
			jsii.String(fillIn("Slack bot token", r.secrets[fn.SlackSecret].arn)))
	}
	if s, ok := r.secrets[fn.SigningSecret]; ok {
		say("SlackSigningSecretArn", "Where the Slack app's Signing Secret is (the app's page, Basic Information, App Credentials)", jsii.String(s.arn))
		if s.made {
			say("SlackSigningSecretCommand", "Puts the Signing Secret in (read from the terminal: not in the shell's history, not in the list of processes)",
				jsii.String(fillIn("Signing Secret", s.arn)))
		}
	}
	for _, f := range functions {
		if f.url != nil {
			say("SlackInteractivityUrl", f.spec.URL.Why+" Put it in at the app's page, Interactivity & Shortcuts, Request URL", f.url)
		}
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

// fillIn is a command that asks for a secret and puts it in.
func fillIn(what, arn string) string {
	return `read -rsp "` + what + `: " T && printf %s "$T" | aws secretsmanager put-secret-value --secret-id ` + arn + ` --secret-string file:///dev/stdin; unset T`
}
