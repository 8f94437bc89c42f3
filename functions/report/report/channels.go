package report

import (
	"errors"

	"rollcall/shared/routing"

	"rollcall/shared/incident"

	"rollcall/shared/slack"
)

// routed is the policy with the channel of what no route sends elsewhere.
func (h handler) routed() incident.Policy {
	policy := h.policy
	policy.Channel = h.channel
	return policy
}

// channelOf is where an incident's message goes as things are now. One that is
// posted stays where it is.
func (h handler) channelOf(inc incident.Incident) string {
	channel, _ := incident.Route(inc, h.routed())
	return channel
}

// summariesOf is the channel for a cluster's summaries: they call nobody, and are
// of no nodegroup in particular.
func (h handler) summariesOf(cluster string) string {
	channel, _ := routing.Of(routing.Subject{Cluster: cluster, Severity: string(incident.Info)}, h.policy.Routes, h.channel)
	return channel
}

// lost tells that a message cannot be reached any more: somebody deleted it,
// or it is in a channel that was archived or left, and another one is set now.
func lost(err error, is, now string) bool {
	var e *slack.Error
	return errors.As(err, &e) && (e.Kind == slack.MessageGone || e.Kind == slack.Channel && is != now)
}
