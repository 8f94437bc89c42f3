// Package target is who is notified of incidents besides Slack, as an operator writes it: a
// kind, from which severity on, and the name of the secret that holds where it is.
package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/lazyregexp"
)

// None is what is written for no target.
const None = "none"

// Kind is what a target is.
type Kind string

// The kinds.
const (
	// SNS is a topic of Amazon SNS: mail, or whatever is subscribed to it.
	SNS Kind = "sns"
	// AmazonQ is a topic of Amazon SNS that a chat channel of Amazon Q Developer (AWS Chatbot
	// before) subscribes to: for a Slack or Teams in which no app may be installed.
	AmazonQ Kind = "amazonq"
	// PagerDuty is an integration of PagerDuty's Events API v2.
	PagerDuty Kind = "pagerduty"
	// JSM is an API integration of the Operations of Jira Service Management.
	JSM Kind = "jsm"
	// Teams is a workflow of Microsoft Teams that waits for requests.
	Teams Kind = "teams"
	// SlackWebhook is an incoming webhook of Slack: for a first look, without an app's token.
	SlackWebhook Kind = "slackwebhook"
	// Webhook is an address of the operator's own, which gets signed events.
	Webhook Kind = "webhook"
)

// HasAlerts reports whether a kind keeps alerts, which are acknowledged and resolved, and
// not messages.
func (k Kind) HasAlerts() bool { return k == PagerDuty || k == JSM }

// Service is what people call a kind that keeps alerts.
func (k Kind) Service() string {
	return map[Kind]string{PagerDuty: "PagerDuty", JSM: "Jira Service Management"}[k]
}

// Target is one receiver besides Slack.
type Target struct {
	Kind Kind
	// Secret is the name of the secret in Secrets Manager: the routing key, the address,
	// or the address and the key to sign with. SNS has none.
	Secret string
	// Topic is the ARN of the operator's own topic; empty for the stack's.
	Topic string
	// Least is from which severity on it hears of an incident: "info", "warning" or
	// "critical". Such a target is for incidents; empty has it hear of all, and of the week.
	Least string
}

// Name is what messages, records and logs call it. It holds no secret, and stays the same
// where Least is set anew.
func (t Target) Name() string {
	switch {
	case t.Secret != "":
		return string(t.Kind) + "=" + t.Secret
	case t.Topic != "":
		return string(t.Kind) + "=" + t.Topic
	}
	return string(t.Kind)
}

// most bounds the list: each message goes to each of them.
const most = 10

var (
	// secretName is what Secrets Manager takes (API reference, CreateSecret, Name: letters,
	// digits and /_+=.@-, 512 at most), without a comma, which ends a target here.
	secretName = lazyregexp.New(`^[A-Za-z0-9/_+=.@-]{1,200}$`)
	// looksRandom is a name that ends as an ARN does: "do not end your secret name with a
	// hyphen followed by six characters" (the same place), as such names are taken for ARNs.
	looksRandom = lazyregexp.New(`-[A-Za-z0-9]{6}$`)
	topicARN    = lazyregexp.New(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$`)
)

// Parse reads the setting: "pagerduty/critical=rollcall/pagerduty,teams=rollcall/teams,sns".
func Parse(text string) ([]Target, error) {
	if text == None {
		return nil, nil
	}
	var list []Target
	for one := range strings.SplitSeq(text, ",") {
		t, err := parse(strings.TrimSpace(one))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Target) bool { return other.Name() == t.Name() }) {
			return nil, fmt.Errorf("%q is listed twice", t.Name())
		}
		list = append(list, t)
	}
	if len(list) > most {
		return nil, fmt.Errorf("has %d targets, more than the allowed %d", len(list), most)
	}
	return list, nil
}

var errEmpty = errors.New(`has an empty target between commas`)

func parse(text string) (Target, error) {
	if text == "" {
		return Target{}, errEmpty
	}
	what, value, has := strings.Cut(text, "=")
	kind, least, floor := strings.Cut(what, "/")
	t := Target{Kind: Kind(kind), Least: least}
	if floor && !slices.Contains([]string{"info", "warning", "critical"}, least) {
		return Target{}, fmt.Errorf(`%q: after "/" goes the lowest severity that it receives: info, warning or critical`, text)
	}
	switch t.Kind {
	case SNS:
		if t.Topic = value; has && !topicARN.MatchString(value) {
			return Target{}, fmt.Errorf("%q: sns= needs the ARN of a topic; sns alone makes the stack create one", text)
		}
	case AmazonQ:
		if t.Topic = value; !topicARN.MatchString(value) {
			return Target{}, fmt.Errorf("%q: amazonq= needs the ARN of the topic in the channel's configuration", text)
		}
	case PagerDuty, JSM, Teams, SlackWebhook, Webhook:
		t.Secret = value
		switch {
		case strings.Contains(value, "://"), strings.HasPrefix(value, "arn:"):
			// What may be a secret is not repeated.
			return Target{}, fmt.Errorf("%s= needs the name of a secret in Secrets Manager, in the stack's account and region: not an address, key or ARN", what)
		case !secretName.MatchString(value):
			return Target{}, fmt.Errorf("%s= needs the name of a secret in Secrets Manager: letters, digits and /_+=.@-", what)
		case t.Kind == PagerDuty && isKey.MatchString(value):
			return Target{}, fmt.Errorf("%s= needs the name of a secret: this looks like the routing key itself, which belongs in the secret", what)
		case looksRandom.MatchString(value):
			return Target{}, fmt.Errorf("%q: Secrets Manager mistakes a name that ends in a hyphen and six characters for an ARN: choose another name", text)
		}
	default:
		return Target{}, fmt.Errorf("%q starts with none of sns, amazonq, pagerduty, jsm, teams, slackwebhook, webhook", text)
	}
	return t, nil
}

// isKey is the form of PagerDuty's routing keys: 32 characters
// (developer.pagerduty.com/docs/send-alert-event).
var isKey = lazyregexp.New(`^[A-Za-z0-9]{32}$`)
