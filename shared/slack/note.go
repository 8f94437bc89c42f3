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
	says := top
	if n.Line {
		top = lineTop(i, n, says)
	}
	return slackapi.Message{
		Text: calling(n.Mention) + slacktext.Notification(top.String()),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{i.Partition, i.Region}, n.At, room)
			p.add(p.line().mention(n.Mention).saying(top).section())
			if n.Line {
				p.inChannel(i, n, says)
			}
			if acted {
				p.act(i, n)
			}
			switch n.Reason {
			case incident.CauseGone, incident.IsProved, incident.IsUnproved:
				if change(n.Evidence) == "" {
					p.evidence("Found now", n.Evidence)
				}
			default:
				p.evidence("Evidence", n.Evidence)
			}
			if n.Reason != incident.HasMissed {
				p.named(i, n)
			}
			p.facts(n.Facts)
			if n.Reason == incident.Opened || n.Reason == incident.Reopened {
				p.also(i)
			}
			if i.Key.Check != incident.CannotLook {
				p.blind(n.Blind)
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
		return "What Rollcall looked at:"
	case incident.Reopened:
		return "It is back, the " + slacktext.Ordinal(max(i.Number, 2)) + " time. What Rollcall looked at:"
	case incident.FailedAgain:
		return "The cause is back, before a node could prove that it was gone."
	case incident.IsWorse:
		return "This was a warning until now."
	case incident.HasJoined:
		return slacktext.Sentence("This belongs here too" + colon(continued(slacktext.Clip(slacktext.OneLine(n.Says), 160))))
	case incident.HasMissed:
		if n.Count == 0 || len(n.Instances) == 0 {
			return "Missed roll call: not Ready " + inTime(n.Within) + "."
		}
		return slacktext.Count(n.Count, "instance") + " not Ready " + inTime(n.Within) + ": " + missing(n) + "."
	case incident.CauseGone:
		return gone(i, n) + " Waiting for a node to prove it."
	case incident.IsProved:
		if i.Key.Check == incident.CannotLook {
			return slacktext.Clip(slacktext.OneLine(i.Key.Resource), 80) + " works again. What it hides is judged again from now on."
		}
		line := gone(i, n)
		if n.Launch != nil {
			line += " " + slacktext.Sentence(proof(*n.Launch))
		}
		return line + " Resolved after " + slacktext.Span(outage(i)) + "."
	case incident.IsUnproved:
		return gone(i, n) + " No instance was launched since that could prove it, so this closes without a proof. It opens again if the cause comes back."
	case incident.IsSuperseded:
		if i.By == nil || !ofSubnet(i) && i.By.Check != checkid.IPLeakedInterfaces {
			return slacktext.Sentence("Closed: " + theirs(i))
		}
		return slacktext.Sentence("Closed: " + gaveWay(i))
	case incident.IsWithdrawn:
		switch i.Resolution {
		case incident.ClusterDeleted:
			return "Closed: EKS has no cluster " + slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60) + " any more."
		case incident.Unseen:
			return "Closed: nothing was heard of it since " + heard(i) + ". Is the cluster still watched (setting clusters), and do the sweeps work? If it still fails it opens again with the next look."
		}
		return slacktext.Sentence("Closed: " + missingNow(i))
	case incident.IsGivenUpOn:
		return "Still not a node, and no longer looked at (setting giveUp). Terminate what is not needed; a new launch is looked at anew."
	}
	return "Update: " + headline(i)
}

// gone says what is well now.
func gone(i incident.Incident, n incident.Note) string {
	if well := addressesAre(i); well != "" && cameBack(i) != "" {
		return slacktext.Sentence(capital(well) + colon(cameBack(i)))
	}
	return slacktext.Sentence("The cause is gone" + colon(change(n.Evidence)))
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
	add("Explained by this", slacktext.Distinct(append(names(i.Cause.Symptoms), names(hidden)...)...))
	add("Makes it worse", slacktext.Distinct(names(i.Cause.Contributing)...))
	p.add(parts...)
}
