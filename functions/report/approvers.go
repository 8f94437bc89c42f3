package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rollcall/shared/report"
	"rollcall/shared/slack"
)

// members is what Slack said of a user group in this pass.
type members struct {
	users []string
	// unread says why the group could not be read.
	unread string
}

// who tells whether a person may approve and refuse remedies. It is asked anew
// in every invocation: who left the group may no more. What could not be read is
// never a yes.
func (p *pass) who(ctx context.Context, press report.Press) report.Who {
	if press.Action != report.ApprovePlan && press.Action != report.RefusePlan {
		return report.Who{}
	}
	user := press.User.ID
	switch {
	case len(p.approvers) == 0:
		return report.Who{May: report.Nobody}
	case user == "", press.Home != "":
		// The ids of approvers are those of our own workspace: in another one the
		// same id may be somebody else's.
		return report.Who{}
	case slices.Contains(p.approvers, user):
		return report.Who{May: report.MayYes}
	}
	var unread []string
	for _, group := range p.approvers {
		if !strings.HasPrefix(group, "S") {
			continue
		}
		switch m := p.group(ctx, group); {
		case m.unread != "":
			unread = append(unread, group+": "+m.unread)
		case slices.Contains(m.users, user):
			return report.Who{May: report.MayYes}
		}
	}
	if len(unread) > 0 {
		return report.Who{May: report.Unknown, Says: strings.Join(unread, "; ")}
	}
	return report.Who{}
}

// group reads a user group, once in a pass.
func (p *pass) group(ctx context.Context, id string) members {
	if known, ok := p.groups[id]; ok {
		return known
	}
	var m members
	users, err := p.members(ctx, id)
	var e *slack.Error
	switch {
	case err == nil:
		m.users = users
	case errors.Is(err, errNotAsked):
		m.unread = "Slack did not answer"
		return m
	case errors.As(err, &e) && e.Scope != "":
		m.unread = "the Slack app lacks the scope " + e.Scope
	case e != nil && e.Code != "":
		m.unread = e.Code
	default:
		m.unread = "Slack did not answer"
		p.deaf = true
	}
	if err != nil {
		p.count("SlackFailures", 1)
		p.log.ErrorContext(ctx, "a user group of approvers cannot be read, nobody in it may approve", "group", id, "error", err.Error())
	}
	if p.groups == nil {
		p.groups = map[string]members{}
	}
	p.groups[id] = m
	return m
}

var errNotAsked = errors.New("Slack did not answer before")

// members asks Slack. Presses are decided before anything is recorded: a Slack
// that hangs must not take the time for that.
func (p *pass) members(ctx context.Context, group string) ([]string, error) {
	if p.silent || p.deaf {
		return nil, errNotAsked
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.people.GroupMembers(ctx, group)
}
