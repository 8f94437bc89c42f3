package slack

import (
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
)

// worksAgain says what can be looked at again.
func worksAgain(i incident.Incident) string {
	switch i.Key.Resource {
	case report.AssumeRole:
		return "the role there lets Rollcall in again"
	case report.KubernetesAPI:
		return "its Kubernetes API answers again"
	}
	return slacktext.Clip(slacktext.OneLine(i.Key.Resource), 80) + " works again"
}

// closed is the first line of an incident that is over: how it ended, and what
// was seen.
func closed(i incident.Incident) (colour, what string) {
	switch i.Resolution {
	case incident.Proved:
		if i.Key.Check == incident.CannotLook {
			return green, worksAgain(i) + " after " + slacktext.Span(outage(i))
		}
		if addressesAre(i) != "" {
			what = addressesWell(i)
			if i.Proof != nil {
				what += "; " + proof(*i.Proof)
			}
			return green, what
		}
		if ofZone(i) {
			return green, zoneWell(i)
		}
		if i.ByItself() {
			return green, clearedWithoutNode(i)
		}
		what = "joined again after " + slacktext.Span(outage(i)) + colon(change(i.ClearedBy))
		if by := fixer(i); by != "" {
			what += " (" + by + ")"
		}
		if i.Proof != nil {
			what += "; " + proof(*i.Proof)
		}
		return green, what
	case incident.Unproved:
		if well := addressesAre(i); well != "" {
			return white, well + ", no launch since to confirm it" + colon(cameBack(i))
		}
		return white, "cause is gone, no launch since to confirm it" + colon(change(i.ClearedBy))
	case incident.Superseded:
		return white, "closed, " + gaveWay(i)
	case incident.Withdrawn:
		return white, "closed, " + missingNow(i)
	case incident.ClusterDeleted:
		return white, "closed, cluster " + slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60) + " was deleted"
	case incident.Unwatched:
		return white, "closed, no longer watched, may still fail" + colon(continued(title(i)))
	case incident.Unseen:
		return white, "closed, not checked since " + heard(i) + ", may still fail" + colon(continued(title(i)))
	case incident.GivenUpOn:
		// Not green and not white: nothing got better, only the looking stopped.
		return red, slacktext.Count(i.Affected, "instance") + " never joined, no longer checked" + colon(continued(title(i)))
	}
	return white, "closed" + colon(continued(title(i)))
}

// clearedWithoutNode is the end of what is over when it is otherwise, with no node to prove it.
func clearedWithoutNode(i incident.Incident) string {
	how, after := change(i.ClearedBy), " after "+slacktext.Span(outage(i))
	name := slacktext.Clip(slacktext.OneLine(i.Key.Resource), 80)
	switch i.Key.Check.Family() {
	case checkid.Addon:
		name = "add-on " + name
	case checkid.Nodegroup:
		name = "nodegroup " + name
	case checkid.Cluster:
		name = "the cluster"
	default:
		if how == "" {
			return "no longer failing" + after + colon(continued(title(i)))
		}
		return "well again" + after + colon(how)
	}
	// The evidence is of the same thing: its name is said once.
	how = strings.TrimPrefix(strings.TrimPrefix(how, slacktext.OneLine(i.Key.Resource)+": "), slacktext.OneLine(i.Key.Resource)+" is ")
	return name + " is well again" + after + colon(how)
}

// missingNow says what is there no more, and with it the cause.
func missingNow(i incident.Incident) string {
	names := slacktext.Distinct(i.Covers...)
	if len(names) == 0 {
		return "what this was about no longer exists" + colon(continued(title(i)))
	}
	return slacktext.Few(names, 2, 40) + pick(len(names) == 1, " no longer exists", " no longer exist")
}

// heard is the day of the last that was heard of an incident that nothing is heard
// of any more.
func heard(i incident.Incident) string { return i.Heard().UTC().Format("2 January") }

// outage is from the first affected launch, or refused look, to its end: the same two
// times that "When" names.
func outage(i incident.Incident) time.Duration {
	at, _ := end(i)
	return at.Sub(i.Began)
}

// end is when it was over, and what was seen then: the first Ready node; that it is
// otherwise, where no node is waited for; else that it was closed.
func end(i incident.Incident) (at time.Time, what string) {
	switch {
	case i.Proof != nil && !i.Proof.Ready.IsZero():
		return i.Proof.Ready, "first Ready node"
	case (i.Key.Check == incident.CannotLook || i.ByItself()) && i.Resolution == incident.Proved && !i.Cleared.IsZero():
		return i.Cleared, wellAgain
	}
	return i.Resolved, "closed"
}

// wellAgain is the end of what is its own proof.
const wellAgain = "well again"

// proof says which launch showed that the cause is gone.
func proof(l report.Launch) string {
	if d, ok := joinTime(l); ok {
		return slacktext.Clip(slacktext.OneLine(l.Instance), 40) + " Ready " + slacktext.Span(d) + " after launch"
	}
	return slacktext.Clip(slacktext.OneLine(l.Instance), 40) + " is Ready"
}

// change is what made the cause go away, if it can be said in a few words:
// "rtb-0cd2 has 0.0.0.0/0 → nat-0aa4".
func change(list []checks.Evidence) string {
	const longest = 120
	if len(list) != 1 {
		return ""
	}
	what, value := slacktext.OneLine(list[0].What), strings.TrimSpace(slacktext.Clean(list[0].Value))
	if what == "" || value == "" || slacktext.Length(what+value) > longest || strings.Contains(value, "\n") {
		return ""
	}
	switch {
	case strings.HasPrefix(value, "has "), strings.HasPrefix(value, "is "):
		return what + " " + value
	case ids.FindString(what) == what && strings.ContainsAny(value[:1], "0123456789:"):
		return what + " has " + value // a row of a route table
	}
	return what + ": " + value
}
