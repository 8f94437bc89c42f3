package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/node/refusal"
	"rollcall/shared/snapshot"
)

// launchSpec is what one check of failed launches has of its own.
type launchSpec struct {
	id checkid.ID
	// headline ends the finding's title: "workers cannot launch: …".
	headline string
	// says is a more exact end, where the texts give one; nil for none.
	says func(launchFault) string
	// looks is what AWS says of the thing that the launches hang on: an end of the
	// title that is more exact still, and the evidence; nil for none. uses are the
	// sources that it looks at.
	looks func(*facts.Attempts, launchFault) (headline string, evidence []finding.Evidence)
	uses  []snapshot.Source
	// resource is what a fix would change; empty for the group itself.
	resource func(*facts.Attempts, facts.Attempt) string
	// repair is the command and the link; the text is the class's unless it
	// gives one. Nil where the command is to read the activities.
	repair func(*facts.Attempts, launchFault) finding.Fix
}

// launchFault is the failed launches that one fix would cure.
type launchFault struct {
	resource string
	list     []facts.Attempt
}

// launchCheck makes the check. All of them judge the same attempts, each those
// of its class.
func launchCheck(spec launchSpec) check.Check {
	return check.Check{
		Entry: catalog.Meaning(spec.id),
		// Instances are looked at where they were read: those that died while
		// they started tell the same as the group's activities.
		Uses: append([]snapshot.Source{
			snapshot.Groups, snapshot.Activities, snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.PoolEventsOf, snapshot.WaitingPods,
			// Settings that refuse launches, where EC2's text does not name them.
			snapshot.LaunchTemplates, snapshot.Images, snapshot.AllowedImagesOf, snapshot.Subnets, snapshot.VPCs, snapshot.InstanceTypes,
		}, spec.uses...),
		Run: func(s *facts.View) []finding.Finding {
			return withoutGroups(s, judge(s.Attempts(), spec))
		},
	}
}

// judge makes one finding for each resource that failed launches hang on, and
// passes every group that has none.
func judge(a *facts.Attempts, spec launchSpec) []finding.Finding {
	var order []string
	faults := map[string][]facts.Attempt{}
	told := map[string]bool{} // units that fail
	open := map[string]facts.Attempt{}
	for _, t := range a.List {
		if t.Verdict.Class != spec.id {
			continue
		}
		if t.Unsure || t.Blocked != nil {
			open[t.Group] = t
			continue
		}
		resource := ""
		// Who launches without a group is told each for itself: one cause and pool.
		if spec.resource != nil && t.Refused == nil {
			resource = spec.resource(a, t)
		}
		resource = cmp.Or(resource, t.Group)
		if faults[resource] == nil {
			order = append(order, resource)
		}
		faults[resource] = append(faults[resource], t)
		told[t.Group] = true
	}
	var list []finding.Finding
	for _, resource := range order {
		f := cannotLaunch(a, spec, launchFault{resource: resource, list: faults[resource]})
		if f.Confidence == "" && !slices.ContainsFunc(faults[resource], func(t facts.Attempt) bool { return !t.Likely }) {
			f.Confidence, f.Unconditional = finding.Likely, true
		}
		list = append(list, f)
	}
	var well []string
	for _, unit := range a.Units {
		t, unsure := open[unit]
		lack, lacks := a.S.Lacks(snapshot.Activities, unit)
		switch {
		case told[unit]:
		case unsure && t.Blocked != nil:
			list = append(list, unread(a, unit, *t.Blocked))
		case unsure:
			list = append(list, unread(a, unit, snapshot.Failure{
				Source: snapshot.Activities, Reason: snapshot.Broken,
				Message: fmt.Sprintf("a scaling activity of %s (%s, %s) cannot be told to have succeeded", unit, t.Told, phrase.ClockTime(t.At)),
			}))
		case lacks:
			list = append(list, unread(a, unit, lack))
		default:
			well = append(well, unit)
		}
	}
	list = finding.Passing(list, a.S.Cluster.Name, well)
	return list
}

// withoutGroups passes nothing where groups or their activities were not read: what was
// refused without a group, and what instances themselves say, stands all the same.
func withoutGroups(s *facts.View, list []finding.Finding) []finding.Finding {
	var blocked []snapshot.Failure
	for _, source := range []snapshot.Source{snapshot.Groups, snapshot.Activities} {
		if !s.Has(source) {
			blocked = append(blocked, s.Why(source))
		}
	}
	if len(blocked) == 0 {
		return list
	}
	list = slices.DeleteFunc(list, func(f finding.Finding) bool { return f.Outcome == finding.Pass })
	return append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Blocked: blocked})
}

func unread(a *facts.Attempts, unit string, f snapshot.Failure) finding.Finding {
	return finding.Unread(unit, []string{unit}, f)
}

func cannotLaunch(a *facts.Attempts, spec launchSpec, f launchFault) finding.Finding {
	names := f.names(a)
	// The words hang on the first text in the alphabet, not on the newest: they
	// must not change with each look.
	first := slices.MinFunc(f.list, func(x, y facts.Attempt) int {
		return cmp.Or(strings.Compare(x.Verdict.Text, y.Verdict.Text), x.At.Compare(y.At))
	})
	finding := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.resource,
		Covers:    f.groups(),
		Instances: f.ended(a.S),
		Resources: f.resources(),
		Title:     phrase.Title("%s cannot launch: %s", phrase.Subject(names, "group"), spec.headline),
		Why:       fmt.Sprintf("No instance of %s could be %s%s: %s.", phrase.Some(names, 3), start(f), where(f.subnets()), meaning(first)),
		Evidence:  slices.Concat(f.evidence(), f.deniedEvidence(), facts.LogEvidence(a.S.Snapshot, f.claims()...)),
		Since:     f.since(),
	}
	if spec.repair != nil {
		finding.Fix = spec.repair(a, f)
	}
	if first.Verdict.Text != "" {
		finding.Why += fmt.Sprintf(" %s says: %q.", speaker(first), strings.TrimSuffix(first.Verdict.Text, "."))
	}
	if spec.says != nil {
		finding.Title = phrase.Title("%s cannot launch: %s", phrase.Subject(names, "group"), cmp.Or(spec.says(f), spec.headline))
	}
	if spec.looks != nil {
		headline, evidence := spec.looks(a, f)
		if finding.Evidence = append(finding.Evidence, evidence...); headline != "" {
			finding.Title = phrase.Title("%s cannot launch: %s", phrase.Subject(names, "group"), headline)
		}
	}
	if f.unneeded() {
		// What may pass is advice then; what is not allowed stays broken, and calls nobody.
		if finding.Idle = !refusal.Passes(spec.id); !finding.Idle {
			finding.Confidence = onlyAdvice
		}
		finding.Why += fmt.Sprintf(" No pod waits for a node of %s now.", phrase.Some(names, 3))
	}
	finding.Fix.Text = cmp.Or(finding.Fix.Text, f.missingTags(), next(first))
	finding.Fix.Command = cmp.Or(finding.Fix.Command, showActivities(a, f))
	finding.Fix.Console = cmp.Or(finding.Fix.Console, groupLink(a, f))
	return finding
}

// onlyAdvice is of a finding that calls nobody.
const onlyAdvice = finding.Advice

// unneeded reports whether nothing waits for any of the launches.
func (f launchFault) unneeded() bool {
	return !slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return !t.Unneeded })
}

// speaker is who gave the reason. Karpenter puts some of EC2's into words of its own.
func speaker(t facts.Attempt) string {
	if t.Refused != nil && t.Told != facts.ToldByCloudTrail {
		return "Karpenter"
	}
	return "AWS"
}

// start is what could not be done: an instance under a launch hook was started.
func start(f launchFault) string {
	if abandoned(f) {
		return "put in service"
	}
	return "started"
}

func where(subnets []string) string {
	if len(subnets) == 0 {
		return ""
	}
	return " in " + phrase.Some(subnets, 3)
}

// groups are the names of the groups, and of the owners that have none.
func (f launchFault) groups() []string {
	return f.each(func(t facts.Attempt) string { return t.Group })
}

func (f launchFault) subnets() []string {
	list := f.each(func(t facts.Attempt) string { return t.Subnet })
	for _, t := range f.list {
		if t.Refused != nil {
			list = append(list, t.Refused.Subnets...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// claims are the NodeClaims that say so themselves.
func (f launchFault) claims() (names []string) {
	for _, t := range f.list {
		names = append(names, t.Claims...)
	}
	return names
}

// names are what people call the groups: their nodegroups.
func (f launchFault) names(a *facts.Attempts) []string {
	return f.each(func(t facts.Attempt) string {
		return cmp.Or(a.Groups[t.Group].Owner(), launcherName(t.Group))
	})
}

// each is a field of all attempts: sorted, once, without the empty ones.
func (f launchFault) each(field func(facts.Attempt) string) []string {
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
		n := t.Verdict.Named
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
func (f launchFault) ended(s *facts.View) []string {
	var ids []string
	for _, i := range s.Scoped() {
		if i.Ended() && slices.ContainsFunc(f.list, func(t facts.Attempt) bool { return t.Instance == i.ID }) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// evidence is how many launches failed, when, and what was said of them.
func (f launchFault) evidence() []finding.Evidence {
	const limit = 5
	byTime := slices.SortedStableFunc(slices.Values(f.list), func(x, y facts.Attempt) int { return x.At.Compare(y.At) })
	list := []finding.Evidence{{What: "Failed launches", Value: span(byTime)}}
	if slices.ContainsFunc(byTime, func(t facts.Attempt) bool { return t.Refused != nil }) {
		list = nil // each says since when, and goes on
	}
	for _, t := range byTime {
		if t.Refused != nil {
			list = append(list, refusedCalls(*t.Refused)...)
			if len(t.Claims) > 0 {
				list = append(list, finding.Evidence{What: "NodeClaims that say so", Value: phrase.Some(t.Claims, 3)})
			}
		}
	}
	var said []string
	for i := len(byTime) - 1; i >= 0; i-- {
		t := byTime[i]
		line := t.Group + ": " + cmp.Or(t.Verdict.Text, "no status message")
		if slices.Contains(said, line) {
			continue
		}
		if said = append(said, line); len(said) > limit {
			list = append(list, finding.Evidence{What: "More", Value: "and other texts"})
			break
		}
		what := "Scaling activity of " + t.Group
		switch {
		case t.Refused != nil:
			what = t.Refused.Call + " for " + launcherName(t.Group)
		case t.Instance != "":
			what = t.Instance
		}
		list = append(list, finding.Evidence{What: what, Value: fmt.Sprintf("%s %s: %s", phrase.ClockTime(t.At), t.Told, cmp.Or(t.Verdict.Text, "no status message"))})
	}
	return list
}

// span tells how many there are and from when to when.
func span(byTime []facts.Attempt) string {
	first, last := byTime[0].At, byTime[len(byTime)-1].At
	if len(byTime) == 1 {
		return "1, at " + phrase.ClockTime(first)
	}
	return fmt.Sprintf("%d, from %s to %s", len(byTime), phrase.ClockTime(first), phrase.ClockTime(last))
}
