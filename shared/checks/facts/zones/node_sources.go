package zones

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// NodeSource is an Auto Scaling group as something that can bring nodes to zones.
type NodeSource struct {
	Group snapshot.Group
	// Managed is its EKS nodegroup, if it has one.
	Managed *snapshot.Nodegroup
	Zones   []string
	// Count is how many instances it has in each zone.
	Count map[string]int
	// unready are instances by zone that had their time and are no Ready nodes:
	// checks of nodes say why.
	unready map[string]string
	// Idle says why it launches nothing; empty where it does.
	Idle string
	// Failing says, by zone, what becomes of its launches there.
	Failing map[string]string
	// shifted are the zonal shifts that keep it out of its zones.
	shifted map[string]*snapshot.Shift
	fit     scheduling.Node
	// Scaled tells that an autoscaler may change its desired count.
	Scaled bool
	// moving tells that nodes of it come and go just now.
	moving bool
}

// Name is what a person calls it: its nodegroup, else the group itself.
func (r NodeSource) Name() string {
	if r.Managed != nil {
		return r.Managed.Name
	}
	return r.Group.Name
}

// Most is its maximum. EKS keeps one of its own for a nodegroup; where somebody
// changed the group beside EKS the smaller one holds.
func (r NodeSource) Most() int {
	if r.Managed != nil {
		return min(r.Managed.Max, r.Group.Max)
	}
	return r.Group.Max
}

// Shifted says, by zone, what keeps it out; empty where it launches.
func (r NodeSource) Shifted(zone string) string {
	if s := r.shifted[zone]; s != nil {
		return shiftText(s)
	}
	return ""
}

func (r NodeSource) total() int {
	n := 0
	for _, c := range r.Count {
		n += c
	}
	return n
}

// Empty are the zones into which it launches and where it has no instance.
func (r NodeSource) Empty() []string {
	return slices.DeleteFunc(slices.Clone(r.Zones), func(z string) bool { return r.Count[z] > 0 })
}

// launchers are the groups that can launch nodes at all.
func (p *Zones) launchers() []NodeSource {
	failing := p.failing()
	var rigs []NodeSource
	for _, g := range p.S.Groups {
		r := NodeSource{Group: g, Zones: slices.Compact(slices.Sorted(slices.Values(g.Zones))), Count: map[string]int{}, unready: map[string]string{}, Failing: failing[g.Name]}
		for i, n := range p.S.Nodegroups {
			if slices.Contains(n.Groups, g.Name) || g.Tags["eks:nodegroup-name"] == n.Name && g.Tags["eks:cluster-name"] == p.S.Cluster.Name {
				r.Managed = &p.S.Nodegroups[i]
			}
		}
		for z, list := range p.NodesIn {
			for _, s := range list {
				if s.group == g.Name {
					r.Count[z]++
				}
			}
		}
		for _, in := range g.Instances {
			if in.Zone != "" && serves(in.Lifecycle) && !p.stood(in.ID) {
				r.Count[in.Zone]++
				r.unready[in.Zone] = in.ID
			}
		}
		switch {
		case Stopped(g):
			r.Idle = "its process Launch is suspended"
		case g.Max == 0:
			r.Idle = "its maximum is 0"
		case r.Managed != nil && strings.HasPrefix(r.Managed.Status, "DELET"):
			r.Idle = "it is being deleted"
		}
		r.moving = r.Managed != nil && (r.Managed.Status == "CREATING" || r.Managed.Status == "UPDATING") || g.Desired > len(g.Instances)
		for key := range g.Tags {
			r.Scaled = r.Scaled || strings.HasPrefix(key, "k8s.io/cluster-autoscaler/")
		}
		r.fit, r.shifted = p.model(r), p.shiftsOf(r)
		rigs = append(rigs, r)
	}
	return rigs
}

// model is what a new node of the group would be like: as one that it has, else
// as its nodegroup says.
func (p *Zones) model(r NodeSource) scheduling.Node {
	for _, z := range slices.Sorted(maps.Keys(p.NodesIn)) {
		for _, s := range p.NodesIn[z] {
			if s.group != r.Group.Name || !s.fit.Whole || s.Coming {
				continue
			}
			labels := maps.Clone(s.fit.Labels)
			for _, own := range []string{scheduling.ZoneLabel, scheduling.HostLabel, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone", "topology.k8s.aws/zone-id"} {
				delete(labels, own)
			}
			return scheduling.Node{Labels: labels, Taints: s.fit.Taints, Whole: true}
		}
	}
	b := scheduling.Node{Labels: map[string]string{"kubernetes.io/os": "linux"}}
	if m := r.Managed; m != nil {
		maps.Copy(b.Labels, m.Labels)
		b.Labels[scheduling.GroupLabel] = m.Name
		switch {
		case strings.Contains(m.AMIType, "ARM"):
			b.Labels["kubernetes.io/arch"] = "arm64"
		case strings.Contains(m.AMIType, "x86_64") || m.AMIType == "AL2_x86_64_GPU":
			b.Labels["kubernetes.io/arch"] = "amd64"
		}
		if strings.HasPrefix(m.AMIType, "WINDOWS") {
			b.Labels["kubernetes.io/os"] = "windows"
		}
		b.Taints = m.Taints
	}
	return b
}

// failing are, by group and zone, the launches that came to nothing and were
// followed by none that did: refused ones, and those that never joined.
func (p *Zones) failing() map[string]map[string]string {
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
	for _, t := range p.S.Attempts().List {
		if !t.Unsure {
			note(t.Group, t.Zone, fmt.Sprintf("%s, %s", cmp.Or(string(t.Verdict.Class), t.Told), phrase.ClockTime(t.At)))
		}
	}
	if !p.S.Has(snapshot.LaunchHistory) {
		return all
	}
	joined := map[string]time.Time{}
	for _, h := range p.S.History {
		if key := h.Group + "/" + h.Zone; h.End == snapshot.Joined && h.Started.After(joined[key]) {
			joined[key] = h.Started
		}
	}
	for _, h := range p.S.History {
		if h.End != snapshot.NotJoined && h.End != snapshot.Refused || p.S.Time.Sub(h.Started) > ImpairedWindow || h.Started.Before(joined[h.Group+"/"+h.Zone]) {
			continue
		}
		note(h.Group, h.Zone, fmt.Sprintf("%s, %s", cmp.Or(string(h.Cause), string(h.End)), phrase.ClockTime(h.Started)))
	}
	return all
}

// ImpairedWindow is how far back launches count. It is as far as join-check
// looks back, so that two looks at the same time say the same.
const ImpairedWindow = time.Hour

// Stopped tells that a group launches nothing.
func Stopped(g snapshot.Group) bool {
	return slices.ContainsFunc(g.Suspended, func(s snapshot.Suspended) bool { return s.Process == "Launch" })
}
