package zone

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func VolumeStranded() check.Check {
	return check.New(checkid.ZoneVolumeStranded, runVolumeStranded, snapshot.Clusters, snapshot.Groups,
		snapshot.VolumesOf).Using(zoneUses()...)
}

// zoneUses is what tells more of nodes, claims and pods.
func zoneUses() []snapshot.Source {
	return append(zones.ShiftSources(),
		snapshot.Nodegroups, snapshot.Nodes, snapshot.Instances, snapshot.Activities, snapshot.LaunchHistory,
		snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods, snapshot.ZonesOf, snapshot.Subnets,
		snapshot.NodePoolsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf,
	)
}

func runVolumeStranded(s *facts.View) []finding.Finding {
	p := zones.Of(s)
	all := zones.VolumesOf(s)
	var list []finding.Finding
	var well []string
	for _, z := range p.Zones() {
		var stranded, unseen []zones.VolumePlacement
		for _, l := range all {
			switch {
			case l.Home.Zones[0] != z:
			case l.State == zones.Stranded:
				stranded = append(stranded, l)
			case l.State == zones.Unseen:
				unseen = append(unseen, l)
			}
		}
		switch {
		case len(stranded) > 0:
			list = append(list, strandedFinding(p, z, stranded))
		case len(unseen) > 0:
			list = append(list, finding.Unread(z, []string{z}, whyUnseen(unseen)...))
		default:
			well = append(well, z)
		}
	}
	return append(list, passing(p, well, all)...)
}

// whyUnseen is why the fate of volumes cannot be told.
func whyUnseen(list []zones.VolumePlacement) []snapshot.Failure {
	for _, l := range list {
		if l.Home.Unshown != nil {
			return []snapshot.Failure{*l.Home.Unshown}
		}
	}
	return []snapshot.Failure{{Source: snapshot.VolumesOf, Reason: snapshot.NotRead, Message: list[0].Why}}
}

// passing are the findings of the zones in which nothing is wrong: one for each,
// so that what closes an incident is the evidence of its own zone. Where a node
// is only on its way nothing is said, neither good nor bad: it may never join,
// and an incident closes when one is there.
func passing(p *zones.Zones, names []string, all []zones.VolumePlacement) []finding.Finding {
	if len(names) == 0 && len(all) == 0 && len(p.Zones()) == 0 {
		names = []string{p.S.Cluster.Name} // no zone is known, and no volume
	}
	var list []finding.Finding
	for _, z := range names {
		if slices.ContainsFunc(all, func(l zones.VolumePlacement) bool { return l.Awaited && slices.Contains(l.Home.Zones, z) }) {
			continue
		}
		f := finding.Finding{Outcome: finding.Pass, Resource: p.S.Cluster.Name, Covers: []string{z}}
		volumes := 0
		for _, l := range all {
			if slices.Contains(l.Home.Zones, z) {
				volumes++
			}
		}
		if volumes > 0 {
			f.Evidence = []finding.Evidence{{What: z, Value: fmt.Sprintf("%s, %d %s", p.StandsIn(z), volumes, phrase.Plural(volumes, "volume", "volumes"))}}
		}
		list = append(list, f)
	}
	return list
}

func strandedFinding(p *zones.Zones, zone string, list []zones.VolumePlacement) finding.Finding {
	list = surest(p, list)
	first := order(p, list)[0]
	confidence := p.Strongest(list)
	f := finding.Finding{
		Outcome: finding.Fail, Resource: zone, Covers: []string{zone},
		Resources: append([]string{zone}, volumesOf(list)...),
		Title:     phrase.Title("No node can come to %s for %s", zone, first.Home.Short()),
		Why:       fmt.Sprintf("%s lives in %s; no node is there, and none can come: %s.", capital(first.Home.Words()), first.Home.Zone(), first.Why),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Give the cluster a nodegroup with a subnet in %s (the command lists them)%s. One nodegroup per zone is what AWS advises for workloads with EBS volumes.", zone, suited(first)),
			Command: command.AWS(p.S, "ec2 describe-subnets", "--filters", "Name=availability-zone,Values="+zone, inVPC(p.S)),
			Console: link.EC2(p.S, "VolumeDetails:volumeId="+first.Home.ID),
		},
	}
	if confidence != finding.Certain {
		f.Confidence = confidence
	}
	if confidence == finding.Advice {
		f.Fix.Text = "No claim holds it. Delete it if nobody needs it (take a snapshot first), or leave it: it costs its size."
		f.Fix.Command = ""
	}
	f.Why, f.Pods = f.Why+p.Unsaid(first)+zones.Others(first, len(list)-1), zones.PodsOf(list)
	f.Evidence = evidence(p, list)
	return f
}

func suited(l zones.VolumePlacement) string {
	if l.Pod == nil || len(l.Pod.Selector)+len(l.Pod.Terms) == 0 {
		return ""
	}
	return ", and with nodes that take " + l.Pod.Key()
}

// inVPC is the filter by the cluster's VPC, where that is known.
func inVPC(s *facts.View) []string {
	if s.Cluster.VPC == "" {
		return nil
	}
	return []string{"Name=vpc-id,Values=" + s.Cluster.VPC}
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// coverZones is the remedy that raises a desired count (package remedy).
const coverZones = "cover-zones"

// order puts first what is surest, and of that what waits longest.
func order(p *zones.Zones, list []zones.VolumePlacement) []zones.VolumePlacement {
	order := []finding.Confidence{finding.Certain, finding.Likely, finding.Possible, finding.Advice}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b zones.VolumePlacement) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, p.Confidence(a)), slices.Index(order, p.Confidence(b))),
			strings.Compare(a.Home.ID, b.Home.ID),
		)
	})
	return list
}

// surest are those of which it is as sure as of the surest: a volume that nobody
// claims, or waits for, does not count beside one that a pod waits for.
func surest(p *zones.Zones, list []zones.VolumePlacement) []zones.VolumePlacement {
	best := p.Strongest(list)
	return slices.DeleteFunc(slices.Clone(list), func(l zones.VolumePlacement) bool { return p.Confidence(l) != best })
}

func volumesOf(list []zones.VolumePlacement) []string {
	var ids []string
	for _, l := range list {
		ids = append(ids, l.Home.ID)
	}
	slices.Sort(ids)
	return ids
}

// evidence is what a person would look up: the volumes, the pods, the nodes by
// zone, and the groups.
func evidence(p *zones.Zones, list []zones.VolumePlacement) []finding.Evidence {
	const most = 10
	var out []finding.Evidence
	for i, l := range order(p, list) {
		if i == most {
			out = append(out, finding.Evidence{What: "More volumes", Value: fmt.Sprint(len(list) - most)})
			break
		}
		out = append(out, finding.Evidence{What: l.Home.ID, Value: tells(p, l)})
	}
	for _, l := range list {
		for _, pod := range l.Home.Pods {
			if len(out) > most+most {
				break
			}
			out = append(out, waitsEvidence(p, pod))
		}
	}
	out = append(out, nodesByZone(p))
	for _, r := range p.Sources {
		out = append(out, finding.Evidence{What: "Group " + r.Group.Name, Value: words(r)})
	}
	out = append(out, p.PoolEvidence()...)
	if p.Pools && !p.PoolsKnown {
		out = append(out, finding.Evidence{What: "Beside groups", Value: "Karpenter or Auto Mode launches nodes too; what limits it was not read"})
	}
	out = append(out, shiftsUnread(p)...)
	if p.Blind {
		out = append(out, finding.Evidence{What: "Not seen", Value: "nodes beside those of the groups: neither nodes nor instances could be read"})
	}
	return out
}

// shiftsUnread says that zones may be shifted away from, where that was not read.
func shiftsUnread(p *zones.Zones) (out []finding.Evidence) {
	for _, f := range p.ShiftsUnread() {
		out = append(out, finding.Evidence{What: "Not checked", Value: fmt.Sprintf("zone/shifted, %s (%s: %s)", f.Source, f.Reason, f.Call)})
	}
	return out
}

func tells(p *zones.Zones, l zones.VolumePlacement) string {
	text := "in " + l.Home.Zone()
	if l.Home.Claim != "" {
		text += ", claim " + l.Home.Claim
	}
	switch l.Home.Held {
	case zones.HeldNo:
		text += ", which does not hold it (any more)"
		if l.Home.Claim == "" {
			text = "in " + l.Home.Zone() + ", no claim holds it"
		}
	case zones.HeldUnknown:
		text += ", as its tags say (Kubernetes could not be asked)"
	}
	if l.Home.Attached {
		return text + ", attached"
	}
	return text + ", detached"
}

func waitsEvidence(p *zones.Zones, pod *snapshot.WaitingPod) finding.Evidence {
	return finding.Evidence{What: "Pod " + pod.Key(), Value: fmt.Sprintf("waits since %s: %s", phrase.ClockTime(pod.Since()), cmp.Or(phrase.Clip(pod.Scheduled.Message), "the scheduler says nothing"))}
}

// nodesByZone counts nodes: "us-east-1a 1, us-east-1b 1, us-east-1c 0".
func nodesByZone(p *zones.Zones) finding.Evidence {
	var parts []string
	for _, z := range p.Zones() {
		here := slices.DeleteFunc(slices.Clone(p.NodesIn[z]), func(s zones.Node) bool { return s.Coming })
		parts = append(parts, fmt.Sprintf("%s %d", z, len(here)))
	}
	what := "Nodes by zone"
	if !p.S.Has(snapshot.Nodes) {
		what = "Instances by zone"
	}
	return finding.Evidence{What: what, Value: strings.Join(parts, ", ")}
}

// words are what a group is set to.
func words(r zones.NodeSource) string {
	text := fmt.Sprintf("%s: min %d, desired %d, max %d", strings.Join(r.Zones, ", "), r.Group.Min, r.Group.Desired, r.Group.Max)
	if r.Idle != "" {
		text += "; launches nothing: " + r.Idle
	}
	for _, z := range r.Zones {
		if why := r.Failing[z]; why != "" {
			text += fmt.Sprintf("; launches in %s fail: %s", z, why)
		}
	}
	for _, z := range r.Zones {
		if why := r.Shifted(z); why != "" {
			text += fmt.Sprintf("; launches nothing in %s: %s", z, why)
		}
	}
	if r.Scaled {
		text += "; tagged for the cluster autoscaler"
	}
	return text
}
