package slack

import (
	"strconv"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// Limits of interactive elements, docs.slack.dev/reference/block-kit.
const (
	maxConfirmText = 300
	maxButtonLabel = 75
)

func label(s string) *slackgo.TextBlockObject {
	return slackgo.NewTextBlockObject(slackgo.PlainTextType, s, false, false)
}

func button(a report.Action, words, value string) *slackgo.ButtonBlockElement {
	return slackgo.NewButtonBlockElement(string(a), value, label(words))
}

// decide are the buttons of one offer. With no room for its value, none: what
// cannot be pressed rightly is not offered.
func (p *page) decide(i incident.Incident, of incident.Offer, n int) {
	value, fits := Value{Key: i.Key, Number: i.Number, Plan: of.Hash}.Text()
	if !fits || of.Hash == "" {
		return
	}
	yes := button(report.ApprovePlan, "Approve this fix", value)
	yes.Style = slackgo.StylePrimary
	yes.Confirm = &slackgo.ConfirmationBlockObject{
		Title: label("Approve this fix?"), Text: label(slacktext.Clip(slacktext.OneLine(question(of)), maxConfirmText)),
		Confirm: label("Approve"), Deny: label("Cancel"), Style: slackgo.StylePrimary,
	}
	// One block holds an action once, and an incident may have two offers.
	p.blocks = append(p.blocks, slackgo.NewActionBlock("offer-"+strconv.Itoa(n)+"-"+of.Hash, yes, button(report.RefusePlan, "Refuse", value)))
}

// question is the plan in one sentence.
func question(of incident.Offer) string {
	where := ""
	if of.Plan.Region != "" {
		where = " (" + slacktext.Clip(slacktext.OneLine(of.Plan.Region), 40) + ", account " + slacktext.Clip(slacktext.OneLine(of.Plan.Account), 20) + ")"
	}
	text := slacktext.Sentence("Rollcall will " + slacktext.Clip(planTitle(of), 200) + where)
	if end := final(of); end != "" {
		text += " " + end
	}
	if cost := slacktext.OneLine(of.Plan.Cost()); cost != "" {
		text += " " + slacktext.Sentence("Cost and risk: "+continued(cost))
	}
	return text
}

// handle are the buttons of the incident itself.
func (p *page) handle(i incident.Incident, o Options) {
	value, fits := Value{Key: i.Key, Number: i.Number}.Text()
	if !o.Actions || !fits || i.State == incident.Closed || i.State == incident.Pending {
		return
	}
	var elements []slackgo.BlockElement
	if i.Ack == nil {
		elements = append(elements, button(report.Acknowledge, "Acknowledge", value))
	} else {
		elements = append(elements, takeOver(*i.Ack, value))
	}
	if o.muted(i) {
		elements = append(elements, button(report.Unmute, "Unmute", value))
	} else {
		elements = append(elements, muteMenu())
	}
	if len(i.RanOut(o.Now)) > 0 {
		elements = append([]slackgo.BlockElement{button(report.OfferAgain, "Offer again", value)}, elements...)
	}
	// The menu's choice is read with the value of a button beside it, so one is
	// always there.
	elements = append(elements, button(report.CheckAgain, "Check again", value))
	p.blocks = append(p.blocks, slackgo.NewActionBlock(handleID(i), elements...))
}

func muteMenu() slackgo.BlockElement {
	var options []*slackgo.OptionBlockObject
	for _, m := range mutes() {
		options = append(options, slackgo.NewOptionBlockObject(m.value, label(m.words), nil))
	}
	return slackgo.NewOptionsSelectBlockElement(slackgo.OptTypeStatic, label("Mute for"), string(report.MuteFor), options...)
}

// handleID is another one each time the menu was used: a client keeps what was chosen
// in a menu as long as the block has the same id. It changes with nothing else, or
// messages would be edited for an id that nobody sees.
func handleID(i incident.Incident) string {
	return "incident-" + strconv.Itoa(i.Number) + "-" + strconv.Itoa(i.Mutes)
}

// takeOver is the button by which somebody else takes an incident on. It asks
// before: a slip of the hand would take it from who is at it.
func takeOver(a incident.Ack, value string) *slackgo.ButtonBlockElement {
	b := button(report.TakeOver, "Take over", value)
	b.Confirm = &slackgo.ConfirmationBlockObject{
		Title: label("Take this over?"), Text: label(slacktext.Clip(nameOf(a.By), 80) + " has it now. The thread will say that you took over."),
		Confirm: label("Take over"), Deny: label("Cancel"),
	}
	return b
}
