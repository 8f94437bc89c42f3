package notify

import (
	"errors"

	"rollcall/shared/incident"
	"rollcall/shared/routing"
	"rollcall/shared/slack/slackapi"
)

// channelOf is where an incident's message goes as things are now. One that is
// posted stays where it is.
func (n Notifier) channelOf(inc incident.Incident) string {
	channel, _ := incident.Route(inc, n.Policy)
	return channel
}

// summariesOf is the channel for a cluster's summaries: they call nobody, and are
// of no nodegroup in particular.
func (n Notifier) summariesOf(cluster string) string {
	channel, _ := routing.Of(routing.Subject{Cluster: cluster, Severity: string(incident.Info)}, n.Policy.Routes, n.Policy.Channel)
	return channel
}

// lost tells that a message cannot be reached any more: somebody deleted it,
// or it is in a channel that was archived or left, and another one is set now.
func lost(err error, is, now string) bool {
	var e *slackapi.Error
	return errors.As(err, &e) && (e.Kind == slackapi.MessageGone || e.Kind == slackapi.Channel && is != now)
}
