package slack

import (
	"slices"
	"strings"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/slack/slacktext"
)

// ofZone reports whether an incident is about a zone or a NodePool: no instance is
// kept from joining, pods are kept from starting.
func ofZone(i incident.Incident) bool { return catalog.Meaning(i.Key.Check).Breaks == catalog.Pods }

// zoneFails is the verdict on a zone: whether pods wait already decides how
// urgent it is.
func zoneFails(i incident.Incident, c catalog.Confidence) (colour, what string) {
	colour = pick(i.PodsWait(), red, orange)
	if i.Key.Check != checkid.ZoneNodegroupGap && i.Key.Check != checkid.ZoneVolumeStranded {
		return colour, title(i)
	}
	zones := slacktext.Few(i.Cause.Covers, 3, 40)
	if zones == "" {
		return colour, title(i)
	}
	if !i.PodsWait() {
		return colour, continued(title(i)) + pick(c == catalog.Possible, ", judging by tags only", "")
	}
	pods := i.Cause.Pods
	who := slacktext.Clip(slacktext.OneLine(pods[0]), 120)
	if n := len(pods) - 1; n > 0 {
		who += " and " + slacktext.Count(n, "more pod")
	}
	cannot := pick(c == catalog.Certain, " cannot start: ", pick(len(pods) == 1, " has not started, likely cause: ", " have not started, likely cause: "))
	volume := pick(len(pods) == 1, "its volume is", "their volumes are")
	if len(i.Cause.Covers) > 1 {
		volume = pick(len(pods) == 1, "its volumes are", "their volumes are")
	}
	return colour, who + cannot + volume + " in " + zones + pick(i.Key.Check == checkid.ZoneNodegroupGap, ", and no node is there", ", and no node can launch there")
}

// zoneWell is the end of an incident about a zone: what fixed it, as far as it
// is known. That a node is there is said only where the check saw one.
func zoneWell(i incident.Incident) string {
	what := "healthy again"
	how := change(i.ClearedBy)
	switch zone := nodeSeen(i); {
	case zone != "":
		what, how = "a node is in "+zone+" again", ""
	case nodeComes(i) != "":
		what, how = "a node is on its way to "+nodeComes(i), ""
	case i.Key.Check == checkid.ZoneImpaired:
		what, how = slacktext.Clip(slacktext.OneLine(i.Key.Resource), 40)+" is healthy again", ""
	}
	if raised := coverDone(i); raised != "" {
		how = raised
	}
	if what == "healthy again" && how == "" {
		what, how = "no longer failing", continued(title(i))
	}
	what += " after " + slacktext.Span(outage(i)) + colon(how)
	if by := fixer(i); by != "" {
		what += " (" + by + ")"
	}
	return what
}

// nodeSeen is the zone of the incident in which the check that passed saw a
// node: "1 node there, 1 volume". A node on its way is none.
func nodeSeen(i incident.Incident) string {
	for _, e := range i.ClearedBy {
		n, rest, _ := strings.Cut(strings.TrimSpace(slacktext.Clean(e.Value)), " ")
		digits := n != "" && strings.Trim(n, "0123456789") == "" && n != "0"
		if digits && (strings.HasPrefix(rest, "node there") || strings.HasPrefix(rest, "nodes there")) && slices.Contains(i.Covers, e.What) {
			return slacktext.Clip(slacktext.OneLine(e.What), 40)
		}
	}
	return ""
}

// nodeComes is the zone of the incident to which a node is on its way.
func nodeComes(i incident.Incident) string {
	for _, e := range i.ClearedBy {
		if strings.HasPrefix(slacktext.Clean(e.Value), "no node there, 1 on its way") && slices.Contains(i.Covers, e.What) {
			return slacktext.Clip(slacktext.OneLine(e.What), 40)
		}
	}
	return ""
}

// coverDone is what a remedy of ours did that helped: "desired 2 → 3".
func coverDone(i incident.Incident) string {
	for _, of := range latest(i) {
		if change := of.Plan.Change(); change != "" && of.State == incident.Helped && of.Run != nil && of.Run.Result == remedy.Done {
			return change
		}
	}
	return ""
}
