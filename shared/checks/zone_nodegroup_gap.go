package checks

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

func nodegroupGap() Check {
	return Check{
		ID:         "zone/nodegroup-gap",
		Title:      "The group has no node in a zone where volumes live",
		Confidence: Certain,
		Ahead:      true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.VolumesOf},
		Uses:       zoneUses(),
		After:      []ID{"zone/impaired"},
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

func runNodegroupGap(s *View) []Finding {
	p := s.Places()
	all := s.Lodgings()
	var list []Finding
	var uncovered []string
	for i := range p.rigs {
		r := &p.rigs[i]
		var gaps []lodging
		for _, l := range all {
			if l.fate == fateGap && l.rig == r {
				gaps = append(gaps, l)
			}
		}
		if len(gaps) == 0 {
			continue
		}
		f := p.gap(r, gaps)
		uncovered = append(uncovered, f.Covers...)
		list = append(list, f)
	}
	well := slices.DeleteFunc(p.zones(), func(z string) bool { return slices.Contains(uncovered, z) })
	return append(list, p.pass(well, all)...)
}

func (p *places) gap(r *rig, list []lodging) Finding {
	list = p.surest(list)
	first := p.order(list)[0]
	var zones []string
	for _, l := range list {
		for _, z := range l.home.zones {
			if slices.Contains(r.zones, z) {
				zones = append(zones, z)
			}
		}
	}
	slices.Sort(zones)
	zones = slices.Compact(zones)
	f := Finding{
		Outcome: Fail, Resource: r.name(), Covers: zones,
		Resources: slices.Concat([]string{r.name(), r.group.Name}, zones, volumesOf(list)),
		Title:     title("No node in %s for %s", first.home.zone(), first.home.short()),
		Why:       fmt.Sprintf("%s lives in %s; no node there: desired is %d, zones in use are %d.", capital(first.home.words()), first.home.zone(), r.group.Desired, p.inUse(r, zones)),
		Evidence:  p.evidence(list),
		Fix:       p.cover(r),
	}
	if r.name() == r.group.Name {
		f.Resources = f.Resources[1:]
	}
	if first.pod != nil {
		f.Why += fmt.Sprintf(" Pod %s waits for it since %s.", first.pod.Key(), clockTime(first.pod.Since()))
	}
	f.Why, f.Pods = f.Why+p.unsaid(first)+others(first, len(list)-1), podsOf(list)
	confidence := p.strongest(list)
	if confidence == Certain && len(r.zones) == 1 {
		confidence = Likely // an autoscaler may be about to grow it
	}
	if confidence != Certain {
		f.Confidence = confidence
	}
	if confidence == Advice {
		// Nobody is to pay for a node for what nobody uses.
		f.Fix = Fix{Text: fmt.Sprintf("No claim holds it. If somebody will need it, let %s have a node in every zone; else delete it (take a snapshot first).", r.name()), Console: f.Fix.Console}
	}
	return f
}

// inUse counts the zones in which the group has nodes, or which volumes need.
func (p *places) inUse(r *rig, needed []string) int {
	zones := slices.Clone(needed)
	for _, z := range r.zones {
		if r.count[z] > 0 {
			zones = append(zones, z)
		}
	}
	slices.Sort(zones)
	return len(slices.Compact(zones))
}

// cover is the desired count with which every zone of the group has a node. No
// command ever exceeds the group's maximum.
func (p *places) cover(r *rig) Fix {
	const lasting = " For good: one nodegroup per zone, as AWS advises for workloads with EBS volumes."
	count, fit := r.wanted()
	fix := Fix{Console: ec2Console(p.s, "AutoScalingGroupDetails:id="+url.PathEscape(r.group.Name)+";view=details")}
	empty := strings.Join(r.empty(), ", ")
	if !fit {
		fix.Text = fmt.Sprintf("%s needs a desired count of %d to have a node in each of its zones (none in %s), and its maximum is %d: raise the maximum first.%s", r.name(), count, empty, r.most(), lasting)
		return fix
	}
	fix.Text = fmt.Sprintf("Raise the desired count of %s from %d to %d (its maximum is %d): Auto Scaling launches where it has fewest, so that each of its zones has a node (none in %s).", r.name(), r.group.Desired, count, r.most(), empty)
	if r.scaled {
		fix.Text += " The cluster autoscaler may take the node away again once no pod needs it; the minimum keeps it."
	}
	fix.Text += lasting
	a := &attempts{s: p.s}
	if r.managed != nil {
		fix.Command = a.command("eks", "update-nodegroup-config", "--cluster-name", p.s.Cluster.Name, "--nodegroup-name", r.managed.Name, "--scaling-config", fmt.Sprintf("desiredSize=%d", count))
	} else {
		fix.Command = a.command("autoscaling", "set-desired-capacity", "--auto-scaling-group-name", r.group.Name, "--desired-capacity", fmt.Sprint(count))
	}
	fix.Remedy = coverZones
	return fix
}
