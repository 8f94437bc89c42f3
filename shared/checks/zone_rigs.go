package checks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// rig is an Auto Scaling group as something that can bring nodes to zones.
type rig struct {
	group snapshot.Group
	// managed is its EKS nodegroup, if it has one.
	managed *snapshot.Nodegroup
	zones   []string
	// count is how many instances it has in each zone.
	count map[string]int
	// unready are instances by zone that had their time and are no Ready nodes:
	// checks of nodes say why.
	unready map[string]string
	// idle says why it launches nothing; empty where it does.
	idle string
	// failing says, by zone, what becomes of its launches there.
	failing map[string]string
	berth   berth
	// scaled tells that an autoscaler may change its desired count.
	scaled bool
	// moving tells that nodes of it come and go just now.
	moving bool
}

// name is what a person calls it: its nodegroup, else the group itself.
func (r rig) name() string {
	if r.managed != nil {
		return r.managed.Name
	}
	return r.group.Name
}

// most is its maximum. EKS keeps one of its own for a nodegroup; where somebody
// changed the group beside EKS the smaller one holds.
func (r rig) most() int {
	if r.managed != nil {
		return min(r.managed.Max, r.group.Max)
	}
	return r.group.Max
}

func (r rig) total() int {
	n := 0
	for _, c := range r.count {
		n += c
	}
	return n
}

// empty are the zones into which it launches and where it has no instance.
func (r rig) empty() []string {
	return slices.DeleteFunc(slices.Clone(r.zones), func(z string) bool { return r.count[z] > 0 })
}

// launchers are the groups that can launch nodes at all.
func (p *places) launchers() []rig {
	failing := p.failing()
	var rigs []rig
	for _, g := range p.s.Groups {
		r := rig{group: g, zones: slices.Compact(slices.Sorted(slices.Values(g.Zones))), count: map[string]int{}, unready: map[string]string{}, failing: failing[g.Name]}
		for i, n := range p.s.Nodegroups {
			if slices.Contains(n.Groups, g.Name) || g.Tags["eks:nodegroup-name"] == n.Name && g.Tags["eks:cluster-name"] == p.s.Cluster.Name {
				r.managed = &p.s.Nodegroups[i]
			}
		}
		for z, list := range p.stands {
			for _, s := range list {
				if s.group == g.Name {
					r.count[z]++
				}
			}
		}
		for _, in := range g.Instances {
			if in.Zone != "" && serves(in.Lifecycle) && !p.stood(in.ID) {
				r.count[in.Zone]++
				r.unready[in.Zone] = in.ID
			}
		}
		switch {
		case stopped(g):
			r.idle = "its process Launch is suspended"
		case g.Max == 0:
			r.idle = "its maximum is 0"
		case r.managed != nil && strings.HasPrefix(r.managed.Status, "DELET"):
			r.idle = "it is being deleted"
		}
		r.moving = r.managed != nil && (r.managed.Status == "CREATING" || r.managed.Status == "UPDATING") || g.Desired > len(g.Instances)
		for key := range g.Tags {
			r.scaled = r.scaled || strings.HasPrefix(key, "k8s.io/cluster-autoscaler/")
		}
		r.berth = p.model(r)
		rigs = append(rigs, r)
	}
	return rigs
}

// model is what a new node of the group would be like: as one that it has, else
// as its nodegroup says.
func (p *places) model(r rig) berth {
	for _, z := range slices.Sorted(maps.Keys(p.stands)) {
		for _, s := range p.stands[z] {
			if s.group != r.group.Name || !s.berth.whole || s.coming {
				continue
			}
			labels := maps.Clone(s.berth.labels)
			for _, own := range []string{zoneLabel, hostLabel, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone", "topology.k8s.aws/zone-id"} {
				delete(labels, own)
			}
			return berth{labels: labels, taints: s.berth.taints, whole: true}
		}
	}
	b := berth{labels: map[string]string{"kubernetes.io/os": "linux"}}
	if m := r.managed; m != nil {
		maps.Copy(b.labels, m.Labels)
		b.labels[groupLabel] = m.Name
		switch {
		case strings.Contains(m.AMIType, "ARM"):
			b.labels["kubernetes.io/arch"] = "arm64"
		case strings.Contains(m.AMIType, "x86_64") || m.AMIType == "AL2_x86_64_GPU":
			b.labels["kubernetes.io/arch"] = "amd64"
		}
		if strings.HasPrefix(m.AMIType, "WINDOWS") {
			b.labels["kubernetes.io/os"] = "windows"
		}
		b.taints = m.Taints
	}
	return b
}

// in is the berth with the zone's own label.
func (b berth) in(zone string) berth {
	labels := maps.Clone(b.labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range []string{zoneLabel, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone"} {
		labels[key] = zone
	}
	b.labels = labels
	return b
}

// failing are, by group and zone, the launches that came to nothing and were
// followed by none that did: refused ones, and those that never joined.
func (p *places) failing() map[string]map[string]string {
	all := map[string]map[string]string{}
	note := func(group, zone, why string) {
		if group == "" || zone == "" {
			return
		}
		if all[group] == nil {
			all[group] = map[string]string{}
		}
		all[group][zone] = why
	}
	for _, t := range p.s.Attempts().list {
		if !t.unsure {
			note(t.group, t.zone, fmt.Sprintf("%s, %s", cmp.Or(string(t.verdict.Class), t.told), clockTime(t.at)))
		}
	}
	if !p.s.Has(snapshot.LaunchHistory) {
		return all
	}
	joined := map[string]time.Time{}
	for _, h := range p.s.History {
		if key := h.Group + "/" + h.Zone; h.End == snapshot.Joined && h.Started.After(joined[key]) {
			joined[key] = h.Started
		}
	}
	for _, h := range p.s.History {
		if h.End != snapshot.NotJoined && h.End != snapshot.Refused || p.s.Time.Sub(h.Started) > impairedWindow || h.Started.Before(joined[h.Group+"/"+h.Zone]) {
			continue
		}
		note(h.Group, h.Zone, fmt.Sprintf("%s, %s", cmp.Or(h.Cause, string(h.End)), clockTime(h.Started)))
	}
	return all
}
