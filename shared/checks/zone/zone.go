// Package zone holds the checks of zone: volumes, and the nodes where they live.
package zone

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/launch"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func Impaired() check.Check {
	return check.New(checkid.ZoneImpaired, runZoneImpaired, snapshot.Clusters, snapshot.ZonesOf).
		Using(snapshot.LaunchHistory, snapshot.Subnets)
}

func runZoneImpaired(s *check.View) []check.Finding {
	p := zones.ForView(s)
	ours := used(p)
	troubles := map[string]zoneTrouble{}
	if s.Has(snapshot.LaunchHistory) {
		troubles = troubled(s)
	}
	var list []check.Finding
	var well, unsaid []string
	pass := check.Finding{Outcome: check.Pass, Resource: s.Cluster.Name}
	for _, z := range s.Zones {
		t, seen := troubles[z.Name]
		switch {
		case ours[z.Name] && (z.State == "impaired" || z.State == "unavailable"):
			f := impaired(p, z, "EC2 reports "+z.Name+" as "+z.State+".")
			if seen {
				f = f.Showing(t.evidence(z.Name))
			}
			list = append(list, f)
		case ours[z.Name] && seen:
			f := impaired(p, z, t.describe(z.Name))
			f.Confidence = check.Likely
			f = f.Showing(t.evidence(z.Name))
			list = append(list, f)
		case ours[z.Name] && !slices.Contains([]string{"available", "information", "constrained", "impaired", "unavailable"}, z.State):
			list = append(list, check.Unread(z.Name, []string{z.Name}, check.Broken(snapshot.ZonesOf, "EC2 reports %s as %q, which is unknown to Rollcall", z.Name, z.State)))
		case ours[z.Name] && !s.Has(snapshot.LaunchHistory):
			unsaid = append(unsaid, z.Name)
		default:
			well = append(well, z.Name)
			if ours[z.Name] {
				pass = pass.Noting(z.Name, stateOf(z))
			}
		}
	}
	if len(unsaid) > 0 {
		list = append(list, check.Unread(s.Cluster.Name, unsaid, s.Why(snapshot.LaunchHistory)))
	}
	if pass.Covers = well; len(well) > 0 {
		list = append(list, pass)
	}
	return list
}

// used are the zones in which the cluster has, or may have, nodes.
func used(p *zones.Zones) map[string]bool {
	used := map[string]bool{}
	for z := range p.NodesIn {
		used[z] = true
	}
	for _, r := range p.Sources {
		for _, z := range r.Zones {
			used[z] = true
		}
	}
	return used
}

func stateOf(z snapshot.Zone) string {
	if len(z.Messages) == 0 {
		return z.State
	}
	return z.State + ": " + check.Clip(strings.Join(z.Messages, "; "))
}

func impaired(p *zones.Zones, z snapshot.Zone, why string) check.Finding {
	f := check.Failed(z.Name, z.Name).Involving(z.Name).
		Titled("%s (%s) looks impaired: not your configuration", z.Name, z.ID).
		Because("%s", why).
		Noting(z.Name+" ("+z.ID+")", stateOf(z)).
		Showing(nodesByZone(p)).
		ToFix("Do not start with your configuration. Keep launches out of %s until it recovers, and do not replace what still works there; see https://health.aws.amazon.com.", z.Name).
		Console(p.S.EC2Link("Home:"))
	var ids []string
	suspects, _ := p.S.Pending()
	for _, i := range suspects {
		if i.Zone == z.Name {
			ids = append(ids, i.ID)
		}
	}
	f.Instances = ids
	return f
}

func NodegroupGap() check.Check {
	return check.New(checkid.ZoneNodegroupGap, runNodegroupGap, snapshot.Clusters, snapshot.Groups,
		snapshot.VolumesOf).Using(zoneUses()...)
}

func runNodegroupGap(s *check.View) []check.Finding {
	p := zones.ForView(s)
	all := zones.VolumesOf(s)
	var list []check.Finding
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

func gap(p *zones.Zones, r *zones.NodeSource, list []zones.VolumePlacement) check.Finding {
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
	f := check.Failed(r.Name(), names...).
		Involving(slices.Concat([]string{r.Name(), r.Group.Name}, names, volumesOf(list))...).
		Titled("No node in %s for %s", first.Home.Zone(), first.Home.Short()).
		Because("%s is in %s; no node there (desired %d, spread over %d zones).", capital(first.Home.Words()), first.Home.Zone(), r.Group.Desired, inUse(p, r, names)).
		Showing(evidence(p, list)...).
		FixedBy(cover(p, r))
	if r.Name() == r.Group.Name {
		f.Resources = f.Resources[1:]
	}
	if first.Pod != nil {
		f.Since = first.Pod.Since()
		f.Why += fmt.Sprintf(" Pod %s has been waiting for it since %s.", first.Pod.Key(), check.ClockTime(first.Pod.Since()))
	}
	f.Why, f.Pods = f.Why+p.Unsaid(first)+zones.Others(first, len(list)-1), zones.PodsOf(list)
	confidence := p.Strongest(list)
	if confidence == check.Certain && len(r.Zones) == 1 {
		confidence = check.Likely // an autoscaler may be about to grow it
	}
	if confidence != check.Certain {
		f.Confidence = confidence
	}
	if confidence == check.Advice {
		// No node has to be started for what is unused.
		f.Fix = check.Fix{Text: fmt.Sprintf("No claim holds it. If it is needed, give %s a node in every zone; otherwise delete it (take a snapshot first).", r.Name()), Console: f.Fix.Console}
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
func cover(p *zones.Zones, r *zones.NodeSource) check.Fix {
	const lasting = " Long term: create one nodegroup per zone, as AWS advises for workloads with EBS volumes."
	count, fit := r.Wanted()
	fix := check.Fix{Console: p.S.EC2Link("AutoScalingGroupDetails:id=" + url.PathEscape(r.Group.Name) + ";view=details")}
	empty := strings.Join(r.Empty(), ", ")
	if !fit {
		fix.Text = fmt.Sprintf("%s needs a desired count of %d to have a node in each of its zones (none in %s), and its maximum is %d: raise the maximum first.%s", r.Name(), count, empty, r.Most(), lasting)
		return fix
	}
	fix.Text = fmt.Sprintf("Raise the desired count of %s from %d to %d (its maximum is %d). Auto Scaling launches in the zones that have the fewest nodes, so each zone gets one (now none in %s).", r.Name(), r.Group.Desired, count, r.Most(), empty)
	if r.Scaled {
		fix.Text += " The cluster autoscaler can remove the node again once no pod needs it; raise the minimum to keep it."
	}
	fix.Text += lasting
	a := &check.Attempts{S: p.S}
	if r.Managed != nil {
		fix.Command = launch.AWSCommand(a, "eks", "update-nodegroup-config", "--cluster-name", p.S.Cluster.Name, "--nodegroup-name", r.Managed.Name, "--scaling-config", fmt.Sprintf("desiredSize=%d", count))
	} else {
		fix.Command = launch.AWSCommand(a, "autoscaling", "set-desired-capacity", "--auto-scaling-group-name", r.Group.Name, "--desired-capacity", fmt.Sprint(count))
	}
	fix.Remedy = coverZones
	return fix
}

const (
	// fewestTroubles and fewestKinds are how many launches must have failed in
	// the zone, and in how many ways; fewestBeside how many must have joined in
	// the groups' other zones meanwhile. Two ways of failing by chance in one
	// zone alone, four times in an hour, while all is well beside it, does not
	// happen to settings, which are the same in all zones.
	fewestTroubles = 4
	fewestKinds    = 2
	fewestBeside   = 3
)

// zoneTrouble is what failed in one zone.
type zoneTrouble struct {
	kinds  map[string]int
	failed int
	joined int
	// beside are the launches of the same groups that joined in other zones.
	beside int
	groups []string
}

// troubled are the zones in which launches fail in several ways, and beside
// which they do not.
func troubled(s *check.View) map[string]zoneTrouble {
	all := map[string]*zoneTrouble{}
	joined := map[string]map[string]int{} // group to zone
	failed := map[string]map[string]int{}
	count := func(m map[string]map[string]int, group, zone string) {
		if m[group] == nil {
			m[group] = map[string]int{}
		}
		m[group][zone]++
	}
	for _, h := range s.History {
		if h.Zone == "" || s.Time.Sub(h.Started) > zones.ImpairedWindow {
			continue
		}
		if all[h.Zone] == nil {
			all[h.Zone] = &zoneTrouble{kinds: map[string]int{}}
		}
		t := all[h.Zone]
		group := h.Group
		if group == "" {
			group = h.Nodegroup
		}
		if kind, bad := zoneTroubleOf(h); bad {
			t.kinds[kind]++
			t.failed++
			t.groups = append(t.groups, group)
			count(failed, group, h.Zone)
		} else if h.End == snapshot.Joined {
			t.joined++
			count(joined, group, h.Zone)
		}
	}
	found := map[string]zoneTrouble{}
	for zone, t := range all {
		slices.Sort(t.groups)
		t.groups = slices.Compact(t.groups)
		elsewhere := 0
		for _, g := range t.groups {
			for z, n := range joined[g] {
				if z != zone {
					t.beside += n
				}
			}
			for z, n := range failed[g] {
				if z != zone {
					elsewhere += n
				}
			}
		}
		kinds := len(t.kinds)
		if t.kinds[string(checkid.LaunchInsufficientCapacity)] > 0 {
			kinds-- // is short by itself, too
		}
		if t.failed >= fewestTroubles && kinds >= fewestKinds && t.joined*fewestTroubles <= t.failed && t.beside >= fewestBeside && elsewhere == 0 {
			found[zone] = *t
		}
	}
	return found
}

// zoneTroubleOf is how a launch failed, where no setting explains it.
func zoneTroubleOf(h snapshot.Past) (kind string, bad bool) {
	switch {
	case h.End == snapshot.Joined && h.Lost && !h.Spot:
		return "lost after it had joined", true
	case h.End == snapshot.Refused:
		return string(h.Cause), h.Cause == checkid.LaunchUnclassified || h.Cause == checkid.LaunchInsufficientCapacity
	case h.End == snapshot.NotJoined || h.End == snapshot.Open && !h.Missed.IsZero():
		switch h.Cause {
		case "", checkid.InstanceCommonFactor, checkid.InstanceStatusCheck, checkid.InstanceEndedEarly, checkid.NodeNotRegistered, checkid.NodeNotReady:
			if h.Cause == "" || h.Cause == checkid.InstanceCommonFactor {
				return "no node, and no cause found", true
			}
			return string(h.Cause), true
		}
	}
	return "", false
}

func (t zoneTrouble) describe(zone string) string {
	return fmt.Sprintf("In the last hour %d launches failed in %s in %d ways that no setting explains, and %d became nodes there; in the other zones of %s %d did.", t.failed, zone, len(t.kinds), t.joined, check.Some(t.groups, 3), t.beside)
}

func (t zoneTrouble) evidence(zone string) check.Evidence {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(t.kinds)) {
		parts = append(parts, fmt.Sprintf("%d %s", t.kinds[k], k))
	}
	return check.Evidence{What: "Launches in " + zone, Value: strings.Join(parts, ", ")}
}

func PodUnschedulable() check.Check {
	return check.New(checkid.ZonePodUnschedulable, runPodUnschedulable, snapshot.Clusters, snapshot.Groups,
		snapshot.WaitingPods).Using(append(zoneUses(), snapshot.VolumesOf)...)
}

// stuck is a pod that waits for its volumes' zone.
type stuck struct {
	pod   *snapshot.WaitingPod
	homes []zones.VolumePlacement
	found []scheduling.Obstacle
}

func runPodUnschedulable(s *check.View) []check.Finding {
	p := zones.ForView(s)
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
	var list []check.Finding
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
		// In which zone they wait is not known: pods may wait in each of them.
		return append(list, check.Unread(s.Cluster.Name, well, unseenSources(p, lost)...))
	}
	if len(failed) == len(p.Zones()) && len(failed) > 0 || len(well) == 0 {
		return list
	}
	return append(list, check.Passed(s.Cluster.Name, well...).
		Notingf("Waiting pods", "%d, none for the zone of its volume there", len(s.WaitingPods)))
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
func apartFinding(p *zones.Zones, list []stuck) check.Finding {
	first := list[0]
	var places []string
	words := []any{"kubectl", "-n", first.pod.Namespace, "get", "pvc"}
	for _, l := range first.homes {
		places = append(places, l.Home.Short()+" in "+l.Home.Zone())
		_, claim, _ := strings.Cut(l.Home.Claim, "/")
		words = append(words, claim)
	}
	f := check.Failed(first.pod.Key(), p.S.Cluster.Name).WithConfidence(check.Certain).
		Titled("%s: no node can have all of its volumes", first.pod.Key()).
		Because("Pod %s has been waiting since %s for %s. An EBS volume can be attached only in its own zone: no node, old or new, can have all of them.",
			first.pod.Key(), check.ClockTime(first.pod.Since()), check.And(places)).
		ToFix("Move the volumes into one zone: snapshot those in the other zones, create volumes from the snapshots in the zone that you choose, and bind the claims to these. A StorageClass with volumeBindingMode WaitForFirstConsumer creates all volumes of a pod in the zone of its node.").
		Command(shell.Command(words...)).
		Console(p.S.EC2Link("VolumeDetails:volumeId=" + first.homes[0].Home.ID))
	f.Since = first.pod.Since()
	if len(first.homes) == 1 {
		f.Title = check.Title("%s requires another zone than its volume's", first.pod.Key())
		f.Why = fmt.Sprintf("Pod %s has been waiting since %s for %s, and its node selector or affinity allows only other zones: no node can run it.", first.pod.Key(), check.ClockTime(first.pod.Since()), places[0])
		f.Fix.Text = "Let the pod run in the zone of its volume, or move the volume into a zone that the pod allows (a new volume from a snapshot of it)."
	}
	for _, x := range list {
		if len(f.Pods) == zones.MostPods {
			break
		}
		f.Pods = append(f.Pods, x.pod.Key())
		f = f.Showing(waitsEvidence(p, x.pod))
		for _, l := range x.homes {
			f = f.Noting(l.Home.ID, placementText(p, l))
			f.Resources = append(f.Resources, l.Home.ID)
		}
	}
	f = f.Showing(nodesByZone(p))
	if n := len(list) - 1; n > 0 {
		f.Why += fmt.Sprintf(" The same is true of %d more %s.", n, check.Plural(n, "pod", "pods"))
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
	return append(blocked, check.NotRead(snapshot.WaitingPods, "pod %s waits for a volume in another zone; which volume was not read", lost[0].pod.Key()))
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

func stuckFinding(p *zones.Zones, zone string, list []stuck) check.Finding {
	first := list[0]
	h := first.homes[slices.IndexFunc(first.homes, func(l zones.VolumePlacement) bool { return l.Home.Zones[0] == zone })]
	f := check.Failed(zone, zone).Involving(zone).
		Titled("%s waits for a node in %s", first.pod.Key(), zone).
		Because("Pod %s has been waiting since %s: %s is in %s. %s.", first.pod.Key(), check.ClockTime(first.pod.Since()), h.Home.Words(), h.Home.Zone(), there(p, h, first)).
		ToFix("Make room on a node in %s, or add one there. The command shows what the zone's nodes run.", zone).
		Command(shell.Command("kubectl", "describe", "nodes", "-l", "topology.kubernetes.io/zone="+zone)).
		Console(p.S.EC2Link("VolumeDetails:volumeId=" + h.Home.ID))
	f.Since = first.pod.Since()
	if p.Pools || p.PoolsUnread {
		f.Confidence = check.Possible
	}
	for _, x := range list[:min(len(list), zones.MostPods)] {
		f.Pods = append(f.Pods, x.pod.Key())
	}
	const most = 10
	for i, x := range list {
		if i == most {
			f = f.Noting("More pods", fmt.Sprint(len(list)-most))
			break
		}
		f = f.Showing(waitsEvidence(p, x.pod))
		for _, l := range x.homes {
			f = f.Noting(l.Home.ID, placementText(p, l))
			f.Resources = append(f.Resources, l.Home.ID)
		}
	}
	f.Evidence = append(append(f.Evidence, nodesByZone(p)), shiftsUnread(p)...)
	if n := len(list) - 1; n > 0 {
		f.Why += fmt.Sprintf(" %d more %s there.", n, check.Plural(n, "pod waits", "pods wait"))
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
				others = append(others, check.Clip(o.Text))
			}
		}
		text := capital(h.Why)
		if len(others) > 0 {
			text += "; the scheduler reports for the zone's nodes: " + check.Some(others, 3)
		}
		return text
	}
	return "No node there can run it"
}

func Shifted() check.Check {
	return check.New(checkid.ZoneShifted, runShifted, snapshot.Clusters, snapshot.Groups, snapshot.ZonalShifts).
		Using(append(zoneUses(), snapshot.VolumesOf)...)
}

func runShifted(s *check.View) []check.Finding {
	p := zones.ForView(s)
	pass := check.Finding{Outcome: check.Pass, Resource: s.Cluster.Name}
	var list []check.Finding
	var away []string
	for _, z := range p.Zones() {
		if p.ShiftIn(z) != nil {
			away = append(away, z)
		}
	}
	unread := check.Unread(s.Cluster.Name, nil, p.ShiftsUnread()...)
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
				pass = pass.Noting(z, describe(p, x.Of[0])+"; nothing waits for the zone")
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
	confidence check.Confidence
}

func (h impact) none() bool { return len(h.pods)+len(h.crowded)+len(h.homes)+len(h.groups) == 0 }

func impactOf(p *zones.Zones, x *zones.Shift, away []string) impact {
	h := impact{confidence: check.Likely}
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
			h.confidence = check.Certain
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

func shiftedFinding(p *zones.Zones, x *zones.Shift, h impact) check.Finding {
	first := x.Of[0]
	f := check.Failed(x.Zone, x.Zone).Involving(append([]string{x.Zone}, volumesOf(h.homes)...)...).
		WithConfidence(check.Advice).
		Titled("%s is shifted away%s", x.Zone, until(first, " until %s")).
		Because("%s moves %s away from %s (%s)%s: %s.", capital(kind(first)), target(p, first), x.Zone, first.ZoneID, since(first), effects(x)).
		FixedBy(shiftFix(p, first))
	f.Since = first.Started
	if !h.none() {
		if f.Confidence = h.confidence; f.Confidence == check.Certain {
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
		f.Title, f.Since = check.Title("%s waits for %s, which is shifted away", pod.Key(), x.Zone), pod.Since()
		what := "requires that zone"
		if i := slices.IndexFunc(h.homes, func(l zones.VolumePlacement) bool { return slices.Contains(l.Home.Pods, pod) }); i >= 0 {
			what = "needs " + h.homes[i].Home.Words() + ", which is there"
		}
		f.Why += fmt.Sprintf(" Pod %s has been waiting since %s and %s.", pod.Key(), check.ClockTime(pod.Since()), what)
	case len(h.crowded) > 0:
		pod := h.crowded[0]
		f.Title, f.Since = check.Title("%s has no room while %s is shifted away", pod.Key(), x.Zone), pod.Since()
		f.Why += fmt.Sprintf(" Pod %s has been waiting since %s: %s there %s cordoned, and the others have no room for it.", pod.Key(), check.ClockTime(pod.Since()), nodes(x.Cordoned()), check.Plural(x.Cordoned(), "is", "are"))
	case len(h.groups) > 0:
		f.Title = check.Title("%s cannot launch: %s is shifted away", h.groups[0], x.Zone)
		f.Why += fmt.Sprintf(" %s %s no other zone, and fewer instances than desired.", check.Some(h.groups, 3), check.Plural(len(h.groups), "has", "have"))
	case len(h.homes) > 0:
		f.Title = check.Title("%s is in %s, which is shifted away", h.homes[0].Home.Short(), x.Zone)
		f.Why += fmt.Sprintf(" %s is there, and no node can come. No pod is waiting for it now.", capital(h.homes[0].Home.Words()))
	}
	if n := len(waiting) - 1; n > 0 {
		f.Why += fmt.Sprintf(" %d more %s.", n, check.Plural(n, "pod waits", "pods wait"))
	}
	for _, pod := range waiting[:min(len(waiting), zones.MostPods)] {
		f.Pods = append(f.Pods, pod.Key())
	}
	f.Evidence = shiftEvidence(p, x, h, waiting)
	return f
}

func shiftEvidence(p *zones.Zones, x *zones.Shift, h impact, waiting []*snapshot.WaitingPod) (out []check.Evidence) {
	const most = 10
	for _, o := range x.Of[:min(len(x.Of), most)] {
		out = append(out, check.Evidence{What: cmp.Or(o.ID, "Autoshift"), Value: describe(p, o)})
	}
	for _, pod := range waiting[:min(len(waiting), most)] {
		out = append(out, waitsEvidence(p, pod))
	}
	for _, l := range h.homes[:min(len(h.homes), most)] {
		out = append(out, check.Evidence{What: l.Home.ID, Value: placementText(p, l)})
	}
	out = append(out, nodesByZone(p))
	for _, r := range x.Sources[:min(len(x.Sources), most)] {
		out = append(out, check.Evidence{What: "Group " + r.Group.Name, Value: words(*r)})
	}
	return out
}

func nodes(n int) string { return fmt.Sprintf("%d %s", n, check.Plural(n, "node", "nodes")) }

// effects are what the shift does there (sources in package zones and snapshot).
func effects(x *zones.Shift) string {
	var parts []string
	if n := x.Cordoned(); x.Cluster && n > 0 {
		parts = append(parts, nodes(n)+" there "+check.Plural(n, "is", "are")+" cordoned")
	}
	var names []string
	for _, r := range x.Sources {
		names = append(names, r.Name())
	}
	if names = append(names, x.Pools...); len(names) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s nothing there", check.Some(names, 3), check.Plural(len(names), "launches", "launch")))
	}
	if len(parts) == 0 {
		parts = append(parts, "its nodes there accept no new pods")
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

func target(p *zones.Zones, s snapshot.Shift) string {
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

func day(t time.Time) string { return t.UTC().Format(check.DayAndMinute) + " UTC" }

func describe(p *zones.Zones, s snapshot.Shift) string {
	text := strings.TrimSuffix(kind(s), ",") + " of " + target(p, s) + " away from " + s.ZoneID + since(s)
	if s.Comment != "" {
		text += ": " + check.Clip(s.Comment)
	}
	return text
}

// shiftFix says who ends the shift, and when. The command reads: ending a shift puts load
// on a zone that may not be well.
func shiftFix(p *zones.Zones, s snapshot.Shift) check.Fix {
	const meanwhile = " Raising a desired count brings no node to the zone meanwhile; what has no volume there can run in the other zones."
	fix := check.Fix{Console: p.S.ClusterLink(), Command: p.S.AWSCommand("arc-zonal-shift list-zonal-shifts", "--status", "ACTIVE")}
	switch s.Kind {
	case snapshot.Autoshift:
		fix.Text = "AWS ends it once the zone has recovered; see https://health.aws.amazon.com." + meanwhile
		fix.Command = p.S.AWSCommand("arc-zonal-shift list-autoshifts", "--status", "ACTIVE")
	case snapshot.PracticeRun:
		fix.Text = fmt.Sprintf("It ends by itself at %s. What waits now would wait in an outage of the zone, too: give it room, or its volumes, in the other zones.", day(s.Expires))
	default:
		fix.Text = fmt.Sprintf("Ask whoever started it whether the zone has recovered. Once it has, cancel the shift (%s), or let it expire at %s.", p.S.AWSCommand("arc-zonal-shift cancel-zonal-shift", "--zonal-shift-id", s.ID), day(s.Expires)) + meanwhile
	}
	return fix
}

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

func runVolumeStranded(s *check.View) []check.Finding {
	p := zones.ForView(s)
	all := zones.VolumesOf(s)
	var list []check.Finding
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
			list = append(list, check.Unread(z, []string{z}, whyUnseen(unseen)...))
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
	return []snapshot.Failure{check.NotRead(snapshot.VolumesOf, "%s", list[0].Why)}
}

// passing are the findings of the zones in which nothing is wrong: one for each,
// so that what closes an incident is the evidence of its own zone. Where a node
// is only on its way nothing is said, neither good nor bad: it may never join,
// and an incident closes when one is there.
func passing(p *zones.Zones, names []string, all []zones.VolumePlacement) []check.Finding {
	if len(names) == 0 && len(all) == 0 && len(p.Zones()) == 0 {
		names = []string{p.S.Cluster.Name} // no zone is known, and no volume
	}
	var list []check.Finding
	for _, z := range names {
		if slices.ContainsFunc(all, func(l zones.VolumePlacement) bool { return l.Awaited && slices.Contains(l.Home.Zones, z) }) {
			continue
		}
		f := check.Passed(p.S.Cluster.Name, z)
		volumes := 0
		for _, l := range all {
			if slices.Contains(l.Home.Zones, z) {
				volumes++
			}
		}
		if volumes > 0 {
			f.Evidence = []check.Evidence{{What: z, Value: fmt.Sprintf("%s, %d %s", p.StandsIn(z), volumes, check.Plural(volumes, "volume", "volumes"))}}
		}
		list = append(list, f)
	}
	return list
}

func strandedFinding(p *zones.Zones, zone string, list []zones.VolumePlacement) check.Finding {
	list = surest(p, list)
	first := order(p, list)[0]
	confidence := p.Strongest(list)
	f := check.Failed(zone, zone).Involving(append([]string{zone}, volumesOf(list)...)...).
		Titled("No node can come to %s for %s", zone, first.Home.Short()).
		Because("%s is in %s; no node is there, and none can come: %s.", capital(first.Home.Words()), first.Home.Zone(), first.Why).
		ToFix("Give the cluster a nodegroup with a subnet in %s (the command lists them)%s. AWS advises one nodegroup per zone for workloads with EBS volumes.", zone, suited(first)).
		Command(p.S.AWSCommand("ec2 describe-subnets", "--filters", "Name=availability-zone,Values="+zone, inVPC(p.S))).
		Console(p.S.EC2Link("VolumeDetails:volumeId=" + first.Home.ID))
	if confidence != check.Certain {
		f.Confidence = confidence
	}
	if confidence == check.Advice {
		f.Fix.Text = "No claim holds it. Delete it if it is not needed (take a snapshot first), or leave it: it costs its size."
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
	return ", and with nodes that can run " + l.Pod.Key()
}

// inVPC is the filter by the cluster's VPC, where that is known.
func inVPC(s *check.View) []string {
	if s.Cluster.VPC == "" {
		return nil
	}
	return []string{"Name=vpc-id,Values=" + s.Cluster.VPC}
}

// capital writes the first letter large, unless text begins with an id or the
// name of a node: these stay as EC2 and Kubernetes write them.
func capital(text string) string {
	if first, _, _ := strings.Cut(text, " "); first == "" || strings.Contains(first, "-") && strings.ContainsAny(first, "0123456789") {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// coverZones is the remedy that raises a desired count (package remedy).
const coverZones = "cover-zones"

// order puts first what is surest, and of that what waits longest.
func order(p *zones.Zones, list []zones.VolumePlacement) []zones.VolumePlacement {
	order := []check.Confidence{check.Certain, check.Likely, check.Possible, check.Advice}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b zones.VolumePlacement) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, p.Confidence(a)), slices.Index(order, p.Confidence(b))),
			strings.Compare(a.Home.ID, b.Home.ID),
		)
	})
	return list
}

// surest are those of which it is as sure as of the surest: a volume without a
// claim or a waiting pod does not count beside one that a pod waits for.
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
func evidence(p *zones.Zones, list []zones.VolumePlacement) []check.Evidence {
	const most = 10
	var out []check.Evidence
	for i, l := range order(p, list) {
		if i == most {
			out = append(out, check.Evidence{What: "More volumes", Value: fmt.Sprint(len(list) - most)})
			break
		}
		out = append(out, check.Evidence{What: l.Home.ID, Value: placementText(p, l)})
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
		out = append(out, check.Evidence{What: "Group " + r.Group.Name, Value: words(r)})
	}
	out = append(out, p.PoolEvidence()...)
	if p.Pools && !p.PoolsKnown {
		out = append(out, check.Evidence{What: "Beside groups", Value: "Karpenter or Auto Mode launches nodes too; their limits were not read"})
	}
	out = append(out, shiftsUnread(p)...)
	if p.PoolsUnread {
		out = append(out, check.Evidence{What: "Not seen", Value: "nodes beside those of the groups: neither nodes nor instances could be read"})
	}
	return out
}

// shiftsUnread says that zones may be shifted away from, where that was not read.
func shiftsUnread(p *zones.Zones) (out []check.Evidence) {
	for _, f := range p.ShiftsUnread() {
		out = append(out, check.Evidence{What: "Not checked", Value: fmt.Sprintf("zone/shifted, %s (%s: %s)", f.Source, f.Reason, f.Call)})
	}
	return out
}

func placementText(p *zones.Zones, l zones.VolumePlacement) string {
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
		text += ", by its tags (Kubernetes could not be read)"
	}
	if l.Home.Attached {
		return text + ", attached"
	}
	return text + ", detached"
}

func waitsEvidence(p *zones.Zones, pod *snapshot.WaitingPod) check.Evidence {
	return check.Evidence{What: "Pod " + pod.Key(), Value: fmt.Sprintf("waiting since %s: %s", check.ClockTime(pod.Since()), cmp.Or(check.Clip(pod.Scheduled.Message), "the scheduler reports nothing"))}
}

// nodesByZone counts nodes: "us-east-1a 1, us-east-1b 1, us-east-1c 0".
func nodesByZone(p *zones.Zones) check.Evidence {
	var parts []string
	for _, z := range p.Zones() {
		here := slices.DeleteFunc(slices.Clone(p.NodesIn[z]), func(s zones.Node) bool { return s.Coming })
		parts = append(parts, fmt.Sprintf("%s %d", z, len(here)))
	}
	what := "Nodes by zone"
	if !p.S.Has(snapshot.Nodes) {
		what = "Instances by zone"
	}
	return check.Evidence{What: what, Value: strings.Join(parts, ", ")}
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
