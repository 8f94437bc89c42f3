package slack

import (
	"strings"
	"time"

	"rollcall/shared/plan"
	"rollcall/shared/report"
)

// actLine is the first line of a reply about what people and remedies did;
// false for a note of another kind.
func actLine(i report.Incident, n report.Note) (saying, bool) {
	of, known := offerOf(i, n)
	what := planTitle(of)
	switch n.Reason {
	case report.IsCalled:
		return say("This needs somebody: " + continued(title(i)) + "."), true
	case report.IsReminded:
		return say("Still open after " + span(max(n.At.Sub(i.Began), 0)) + ", and nobody has acknowledged it: " + continued(title(i)) + "."), true
	case report.IsTakenOver:
		if n.Ack == nil || n.Ack.From == nil {
			return nil, false
		}
		return say("Taken over by ").by(n.Ack.By).and(" from ").by(*n.Ack.From).and("."), true
	case report.HasChanges:
		return say(changesLine(trailOf(i, n))), true
	case report.IsProposed, report.IsApproved, report.IsRefused, report.DeedDone, report.DeedFailed, report.IsVerified, report.IsUnhelpful, report.IsDeferred:
		if !known {
			return nil, false
		}
	default:
		return nil, false
	}
	switch n.Reason {
	case report.IsProposed:
		return say("Rollcall can " + sentence(what) + " What exactly, and how to take it back:"), true
	case report.IsApproved:
		if allowedItself(of) {
			return say("The policy of " + clip(string(of.Plan.Remedy), 60) + " is auto: Rollcall will " + what + " now."), true
		}
		return say("Approved by ").by(of.By).and(". Rollcall looks once more, and then will " + sentence(what)), true
	case report.IsRefused:
		return say("Refused by ").by(of.By).and(": Rollcall does not " + sentence(what)), true
	case report.IsDeferred:
		return deferredLine(of, what), true
	case report.IsVerified:
		return say("It helped. The check that found the cause passes now, after Rollcall did this: " + sentence(what)), true
	case report.IsUnhelpful:
		return say("It did not help: the check that found the cause still fails after this was done: " + sentence(what)), true
	}
	return deedLine(of, what), true
}

// offerOf is the offer that a note is about, as it was then; without it, the
// newest that fits.
func offerOf(i report.Incident, n report.Note) (report.Offer, bool) {
	deedless := n.Reason == report.IsProposed || n.Reason == report.IsApproved || n.Reason == report.IsRefused || n.Reason == report.IsDeferred
	if n.Offer != nil {
		return *n.Offer, deedless || n.Offer.Deed != nil
	}
	fits := func(of report.Offer) bool {
		switch n.Reason {
		case report.IsProposed:
			return true
		case report.IsRefused:
			return of.State == report.RefusedByUs
		case report.IsDeferred:
			return of.State == report.Deferred
		case report.IsApproved:
			return !of.Decided.IsZero() && of.State != report.RefusedByUs
		}
		return of.Deed != nil
	}
	for k := len(i.Offers) - 1; k >= 0; k-- {
		if fits(i.Offers[k]) {
			return i.Offers[k], true
		}
	}
	return report.Offer{}, false
}

func allowedItself(of report.Offer) bool {
	return of.Policy == plan.Auto && of.By == (report.User{})
}

// deedLine is what came of a plan.
func deedLine(of report.Offer, what string) saying {
	by := say(" (policy auto)")
	if !allowedItself(of) {
		by = say(" (approved by ").by(of.By).and(")")
	}
	var s saying
	switch of.Deed.Result {
	case plan.Done:
		s = say("Done" + took(of.Deed))
	case plan.Partly:
		s = say("Done in part")
	case plan.Refused:
		s = say("Not done, nothing was changed")
	case plan.Failed:
		s = say("It failed, nothing was changed")
	default:
		s = say("No answer says whether this was done")
	}
	return append(append(s, by...), say(": "+sentence(what))...)
}

// took is how long it took, if that is known.
func took(d *plan.Deed) string {
	if d.Began.IsZero() || d.Ended.Before(d.Began) {
		return ""
	}
	return " in " + span(max(d.Ended.Sub(d.Began), time.Second))
}

func changesLine(t *report.Trail) string {
	if t == nil {
		return "What was changed before it began is not known."
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
		return "What was changed before it began: " + count(all, "write call") + "."
	case made < all:
		return "What was changed before it began: " + count(made, "change") + ", and " + count(all-made, "call") + " refused."
	case made > 0:
		return "What was changed before it began: " + count(made, "change") + "."
	case oneLine(t.Blind) != "":
		return "What was changed before it began could not be looked at."
	}
	return "Nothing was found that was changed before it began."
}

func trailOf(i report.Incident, n report.Note) *report.Trail {
	if n.Trail != nil {
		return n.Trail
	}
	return i.Trail
}

// act is the body of such a reply.
func (p *page) act(i report.Incident, n report.Note) {
	if n.Reason == report.HasChanges {
		p.trail(trailOf(i, n))
		return
	}
	of, known := offerOf(i, n)
	if !known {
		return
	}
	switch n.Reason {
	case report.IsProposed:
		p.add(p.plan(of)...)
		if final(of) == "" { // else the plan says it
			p.undo(of)
		}
	case report.DeedDone, report.DeedFailed:
		p.deed(of)
	case report.IsDeferred:
		p.why(of)
	case report.IsUnhelpful:
		p.undo(of)
	}
}

// head is the beginning of a hash, enough to find it in the audit.
func head(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// undo is how to take it back, or that it cannot be.
func (p *page) undo(of report.Offer) {
	if end := final(of); end != "" {
		p.add(p.line().prose(end).section())
		return
	}
	p.add(p.commands("To take it back", of.Plan.Undo())...)
}

// deed is what AWS was asked to do, for whoever looks it up in CloudTrail.
func (p *page) deed(of report.Offer) {
	d := of.Deed
	if s := clip(oneLine(d.Says), 600); s != "" {
		p.add(p.line().prose(sentence(capital(s))).section())
	}
	if d.Result == plan.Done || d.Result == plan.Partly || d.Result == plan.Uncertain {
		p.undo(of)
	}
	var lines []*line
	row := func(name, value string) {
		if value != "" {
			lines = append(lines, p.line().plain(name+": ").prose(value))
		}
	}
	row("Reason", clip(oneLine(d.Reason), 120))
	row("Changed", few(d.Changed, 8, 120))
	if ids := few(d.Requests, 6, 80); ids != "" {
		lines = append(lines, p.line().plain("Request "+pick(len(d.Requests) == 1, "id", "ids")+": ").code(ids))
	}
	if !d.Approved.IsZero() && !allowedItself(of) {
		lines = append(lines, p.line().plain("Approved by ").person(of.By).plain(" ").at(d.Approved))
	}
	row("Plan", strings.TrimSpace(clip(oneLine(string(d.Plan.Remedy)), 60)+" "+head(oneLine(d.Hash), 12)))
	if len(lines) > 0 {
		p.add(p.heading("For the record"), bullets(lines...))
	}
}
