package slack

import (
	"math/rand/v2"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// wild makes incidents that nobody would.
type wild struct{ *rand.Rand }

func (w wild) text(most int) string {
	parts := []string{
		"subnet-0ab1c2d3e4f5a6b7c ", "<!channel> ", "`", "```", "🔥", "\x00", "\x1b[0m", "\u202e", "&<>", "\n", "\r", "\u2028Approved by ", "\u2029", "\t", "é", "i-0ef3a5b ",
		"rtb-0cd2 ", "10.0.0.0/8 ", "\\\"", "\xff\xfe", "a very plain word ", "日本語", strings.Repeat("x", 300), "http://x.y/z ", ": ", "<@U1|x> ",
	}
	var b strings.Builder
	if w.IntN(4) == 0 {
		return ""
	}
	for b.Len() < w.IntN(most)+1 {
		b.WriteString(parts[w.IntN(len(parts))])
	}
	return b.String()
}

func (w wild) some(most int) []string {
	list := make([]string, w.IntN(most+1))
	for n := range list {
		list[n] = w.text(120)
	}
	return list
}

func (w wild) time() time.Time {
	switch w.IntN(6) {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(-5, 0)
	}
	return time.Unix(w.Int64N(4e9), 0)
}

func (w wild) evidence() []checks.Evidence {
	list := make([]checks.Evidence, w.IntN(40))
	for n := range list {
		list[n] = checks.Evidence{What: w.text(80), Value: w.text(900)}
	}
	return list
}

func (w wild) launch() report.Launch {
	standings := []report.LaunchStatus{report.Waiting, report.Missed, report.Joined, report.Gone, report.GivenUp, "", "odd"}
	return report.Launch{
		Instance: w.text(60), Nodegroup: w.text(80), Group: w.text(80), Subnet: w.text(40), Zone: w.text(40), Type: w.text(40),
		Started: w.time(), Status: standings[w.IntN(len(standings))], Ready: w.time(), Ended: w.time(), EndedWhy: w.text(3000),
	}
}

func (w wild) blind() []snapshot.Failure {
	reasons := []snapshot.Reason{snapshot.Denied, snapshot.Throttled, snapshot.TimedOut, snapshot.Unreachable, snapshot.Broken, snapshot.NotRead, ""}
	list := make([]snapshot.Failure, w.IntN(20))
	for n := range list {
		list[n] = snapshot.Failure{
			Source: snapshot.Source(w.text(60)), Reason: reasons[w.IntN(len(reasons))], Call: w.text(200), Code: w.text(60), Message: w.text(5000),
		}
	}
	return list
}

func (w wild) facts() []report.Fact {
	list := make([]report.Fact, w.IntN(40))
	for n := range list {
		list[n] = report.Fact{What: w.text(300), Value: w.text(5000)}
	}
	return list
}

func (w wild) incident() incident.Incident {
	pick := func(list ...string) string { return list[w.IntN(len(list))] }
	i := incident.Incident{
		Key:    report.Key{Cluster: w.text(200), Check: checks.ID(pick("route/no-egress", string(incident.CannotLook), "ip/leaked-interfaces", "ip/runway", "zone/nodegroup-gap", "zone/volume-stranded", "zone/impaired", w.text(200))), Resource: w.text(200)},
		Region: pick("us-west-2", "eu-central-1", w.text(30)), Partition: pick("aws", "aws-cn", "aws-us-gov", w.text(10)),
		State: incident.State(pick("open", "cleared", "closed", "pending", "odd")), Resolution: incident.Resolution(pick("proved", "unproved", "superseded", "withdrawn", "", "odd")),
		Number: w.IntN(5), Began: w.time(), Changed: w.time(), Cleared: w.time(), Resolved: w.time(),
		Cause: diagnose.Cause{
			Confidence: checks.Confidence(pick("certain", "likely", "possible", "symptom", "advice", "odd")),
			Title:      w.text(500), Why: w.text(9000), Evidence: w.evidence(), Nodegroups: w.some(40), Covers: w.some(9), Pods: w.some(9),
			Fix: checks.Fix{Text: w.text(4000), Command: w.text(8000), Console: pick("", "https://console.aws.amazon.com/"+strings.Repeat("a", w.IntN(4000)), "javascript:alert(1)", w.text(90))},
		},
		Affected: w.IntN(5000), ClearedBy: w.evidence(), Blind: w.blind(),
	}
	if w.IntN(2) == 0 {
		i.Chart = &incident.Chart{File: pick("", "F0123456789"), Alt: w.text(5000)}
		i.By = &report.Key{Check: checks.ID(pick("ip/leaked-interfaces", "ip/subnet-exhausted", w.text(50))), Resource: w.text(90)}
	}
	w.acts(&i)
	for range w.IntN(12) {
		i.Effects = append(i.Effects, incident.Effect{Check: checks.ID(pick("ip/runway", "launch/subnet-full", w.text(30))), Title: w.text(900), Since: w.time(), Last: w.time(), Told: w.time(), Apart: w.IntN(2) == 0})
	}
	for range w.IntN(400) {
		i.Launches = append(i.Launches, w.launch())
	}
	for _, s := range w.some(30) {
		i.Cause.Hidden = append(i.Cause.Hidden, diagnose.Hidden{Check: checks.ID(s)})
		i.Cause.Contributing = append(i.Cause.Contributing, checks.ID(s))
		i.Cause.Symptoms = append(i.Cause.Symptoms, checks.ID(s))
	}
	if w.IntN(2) == 0 {
		l := w.launch()
		i.Proof = &l
	}
	for _, r := range append(reasons(), "odd") {
		if w.IntN(3) > 0 {
			continue
		}
		n := incident.Note{
			ID: string(r) + "-2", Reason: r, Says: w.text(900), At: w.time(), Count: w.IntN(3000), Evidence: w.evidence(), Facts: w.facts(), Launch: i.Proof, Blind: w.blind(),
		}
		n.Mention = w.some(12)
		if w.IntN(2) == 0 {
			n.Mention = append(n.Mention, "U0ONCALL01", "S0LEADS001", "here", "channel", "everyone")
			n.Offer, n.RecentChanges = w.offer(), w.trail()
		}
		for range w.IntN(incident.MaxNamed) {
			n.Instances = append(n.Instances, w.text(60))
		}
		i.Delivery.Notes = append(i.Delivery.Notes, n)
	}
	return i
}
