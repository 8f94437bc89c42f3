package zone

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func PodUnschedulable() check.Check {
	return check.Check{
		ID:         checkid.ZonePodUnschedulable,
		Breaks:     check.Pods,
		Proof:      check.ByPassing,
		Title:      "A pod waits for a node in the zone of its volume",
		Confidence: finding.Likely,
		WatchedBy:  []check.Detector{check.ZoneWatch},
		Predictive: true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.WaitingPods},
		Uses:       append(zoneUses(), snapshot.VolumesOf),
		After:      []checkid.ID{checkid.ZoneImpaired, checkid.ZoneShifted},
		Adds:       []checkid.ID{checkid.ZoneNodegroupGap, checkid.ZoneVolumeStranded},
		Cause: "The scheduler says that nodes are in another zone than the pod's volume (volume node affinity conflict), and has said so for minutes. Which group could bring a node, and why it does not, zone/nodegroup-gap and zone/volume-stranded say. " +
			"By itself it tells of a zone where a node is and does not take the pod: it is full, cordoned, or no Ready node.",
		Fix: "Make room on a node in the zone of the volume, or let one more come there.",
		Links: []string{
			"https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity",
			"https://docs.aws.amazon.com/eks/latest/best-practices/cas.html",
		},
		Run: runPodUnschedulable,
	}
}

// stuck is a pod that waits for its volumes' zone.
type stuck struct {
	pod   *snapshot.WaitingPod
	homes []zones.VolumePlacement
	found []scheduling.Obstacle
}

func runPodUnschedulable(s *facts.View) []finding.Finding {
	p := zones.Of(s)
	all := zones.VolumesOf(s)
	byZone := map[string][]stuck{}
	var lost, apart []stuck
	for i := range s.WaitingPods {
		pod := &s.WaitingPods[i]
		waiting, _ := p.Settled([]*snapshot.WaitingPod{pod})
		found := scheduling.Obstacles(pod.Scheduled.Message)
		if len(waiting) == 0 || len(scheduling.OfKind(found, scheduling.VolumeElsewhere)) == 0 {
			continue
		}
		x := stuck{pod: pod, found: found}
		for _, l := range all {
			if ns, claim, ok := strings.Cut(l.Home.Claim, "/"); ok && ns == pod.Namespace && slices.Contains(pod.Claims, claim) && l.Home.Held != zones.HeldNo {
				x.homes = append(x.homes, l)
			}
		}
		if zones.Apart(pod, zonesOf(x.homes)) {
			apart = append(apart, x)
			continue
		}
		worst := zones.VolumePlacement{}
		if len(x.homes) > 0 {
			worst = tightest(x.homes)
		}
		switch {
		case worst.Awaited:
		case len(x.homes) > 0:
			zone := worst.Home.Zones[0]
			byZone[zone] = append(byZone[zone], x)
		case !s.Has(snapshot.PersistentVolumes) || !s.Has(snapshot.VolumesOf):
			lost = append(lost, x)
		}
		// Else the volume is none of EBS: a disk of a node, or another driver's.
	}
	var list []finding.Finding
	well, failed := []string{s.Cluster.Name}, []string(nil)
	if len(apart) > 0 {
		list, well = append(list, apartFinding(p, apart)), nil
	}
	for _, z := range p.Zones() {
		switch {
		case len(byZone[z]) > 0:
			list = append(list, stuckFinding(p, z, byZone[z]))
			failed = append(failed, z)
		default:
			well = append(well, z)
		}
	}
	if len(lost) > 0 {
		// In which zone they wait nobody can say: of none it is known that nobody does.
		return append(list, finding.Finding{
			Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: well, Blocked: unseenSources(p, lost),
		})
	}
	if len(failed) == len(p.Zones()) && len(failed) > 0 || len(well) == 0 {
		return list
	}
	return append(list, finding.Finding{
		Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well,
		Evidence: []finding.Evidence{{What: "Pods that wait", Value: fmt.Sprintf("%d, none for the zone of its volume there", len(s.WaitingPods))}},
	})
}

func zonesOf(homes []zones.VolumePlacement) [][]string {
	var list [][]string
	for _, l := range homes {
		list = append(list, l.Home.Zones)
	}
	return list
}

// apartFinding is the finding on pods that no node can serve: their volumes, or a volume
// and the zone that they ask for, are in different zones. Karpenter says of it
// "topology.kubernetes.io/zone DoesNotExist": no zone is left of what it must satisfy
// (sigs.k8s.io/karpenter pkg/scheduling/requirement.go).
func apartFinding(p *zones.Zones, list []stuck) finding.Finding {
	first := list[0]
	var places []string
	words := []any{"kubectl", "-n", first.pod.Namespace, "get", "pvc"}
	for _, l := range first.homes {
		places = append(places, l.Home.Short()+" in "+l.Home.Zone())
		_, claim, _ := strings.Cut(l.Home.Claim, "/")
		words = append(words, claim)
	}
	f := finding.Finding{
		Outcome: finding.Fail, Confidence: finding.Certain, Resource: first.pod.Key(), Covers: []string{p.S.Cluster.Name}, Since: first.pod.Since(),
		Title: phrase.Title("%s: no node can have all of its volumes", first.pod.Key()),
		Why: fmt.Sprintf("Pod %s waits since %s for %s. An EBS volume can be attached in its own zone alone: no node, old or new, can have all of them.",
			first.pod.Key(), phrase.ClockTime(first.pod.Since()), phrase.And(places)),
		Fix: finding.Fix{
			Text:    "Bring the volumes into one zone: snapshot those in the other zones, make volumes of the snapshots in the zone that you choose, and bind the claims to these. A StorageClass with volumeBindingMode WaitForFirstConsumer makes all volumes of a pod in the zone of its node.",
			Command: shell.Command(words...),
			Console: link.EC2(p.S, "VolumeDetails:volumeId="+first.homes[0].Home.ID),
		},
	}
	if len(first.homes) == 1 {
		f.Title = phrase.Title("%s asks for another zone than that of its volume", first.pod.Key())
		f.Why = fmt.Sprintf("Pod %s waits since %s for %s, and its node selector or affinity admits other zones only: no node can serve it.", first.pod.Key(), phrase.ClockTime(first.pod.Since()), places[0])
		f.Fix.Text = "Let the pod run in the zone of its volume, or bring the volume into a zone that the pod admits (a new volume of a snapshot of it)."
	}
	for _, x := range list {
		if len(f.Pods) == zones.MostPods {
			break
		}
		f.Pods = append(f.Pods, x.pod.Key())
		f.Evidence = append(f.Evidence, waitsEvidence(p, x.pod))
		for _, l := range x.homes {
			f.Evidence = append(f.Evidence, finding.Evidence{What: l.Home.ID, Value: tells(p, l)})
			f.Resources = append(f.Resources, l.Home.ID)
		}
	}
	f.Evidence = append(f.Evidence, nodesByZone(p))
	if n := len(list) - 1; n > 0 {
		f.Why += fmt.Sprintf(" The same is true of %d more %s.", n, phrase.Plural(n, "pod", "pods"))
	}
	return f
}

func unseenSources(p *zones.Zones, lost []stuck) []snapshot.Failure {
	var blocked []snapshot.Failure
	for _, source := range []snapshot.Source{snapshot.PersistentVolumes, snapshot.VolumesOf} {
		if !p.S.Has(source) {
			blocked = append(blocked, p.S.Why(source))
		}
	}
	return append(blocked, snapshot.Failure{
		Source: snapshot.WaitingPods, Reason: snapshot.NotRead,
		Message: fmt.Sprintf("pod %s waits for a volume in another zone; which volume was not read", lost[0].pod.Key()),
	})
}

// tightest is the volume that fares worst: of several volumes in one zone each,
// the one without a node is what keeps the pod.
func tightest(homes []zones.VolumePlacement) zones.VolumePlacement {
	worst := homes[0]
	for _, l := range homes {
		if l.State > worst.State {
			worst = l
		}
	}
	return worst
}

func stuckFinding(p *zones.Zones, zone string, list []stuck) finding.Finding {
	first := list[0]
	h := first.homes[slices.IndexFunc(first.homes, func(l zones.VolumePlacement) bool { return l.Home.Zones[0] == zone })]
	f := finding.Finding{
		Outcome: finding.Fail, Resource: zone, Covers: []string{zone}, Resources: []string{zone},
		Since: first.pod.Since(),
		Title: phrase.Title("%s waits for a node in %s", first.pod.Key(), zone),
		Why:   fmt.Sprintf("Pod %s waits since %s: %s lives in %s. %s.", first.pod.Key(), phrase.ClockTime(first.pod.Since()), h.Home.Words(), h.Home.Zone(), there(p, h, first)),
		Fix: finding.Fix{
			Text:    fmt.Sprintf("Make room on a node in %s, or let one more come there. The command shows what the nodes of the zone carry.", zone),
			Command: shell.Command("kubectl", "describe", "nodes", "-l", "topology.kubernetes.io/zone="+zone),
			Console: link.EC2(p.S, "VolumeDetails:volumeId="+h.Home.ID),
		},
	}
	if p.Pools || p.Blind {
		f.Confidence = finding.Possible
	}
	for _, x := range list[:min(len(list), zones.MostPods)] {
		f.Pods = append(f.Pods, x.pod.Key())
	}
	const most = 10
	for i, x := range list {
		if i == most {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "More pods", Value: fmt.Sprint(len(list) - most)})
			break
		}
		f.Evidence = append(f.Evidence, waitsEvidence(p, x.pod))
		for _, l := range x.homes {
			f.Evidence = append(f.Evidence, finding.Evidence{What: l.Home.ID, Value: tells(p, l)})
			f.Resources = append(f.Resources, l.Home.ID)
		}
	}
	f.Evidence = append(append(f.Evidence, nodesByZone(p)), shiftsUnread(p)...)
	if n := len(list) - 1; n > 0 {
		f.Why += fmt.Sprintf(" %d more %s there.", n, phrase.Plural(n, "pod waits", "pods wait"))
	}
	return f
}

// there says how it is in the zone.
func there(p *zones.Zones, h zones.VolumePlacement, x stuck) string {
	switch h.State {
	case zones.Served, zones.Coming:
		var others []string
		for _, o := range x.found {
			if o.Kind != scheduling.VolumeElsewhere {
				others = append(others, phrase.Clip(o.Text))
			}
		}
		text := capital(h.Why)
		if len(others) > 0 {
			text += "; of the nodes that are not in another zone the scheduler says: " + phrase.Some(others, 3)
		}
		return text
	}
	return "No node there takes it"
}
