package slack

import (
	"regexp"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/slack/slacktext"
)

// calls finds the marks by which the notification's text calls people.
func calls() *regexp.Regexp {
	return regexp.MustCompile(`<(@U0ONCALL01|@U0DEV00001|!subteam\^S0LEADS001|!here)> `)
}

// buttonProblems are the limits that a row of buttons breaks.
func buttonProblems(row *slackgo.ActionBlock) []string {
	var list []string
	within := func(what, s string, most int) {
		if s == "" || slacktext.Length(s) > most {
			list = append(list, what+" of "+slacktext.Number(slacktext.Length(s)))
		}
	}
	within("block_id", row.BlockID, 255)
	if n := len(row.Elements.ElementSet); n == 0 || n > 25 {
		list = append(list, slacktext.Number(n)+" buttons")
	}
	actions := map[string]bool{}
	keyed := false
	for _, e := range row.Elements.ElementSet {
		var action string
		switch e := e.(type) {
		case *slackgo.ButtonBlockElement:
			action, keyed = e.ActionID, true
			within("label", e.Text.Text, maxButtonLabel)
			within("value", e.Value, maxValue)
			if _, err := ReadPress(Element{ActionID: e.ActionID, Value: e.Value}, nil); err != nil {
				list = append(list, err.Error())
			}
			if e.Confirm != nil {
				within("title of a question", e.Confirm.Title.Text, 100)
				within("question", e.Confirm.Text.Text, maxConfirmText)
				within("yes", e.Confirm.Confirm.Text, 30)
				within("no", e.Confirm.Deny.Text, 30)
				list = append(list, textProblems(e.Confirm.Text.Text)...)
			}
		case *slackgo.SelectBlockElement:
			action = e.ActionID
			within("placeholder", e.Placeholder.Text, 150)
			for _, o := range e.Options {
				within("option", o.Text.Text, 75)
				within("option's value", o.Value, 150)
			}
		default:
			list = append(list, "an element that no press is known of")
		}
		if actions[action] {
			list = append(list, "twice the action "+action)
		}
		actions[action] = true
	}
	if !keyed {
		list = append(list, "a menu without a button beside it")
	}
	return list
}
