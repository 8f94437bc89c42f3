package slack

import (
	"rollcall/shared/incident"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/slack/slacktext"
)

// deferred is a remedy that is tried again later: for what it waits, and when a
// person may press, or Rollcall does it.
func (p *page) deferred(l *line, of incident.Offer) {
	switch {
	case of.Hash == "":
		l.code(slacktext.Clip(slacktext.OneLine(string(of.Plan.Remedy)), 60)).plain(":")
	default:
		l.plain("Waiting: ").prose(slacktext.Sentence(planTitle(of)))
	}
	if says := slacktext.Clip(slacktext.OneLine(of.Says), 300); says != "" {
		l.plain(" ").prose(slacktext.Sentence(capital(says)))
	}
	if of.Policy == optin.Approve && of.Reason != string(action.CouldNotLook) {
		l.plain(" It can be approved from ").until(of.Made, of.After).plain(", with a new button.")
		return
	}
	l.plain(" Next try at ").until(of.Made, of.After).plain(".")
}

// deferredLine is the first line of the reply about it. It is a notification too,
// which has no times in the reader's zone.
func deferredLine(of incident.Offer, what string) saying {
	from := of.After.UTC().Format("15:04 UTC")
	if of.Hash == "" {
		return say("the rest waits for the hourly limit. Next try " + from + ": " + slacktext.Clip(string(of.Plan.Remedy), 60) + ".")
	}
	return say("the hourly limit is reached. Next try " + from + ": " + slacktext.Sentence(what))
}

// waits is for what it waits, below that line.
func (p *page) waits(of incident.Offer) {
	if says := slacktext.Clip(slacktext.OneLine(of.Says), 600); says != "" {
		p.add(p.line().prose(slacktext.Sentence(capital(says))).plain(" Everything is rechecked then, and planned anew.").section())
	}
}
