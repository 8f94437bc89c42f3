// Package spec describes notify-targets: what wakes it and what it may do.
package spec

import (
	"time"

	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/store/outgoing"
	"rollcall/shared/target"
	"rollcall/shared/target/message"
)

// Name is the function's name.
const Name = "notify-targets"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return []spec.Variable{
		config.Targets, config.PagerDutyAPI, config.TargetTopicARN, config.TargetQueueURL, config.TargetDeadURL, config.ResultQueueURL, config.TableName, config.LogLevel,
	}
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:  Name,
		About: "Sends incidents and the weekly report to targets besides Slack: email through SNS, Amazon Q in chat applications, PagerDuty, Jira Service Management, Microsoft Teams, incoming webhooks of Slack, signed webhooks. Reads back who acknowledged an alert.",
		FailureImpact: "Targets besides Slack are not notified. Their messages wait in the queue of targets for a day, then in its dead-letter queue. " +
			"Slack is not affected.",
		Only: config.Targets,
		Rules: []spec.Rule{
			// Past the queue, whose messages are for one target each: a rule cannot know them.
			{
				Bus: spec.Bus, Name: "news", Why: "An incident is opened, changed, acknowledged or closed, a remedy was applied, or a week is over: targets besides Slack are notified",
				Pattern: message.Pattern, Direct: true,
			},
		},
		Schedules: []spec.Schedule{
			{Name: "alerts", Why: "An acknowledgement in PagerDuty or Jira Service Management is shown in Slack, and stops reminders", Every: 5 * time.Minute},
		},
		Queue: &spec.Queue{
			Resource: spec.TargetQueue,
			// One group for each target and incident: what is about one incident stays in
			// order, and a target that is away holds up no other.
			FIFO: true,
			// One message: a target may take ten seconds to say nothing.
			Batch:       1,
			Concurrency: 5,
			// Held back for longer and longer, up to five minutes: a day and a little.
			Attempts:  300,
			Retention: 4 * 24 * time.Hour,
		},
		Memory: 128,
		// Two requests of ten seconds at most, the secret and the record.
		Timeout:     30 * time.Second,
		Environment: Environment(),
		Alarms: []spec.Alarm{
			{
				// Counted with every attempt as long as it lasts.
				Metric: "TargetsUndelivered", AtLeast: 1,
				Why:       "A target besides Slack has accepted nothing for ten minutes.",
				Meanwhile: "This target is not notified. Its messages wait in the queue of targets for a day, then in its dead-letter queue. Slack and the other targets are not affected.",
				Do:        `read the lines "could not notify a target" in its log, which name the target and its response. Either it is down, or its secret is empty or wrong.`,
			},
		},
		Reads: outgoing.ReadIncidents(), // by query, as what targets were told is read
		Grants: []spec.Grant{
			outgoing.RecordTold(),
			{
				Sid:       "QueueForTargets",
				Why:       "Each target gets a message of its own, so that none waits for another, and one that is down is notified later.",
				Actions:   []string{"sqs:SendMessage", "sqs:ChangeMessageVisibility"},
				Resources: []spec.Resource{spec.TargetQueue},
			},
			spec.Send("SendAlertChanges", "Acknowledgements of alerts go to report, which owns the incidents.", spec.ResultQueue),
			spec.Send("SetAside", "A message that a target rejects would block those after it: it goes to the dead-letter queue at once, with the target's response.", spec.TargetDead),
		},
		Chosen: Chosen,
	}
}

// Chosen are the grants that hang on which targets there are: to read exactly their
// secrets, and to publish to exactly their topics.
func Chosen(getenv func(string) string) ([]spec.Grant, error) {
	text := getenv(string(config.Targets))
	if text == "" {
		text = target.None
	}
	list, err := target.Parse(text)
	if err != nil {
		return nil, err
	}
	var secrets, topics []spec.Resource
	for _, t := range list {
		switch {
		case t.Secret != "":
			// Secrets Manager adds a hyphen and six characters to a secret's name; question
			// marks stand for exactly these (Secrets Manager user guide, "Permissions policy
			// examples": "-??????" rather than "*").
			secrets = append(secrets, spec.Resource("arn:${Partition}:secretsmanager:${Region}:${Account}:secret:"+t.Secret+"-??????"))
		case t.Topic != "":
			topics = append(topics, spec.Resource(t.Topic))
		default:
			topics = append(topics, spec.TargetTopic)
		}
	}
	var grants []spec.Grant
	if len(secrets) > 0 {
		grants = append(grants, spec.Grant{
			Sid:       "ReadTargetSecrets",
			Why:       "Routing keys, addresses and signing keys are read when needed and kept in memory for minutes.",
			Actions:   []string{"secretsmanager:GetSecretValue"},
			Resources: secrets,
		})
	}
	if len(topics) > 0 {
		grants = append(grants, spec.Grant{
			Sid:       "PublishToTopics",
			Why:       "Mail and notifications for Amazon Q go out through SNS.",
			Actions:   []string{"sns:Publish"},
			Resources: topics,
		})
	}
	return grants, nil
}
