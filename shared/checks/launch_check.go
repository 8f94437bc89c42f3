package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// launchSpec is what one check of failed launches has of its own.
type launchSpec struct {
	class activity.Class
	title string
	cause string
	fix   string
	links []string
	// headline ends the finding's title: "workers cannot launch: …".
	headline string
	// says is a more exact end, where the texts give one; nil for none.
	says func(launchFault) string
	// resource is what a fix would change; empty for the group itself.
	resource func(*attempts, attempt) string
	// repair is the command and the link; the text is the class's unless it
	// gives one.
	repair func(*attempts, launchFault) Fix
}

// launchFault is the failed launches that one fix would cure.
type launchFault struct {
	resource string
	list     []attempt
}

// launchCheck makes the check. All of them judge the same attempts, each those
// of its class.
func launchCheck(spec launchSpec) Check {
	return Check{
		ID:         ID(spec.class),
		Title:      spec.title,
		Confidence: Certain,
		// Instances are looked at where they were read: those that died while
		// they started tell the same as the group's activities.
		Needs:    []snapshot.Source{snapshot.Groups, snapshot.Activities},
		AtLaunch: true,
		Explains: []ID{AnyFailedLaunch},
		Cause:    spec.cause,
		Fix:      spec.fix,
		Links:    spec.links,
		Run: func(s *View) []Finding {
			return s.Attempts().judge(spec)
		},
	}
}

// judge makes one finding for each resource that failed launches hang on, and
// passes every group that has none.
func (a *attempts) judge(spec launchSpec) []Finding {
	var order []string
	faults := map[string][]attempt{}
	told := map[string]bool{} // units that fail
	open := map[string]attempt{}
	for _, t := range a.list {
		if t.verdict.Class != spec.class {
			continue
		}
		if t.unsure {
			open[t.group] = t
			continue
		}
		resource := ""
		if spec.resource != nil {
			resource = spec.resource(a, t)
		}
		resource = cmp.Or(resource, t.group)
		if faults[resource] == nil {
			order = append(order, resource)
		}
		faults[resource] = append(faults[resource], t)
		told[t.group] = true
	}
	var list []Finding
	for _, resource := range order {
		list = append(list, a.cannotLaunch(spec, launchFault{resource: resource, list: faults[resource]}))
	}
	var well []string
	for _, unit := range a.units {
		t, unsure := open[unit]
		lack, lacks := a.s.Lacks(snapshot.Activities, unit)
		switch {
		case told[unit]:
		case unsure:
			list = append(list, a.unread(unit, snapshot.Failure{
				Source: snapshot.Activities, Reason: snapshot.Broken,
				Message: fmt.Sprintf("a scaling activity of %s (%s, %s) cannot be told to have succeeded", unit, t.told, clockTime(t.at)),
			}))
		case lacks:
			list = append(list, a.unread(unit, lack))
		default:
			well = append(well, unit)
		}
	}
	if len(well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: a.s.Cluster.Name, Covers: well})
	}
	return list
}

func (a *attempts) unread(unit string, f snapshot.Failure) Finding {
	return Finding{Outcome: Unknown, Resource: unit, Covers: []string{unit}, Blocked: []snapshot.Failure{f}}
}

func (a *attempts) cannotLaunch(spec launchSpec, f launchFault) Finding {
	names := f.names(a)
	// The words hang on the first text in the alphabet, not on the newest: they
	// must not change with each look.
	first := slices.MinFunc(f.list, func(x, y attempt) int {
		return cmp.Or(strings.Compare(x.verdict.Text, y.verdict.Text), x.at.Compare(y.at))
	})
	finding := Finding{
		Outcome:   Fail,
		Resource:  f.resource,
		Covers:    f.groups(),
		Instances: f.ended(a.s),
		Resources: f.resources(),
		Title:     title("%s cannot launch: %s", subject(names, "group"), spec.headline),
		Why:       fmt.Sprintf("No instance of %s could be started%s: %s.", some(names, 3), where(f.subnets()), first.verdict.Meaning),
		Evidence:  f.evidence(),
		Fix:       spec.repair(a, f),
	}
	if first.verdict.Text != "" {
		finding.Why += fmt.Sprintf(" AWS says: %q.", strings.TrimSuffix(first.verdict.Text, "."))
	}
	if spec.says != nil {
		finding.Title = title("%s cannot launch: %s", subject(names, "group"), cmp.Or(spec.says(f), spec.headline))
	}
	finding.Fix.Text = cmp.Or(finding.Fix.Text, first.verdict.Next)
	finding.Fix.Command = cmp.Or(finding.Fix.Command, a.showActivities(f))
	finding.Fix.Console = cmp.Or(finding.Fix.Console, a.groupLink(f))
	return finding
}

func where(subnets []string) string {
	if len(subnets) == 0 {
		return ""
	}
	return " in " + some(subnets, 3)
}

// groups are the names of the groups, and of the owners that have none.
func (f launchFault) groups() []string {
	return f.each(func(t attempt) string { return t.group })
}

func (f launchFault) subnets() []string {
	return f.each(func(t attempt) string { return t.subnet })
}

// names are what people call the groups: their nodegroups.
func (f launchFault) names(a *attempts) []string {
	return f.each(func(t attempt) string {
		return cmp.Or(a.groups[t.group].Tags["eks:nodegroup-name"], t.group)
	})
}

// each is a field of all attempts: sorted, once, without the empty ones.
func (f launchFault) each(field func(attempt) string) []string {
	var list []string
	for _, t := range f.list {
		if v := field(t); v != "" {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// resources are what a fix would change, the groups, where they launch, and
// what the texts name.
func (f launchFault) resources() []string {
	list := append([]string{f.resource}, append(f.groups(), f.subnets()...)...)
	for _, t := range f.list {
		n := t.verdict.Named
		list = append(list, n.AMI, n.SecurityGroup, n.Template, n.Key, n.Profile, n.Role, n.Snapshot)
	}
	var out []string
	for _, id := range list {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// ended are the instances of the scope that were started and ended.
func (f launchFault) ended(s *View) []string {
	var ids []string
	for _, i := range s.Scoped() {
		if i.Ended() && slices.ContainsFunc(f.list, func(t attempt) bool { return t.instance == i.ID }) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// evidence is how many launches failed, when, and what was said of them.
func (f launchFault) evidence() []Evidence {
	const limit = 5
	byTime := slices.SortedStableFunc(slices.Values(f.list), func(x, y attempt) int { return x.at.Compare(y.at) })
	list := []Evidence{{What: "Failed launches", Value: span(byTime)}}
	var said []string
	for i := len(byTime) - 1; i >= 0; i-- {
		t := byTime[i]
		line := t.group + ": " + cmp.Or(t.verdict.Text, "no status message")
		if slices.Contains(said, line) {
			continue
		}
		if said = append(said, line); len(said) > limit {
			list = append(list, Evidence{What: "More", Value: "and other texts"})
			break
		}
		what := "Scaling activity of " + t.group
		if t.instance != "" {
			what = t.instance
		}
		list = append(list, Evidence{What: what, Value: fmt.Sprintf("%s %s: %s", clockTime(t.at), t.told, cmp.Or(t.verdict.Text, "no status message"))})
	}
	return list
}

// span tells how many there are and from when to when.
func span(byTime []attempt) string {
	first, last := byTime[0].at, byTime[len(byTime)-1].at
	if len(byTime) == 1 {
		return "1, at " + clockTime(first)
	}
	return fmt.Sprintf("%d, from %s to %s", len(byTime), clockTime(first), clockTime(last))
}

func clockTime(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.TimeOnly + " UTC")
}
