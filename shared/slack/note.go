package slack

import (
	"slices"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
)

// RenderNote is one reply in the incident's thread. It says what was known at
// the note's time, from what the note keeps. A reason that it does not know
// gives a plain update.
func RenderNote(i incident.Incident, n incident.Note) slackapi.Message {
	top, acted := actLine(i, n)
	if !acted {
		top = say(noteLine(i, n))
	}
	says, label := top, replyLabel(n.Reason)
	text := label + colon(top.String())
	if n.Line {
		top, label = lineTop(i, n, says), ""
		text = top.String()
	} else if label == "" {
		text = top.String()
	}
	return slackapi.Message{
		Text: calling(n.Mention) + slacktext.Notification(text),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{i.Partition, i.Region}, n.At, room)
			l := p.line().mention(n.Mention)
			if label != "" {
				l.styled(label, &slackgo.RichTextSectionTextStyle{Bold: true}).plain("\u2003")
			}
			p.add(l.saying(top).section())
			if n.Line && restates(n) {
				p.inChannel(i, n, says)
			}
			if acted {
				p.act(i, n)
			}
			if n.Line && n.Reason == incident.IsProposed {
				p.add(p.line().plain("Approve or refuse it in the message at the top of this thread.").section())
			}
			if i.Key.Check != incident.CannotLook {
				p.blind(n.Blind)
			}
			if n.Reason == incident.Opened || n.Reason == incident.Reopened {
				p.also(i)
			}
			if n.Reason != incident.HasMissed {
				p.named(i, n)
			}
			p.facts(n.Facts)
			switch n.Reason {
			case incident.CauseGone, incident.IsProved, incident.IsUnproved:
				if change(n.Evidence) == "" {
					p.evidence("Evidence", n.Evidence)
				}
			default:
				p.evidence("Evidence", n.Evidence)
			}
			if n.Reason == incident.Opened || n.Reason == incident.Reopened {
				p.replay(i)
			}
			return p.blocks
		}),
		Tag: slackapi.Tag{Key: slackapi.KeyOf(i.Key), Note: n.ID},
	}
}

// noteLine is the first line of a reply.
func noteLine(i incident.Incident, n incident.Note) string {
	switch n.Reason {
	case incident.Opened:
		return "what was checked when this opened."
	case incident.Reopened:
		return "for the " + slacktext.Ordinal(max(i.Number, 2)) + " time."
	case incident.FailedAgain:
		return "the cause had gone, and returned before a new node joined."
	case incident.IsWorse:
		return "critical now; it was a warning."
	case incident.IsUnsilenced:
		return "it was silenced, and is still there."
	case incident.HasJoined:
		return slacktext.Sentence(slacktext.Clip(slacktext.OneLine(n.Says), 160))
	case incident.HasMissed:
		if n.Count == 0 || len(n.Instances) == 0 {
			return "not Ready " + inTime(n.Within) + "."
		}
		return slacktext.Count(n.Count, "instance") + " not Ready " + inTime(n.Within) + ": " + missing(n) + "."
	case incident.CauseGone:
		return gone(i, n) + " Waiting for a new node to join."
	case incident.IsProved:
		if i.Key.Check == incident.CannotLook {
			return worksAgain(i) + ". The checks that need it run again."
		}
		line := gone(i, n)
		if n.Launch != nil {
			line += " " + slacktext.Sentence(proof(*n.Launch))
		}
		return line + " Resolved after " + slacktext.Span(outage(i)) + "."
	case incident.IsUnproved:
		return gone(i, n) + " No instance was launched since that could confirm it. Reopens if the cause comes back."
	case incident.IsSuperseded:
		if i.By == nil || !ofSubnet(i) && i.By.Check != checkid.IPLeakedInterfaces {
			return slacktext.Sentence(theirs(i))
		}
		return slacktext.Sentence(gaveWay(i))
	case incident.IsWithdrawn:
		switch i.Resolution {
		case incident.ClusterDeleted:
			return "EKS has no cluster " + slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60) + " any more."
		case incident.Unwatched:
			return notWatched(i)
		case incident.Unseen:
			return "nothing was heard of it since " + heard(i) + ". Is the cluster still watched (setting clusters), and do the sweeps run? Reopens if it still fails."
		}
		return slacktext.Sentence(missingNow(i))
	case incident.IsGivenUpOn:
		return "still not Ready, and no longer checked (setting giveUp). Terminate what is not needed; a new launch is checked as usual."
	}
	return "Update: " + headline(i)
}

// gone says what is well now.
func gone(i incident.Incident, n incident.Note) string {
	if well := addressesAre(i); well != "" && cameBack(i) != "" {
		return slacktext.Sentence(capital(well) + colon(cameBack(i)))
	}
	says := change(n.Evidence)
	if says == "" {
		says = pick(n.Reason == incident.CauseGone, "the check passes now", "the cause is gone")
	}
	says = slacktext.Sentence(says)
	if n.Offer != nil && n.Offer.Run != nil {
		says += " Fixed by Rollcall: " + slacktext.Sentence(planTitle(*n.Offer))
	}
	return says
}

// replyLabel is what a reply is about, in a word or two; empty for one of a newer release.
func replyLabel(r incident.Reason) string {
	switch r {
	case incident.Opened:
		return "Evidence"
	case incident.Reopened, incident.FailedAgain:
		return "Back"
	case incident.IsWorse:
		return "Worse"
	case incident.IsUnsilenced:
		return "Silence over"
	case incident.HasJoined:
		return "Also failing"
	case incident.HasMissed:
		return "Missed roll call"
	case incident.CauseGone:
		return "Cause gone"
	case incident.IsProved:
		return "Resolved"
	case incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn:
		return "Closed"
	case incident.IsProposed:
		return "Fix offered"
	case incident.IsApproved:
		return "Approved"
	case incident.IsRefused:
		return "Refused"
	case incident.RemedyDone:
		return "Done"
	case incident.RemedyFailed:
		return "Not done"
	case incident.IsVerified:
		return "Fixed"
	case incident.IsUnhelpful:
		return "Not fixed"
	case incident.IsDeferred:
		return "Waiting"
	case incident.HasChanges:
		return "Changes"
	case incident.IsCalled, incident.IsReminded:
		return "Needs an owner"
	case incident.IsTakenOver:
		return "New owner"
	}
	return ""
}

// inTime is how long a launch had, where that is known.
func inTime(d time.Duration) string {
	if d < time.Minute {
		return "in time"
	}
	return "within " + slacktext.Span(d.Truncate(time.Minute))
}

// missing names who missed roll call.
func missing(n incident.Note) string {
	const most = 5
	names := slices.Clone(n.Instances[:min(len(n.Instances), most)])
	for k, name := range names {
		names[k] = slacktext.Clip(slacktext.OneLine(name), 40)
	}
	if left := max(n.Count, len(n.Instances)) - len(names); left > 0 {
		return strings.Join(names, ", ") + " and " + slacktext.Number(left) + " more"
	}
	return slacktext.Few(names, most, 40)
}

// named lists the instances that a note is about.
func (p *page) named(i incident.Incident, n incident.Note) {
	var list []report.Launch
	for _, id := range n.Instances {
		at := slices.IndexFunc(i.Launches, func(l report.Launch) bool { return l.Instance == id })
		if at < 0 {
			list = append(list, report.Launch{Instance: id})
			continue
		}
		list = append(list, i.Launches[at])
	}
	p.roll(list, n.Count)
}

// also names the checks that belong to this cause, so that nobody hunts them.
func (p *page) also(i incident.Incident) {
	names := func(list []checks.ID) []string {
		s := make([]string, len(list))
		for n, id := range list {
			s[n] = string(id)
		}
		return s
	}
	var hidden []checks.ID
	for _, h := range i.Cause.Hidden {
		hidden = append(hidden, h.Check)
	}
	var parts []slackgo.RichTextElement
	add := func(label string, list []string) {
		if len(list) > 0 {
			parts = append(parts, p.label(label).plain(slacktext.Few(list, 8, 60)+".").section())
		}
	}
	add("Caused by this", slacktext.Distinct(append(names(i.Cause.Symptoms), names(hidden)...)...))
	add("Makes it worse", slacktext.Distinct(names(i.Cause.Contributing)...))
	p.add(parts...)
}

// notWatched says by which setting nobody looks any more.
func notWatched(i incident.Incident) string {
	setting := "setting clusters"
	if !i.Key.Spoke.Hub() {
		setting = "setting spokes or clusters"
	}
	return "It was taken out of the settings (" + setting + "): nobody looks at it any more, and it may still fail. Reopens if it is watched again and still fails."
}
