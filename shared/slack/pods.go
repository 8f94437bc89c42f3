package slack

import (
	"strings"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
)

// podsText is who is hurt: the workloads whose pods wait for an incident's cause, that none
// do, or why that is not known. It is empty where the incident is about no cluster, or about
// an account and region of which nothing can be read, which its message says.
func podsText(i incident.Incident) string {
	p := i.Pods
	switch {
	case i.Key.Cluster == report.AllClusters, i.Key.Check == incident.CannotLook && i.Key.Resource == report.AssumeRole:
		return ""
	case p == nil && len(i.Cause.Pods) > 0:
		return slacktext.Count(len(i.Cause.Pods), "pod") + pick(len(i.Cause.Pods) == 1, " is", " are") + " waiting: " + slacktext.Few(i.Cause.Pods, incident.ShownWorkloads, 120) + "."
	case p == nil:
		return "Not checked yet."
	case p.Unread != nil:
		return "Unknown: " + podsUnread(*p.Unread) + "."
	case p.OfCluster && p.Count > 0:
		return waitingText(*p) + pick(p.Count == 1, ". Whether it waits for this is unknown.", ". How many of them wait for this is unknown.")
	case p.OfCluster:
		return "No pods are waiting in the cluster."
	case p.Count == 0 && p.Unsure == 0:
		return "No pods are waiting for this."
	case p.Count == 0:
		return slacktext.Count(p.Unsure, "pod") + " may be waiting for this."
	}
	text := waitingText(*p) + "."
	if p.Unsure > 0 {
		text += " " + slacktext.Number(p.Unsure) + " more may be waiting for this."
	}
	if p.Served > 0 {
		text += pick(p.Elsewhere.Group == "", " NodePool ", " Nodegroup ") + clipped(p.Elsewhere.Name) + " can run " + pick(p.Served == p.Count, pick(p.Count == 1, "it", "all of them"), slacktext.Number(p.Served)+" of them") + "."
	}
	return text
}

// waitingText is how many pods wait, and whose they are.
func waitingText(p incident.PodImpact) string {
	text := slacktext.Count(p.Count, "pod") + pick(p.Count == 1, " is", " are") + " waiting" + pick(p.OfCluster, " in the cluster", "")
	var owners []string
	for _, w := range p.Workloads {
		kind, name, _ := strings.Cut(w.Owner, " ")
		owner := clipped(kind + " " + w.Namespace + "/" + name)
		if p.Owners > 1 && kind != "Pod" {
			owner += " (" + slacktext.Number(w.Pods) + ")"
		}
		owners = append(owners, owner)
	}
	if left := p.Owners - len(owners); left > 0 {
		owners = append(owners, slacktext.Count(left, "more workload"))
	}
	if len(owners) == 0 {
		return text
	}
	return text + ": " + strings.Join(owners, ", ")
}

// podsUnread is why the pods are not known.
func podsUnread(f snapshot.Failure) string {
	call := clipped(f.Call)
	switch {
	case f.Reason == snapshot.Denied && call != "":
		return "permission `" + call + "` is missing"
	case f.Reason == snapshot.NotRead && call == "":
		return "pods were not read in the last " + slacktext.Span(incident.LookHolds)
	case call != "":
		return "`" + call + "` failed (" + clipped(string(f.Reason)) + ")"
	}
	return "pods were not read (" + clipped(string(f.Reason)) + ")"
}

// clipped is a name that comes from a cluster, as text that ends somewhere and marks up nothing.
func clipped(s string) string {
	return strings.ReplaceAll(slacktext.Clip(slacktext.OneLine(s), 80), "`", "'")
}
