package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func podUnschedulable() Check {
	return Check{
		ID:         "zone/pod-unschedulable",
		Title:      "A pod waits for a node in the zone of its volume",
		Confidence: Likely,
		Ahead:      true,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.WaitingPods},
		Uses:       append(zoneUses(), snapshot.VolumesOf),
		After:      []ID{"zone/impaired"},
		Adds:       []ID{"zone/nodegroup-gap", "zone/volume-stranded"},
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
	homes []lodging
	found []obstacle
}

func runPodUnschedulable(s *View) []Finding {
	p := s.Places()
	all := s.Lodgings()
	byZone := map[string][]stuck{}
	var lost []stuck
	for i := range s.WaitingPods {
		pod := &s.WaitingPods[i]
		waiting, _ := p.settled([]*snapshot.WaitingPod{pod})
		found := obstacles(pod.Scheduled.Message)
		if len(waiting) == 0 || len(ofKind(found, volumeElsewhere)) == 0 {
			continue
		}
		x := stuck{pod: pod, found: found}
		for _, l := range all {
			if ns, claim, ok := strings.Cut(l.home.claim, "/"); ok && ns == pod.Namespace && slices.Contains(pod.Claims, claim) && l.home.held != heldNo {
				x.homes = append(x.homes, l)
			}
		}
		worst := lodging{}
		if len(x.homes) > 0 {
			worst = tightest(x.homes)
		}
		switch {
		case worst.awaited:
		case len(x.homes) > 0:
			zone := worst.home.zones[0]
			byZone[zone] = append(byZone[zone], x)
		case !s.Has(snapshot.PersistentVolumes) || !s.Has(snapshot.VolumesOf):
			lost = append(lost, x)
		}
		// Else the volume is none of EBS: a disk of a node, or another driver's.
	}
	var list []Finding
	var well, failed []string
	for _, z := range p.zones() {
		switch {
		case len(byZone[z]) > 0:
			list = append(list, p.stuck(z, byZone[z]))
			failed = append(failed, z)
		default:
			well = append(well, z)
		}
	}
	if len(lost) > 0 {
		// In which zone they wait nobody can say: of none it is known that nobody does.
		return append(list, Finding{
			Outcome: Unknown, Resource: s.Cluster.Name, Covers: append([]string{s.Cluster.Name}, well...), Blocked: p.unseen(lost),
		})
	}
	if len(failed) == len(p.zones()) && len(failed) > 0 {
		return list
	}
	return append(list, Finding{
		Outcome: Pass, Resource: s.Cluster.Name, Covers: append([]string{s.Cluster.Name}, well...),
		Evidence: []Evidence{{What: "Pods that wait", Value: fmt.Sprintf("%d, none for the zone of its volume there", len(s.WaitingPods))}},
	})
}

func (p *places) unseen(lost []stuck) []snapshot.Failure {
	var blocked []snapshot.Failure
	for _, source := range []snapshot.Source{snapshot.PersistentVolumes, snapshot.VolumesOf} {
		if !p.s.Has(source) {
			blocked = append(blocked, p.s.Why(source))
		}
	}
	return append(blocked, snapshot.Failure{
		Source: snapshot.WaitingPods, Reason: snapshot.NotRead,
		Message: fmt.Sprintf("pod %s waits for a volume in another zone; which volume was not read", lost[0].pod.Key()),
	})
}

// tightest is the volume that fares worst: of several volumes in one zone each,
// the one without a node is what keeps the pod.
func tightest(homes []lodging) lodging {
	worst := homes[0]
	for _, l := range homes {
		if l.fate > worst.fate {
			worst = l
		}
	}
	return worst
}

func (p *places) stuck(zone string, list []stuck) Finding {
	first := list[0]
	h := first.homes[slices.IndexFunc(first.homes, func(l lodging) bool { return l.home.zones[0] == zone })]
	f := Finding{
		Outcome: Fail, Resource: zone, Covers: []string{zone}, Resources: []string{zone},
		Title: title("%s waits for a node in %s", first.pod.Key(), zone),
		Why:   fmt.Sprintf("Pod %s waits since %s: %s lives in %s. %s.", first.pod.Key(), clockTime(first.pod.Since()), h.home.words(), h.home.zone(), p.there(h, first)),
		Fix: Fix{
			Text:    fmt.Sprintf("Make room on a node in %s, or let one more come there. The command shows what the nodes of the zone carry.", zone),
			Command: shell.Command("kubectl", "describe", "nodes", "-l", "topology.kubernetes.io/zone="+zone),
			Console: ec2Console(p.s, "VolumeDetails:volumeId="+h.home.id),
		},
	}
	if p.pools || p.blind {
		f.Confidence = Possible
	}
	for _, x := range list[:min(len(list), mostPods)] {
		f.Pods = append(f.Pods, x.pod.Key())
	}
	const most = 10
	for i, x := range list {
		if i == most {
			f.Evidence = append(f.Evidence, Evidence{What: "More pods", Value: fmt.Sprint(len(list) - most)})
			break
		}
		f.Evidence = append(f.Evidence, p.waits(x.pod))
		for _, l := range x.homes {
			f.Evidence = append(f.Evidence, Evidence{What: l.home.id, Value: p.tells(l)})
			f.Resources = append(f.Resources, l.home.id)
		}
	}
	f.Evidence = append(f.Evidence, p.nodesByZone())
	if n := len(list) - 1; n > 0 {
		f.Why += fmt.Sprintf(" %d more %s there.", n, plural(n, "pod waits", "pods wait"))
	}
	return f
}

// there says how it is in the zone.
func (p *places) there(h lodging, x stuck) string {
	switch h.fate {
	case fateServed, fateComing:
		var others []string
		for _, o := range x.found {
			if o.kind != volumeElsewhere {
				others = append(others, o.text)
			}
		}
		text := capital(h.why)
		if len(others) > 0 {
			text += "; of the nodes that are not in another zone the scheduler says: " + some(others, 3)
		}
		return text
	}
	return "No node there takes it"
}
