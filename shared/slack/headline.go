package slack

import (
	"strings"
	"unicode"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
)

// The colours of the first line. Each also stands beside words that say the same.
const (
	red    = "🔴" // nodes do not join, and it is known or certain
	orange = "🟠" // nodes may not join, or nobody is affected yet
	blue   = "🔵" // advice
	yellow = "🟡" // the cause is gone, the proof is awaited
	green  = "✅"
	white  = "⚪" // closed without a proof
)

// headline is the first line of the message: colour, place, what, why.
func headline(i incident.Incident) string {
	colour, what := verdict(i)
	place := where(i)
	return colour + " " + place + " · " + unnamed(what, place)
}

// unnamed leaves a nodegroup's name out of what is said of it, where the place
// before it has just named that one alone: "prod / workers · cannot launch".
func unnamed(what, place string) string {
	_, group, _ := strings.Cut(place, " / ")
	if group == "" {
		return what
	}
	if rest, ok := strings.CutPrefix(what, "nodegroup "+group+" "); ok {
		return "nodegroup " + rest
	}
	if rest, ok := strings.CutPrefix(what, group+" cannot launch"); ok {
		return "cannot launch" + rest
	}
	return what
}

// where names the cluster and its nodegroups: those of the affected launches,
// or, where none is affected or known by it, all that the cause is about.
func where(i incident.Incident) string {
	var names []string
	for _, l := range i.Launches {
		names = append(names, l.Nodegroup)
	}
	if len(slacktext.Distinct(names...)) == 0 {
		names = i.Cause.Nodegroups
	}
	place := slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60)
	if i.Key.Cluster == report.AllClusters {
		place = "all clusters"
	}
	place = slacktext.Place(place, i.Whose)
	if groups := affected(slacktext.Distinct(names...)); groups != "" {
		place += " / " + groups
	}
	return place
}

// affected names four nodegroups if their names are short, else two.
func affected(names []string) string {
	const most, room = 4, 48
	if len(names) <= most && slacktext.Length(strings.Join(names, ", ")) <= room {
		return slacktext.Few(names, most, room)
	}
	return slacktext.Few(names, 2, 40)
}

// title is what the cause is, as the end of a sentence.
func title(i incident.Incident) string {
	if t := slacktext.OneLine(i.Cause.Title); t != "" {
		return strings.TrimSuffix(slacktext.Clip(t, 160), ".")
	}
	return strings.TrimSpace(slacktext.Clip(slacktext.OneLine(string(i.Key.Check)+" "+i.Key.Resource), 160))
}

func verdict(i incident.Incident) (colour, what string) {
	switch i.State {
	case incident.Cleared:
		if well := addressesAre(i); well != "" {
			return yellow, well + ", waiting for a new node to join" + colon(cameBack(i))
		}
		if i.Replacing() {
			return yellow, "cause is gone, instances still to be replaced" + colon(change(i.ClearedBy))
		}
		return yellow, "cause is gone, waiting for a new node to join" + colon(change(i.ClearedBy))
	case incident.Closed:
		return closed(i)
	}
	colour, what = failing(i, tallyOf(i))
	if i.Number > 1 {
		fact, cause, _ := strings.Cut(what, ": ")
		what = fact + ", for the " + slacktext.Ordinal(i.Number) + " time" + colon(cause)
	}
	return colour, what
}

// failing is the verdict on an incident that is open.
func failing(i incident.Incident, t tally) (colour, what string) {
	switch confidence := i.Cause.Confidence; {
	case i.Key.Check == incident.CannotLook:
		return orange, title(i)
	case i.Key.Check == checkid.InstanceEndedEarly && t.gone > 1:
		// The newest finding is of the last one; a group that keeps trying
		// makes many.
		return red, slacktext.Count(t.gone, "instance") + " ended before they were nodes"
	case i.Key.Check == checkid.InstanceEndedEarly:
		return red, title(i) // its title says who and what
	case confidence == checks.Advice:
		return blue, "worth fixing" + colon(continued(title(i)))
	case t.all == 0:
		return nobody(i, confidence)
	case confidence == checks.Certain && t.joined == 0 && checks.Meaning(i.Key.Check).Breaks == check.Launching:
		// Each instance was one try of the group to launch: their number grows
		// with the hours, and is not how many nodes are missing.
		return red, title(i) + ", " + slacktext.Count(t.all, "failed launch") + " so far"
	case t.out() == 0 && ownFailure(i.Key.Check):
		return nobody(i, confidence) // who joined is not what it is about
	case t.out() == 0:
		return orange, slacktext.Count(t.all, "instance") + " joined all the same, but " + title(i)
	case t.early():
		return predicted(i, t, confidence)
	default:
		return missed(i, t, confidence)
	}
}

// ownFailure tells a check whose finding fails something by itself, whether nodes
// join or not: a subnet without addresses keeps pods from starting, a zone volumes
// from being used.
func ownFailure(id checks.ID) bool { return checks.Meaning(id).Breaks.ByItself() }

// nobody is for a cause that no launch has met yet. What is no cause of a
// failed join, but a failure of its own, says so itself.
func nobody(i incident.Incident, c checks.Confidence) (colour, what string) {
	switch checks.Meaning(i.Key.Check).Breaks {
	case check.Launching:
		return red, title(i)
	case check.Addresses:
		if worse(i) {
			return red, title(i) + pick(i.Key.Check == checkid.IPLeakedInterfaces, ", and too few are left", "")
		}
		return orange, title(i)
	case check.Pods:
		return zoneFails(i, c)
	case check.Managed:
		return orange, title(i)
	}
	if len(i.Cause.Pods) > 0 {
		// It is about nodes that joined: what it keeps from starting is their pods.
		return orange, "pods wait on Ready nodes" + colon(continued(title(i)))
	}
	switch c {
	case checks.Certain:
		return orange, "new instances cannot join" + colon(continued(title(i)))
	case checks.Likely:
		return orange, "new instances will probably not join" + colon(continued(title(i)))
	case checks.Possible:
		return orange, "new instances may not join" + colon(continued(title(i)))
	}
	return orange, title(i)
}

// predicted is for launches that are not due yet.
func predicted(i incident.Incident, t tally, c checks.Confidence) (colour, what string) {
	switch c {
	case checks.Certain:
		return red, t.who() + " will not be able to join" + colon(continued(title(i)))
	case checks.Likely:
		return orange, t.who() + " will probably not join" + colon(continued(title(i)))
	case checks.Possible:
		return orange, t.who() + " may not join" + colon(continued(title(i)))
	}
	if len(i.Blind) > 0 {
		return orange, "cannot judge " + slacktext.Count(t.out(), "new instance") + ": " + unseen(i)
	}
	return orange, t.who() + pick(t.out() == 1, " has", " have") + " not joined yet" + colon(continued(title(i)))
}

// missed is for launches that were due and are not Ready nodes.
func missed(i incident.Incident, t tally, c checks.Confidence) (colour, what string) {
	fact := t.who() + pick(t.out() == 1, " has", " have") + " not joined"
	if t.ended() {
		fact = t.who() + " ended before joining"
	}
	switch {
	case c == checks.Certain:
		return red, t.who() + " cannot join" + colon(continued(title(i)))
	case c == checks.Likely:
		return red, fact + ", likely cause" + colon(continued(title(i)))
	case c == checks.Possible:
		return red, fact + ", possible cause" + colon(continued(title(i)))
	case len(i.Blind) > 0:
		return red, fact + ", cause unknown: " + unseen(i)
	}
	return red, fact + ", no cause found" + colon(continued(title(i)))
}

// unseen names the sources that could not be read.
func unseen(i incident.Incident) string {
	return "could not look at " + slacktext.Few(sources(i.Blind), 3, 40)
}

func sources(failures []snapshot.Failure) []string {
	names := make([]string, len(failures))
	for n, f := range failures {
		names[n] = string(f.Source)
	}
	return slacktext.Distinct(names...)
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// continued makes a sentence the end of another: "User data of lt-1" begins
// small, "STS" and ids stay.
func continued(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsUpper(r[0]) && unicode.IsLower(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}
