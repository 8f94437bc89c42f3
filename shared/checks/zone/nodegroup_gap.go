package zone

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/launch"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func NodegroupGap() check.Check {
	return check.Check{
		ID:         checkid.ZoneNodegroupGap,
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		Remedy:     coverZones,
		Title:      "The group has no node in a zone where volumes live",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.ZoneWatch},
		Predictive: true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.VolumesOf},
		Uses:       zoneUses(),
		After:      []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted},
		Cause: "The group launches in more zones than its desired count covers. An EBS volume lives in a zone in which neither this nor another group has a node that takes its pod; which zone the next node comes to is Auto Scaling's choice, and when nodes are replaced they can come to other zones than before. " +
			"It is certain where a pod has been waiting for the volume for minutes, likely where a claim holds it and nobody waits yet, or where Karpenter or Auto Mode could still bring a node, possible where Kubernetes could not be asked, and advice for a volume that no claim holds.",
		Fix: "Set the desired count so that every zone of the group has a node: Auto Scaling launches where it has fewest. For good: one nodegroup per zone, as AWS advises for workloads with EBS volumes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
			"https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-availability-zone-balanced.html",
		},
		Run: runNodegroupGap,
	}
}

func runNodegroupGap(s *facts.View) []finding.Finding {
	p := zones.Of(s)
	all := zones.VolumesOf(s)
	var list []finding.Finding
	var uncovered []string
	for i := range p.Sources {
		r := &p.Sources[i]
		var gaps []zones.VolumePlacement
		for _, l := range all {
			if l.State == zones.Gap && l.Source == r {
				gaps = append(gaps, l)
			}
		}
		if len(gaps) == 0 {
			continue
		}
		f := gap(p, r, gaps)
		uncovered = append(uncovered, f.Covers...)
		list = append(list, f)
	}
	well := slices.DeleteFunc(p.Zones(), func(z string) bool { return slices.Contains(uncovered, z) })
	return append(list, passing(p, well, all)...)
}

func gap(p *zones.Zones, r *zones.NodeSource, list []zones.VolumePlacement) finding.Finding {
	list = surest(p, list)
	first := order(p, list)[0]
	var names []string
	for _, l := range list {
		for _, z := range l.Home.Zones {
			if slices.Contains(r.Zones, z) {
				names = append(names, z)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	f := finding.Finding{
		Outcome: finding.Fail, Resource: r.Name(), Covers: names,
		Resources: slices.Concat([]string{r.Name(), r.Group.Name}, names, volumesOf(list)),
		Title:     phrase.Title("No node in %s for %s", first.Home.Zone(), first.Home.Short()),
		Why:       fmt.Sprintf("%s lives in %s; no node there: desired is %d, zones in use are %d.", capital(first.Home.Words()), first.Home.Zone(), r.Group.Desired, inUse(p, r, names)),
		Evidence:  evidence(p, list),
		Fix:       cover(p, r),
	}
	if r.Name() == r.Group.Name {
		f.Resources = f.Resources[1:]
	}
	if first.Pod != nil {
		f.Since = first.Pod.Since()
		f.Why += fmt.Sprintf(" Pod %s waits for it since %s.", first.Pod.Key(), phrase.ClockTime(first.Pod.Since()))
	}
	f.Why, f.Pods = f.Why+p.Unsaid(first)+zones.Others(first, len(list)-1), zones.PodsOf(list)
	confidence := p.Strongest(list)
	if confidence == finding.Certain && len(r.Zones) == 1 {
		confidence = finding.Likely // an autoscaler may be about to grow it
	}
	if confidence != finding.Certain {
		f.Confidence = confidence
	}
	if confidence == finding.Advice {
		// Nobody is to pay for a node for what nobody uses.
		f.Fix = finding.Fix{Text: fmt.Sprintf("No claim holds it. If somebody will need it, let %s have a node in every zone; else delete it (take a snapshot first).", r.Name()), Console: f.Fix.Console}
	}
	return f
}

// inUse counts the zones in which the group has nodes, or which volumes need.
func inUse(p *zones.Zones, r *zones.NodeSource, needed []string) int {
	names := slices.Clone(needed)
	for _, z := range r.Zones {
		if r.Count[z] > 0 {
			names = append(names, z)
		}
	}
	slices.Sort(names)
	return len(slices.Compact(names))
}

// cover is the desired count with which every zone of the group has a node. No
// command ever exceeds the group's maximum.
func cover(p *zones.Zones, r *zones.NodeSource) finding.Fix {
	const lasting = " For good: one nodegroup per zone, as AWS advises for workloads with EBS volumes."
	count, fit := r.Wanted()
	fix := finding.Fix{Console: link.EC2(p.S, "AutoScalingGroupDetails:id="+url.PathEscape(r.Group.Name)+";view=details")}
	empty := strings.Join(r.Empty(), ", ")
	if !fit {
		fix.Text = fmt.Sprintf("%s needs a desired count of %d to have a node in each of its zones (none in %s), and its maximum is %d: raise the maximum first.%s", r.Name(), count, empty, r.Most(), lasting)
		return fix
	}
	fix.Text = fmt.Sprintf("Raise the desired count of %s from %d to %d (its maximum is %d): Auto Scaling launches where it has fewest, so that each of its zones has a node (none in %s).", r.Name(), r.Group.Desired, count, r.Most(), empty)
	if r.Scaled {
		fix.Text += " The cluster autoscaler may take the node away again once no pod needs it; the minimum keeps it."
	}
	fix.Text += lasting
	a := &facts.Attempts{S: p.S}
	if r.Managed != nil {
		fix.Command = launch.AWSCommand(a, "eks", "update-nodegroup-config", "--cluster-name", p.S.Cluster.Name, "--nodegroup-name", r.Managed.Name, "--scaling-config", fmt.Sprintf("desiredSize=%d", count))
	} else {
		fix.Command = launch.AWSCommand(a, "autoscaling", "set-desired-capacity", "--auto-scaling-group-name", r.Group.Name, "--desired-capacity", fmt.Sprint(count))
	}
	fix.Remedy = coverZones
	return fix
}
