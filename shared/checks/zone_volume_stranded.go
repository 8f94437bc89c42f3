package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

func volumeStranded() Check {
	return Check{
		ID:         "zone/volume-stranded",
		Title:      "A volume lives in a zone where no node is or can come",
		Confidence: Certain,
		Ahead:      true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.VolumesOf},
		Uses:       zoneUses(),
		After:      []ID{"zone/impaired"},
		Cause: "An EBS volume can be attached in its own zone only. No node that takes the pod is in that zone, and none of the cluster's groups launches there: none has a subnet in it, or its launches there fail, are suspended, or bring nodes that the pod cannot run on (selector, affinity, taints, architecture). " +
			"It is certain where a pod has been waiting for the volume for minutes, likely where a claim holds it and nobody waits yet, or where Karpenter or Auto Mode could still bring a node, possible where Kubernetes could not be asked, and advice for a volume that no claim holds. A volume is the cluster's if its tags name this cluster and no other, or if a PersistentVolume names it.",
		Fix: "Let a nodegroup launch in the volume's zone: one nodegroup per zone is what AWS advises for workloads with EBS volumes. Or make the volume anew in another zone from a snapshot.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
			"https://docs.aws.amazon.com/ebs/latest/userguide/ebs-attaching-volume.html",
		},
		Run: runVolumeStranded,
	}
}

// zoneUses is what tells more of nodes, claims and pods.
func zoneUses() []snapshot.Source {
	return []snapshot.Source{
		snapshot.Nodegroups, snapshot.Nodes, snapshot.Instances, snapshot.Activities, snapshot.LaunchHistory,
		snapshot.PersistentVolumes, snapshot.ClaimsOf, snapshot.WaitingPods, snapshot.ZonesOf, snapshot.Subnets,
	}
}

func runVolumeStranded(s *View) []Finding {
	p := s.Places()
	all := s.Lodgings()
	var list []Finding
	var well []string
	for _, z := range p.zones() {
		var stranded, unseen []lodging
		for _, l := range all {
			switch {
			case l.home.zones[0] != z:
			case l.fate == fateStranded:
				stranded = append(stranded, l)
			case l.fate == fateUnseen:
				unseen = append(unseen, l)
			}
		}
		switch {
		case len(stranded) > 0:
			list = append(list, p.stranded(z, stranded))
		case len(unseen) > 0:
			list = append(list, Finding{Outcome: Unknown, Resource: z, Covers: []string{z}, Blocked: whyUnseen(unseen)})
		default:
			well = append(well, z)
		}
	}
	return append(list, p.pass(well, all)...)
}

// whyUnseen is why the fate of volumes cannot be told.
func whyUnseen(list []lodging) []snapshot.Failure {
	for _, l := range list {
		if l.home.unshown != nil {
			return []snapshot.Failure{*l.home.unshown}
		}
	}
	return []snapshot.Failure{{Source: snapshot.VolumesOf, Reason: snapshot.NotRead, Message: list[0].why}}
}

// pass are the findings of the zones in which nothing is wrong: one for each,
// so that what closes an incident is the evidence of its own zone. Where a node
// is only on its way nothing is said, neither good nor bad: it may never join,
// and an incident closes when one is there.
func (p *places) pass(zones []string, all []lodging) []Finding {
	if len(zones) == 0 && len(all) == 0 && len(p.zones()) == 0 {
		zones = []string{p.s.Cluster.Name} // no zone is known, and no volume
	}
	var list []Finding
	for _, z := range zones {
		if slices.ContainsFunc(all, func(l lodging) bool { return l.awaited && slices.Contains(l.home.zones, z) }) {
			continue
		}
		f := Finding{Outcome: Pass, Resource: p.s.Cluster.Name, Covers: []string{z}}
		volumes := 0
		for _, l := range all {
			if slices.Contains(l.home.zones, z) {
				volumes++
			}
		}
		if volumes > 0 {
			f.Evidence = []Evidence{{What: z, Value: fmt.Sprintf("%s, %d %s", p.standsIn(z), volumes, plural(volumes, "volume", "volumes"))}}
		}
		list = append(list, f)
	}
	return list
}

func (p *places) stranded(zone string, list []lodging) Finding {
	list = p.surest(list)
	first := p.order(list)[0]
	confidence := p.strongest(list)
	f := Finding{
		Outcome: Fail, Resource: zone, Covers: []string{zone},
		Resources: append([]string{zone}, volumesOf(list)...),
		Title:     title("No node can come to %s for %s", zone, first.home.short()),
		Why:       fmt.Sprintf("%s lives in %s; no node is there, and none can come: %s.", capital(first.home.words()), first.home.zone(), first.why),
		Fix: Fix{
			Text:    fmt.Sprintf("Give the cluster a nodegroup with a subnet in %s (the command lists them)%s. One nodegroup per zone is what AWS advises for workloads with EBS volumes.", zone, suited(first)),
			Command: aws(p.s, "ec2 describe-subnets", "--filters", "Name=availability-zone,Values="+zone, inVPC(p.s)),
			Console: ec2Console(p.s, "VolumeDetails:volumeId="+first.home.id),
		},
	}
	if confidence != Certain {
		f.Confidence = confidence
	}
	if confidence == Advice {
		f.Fix.Text = "No claim holds it. Delete it if nobody needs it (take a snapshot first), or leave it: it costs its size."
		f.Fix.Command = ""
	}
	f.Why, f.Pods = f.Why+p.unsaid(first)+others(first, len(list)-1), podsOf(list)
	f.Evidence = p.evidence(list)
	return f
}

func suited(l lodging) string {
	if l.pod == nil || len(l.pod.Selector)+len(l.pod.Terms) == 0 {
		return ""
	}
	return ", and with nodes that take " + l.pod.Key()
}

// inVPC is the filter by the cluster's VPC, where that is known.
func inVPC(s *View) []string {
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
