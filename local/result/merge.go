package result

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/local/exit"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
)

// Merge makes one result of all that the functions saw. What a later look saw
// wins: it is what report would have made of them. Bare reports whether a capture may
// lack the files of a cluster: nothing of it runs there; nil for none.
func Merge(seen []report.Observation, broken []Unknown, bare func(cluster string) bool) Result {
	r := Result{Incidents: []Incident{}, Unknown: []Unknown{}}
	for _, o := range seen {
		l := Standing(seen, o.Cluster)
		for _, c := range o.Diagnosis.Causes {
			if i, ok := FromCause(o, c, l); ok {
				r.add(i)
			}
		}
	}
	r.hide()
	r.hideUnready(func(cluster string) map[string]report.Launch { return Standing(seen, cluster) })
	slices.SortStableFunc(r.Incidents, func(a, b Incident) int {
		return cmp.Or(cmp.Compare(rank(a.Confidence), rank(b.Confidence)), cmp.Compare(len(b.Instances), len(a.Instances)), cmp.Compare(a.Cluster, b.Cluster))
	})
	r.Unknown = append(unknowns(seen, bare), broken...)
	r.Healthy = r.Status() == exit.Healthy
	return r
}

// rank orders the confidences as package diagnose does, strongest first.
func rank(confidence string) int {
	order := []checks.Confidence{checks.Certain, checks.Likely, checks.Possible, checks.Symptom, checks.Advice}
	if i := slices.Index(order, checks.Confidence(confidence)); i >= 0 {
		return i
	}
	return len(order)
}

// Standing is how each launch of a cluster stands in the end.
func Standing(seen []report.Observation, cluster string) map[string]report.Launch {
	all := map[string]report.Launch{}
	for _, o := range seen {
		if o.Cluster != cluster {
			continue
		}
		for _, l := range o.Launches {
			all[l.Instance] = l
		}
	}
	return all
}

// FromCause is a cause as the result tells it; false if it is about instances
// that have all joined, and none of their pods waits: what kept them from it is over.
func FromCause(o report.Observation, c diagnose.Cause, launches map[string]report.Launch) (Incident, bool) {
	instances := slices.DeleteFunc(slices.Clone(c.Instances), func(id string) bool {
		return launches[id].Status == outcome.Joined && !c.OfPods()
	})
	if len(c.Instances) > 0 && len(instances) == 0 && c.Confidence != checks.Advice {
		return Incident{}, false
	}
	i := Incident{
		Cause: string(c.Check), Confidence: string(cmp.Or(c.Confidence, checks.Certain)), Cluster: o.Cluster,
		Resources: resources(c), Nodegroups: list(c.Nodegroups), Instances: list(instances), Title: c.Title,
		Evidence: []Evidence{}, Fix: Fix{Text: c.Fix.Text, Command: c.Fix.Command, Remedy: c.Fix.Remedy},
		Contributing: []string{}, Symptoms: []string{}, Hidden: []Hidden{},
		Why: c.Why, Resource: c.Resource, Console: c.Fix.Console, By: o.By, Behind: c.Behind,
	}
	for _, e := range c.Evidence {
		i.Evidence = append(i.Evidence, Evidence(e))
	}
	for _, id := range c.Contributing {
		i.Contributing = append(i.Contributing, string(id))
	}
	for _, id := range c.Symptoms {
		i.Symptoms = append(i.Symptoms, string(id))
	}
	for _, h := range c.Hidden {
		i.Hidden = append(i.Hidden, Hidden{string(h.Check), string(h.Because)})
	}
	return i, true
}

// resources are what a cause is about, the one that a fix would change first.
// The instances that it keeps from joining are told beside them; where the
// instance is what is wrong, they are among them too.
func resources(c diagnose.Cause) []string {
	group, _, _ := strings.Cut(string(c.Check), "/")
	own := group == "instance" || group == "node" || c.Check == checkid.IAMProfileMissing
	all := []string{}
	for _, id := range slices.Concat([]string{c.Resource}, c.Covers, c.Resources) {
		if id == "" || slices.Contains(all, id) || !own && id != c.Resource && slices.Contains(c.Instances, id) {
			continue
		}
		all = append(all, id)
	}
	return all
}

// list is never null in JSON.
func list(ids []string) []string { return append([]string{}, ids...) }

// add joins an incident to the same one of another function or another event.
func (r *Result) add(i Incident) {
	k := slices.IndexFunc(r.Incidents, func(x Incident) bool {
		return x.Cluster == i.Cluster && x.Cause == i.Cause && x.Resource == i.Resource
	})
	if k < 0 {
		r.Incidents = append(r.Incidents, i)
		return
	}
	// The later look has the words; the earlier one may have seen more.
	old := r.Incidents[k]
	if advice := string(checks.Advice); i.Confidence == advice && old.Confidence != advice {
		// Who has not seen the instances advises only: report makes nothing of it.
		i, old = old, i
	}
	i.Resources = both(i.Resources, old.Resources)
	i.Nodegroups = both(i.Nodegroups, old.Nodegroups)
	i.Instances = both(i.Instances, old.Instances)
	i.Contributing = both(i.Contributing, old.Contributing)
	i.Symptoms = both(i.Symptoms, old.Symptoms)
	i.Hidden = both(i.Hidden, old.Hidden)
	r.Incidents[k] = i
}

// hide takes out what another function explains: subnet-watch sees no launches,
// and leaves out what an open incident says of the subnet; here none is open yet.
func (r *Result) hide() {
	all := slices.Clone(r.Incidents)
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i Incident) bool {
		k := slices.IndexFunc(checks.OfAddresses(), func(c checks.Check) bool { return string(c.ID) == i.Cause })
		if k < 0 || i.By != "subnet-watch" {
			return false
		}
		c := checks.OfAddresses()[k]
		return slices.ContainsFunc(all, func(o Incident) bool {
			explains := slices.Contains(c.After, checks.ID(o.Cause)) || slices.Contains(c.Adds, checks.ID(o.Cause))
			// Advice explains advice alone.
			stronger := o.Confidence != string(checks.Advice) || i.Confidence == o.Confidence
			return explains && stronger && o.Cluster == i.Cluster && o.Resource == i.Resource
		})
	})
}

// hideUnready puts nodes that are not Ready behind what keeps addresses from
// their pods, as report does: join-check sees the nodes, subnet-watch counts the
// blocks of their subnets, and neither sees both.
func (r *Result) hideUnready(launches func(cluster string) map[string]report.Launch) {
	var hidden []int
	for n, i := range r.Incidents {
		stands := launches(i.Cluster)
		by := map[int][]string{} // the instances that each other incident explains
		explained := map[string]bool{}
		for k, o := range r.Incidents {
			for _, id := range i.Instances {
				if o.Cluster == i.Cluster && correlate.ExplainsUnready(o.cause(), i.cause(), stands[id].Subnet) {
					by[k] = append(by[k], id)
					explained[id] = true
				}
			}
		}
		if len(i.Instances) == 0 || len(explained) < len(i.Instances) {
			continue
		}
		hidden = append(hidden, n)
		for k, instances := range by {
			r.Incidents[k].takeIn(i, instances)
		}
	}
	for _, n := range slices.Backward(hidden) {
		r.Incidents = slices.Delete(r.Incidents, n, n+1)
	}
}

// cause is what an incident says, as report knows it.
func (i Incident) cause() diagnose.Cause {
	return diagnose.Cause{
		Check: checks.ID(i.Cause), Confidence: checks.Confidence(i.Confidence), Resource: i.Resource, Resources: i.Resources, Behind: i.Behind,
	}
}

// takeIn gives an incident what another one says that it explains.
func (i *Incident) takeIn(other Incident, instances []string) {
	i.Instances = both(i.Instances, instances)
	i.Nodegroups = both(i.Nodegroups, other.Nodegroups)
	i.Symptoms = both(i.Symptoms, other.Symptoms)
	i.Hidden = both(i.Hidden, other.Hidden)
	if other.Confidence == string(checks.Symptom) {
		i.Symptoms = both(i.Symptoms, []string{other.Cause})
		return
	}
	i.Hidden = both(i.Hidden, []Hidden{{Check: other.Cause, Because: i.Cause}})
}

func both[T comparable](first, more []T) []T {
	for _, v := range more {
		if !slices.Contains(first, v) {
			first = append(first, v)
		}
	}
	return first
}
