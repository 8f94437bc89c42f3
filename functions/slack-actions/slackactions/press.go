package slackactions

import (
	"errors"

	"rollcall/shared/interaction"
	"rollcall/shared/report"
	"rollcall/shared/slack"
)

// pressOf reads what was pressed. Nothing in it is believed but that Slack says
// so: whether the incident is there, the plan is offered and the person may,
// report decides.
func pressOf(p interaction.Payload) (report.Press, error) {
	a := p.Actions[0]
	read, err := slack.ReadPress(slack.Element{ActionID: a.ID, BlockID: a.Block, Value: a.Value, Option: a.Option}, p.Blocks)
	switch {
	case errors.Is(err, slack.ErrAction):
		return report.Press{}, &interaction.Refusal{Reason: interaction.UnknownAction, Says: "this version of Rollcall does not know that button"}
	case err != nil:
		return report.Press{}, &interaction.Refusal{Reason: interaction.UnknownValue, Says: "this version of Rollcall does not know what that button stands for"}
	}
	return report.Press{
		Key: read.Key, Number: read.Number, Action: read.Action, For: read.For, Plan: read.Plan,
		User: report.User{ID: p.User, Name: p.Name}, Team: p.Team, Home: p.Home, Enterprise: p.Enterprise,
		Channel: p.Channel, TS: p.TS, Thread: p.Thread,
	}, nil
}
