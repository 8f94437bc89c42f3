// Package spec describes slack-actions: what wakes it and what it may do.
package spec

import (
	"time"

	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/store/incoming"
)

// Name is the function's name.
const Name = "slack-actions"

// The figures on which alarms stand.
const (
	// NotPassedOn counts presses of Slack that could not be checked or passed on.
	NotPassedOn = "NotPassedOn"
	// RefusedRequests counts requests that were refused, also by reason.
	RefusedRequests = "RefusedRequests"
)

// Environment is what the function reads of its environment. The function itself uses
// nothing else of this package but constants (spec.Spec).
func Environment() []spec.Variable {
	return append(config.SpokeVariables(), config.SigningARN, config.SlackAPI, config.TableName, config.ResultQueueURL, config.LogLevel)
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Receives button presses and /rollcall commands from Slack: verifies signature, age and form, and queues them for report, which decides and responds.",
		FailureImpact: "Buttons, /rollcall and the home page in Slack do nothing: nobody can acknowledge, mute or approve. A person who presses sees a warning sign and presses again later; nothing waits in a queue.",
		URL: &spec.URL{
			Why: "Slack calls it when somebody presses a button, types /rollcall or opens the home page.",
			// People press a few buttons a minute, and a call takes a tenth of a second.
			Concurrency: 10,
		},
		Only:   config.SlackActions,
		Memory: 256,
		// Its own deadline is shorter: Slack waits for three seconds.
		Timeout:     10 * time.Second,
		Environment: Environment(),
		Alarms: []spec.Alarm{
			{
				Metric: NotPassedOn, AtLeast: 1,
				Why:       "A press in Slack could not be verified or queued.",
				Meanwhile: "Buttons, /rollcall and the home page may do nothing. A person who presses sees a warning sign and can press again; nothing waits in a queue.",
				Do:        "find the error in its log. Usually the signing secret is empty (run the output SlackSigningSecretCommand), or the table or the results queue does not accept requests.",
			},
			{
				// Slack's own requests are refused next to never: a person who presses
				// twice, a message of an older version.
				Metric: RefusedRequests, AtLeast: 20,
				Why:       "Twenty requests or presses were refused within five minutes, by slack-actions or by report.",
				Meanwhile: "Refused requests change nothing. At most ten requests are handled at once, so real presses can be delayed.",
				Do: `read the lines with "audit":true in its log: "forged" from Slack's addresses means that the signing secret in Secrets Manager is not the app's; from other addresses, that somebody is probing the URL, which changes nothing (to close it: slackActions=off). ` +
					`Then the lines "press-refused" in report's log: "not-passed-on" means that something other than slack-actions put presses into the results queue: check in CloudTrail who uses the roles of Rollcall's functions.`,
			},
		},
		Grants: []spec.Grant{
			incoming.RecordPresses(),
			incoming.RecordRefusals(),
			{
				Sid:       "ReadSigningSecret",
				Why:       "Slack's signing secret is read at the first press and kept in memory only.",
				Actions:   []string{"secretsmanager:GetSecretValue"},
				Resources: []spec.Resource{spec.SigningSecret},
			},
			spec.Send("PassPressesOn", "Presses and commands go to report, which decides whether they are allowed.", spec.ResultQueue),
		},
	}
}
