package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

func Shifted() check.Check {
	return check.Check{
		ID:         checkid.ZoneShifted,
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		Title:      "A zonal shift keeps nodes and launches out of a zone",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.ZoneWatch},
		Predictive: true,
		Optional:   true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.ZonalShifts},
		Uses:       append(zoneUses(), snapshot.VolumesOf),
		After:      []checkid.ID{checkid.ZoneImpaired},
		Cause: "A zonal shift or zonal autoshift of Amazon Application Recovery Controller moves the cluster, or an Auto Scaling group, away from a zone. During a cluster's shift EKS cordons the nodes there, and managed nodegroups, EKS Auto Mode and Karpenter (with its integration on) launch in other zones only; a group's own shift keeps its launches out. " +
			"It is certain where a pod waits that can run in that zone alone and nothing else can bring a node there, likely where a node could still come, where the cordoned nodes are missing to pods, where a group has no other zone, or where a claim holds a volume there and no pod waits yet, and advice where nothing waits. A practice run that nothing waits for is not reported.",
		Fix: "Leave the shift in place while the zone is not well. Once it is, cancel the shift or let it expire. Raising a desired count brings no node to the zone meanwhile.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-zonal-shift.html",
			"https://docs.aws.amazon.com/r53recovery/latest/dg/arc-zonal-autoshift.html",
		},
		Run: runShifted,
	}
}

func runShifted(s *facts.View) []finding.Finding {
	p := zones.Of(s)
	pass := finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name}
	var list []finding.Finding
	var away []string
	for _, z := range p.Zones() {
		if p.ShiftIn(z) != nil {
			away = append(away, z)
		}
	}
	unread := finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Blocked: p.ShiftsUnread()}
	for _, z := range p.Zones() {
		x := p.ShiftIn(z)
		switch {
		case x == nil && len(unread.Blocked) > 0:
			unread.Covers = append(unread.Covers, z)
		case x == nil:
			pass.Covers = append(pass.Covers, z)
		default:
			h := impactOf(p, x, away)
			if h.none() && !slices.ContainsFunc(x.Of, func(o snapshot.Shift) bool { return o.Kind != snapshot.PracticeRun }) {
				pass.Covers = append(pass.Covers, z)
				pass.Evidence = append(pass.Evidence, finding.Evidence{What: z, Value: describe(p, x.Of[0]) + "; nothing waits for the zone"})
				continue
			}
			list = append(list, shiftedFinding(p, x, h))
		}
	}
	if len(unread.Covers) > 0 {
		list = append(list, unread)
	}
	if len(pass.Covers) > 0 || len(list) == 0 {
		list = append(list, pass)
	}
	return list
}

// impact is what a shift keeps waiting.
type impact struct {
	// pods can run in the shifted zones alone, and crowded ones for want of the cordoned
	// nodes' room; homes are the pods' volumes, or what claims hold though no pod waits.
	pods, crowded []*snapshot.WaitingPod
	homes         []zones.VolumePlacement
	// groups have no other zone, and fewer instances than they want.
	groups     []string
	confidence finding.Confidence
}

func (h impact) none() bool { return len(h.pods)+len(h.crowded)+len(h.homes)+len(h.groups) == 0 }

func impactOf(p *zones.Zones, x *zones.Shift, away []string) impact {
	h := impact{confidence: finding.Likely}
	wanted := p.Wanted(away)
	for i := range p.S.WaitingPods {
		pod := &p.S.WaitingPods[i]
		l, waits := wanted[pod]
		if !waits || !x.Keeps(pod) || l != nil && !slices.Contains(l.Home.Zones, x.Zone) || l == nil && !slices.Contains(zones.PodZones(pod), x.Zone) {
			continue
		}
		h.pods = append(h.pods, pod)
		if l != nil && !slices.ContainsFunc(h.homes, func(o zones.VolumePlacement) bool { return o.Home.ID == l.Home.ID }) {
			h.homes = append(h.homes, *l)
		}
		if keptOut(pod) && p.S.Has(snapshot.Nodes) && (x.Cluster || len(p.NodesIn[x.Zone]) == 0) && !p.CanCome([]string{x.Zone}, pod) {
			h.confidence = finding.Certain
		}
	}
	if len(h.pods) == 0 {
		for _, l := range zones.VolumesOf(p.S) {
			if l.State == zones.Stranded && l.Home.Held != zones.HeldNo && slices.Contains(l.Home.Zones, x.Zone) && x.Keeps(nil) {
				h.homes = append(h.homes, l)
			}
		}
	}
	if x.Cordoned() > 0 && x.Cluster {
		for i := range p.S.WaitingPods {
			pod := &p.S.WaitingPods[i]
			if waits, _ := p.Settled([]*snapshot.WaitingPod{pod}); len(waits) > 0 && !slices.Contains(h.pods, pod) && x.Keeps(pod) && crowded(pod) {
				h.crowded = append(h.crowded, pod)
			}
		}
	}
	for _, r := range x.Sources {
		in := len(slices.DeleteFunc(slices.Clone(r.Group.Instances), func(i snapshot.GroupInstance) bool { return i.Lifecycle != "InService" }))
		elsewhere := slices.ContainsFunc(r.Zones, func(z string) bool { return r.Shifted(z) == "" })
		if !elsewhere && r.Idle == "" && !r.Group.Weighted && in < r.Group.Desired {
			h.groups = append(h.groups, r.Name())
		}
	}
	return h
}

// keptOut reports whether the scheduler names the zone, or cordoned nodes, as what keeps a
// pod from running.
func keptOut(pod *snapshot.WaitingPod) bool {
	return slices.ContainsFunc(scheduling.Obstacles(pod.Scheduled.Message), func(o scheduling.Obstacle) bool {
		return o.Kind == scheduling.VolumeElsewhere || o.Kind == scheduling.Cordoned || o.Kind == scheduling.NotSelected
	})
}

// crowded reports whether all that keeps a pod from running is room, and that nodes are
// cordoned.
func crowded(pod *snapshot.WaitingPod) bool {
	list := scheduling.Obstacles(pod.Scheduled.Message)
	return len(scheduling.OfKind(list, scheduling.Cordoned)) > 0 && len(scheduling.OfKind(list, scheduling.TooSmall)) > 0
}

func shiftedFinding(p *zones.Zones, x *zones.Shift, h impact) finding.Finding {
	first := x.Of[0]
	f := finding.Finding{
		Outcome: finding.Fail, Resource: x.Zone, Covers: []string{x.Zone}, Resources: append([]string{x.Zone}, volumesOf(h.homes)...),
		Confidence: finding.Advice, Since: first.Started,
		Title: phrase.Title("%s is shifted away%s", x.Zone, until(first, " until %s")),
		Why:   fmt.Sprintf("%s moves %s away from %s (%s)%s: %s.", capital(kind(first)), of(p, first), x.Zone, first.ZoneID, since(first), effects(x)),
		Fix:   shiftFix(p, first),
	}
	if !h.none() {
		if f.Confidence = h.confidence; f.Confidence == finding.Certain {
			f.Confidence = ""
		}
	}
	waiting := h.pods
	if len(waiting) == 0 {
		waiting = h.crowded
	}
	switch {
	case len(h.pods) > 0:
		pod := h.pods[0]
		f.Title, f.Since = phrase.Title("%s waits for %s, which is shifted away", pod.Key(), x.Zone), pod.Since()
		what := "asks for that zone"
		if i := slices.IndexFunc(h.homes, func(l zones.VolumePlacement) bool { return slices.Contains(l.Home.Pods, pod) }); i >= 0 {
			what = "needs " + h.homes[i].Home.Words() + ", which lives there"
		}
		f.Why += fmt.Sprintf(" Pod %s waits since %s and %s.", pod.Key(), phrase.ClockTime(pod.Since()), what)
	case len(h.crowded) > 0:
		pod := h.crowded[0]
		f.Title, f.Since = phrase.Title("%s has no room while %s is shifted away", pod.Key(), x.Zone), pod.Since()
		f.Why += fmt.Sprintf(" Pod %s waits since %s: %s there %s cordoned, and the others have no room for it.", pod.Key(), phrase.ClockTime(pod.Since()), nodes(x.Cordoned()), phrase.Plural(x.Cordoned(), "is", "are"))
	case len(h.groups) > 0:
		f.Title = phrase.Title("%s cannot launch: %s is shifted away", h.groups[0], x.Zone)
		f.Why += fmt.Sprintf(" %s %s no other zone, and fewer instances than wanted.", capital(phrase.Some(h.groups, 3)), phrase.Plural(len(h.groups), "has", "have"))
	case len(h.homes) > 0:
		f.Title = phrase.Title("%s is in %s, which is shifted away", h.homes[0].Home.Short(), x.Zone)
		f.Why += fmt.Sprintf(" %s lives there, and no node can come. No pod waits for it now.", capital(h.homes[0].Home.Words()))
	}
	if n := len(waiting) - 1; n > 0 {
		f.Why += fmt.Sprintf(" %d more %s.", n, phrase.Plural(n, "pod waits", "pods wait"))
	}
	for _, pod := range waiting[:min(len(waiting), zones.MostPods)] {
		f.Pods = append(f.Pods, pod.Key())
	}
	f.Evidence = shiftEvidence(p, x, h, waiting)
	return f
}

func shiftEvidence(p *zones.Zones, x *zones.Shift, h impact, waiting []*snapshot.WaitingPod) (out []finding.Evidence) {
	const most = 10
	for _, o := range x.Of[:min(len(x.Of), most)] {
		out = append(out, finding.Evidence{What: cmp.Or(o.ID, "Autoshift"), Value: describe(p, o)})
	}
	for _, pod := range waiting[:min(len(waiting), most)] {
		out = append(out, waitsEvidence(p, pod))
	}
	for _, l := range h.homes[:min(len(h.homes), most)] {
		out = append(out, finding.Evidence{What: l.Home.ID, Value: tells(p, l)})
	}
	out = append(out, nodesByZone(p))
	for _, r := range x.Sources[:min(len(x.Sources), most)] {
		out = append(out, finding.Evidence{What: "Group " + r.Group.Name, Value: words(*r)})
	}
	return out
}

func nodes(n int) string { return fmt.Sprintf("%d %s", n, phrase.Plural(n, "node", "nodes")) }

// effects are what the shift does there (sources in package zones and snapshot).
func effects(x *zones.Shift) string {
	var parts []string
	if n := x.Cordoned(); x.Cluster && n > 0 {
		parts = append(parts, nodes(n)+" there "+phrase.Plural(n, "is", "are")+" cordoned")
	}
	var names []string
	for _, r := range x.Sources {
		names = append(names, r.Name())
	}
	if names = append(names, x.Pools...); len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s nothing there", phrase.Some(names, 3), phrase.Plural(len(names), "launches", "launch")))
	}
	if len(parts) == 0 {
		parts = append(parts, "its nodes there take no new pods")
	}
	return strings.Join(parts, ", and ")
}

func kind(s snapshot.Shift) string {
	switch s.Kind {
	case snapshot.Autoshift:
		return "a zonal autoshift, which AWS started,"
	case snapshot.PracticeRun:
		return "a practice run of zonal autoshift"
	case snapshot.Experiment:
		return "a zonal shift of an AWS FIS experiment"
	}
	return "a zonal shift"
}

func of(p *zones.Zones, s snapshot.Shift) string {
	if s.Group != "" {
		return "Auto Scaling group " + s.Group
	}
	return "the cluster"
}

func since(s snapshot.Shift) string {
	text := ""
	if !s.Started.IsZero() {
		text = " since " + day(s.Started)
	}
	return text + until(s, ", until %s")
}

func until(s snapshot.Shift, format string) string {
	if s.Expires.IsZero() {
		return ""
	}
	return fmt.Sprintf(format, day(s.Expires))
}

func day(t time.Time) string { return t.UTC().Format(phrase.DayAndMinute) + " UTC" }

func describe(p *zones.Zones, s snapshot.Shift) string {
	text := strings.TrimSuffix(kind(s), ",") + " of " + of(p, s) + " away from " + s.ZoneID + since(s)
	if s.Comment != "" {
		text += ": " + phrase.Clip(s.Comment)
	}
	return text
}

// shiftFix says who ends the shift, and when. The command reads: ending a shift puts load
// on a zone that may not be well.
func shiftFix(p *zones.Zones, s snapshot.Shift) finding.Fix {
	const meanwhile = " Raising a desired count brings no node to the zone meanwhile; what has no volume there can run in the other zones."
	fix := finding.Fix{Console: link.Cluster(p.S), Command: command.AWS(p.S, "arc-zonal-shift list-zonal-shifts", "--status", "ACTIVE")}
	switch s.Kind {
	case snapshot.Autoshift:
		fix.Text = "AWS ends it once the zone has recovered; https://health.aws.amazon.com says what is known." + meanwhile
		fix.Command = command.AWS(p.S, "arc-zonal-shift list-autoshifts", "--status", "ACTIVE")
	case snapshot.PracticeRun:
		fix.Text = fmt.Sprintf("It ends by itself at %s. What waits now would wait in an outage of the zone, too: give it room, or its volumes, in the other zones.", day(s.Expires))
	default:
		fix.Text = fmt.Sprintf("Ask who started it whether the zone is well. Once it is, cancel the shift (%s), or let it expire at %s.", command.AWS(p.S, "arc-zonal-shift cancel-zonal-shift", "--zonal-shift-id", s.ID), day(s.Expires)) + meanwhile
	}
	return fix
}
