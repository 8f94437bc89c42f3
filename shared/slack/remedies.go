package slack

import (
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// actLine is the first line of a reply about what people and remedies did;
// false for a note of another kind.
func actLine(i incident.Incident, n incident.Note) (saying, bool) {
	of, known := offerOf(i, n)
	what := planTitle(of)
	switch n.Reason {
	case incident.IsCalled:
		return say(slacktext.Sentence(continued(title(i)))), true
	case incident.IsReminded:
		return say("open for " + slacktext.Span(max(n.At.Sub(i.Began), 0)) + ", not acknowledged: " + slacktext.Sentence(continued(title(i)))), true
	case incident.IsTakenOver:
		if n.Ack == nil || n.Ack.From == nil {
			return nil, false
		}
		return say("").by(n.Ack.By).and(" took it over from ").by(*n.Ack.From).and("."), true
	case incident.HasChanges:
		return say(changesLine(trailOf(i, n))), true
	case incident.IsProposed, incident.IsApproved, incident.IsRefused, incident.RemedyDone, incident.RemedyFailed, incident.IsVerified, incident.IsUnhelpful, incident.IsDeferred:
		if !known {
			return nil, false
		}
	default:
		return nil, false
	}
	switch n.Reason {
	case incident.IsProposed:
		return say("Rollcall can " + slacktext.Sentence(what)), true
	case incident.IsApproved:
		if allowedItself(of) {
			return say("by the policy auto of " + slacktext.Clip(string(of.Plan.Remedy), 60) + ": " + slacktext.Sentence(what)), true
		}
		return say("by ").by(of.By).and(". Rechecking before applying: " + slacktext.Sentence(what)), true
	case incident.IsRefused:
		return say("by ").by(of.By).and(". Rollcall will not " + slacktext.Sentence(what)), true
	case incident.IsDeferred:
		return deferredLine(of, what), true
	case incident.IsVerified:
		return say("the check that found the cause passes since Rollcall did this: " + slacktext.Sentence(what)), true
	case incident.IsUnhelpful:
		return say("the check that found the cause still fails after this was done: " + slacktext.Sentence(what)), true
	}
	return remedyLine(of, what), true
}

// offerOf is the offer that a note is about, as it was then; without it, the
// newest that fits.
func offerOf(i incident.Incident, n incident.Note) (incident.Offer, bool) {
	runless := n.Reason == incident.IsProposed || n.Reason == incident.IsApproved || n.Reason == incident.IsRefused || n.Reason == incident.IsDeferred
	if n.Offer != nil {
		return *n.Offer, runless || n.Offer.Run != nil
	}
	fits := func(of incident.Offer) bool {
		switch n.Reason {
		case incident.IsProposed:
			return true
		case incident.IsRefused:
			return of.State == incident.RefusedByUs
		case incident.IsDeferred:
			return of.State == incident.Deferred
		case incident.IsApproved:
			return !of.Decided.IsZero() && of.State != incident.RefusedByUs
		}
		return of.Run != nil
	}
	for k := len(i.Offers) - 1; k >= 0; k-- {
		if fits(i.Offers[k]) {
			return i.Offers[k], true
		}
	}
	return incident.Offer{}, false
}

func allowedItself(of incident.Offer) bool {
	return of.Policy == optin.Auto && of.By == (report.User{})
}

// remedyLine is what came of a plan, and who allowed it.
func remedyLine(of incident.Offer, what string) saying {
	head := ""
	switch of.Run.Result {
	case action.Done:
		head = took(of.Run)
	case action.Partly:
		head = "in part, "
	case action.Refused:
		head = "nothing was changed, "
	case action.Failed:
		head = "it failed, nothing was changed, "
	default:
		head = "no answer says whether it was done, "
	}
	s := say(head + "policy auto")
	if !allowedItself(of) {
		s = say(head + "approved by ").by(of.By)
	}
	return s.and(": " + slacktext.Sentence(what))
}

// took is how long it took, if that is known.
func took(d *remedy.Run) string {
	if d.Began.IsZero() || d.Ended.Before(d.Began) {
		return ""
	}
	return "in " + slacktext.Span(max(d.Ended.Sub(d.Began), time.Second)) + ", "
}

func changesLine(t *report.RecentChanges) string {
	if t == nil {
		return "what changed before it began is not known."
	}
	made := 0
	for _, c := range t.Changes {
		if c.Error == "" {
			made++
		}
	}
	all := len(t.Changes) + max(t.More, 0)
	switch {
	case all > len(t.Changes):
		return slacktext.Count(all, "write call") + " before it began."
	case made < all:
		return slacktext.Count(made, "change") + " before it began, and " + slacktext.Count(all-made, "call") + " refused."
	case made > 0:
		return slacktext.Count(made, "change") + " before it began."
	case slacktext.OneLine(t.Blind) != "":
		return "what changed before it began could not be read."
	}
	return "none found before it began."
}

func trailOf(i incident.Incident, n incident.Note) *report.RecentChanges {
	if n.RecentChanges != nil {
		return n.RecentChanges
	}
	return i.RecentChanges
}

// act is the body of such a reply.
func (p *page) act(i incident.Incident, n incident.Note) {
	if n.Reason == incident.HasChanges {
		p.trail(trailOf(i, n))
		return
	}
	of, known := offerOf(i, n)
	if !known {
		return
	}
	switch n.Reason {
	case incident.IsProposed:
		p.add(p.plan(of)...)
		if final(of) == "" { // else the plan says it
			p.undo(of)
		}
	case incident.RemedyDone, incident.RemedyFailed:
		p.run(of)
	case incident.IsDeferred:
		p.waits(of)
	case incident.IsUnhelpful:
		p.undo(of)
	}
}

// head is the beginning of a hash, enough to find it in the audit.
func head(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// undo is how to take it back, or that it cannot be.
func (p *page) undo(of incident.Offer) {
	if end := final(of); end != "" {
		p.add(p.line().prose(end).section())
		return
	}
	p.add(p.commands("Undo", of.Plan.Undo())...)
}

// run is what AWS was asked to do, for whoever looks it up in CloudTrail.
func (p *page) run(of incident.Offer) {
	d := of.Run
	if s := slacktext.Clip(slacktext.OneLine(d.Says), 600); s != "" {
		p.add(p.line().prose(slacktext.Sentence(capital(s))).section())
	}
	if d.Result == action.Done || d.Result == action.Partly || d.Result == action.Uncertain {
		p.undo(of)
	}
	var lines []*line
	row := func(name, value string) {
		if value != "" {
			lines = append(lines, p.line().plain(name+": ").prose(value))
		}
	}
	row("Reason", slacktext.Clip(slacktext.OneLine(d.Reason), 120))
	row("Changed", slacktext.Few(d.Changed, 8, 120))
	if ids := slacktext.Few(d.Requests, 6, 80); ids != "" {
		lines = append(lines, p.line().plain("Request "+pick(len(d.Requests) == 1, "id", "ids")+": ").code(ids))
	}
	if !d.Approved.IsZero() && !allowedItself(of) {
		lines = append(lines, p.line().plain("Approved by ").person(of.By).plain(" ").at(d.Approved))
	}
	row("Plan", strings.TrimSpace(slacktext.Clip(slacktext.OneLine(string(d.Plan.Remedy)), 60)+" "+head(slacktext.OneLine(d.Hash), 12)))
	if len(lines) > 0 {
		p.add(p.heading("Audit"), bullets(lines...))
	}
}
