package report

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rollcall/shared/incident/response"
	"rollcall/shared/notify"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// members is what Slack said of a user group in this invocation.
type members struct {
	users []string
	// unread says why the group could not be read.
	unread string
}

// mayPress tells whether a person may do what they pressed: approve and refuse if they
// are among the approvers, the rest if they are among the responders. It is asked
// anew in every invocation: who left a group may no more. What could not be read
// is never a yes.
func (p *invocation) mayPress(ctx context.Context, press report.Press) response.Who {
	rules := press.Action == report.ApprovePlan || press.Action == report.RefusePlan
	switch {
	case press.User.ID == "":
		return response.Who{}
	case rules && len(p.approvers) == 0:
		return response.Who{May: response.Nobody}
	case !rules && p.responders.Channel:
		return response.Who{May: response.MayYes}
	}
	// The ids of approvers and responders are those of our own workspace: in
	// another one the same id may be somebody else's.
	own, unread := p.workspace(ctx)
	switch {
	case unread != "":
		return response.Who{May: response.Unplaced, Says: unread}
	case !own.Has(press):
		return response.Who{May: response.Foreign}
	case rules:
		return p.isListed(ctx, p.approvers, press.User.ID)
	case len(p.responders.IDs) == 0 && press.Action == report.MuteFor:
		return p.isMember(ctx, press.User.ID) // it keeps what follows from everyone
	case len(p.responders.IDs) == 0:
		return response.Who{May: response.MayYes}
	}
	return p.isListed(ctx, slices.Concat(p.responders.IDs, p.approvers), press.User.ID)
}

// isListed tells whether a user is among users and user groups.
func (p *invocation) isListed(ctx context.Context, ids []string, user string) response.Who {
	if slices.Contains(ids, user) {
		return response.Who{May: response.MayYes}
	}
	var unread []string
	for _, group := range ids {
		if !strings.HasPrefix(group, "S") {
			continue
		}
		switch m := p.group(ctx, group); {
		case m.unread != "":
			unread = append(unread, group+": "+m.unread)
		case slices.Contains(m.users, user):
			return response.Who{May: response.MayYes}
		}
	}
	if len(unread) > 0 {
		return response.Who{May: response.Unknown, Says: strings.Join(unread, "; ")}
	}
	return response.Who{}
}

// workspace is where the app is installed, or why that cannot be told. The session
// asks Slack once for each token, and an invocation once where Slack does not tell: a
// press is refused then, for to wait would hold up what was observed.
func (p *invocation) workspace(ctx context.Context) (own response.Workspace, unread string) {
	if p.workspaceUnknown != "" {
		return response.Workspace{}, p.workspaceUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, notify.CallTimeout)
	defer cancel()
	own, err := p.people.Workspace(ctx)
	if err == nil {
		return own, ""
	}
	p.Count("SlackFailures", 1)
	p.Log.ErrorContext(ctx, "Rollcall cannot tell which workspace it is in, so nobody may press", "error", err.Error())
	var e *slackapi.Error
	p.workspaceUnknown = "Slack did not answer"
	if errors.As(err, &e) && e.Code != "" {
		p.workspaceUnknown = e.Code
	}
	return response.Workspace{}, p.workspaceUnknown
}

// isMember tells whether somebody of the workspace is no guest of it, who is there for a
// channel or two.
func (p *invocation) isMember(ctx context.Context, user string) response.Who {
	switch guest, unread := p.guest(ctx, user); {
	case unread != "":
		return response.Who{May: response.Unlisted, Says: unread}
	case guest:
		return response.Who{May: response.Guest}
	}
	return response.Who{May: response.MayYes}
}

// guest reports whether somebody is a guest of the workspace, or why that cannot be told.
func (p *invocation) guest(ctx context.Context, user string) (guest bool, unread string) {
	ctx, cancel := context.WithTimeout(ctx, notify.CallTimeout)
	defer cancel()
	guest, err := p.people.Guest(ctx, user)
	if err == nil {
		return guest, ""
	}
	p.Count("SlackFailures", 1)
	p.Log.ErrorContext(ctx, "Rollcall cannot tell whether somebody is a guest, who may not ask then", "user", user, "error", err.Error())
	var e *slackapi.Error
	switch {
	case errors.As(err, &e) && e.Scope != "":
		return false, "the Slack app lacks the scope " + e.Scope
	case e != nil && e.Code != "":
		return false, e.Code
	}
	return false, "Slack did not answer"
}

// group reads a user group, once in an invocation.
func (p *invocation) group(ctx context.Context, id string) members {
	if known, ok := p.groups[id]; ok {
		return known
	}
	var m members
	users, err := p.members(ctx, id)
	var e *slackapi.Error
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
		p.groupsUnavailable = true
	}
	if err != nil {
		p.Count("SlackFailures", 1)
		p.Log.ErrorContext(ctx, "a user group of approvers cannot be read, nobody in it may approve", "group", id, "error", err.Error())
	}
	if p.groups == nil {
		p.groups = map[string]members{}
	}
	p.groups[id] = m
	return m
}

var errNotAsked = errors.New("no answer of Slack to the question before")

// members asks Slack. Presses are decided before anything is recorded: a Slack
// that hangs must not take the time for that.
func (p *invocation) members(ctx context.Context, group string) ([]string, error) {
	if p.delivery.SlackDown() || p.groupsUnavailable {
		return nil, errNotAsked
	}
	ctx, cancel := context.WithTimeout(ctx, notify.CallTimeout)
	defer cancel()
	return p.people.GroupMembers(ctx, group)
}
