package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/clusterrole"
	"rollcall/infra/settings"
	"rollcall/shared/spec"
)

// output says what an operator needs after a deployment.
func output(stack awscdk.Stack, chosen settings.Settings, r resources, a alarms, functions []function, who reader) {
	say := func(id, about string, value *string) {
		awscdk.NewCfnOutput(stack, jsii.String(id), &awscdk.CfnOutputProps{Description: jsii.String(about), Value: value})
	}
	say("TableName", "State: launches and incidents", r.table.TableName())
	say("BusName", "Every opened, changed or resolved incident is an event on this bus", r.bus.EventBusName())
	say("AlarmTopicArn", "Alarms are published here: subscribe whoever is on call", jsii.String(a.topic))
	if r.targets != nil {
		say("TargetTopicArn", "Incidents are published here: subscribe whoever is to hear of them by mail", r.targets.TopicArn())
	}
	say("SlackSecretArn", "Where the Slack bot token is. Its app needs the bot scopes chat:write, channels:history (groups:history in a private channel), files:write (pictures of reports) and, where user groups approve remedies, usergroups:read", jsii.String(r.secrets[spec.SlackSecret].arn))
	if r.secrets[spec.SlackSecret].made {
		say("SlackSecretCommand", "Puts the Slack bot token in (read from the terminal: not in the shell's history, not in the list of processes)",
			jsii.String(fillIn("Slack bot token", r.secrets[spec.SlackSecret].arn)))
	}
	if s, ok := r.secrets[spec.SigningSecret]; ok {
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
	role := *who.role.RoleArn()
	say("ReaderRoleArn", "The one role that reads in the watched clusters", who.role.RoleArn())
	say("KubernetesAccessCommand", "Lets the reader in where the stack has not made its access entry: the cluster's name for "+placeholder+
		", in the folder of the repository. The ClusterRole names every object that is read", jsii.String(admitByRole(role)))
	if list := roleClusters(chosen); len(list) > 0 {
		say("ClusterRoleCommand", "To be run once, in the folder of the repository: gives the group "+clusterrole.Group+" its rights in the named clusters", jsii.String(applyRole(list...)))
	}
	if chosen.Access == settings.AccessPolicy {
		say("KubernetesPolicyCommand", "The same without a ClusterRole, and wider: AmazonAIOpsAssistantPolicy, "+settings.AIOpsGives, jsii.String(admitByPolicy(role)))
	}
	say("AwsAuthRoles", "For clusters in authentication mode CONFIG_MAP, which take no access entries: add these lines under mapRoles (kubectl -n kube-system edit configmap aws-auth), and apply deploy/clusterrole.yaml"+
		about(chosen.ConfigMapClusters), jsii.String(authRoles(role)))
}

// about names the clusters that an output is known to be for.
func about(clusters []string) string {
	if len(clusters) == 0 {
		return ""
	}
	return " (ClusterRoleCommand). Here: " + strings.Join(clusters, ", ")
}
