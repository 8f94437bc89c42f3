package joincheck

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/detect"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// scope is what the checks judge: Ready nodes whose pods do not start; launches that missed the roll or ended
// before they joined; those that no event told of, which nobody has looked at
// yet; and what open incidents are about, so that they can be closed.
func scope(r roll, verdicts []outcome.Verdict, starving []string) snapshot.Scope {
	var sc snapshot.Scope
	for i, e := range r.entries {
		switch v := verdicts[i].Status; {
		case slices.Contains(starving, e.launch.Instance):
			sc.Instances = append(sc.Instances, e.launch.Instance) // its subnet is not in question
			continue
		case e.silent && e.instance != nil && e.instance.Ended():
			continue
		case e.silent, v == outcome.Missed, v == outcome.Gone, v == outcome.GivenUp, v == outcome.Waiting && !e.recorded:
		default:
			continue
		}
		if e.instance != nil {
			sc.Instances = append(sc.Instances, e.launch.Instance)
		}
		sc.Subnets = append(sc.Subnets, e.launch.Subnet)
	}
	sc.Subnets = append(sc.Subnets, covered(r.incidents, subnetID)...)
	if r.sweep {
		for _, g := range r.groups {
			sc.Launchable = append(sc.Launchable, g.Subnets...)
		}
	}
	sc.Instances, sc.Subnets, sc.Launchable = detect.Distinct(sc.Instances), detect.Distinct(sc.Subnets), detect.Distinct(sc.Launchable)
	return sc
}

// covered are the ids of a kind that incidents which are not closed are about.
func covered(incidents []incident.Incident, kind func(string) bool) []string {
	var ids []string
	for _, i := range incidents {
		if i.State == incident.Closed {
			continue
		}
		for _, c := range i.Covers {
			if kind(c) {
				ids = append(ids, c)
			}
		}
	}
	return detect.Distinct(ids)
}

// absent is what open incidents are about and exists no more: instances that
// ended or that EC2 has forgotten, groups, add-ons, Karpenter's objects. Nothing is absent that was
// not looked for.
func absent(s *snapshot.Snapshot, r roll) []string {
	if !r.sweep {
		return nil
	}
	var gone []string
	if s.Has(snapshot.Instances) {
		for _, id := range covered(r.incidents, instanceID) {
			i := slices.IndexFunc(r.entries, func(e entry) bool { return e.launch.Instance == id && e.instance != nil })
			if i < 0 || r.entries[i].instance.Ended() {
				gone = append(gone, id)
			}
		}
	}
	for _, i := range r.incidents {
		if i.State == incident.Closed {
			continue
		}
		for _, c := range i.Covers {
			switch covers := checks.Meaning(i.Key.Check).CoversToo; {
			// What explains a refused launch covers its group, beside the subnet.
			case covers == check.Groups && ungrouped(c):
				if karpenterGone(s, c) {
					gone = append(gone, c)
				}
			case covers == check.Groups && !subnetID(c) && s.Has(snapshot.Groups):
				if !slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.Name == c }) {
					gone = append(gone, c)
				}
			case covers == check.NodePools:
				if karpenterGone(s, c) {
					gone = append(gone, c)
				}
			case covers == check.Addons && s.Has(snapshot.Addons):
				if !slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return a.Name == c }) {
					gone = append(gone, c)
				}
			}
		}
	}
	return gone
}

// ungrouped tells what launches without an Auto Scaling group, as refused launches
// name it.
func ungrouped(key string) bool {
	return strings.HasPrefix(key, snapshot.PoolKey("")) || strings.HasPrefix(key, snapshot.RoleKey(""))
}

// karpenterGone tells that an object of Karpenter is there no more, or is on its
// way out, by the name that kubectl gives it. A class is nobody's trouble either
// once no NodePool names it.
func karpenterGone(s *snapshot.Snapshot, key string) bool {
	kind, _, _ := strings.Cut(key, "/")
	switch kind {
	case "nodepool":
		return s.Has(snapshot.NodePoolsOf) && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool { return !p.Deleting && checks.PoolKey(p.Name) == key })
	case "nodeclaim":
		return s.Has(snapshot.NodeClaimsOf) && !slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool { return !c.Deleting && checks.ClaimKey(c.Name) == key })
	case "ec2nodeclass", "nodeclass":
		return s.Has(snapshot.NodePoolsOf) && !slices.ContainsFunc(s.NodePools, func(p snapshot.NodePool) bool { return !p.Deleting && checks.ClassKey(p.Class) == key })
	}
	return false
}

// remembered are the launches as the checks are told of them.
func remembered(entries []entry) []snapshot.ExpectedJoin {
	list := make([]snapshot.ExpectedJoin, 0, len(entries))
	for _, e := range entries {
		list = append(list, detect.Expected(e.launch))
	}
	return list
}

// launchesOf is how each launch stands, for report.
func launchesOf(entries []entry, verdicts []outcome.Verdict, starving []string, now time.Time) []report.Launch {
	list := make([]report.Launch, 0, len(entries))
	for i, e := range entries {
		if e.silent && !slices.Contains(starving, e.launch.Instance) {
			continue
		}
		v, l := verdicts[i], e.launch.Launch
		l.Status, l.Registered, l.Ready, l.Ended, l.EndedWhy = v.Status, v.Registered, v.Ready, v.Ended, v.EndedWhy
		if v.Reason == outcome.Tagged {
			l.Tagged = now
		}
		list = append(list, l)
	}
	return list
}

func subnetID(id string) bool { return len(id) > 7 && id[:7] == "subnet-" }

func instanceID(id string) bool { return strings.HasPrefix(id, "i-") }
