// Package spec describes report: what wakes it and what it may do.
package spec

import (
	"time"

	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/store"
	"rollcall/shared/store/outgoing"
)

// Name is the function's name.
const Name = "report"

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(),
		config.Channel, config.SlackSecretARN, config.SlackAPI, config.DocsURL, config.OwnerTags, config.Owners, config.LinkHosts, config.ProofTime, config.ReopenTime,
		config.Routes, config.RemindAfter, config.SlackActions, config.Approvers, config.WhoResponds,
		config.Clusters, config.TableName, config.BusName, config.ResultQueueURL, config.ResultDeadURL, config.LogLevel,
	)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Owns the incidents: decides what to post, posts it once in Slack, keeps it up to date, and publishes to the Rollcall bus; responds to /rollcall and renders the home page.",
		FailureImpact: "Nothing is posted. Findings wait in the results queue, then in its dead-letter queue.",
		Queue: &spec.Queue{
			Resource: spec.ResultQueue,
			// One group per cluster keeps a cluster's findings in order; FIFO
			// queues take batches of ten without a window.
			FIFO:        true,
			Batch:       10,
			Concurrency: 5,
			Attempts:    5,
			Retention:   4 * 24 * time.Hour,
		},
		Schedules: []spec.Schedule{
			{Name: "retry", Why: "Retries what Slack or the bus rejected, independent of observations; handles clusters that are no longer observed", Every: 5 * time.Minute},
		},
		Memory:      256,
		Timeout:     60 * time.Second,
		Environment: Environment(),
		Alarms: []spec.Alarm{
			{
				// Counted with every tick as long as it lasts: it rings once, and is over when it is.
				Metric: "Undelivered", AtLeast: 1,
				Why:       "Slack or the bus rejects what Rollcall sends, for a reason that needs a change.",
				Meanwhile: "What was rejected is not posted. It is kept, and retried every quarter of an hour.",
				Do:        `read the errors "could not post to Slack" and "could not publish to the bus" in its log: they name the token, the channel or the missing permission.`,
			},
			{
				Metric: "RemediesFailed", AtLeast: 1,
				Why:       "An approved remedy was not applied, or only in part.",
				Meanwhile: "The fault that it should fix is still there, and its incident stays open.",
				Do:        "read the reason in the incident's thread: something had changed, a limit was reached, or AWS refused (is the VPC among remedyVpcs?).",
			},
		},
		Reads: store.ReadHistory(),
		Grants: []spec.Grant{
			outgoing.RecordIncidents(),
			outgoing.RecordSummaries(),
			store.RecordActs(),
			store.RecordSilences(),
			store.RecordClusters(),
			store.RecordSpokes(),
			{
				Sid:       "ReadSlackToken",
				Why:       "The bot token is read at start and kept in memory only.",
				Actions:   []string{"secretsmanager:GetSecretValue"},
				Resources: []spec.Resource{spec.SlackSecret},
			},
			spec.Send("GoOn", "Slack accepts one message a second: what is not posted within a minute is posted in the next.", spec.ResultQueue),
			spec.Send("SetAside", "A message that cannot be decoded would block its cluster for half an hour: it goes to the dead-letter queue at once.", spec.ResultDead),
			spec.Publish("Every opened, changed and resolved incident, and each week, is an event that any rule can match."),
		},
	}
}
