// Package result is what was found in clusters: incidents in the order in which to
// mend them, and the checks that did not run. It is made of what the functions
// observed, and printed as JSON, in words for a terminal, and as a page.
package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"rollcall/command/capture"
	"rollcall/command/exit"
	"rollcall/command/result/page"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/node/outcome"
	"rollcall/shared/preflight"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Result is what -json prints; result.schema.json describes it.
type Result struct {
	Healthy   bool       `json:"healthy"`
	Incidents []Incident `json:"incidents"`
	// Unknown is what was needed and could not be checked.
	Unknown []Unknown `json:"unknown"`
	// Notes are what a look at an account that is there cannot know, whatever it finds.
	Notes []string `json:"notes,omitempty"`

	// There reports whether what was judged exists, and nodes are still to come.
	There bool `json:"-"`
	// Plan is what preflight judged; empty for what there is.
	Plan string `json:"-"`
}

// Incident is one cause and all that it explains. The first is what a person
// should fix first.
type Incident struct {
	Cause        string     `json:"cause"`
	Confidence   string     `json:"confidence"`
	Cluster      string     `json:"cluster"`
	Resources    []string   `json:"resources"`
	Nodegroups   []string   `json:"nodegroups"`
	Instances    []string   `json:"instances"`
	Title        string     `json:"title"`
	Evidence     []Evidence `json:"evidence"`
	Fix          Fix        `json:"fix"`
	Contributing []string   `json:"contributing"`
	Symptoms     []string   `json:"symptoms"`
	Hidden       []Hidden   `json:"hidden"`

	// What the words for a person take from the finding beside this.
	Why      string `json:"-"`
	Resource string `json:"-"`
	Console  string `json:"-"`
	By       string `json:"-"` // the function
	// Behind is what alone explains the cause away, as diagnosis.Cause has it.
	Behind []checkid.ID `json:"-"`
}

// Evidence is one thing that a person would have looked up.
type Evidence struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// Fix is what to do about it.
type Fix struct {
	Text    string `json:"text"`
	Command string `json:"command"`
	Remedy  string `json:"remedy"`
}

// Hidden is a failed check that a cause explains away.
type Hidden struct {
	Check   string `json:"check"`
	Because string `json:"because"`
}

// Unknown is a check that did not run because something that it needs could not be
// read. Without a check it is a function that failed, named as the resource.
type Unknown struct {
	Check    string `json:"check"`
	Resource string `json:"resource"`
	Reason   string `json:"reason"`
	// Missing is the permission that was denied; empty for any other reason.
	Missing string `json:"-"`
}

// NotRun is the result of a check that needed what a source failed to return.
func NotRun(id checkid.ID, resource string, f snapshot.Failure) Unknown {
	return Unknown{Check: string(id), Resource: resource, Reason: Reason(f), Missing: missing(f)}
}

// missing returns the permission that a call lacked; empty where a policy would not help,
// as with an expired token. Codes: EC2, "Error codes for the Amazon EC2 API"; IAM,
// "Common Errors"; Kubernetes, metav1.StatusReasonForbidden.
func missing(f snapshot.Failure) string {
	switch f.Code {
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "Forbidden":
		return f.Call
	}
	return ""
}

// Status is the exit status.
func (r Result) Status() int {
	causes, symptoms := 0, 0
	for _, i := range r.Incidents {
		switch i.Confidence {
		case "advice":
		case "symptom":
			symptoms++
		default:
			causes++
		}
	}
	switch {
	case causes > 0:
		return exit.Causes
	case len(r.Unknown) > 0:
		return exit.Unsure
	case symptoms > 0:
		return exit.Causes
	}
	return exit.Healthy
}

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
	order := []finding.Confidence{finding.Certain, finding.Likely, finding.Possible, finding.Symptom, finding.Advice}
	if i := slices.Index(order, finding.Confidence(confidence)); i >= 0 {
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
func FromCause(o report.Observation, c diagnosis.Cause, launches map[string]report.Launch) (Incident, bool) {
	instances := slices.DeleteFunc(slices.Clone(c.Instances), func(id string) bool {
		return launches[id].Status == outcome.Joined && !c.OfPods()
	})
	if len(c.Instances) > 0 && len(instances) == 0 && c.Confidence != finding.Advice {
		return Incident{}, false
	}
	i := Incident{
		Cause: string(c.Check), Confidence: string(cmp.Or(c.Confidence, finding.Certain)), Cluster: o.Cluster,
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
// The instances that it keeps from joining are listed beside them; where the
// instance is what is wrong, they are among them too.
func resources(c diagnosis.Cause) []string {
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
	if advice := string(finding.Advice); i.Confidence == advice && old.Confidence != advice {
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
		k := slices.IndexFunc(checks.OfAddresses(), func(c check.Check) bool { return string(c.ID) == i.Cause })
		if k < 0 || i.By != "subnet-watch" {
			return false
		}
		c := checks.OfAddresses()[k]
		return slices.ContainsFunc(all, func(o Incident) bool {
			explains := slices.Contains(c.After, checkid.ID(o.Cause)) || slices.Contains(c.Adds, checkid.ID(o.Cause))
			// Advice explains advice alone.
			stronger := o.Confidence != string(finding.Advice) || i.Confidence == o.Confidence
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
func (i Incident) cause() diagnosis.Cause {
	return diagnosis.Cause{
		Check: checkid.ID(i.Cause), Confidence: finding.Confidence(i.Confidence), Resource: i.Resource, Resources: i.Resources, Behind: i.Behind,
	}
}

// takeIn gives an incident what another one says that it explains.
func (i *Incident) takeIn(other Incident, instances []string) {
	i.Instances = both(i.Instances, instances)
	i.Nodegroups = both(i.Nodegroups, other.Nodegroups)
	i.Symptoms = both(i.Symptoms, other.Symptoms)
	i.Hidden = both(i.Hidden, other.Hidden)
	if other.Confidence == string(finding.Symptom) {
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

// JoinTime is the time in which an instance must have joined of which no history
// is known.
const JoinTime = 5 * time.Minute

// unknowns are the checks that could not run and were needed.
func unknowns(seen []report.Observation, bare func(cluster string) bool) []Unknown {
	all := []Unknown{}
	add := func(u Unknown) {
		if !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	for _, o := range seen {
		without := bare != nil && bare(o.Cluster)
		launches := Standing(seen, o.Cluster)
		absent := absentOf(launches, o.At)
		for _, u := range o.Diagnosis.Unknown {
			for _, f := range u.Blocked {
				if without && f.Code == snapshot.NotCaptured || remembered(u, f) || Unasked(u, f, absent) || !needed(u, f, absent, gone(launches)) && !(u.Check == missed && (tells(f.Source) || f.Source == snapshot.UserDataOf)) {
					continue
				}
				add(NotRun(u.Check, cmp.Or(strings.Join(u.Covers, " "), o.Cluster), f))
			}
		}
		for _, f := range o.Blind {
			if tells(f.Source) && !(without && f.Code == snapshot.NotCaptured) {
				add(NotRun(missed, o.Cluster, f))
			}
		}
	}
	return all
}

// missed is the check that tells who has not joined.
const missed = checkid.ID(checkid.NodeNotRegistered)

// tells reports whether a source is one without which it is not known which instances
// are nodes: where it was not read nothing is healthy.
func tells(s snapshot.Source) bool {
	return s == snapshot.Instances || s == snapshot.Clusters || s == snapshot.Nodes
}

// ofInstances are the groups of checks that look for what keeps an instance
// from joining. Where all have joined they are not needed.
func ofInstances() []string {
	return []string{"route", "endpoint", "sg", "nacl", "dns", "iam", "instance", "node", "spot"}
}

// gone are the launches that ended before they were seen as nodes.
func gone(launches map[string]report.Launch) []report.Launch {
	var all []report.Launch
	for _, l := range launches {
		if l.Status == outcome.Gone {
			all = append(all, l)
		}
	}
	return all
}

// needed reports whether the answer would have mattered. Of an instance that ended before
// it was a node all that was kept from being read may have: EC2 forgets the rest of it
// itself, but for whether it had been a node.
func needed(u diagnosis.Unknown, f snapshot.Failure, absent, gone []report.Launch) bool {
	group, _, _ := strings.Cut(string(u.Check), "/")
	switch {
	case u.Check == checkid.InstanceEndedEarly || u.Check == checkid.SpotReclaimedBeforeJoin:
		absent = gone
	case f.Call != "" && (f.Reason != snapshot.NotRead || f.Code == snapshot.NotCaptured):
		absent = slices.Concat(absent, gone)
	}
	if !slices.Contains(ofInstances(), group) || u.Check == checkid.NodeNotInitialized { // that is about Ready nodes
		return true
	}
	if len(u.Covers) == 0 {
		return len(absent) > 0
	}
	subjects := items(u.Covers)
	if len(subjects) == 0 {
		return len(absent) > 0
	}
	return slices.ContainsFunc(absent, func(l report.Launch) bool {
		return slices.Contains(subjects, l.Instance) || slices.Contains(subjects, l.Subnet)
	})
}

// remembered reports whether a check could not read what Rollcall itself
// remembers. A capture is one moment: it has no history of launches, and
// whoever took it could not have asked for one. What is short now (an empty
// subnet, a refused launch) other checks tell. The pools of Spot are judged by
// days of that history, and never explain why one instance is not a node.
//
// Nor is it printed that the updates of nodegroups were not read because the
// nodegroups themselves were not read: that is printed already. (Updates that
// were not captured are silent, package gather says why; a call that was refused
// is printed.)
func remembered(u diagnosis.Unknown, f snapshot.Failure) bool {
	return f.Source == snapshot.LaunchHistory || f.Source == snapshot.Updates && f.Reason == snapshot.NotRead ||
		slices.ContainsFunc(checks.OfPools(), func(c check.Check) bool { return c.ID == u.Check })
}

// items are the instances and subnets among the ids.
func items(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !strings.HasPrefix(id, "i-") && !strings.HasPrefix(id, "subnet-")
	})
}

// absentOf are the launches that are there and did not become nodes in their
// time.
func absentOf(launches map[string]report.Launch, at time.Time) []report.Launch {
	var all []report.Launch
	for _, l := range launches {
		switch l.Status {
		case outcome.Missed, outcome.GivenUp:
			all = append(all, l)
		case outcome.Waiting:
			if at.Sub(l.Started) >= JoinTime {
				all = append(all, l)
			}
		}
	}
	return all
}

// Reason says why a source could not be read: the call, what became of
// it, and what was said.
func Reason(f snapshot.Failure) string {
	text := string(f.Reason)
	if f.Call != "" {
		text = f.Call + ": " + text
	}
	detail := f.Message
	if f.Code != "" && f.Code != snapshot.NotCaptured {
		detail = strings.TrimSuffix(f.Code+": "+f.Message, ": ")
	}
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}

// Only is what of a result is about the instance and the nodegroup, if any are asked
// for. What could not be looked at stays, but for what is about other instances alone:
// it may have been about them.
func (r Result) Only(instance, nodegroup string, seen []report.Observation) Result {
	of := map[string][]string{} // nodegroup and group of each instance
	for _, o := range seen {
		for _, l := range o.Launches {
			of[l.Instance] = []string{l.Nodegroup, l.Group}
		}
	}
	r.Incidents = slices.DeleteFunc(r.Incidents, func(i Incident) bool {
		return instance != "" && !slices.Contains(i.Instances, instance) && !slices.Contains(i.Resources, instance) ||
			nodegroup != "" && !slices.Contains(i.Nodegroups, nodegroup) && !slices.ContainsFunc(i.Resources, func(id string) bool { return named(id) == nodegroup })
	})
	r.Unknown = slices.DeleteFunc(r.Unknown, func(u Unknown) bool {
		about := strings.Fields(u.Resource)
		return len(about) > 0 && !slices.ContainsFunc(about, func(id string) bool {
			others := instance != "" && id != instance || nodegroup != "" && len(of[id]) > 0 && !slices.Contains(of[id], nodegroup)
			return !strings.HasPrefix(id, "i-") || !others
		})
	})
	r.Healthy = r.Status() == exit.Healthy
	return r
}

// named is the name in a resource's id: Karpenter's objects are named as kubectl names
// them, nodepool/general.
func named(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// ClustersToDraw are those whose networks are drawn: those with an incident, else all.
func (r Result) ClustersToDraw(all []string) []string {
	var list []string
	for _, i := range r.Incidents {
		if !slices.Contains(list, i.Cluster) {
			list = append(list, i.Cluster)
		}
	}
	if len(list) == 0 {
		return all
	}
	return list
}

// Page is a result as a page, without what only the account tells.
func (r Result) Page(subject string) page.Page {
	p := page.Page{Subject: subject, Mark: page.Well, Verdict: r.verdict()}
	switch r.Status() {
	case exit.Causes:
		p.Mark = page.Fault
	case exit.Unsure:
		p.Mark = page.Unsure
	}
	for _, i := range r.Incidents {
		where := i.Cluster
		if len(i.Nodegroups) > 0 {
			where += " / " + strings.Join(i.Nodegroups, ", ")
		}
		out := page.Incident{
			Mark: page.Fault, Label: r.Mark(i), Check: i.Cause, Confidence: i.Confidence, Where: where, Title: i.Title, Why: i.Why,
			Resources: i.Resources, Instances: i.Instances, Contributing: i.Contributing, Symptoms: i.Symptoms,
			Fix: i.Fix.Text, Command: i.Fix.Command, Console: i.Console,
		}
		switch i.Confidence {
		case string(finding.Advice):
			out.Mark = page.Advice
		case string(finding.Symptom):
			out.Mark = page.Symptom
		}
		for _, e := range i.Evidence {
			out.Evidence = append(out.Evidence, page.Evidence(e))
		}
		for _, h := range i.Hidden {
			out.Hidden = append(out.Hidden, page.Hidden(h))
		}
		p.Incidents = append(p.Incidents, out)
	}
	p.NotRun, p.Grants = r.NotChecked(), grants(r.gaps())
	return p
}

// verdict is the first line of a page.
func (r Result) verdict() string {
	count := map[string]int{}
	for _, i := range r.Incidents {
		switch finding.Confidence(i.Confidence) {
		case finding.Advice, finding.Symptom:
			count[i.Confidence]++
		default:
			count["cause"]++
		}
	}
	var parts []string
	for _, kind := range []string{"cause", string(finding.Symptom)} {
		switch n := count[kind]; {
		case n == 1:
			parts = append(parts, "1 "+kind)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	switch {
	case r.Status() == exit.Unsure:
		return unsure
	case len(parts) > 0:
		return strings.Join(parts, ", ") + " found"
	}
	return healthy
}

// Unasked reports whether a check of addresses or of zones could not look because no
// call tells (of a group that chooses its types by what they have it is not known which
// it will launch), or because the capture lacks a file that it may lack, or a type that
// is not in use. Where pods wait, their events are needed. A call that was refused is
// reported, and so is what depends on it.
func Unasked(u diagnosis.Unknown, f snapshot.Failure, absent []report.Launch) bool {
	of := func(list []check.Check) bool {
		return slices.ContainsFunc(list, func(c check.Check) bool { return c.ID == u.Check })
	}
	ofPods := u.Check == checkid.IPBranchInterfaces || u.Check == checkid.IPPodWithoutAddress && f.Source != snapshot.PodEventsOf
	if !of(checks.OfAddresses()) && !of(checks.OfZones()) && !ofPods {
		return false
	}
	// Auto Mode's instances and interfaces matter where something names them. Who made
	// interfaces is named by these, which have a failure of their own.
	if f.Code == snapshot.NotCaptured && (strings.Contains(f.Message, capture.WithoutManaged) || f.Source == snapshot.CreatorsOf) {
		return true
	}
	if f.Reason != snapshot.NotRead || f.Call != "" && (f.Code != snapshot.NotCaptured || !optional(f.Source) && !strings.Contains(f.Message, capture.NotAmong)) {
		return false
	}
	return u.Check != checkid.IPSubnetExhausted || f.Source == snapshot.ENIConfigsOf && len(absent) == 0
}

// optional reports whether the absence of a source's files is harmless by the contract
// of captures: what it decides shows elsewhere too, or the contract does not name it.
// Where pods take their addresses in other subnets, these must be known once an instance
// is missing.
func optional(s snapshot.Source) bool {
	switch s {
	case snapshot.ENIConfigsOf, snapshot.PodIdentities, snapshot.ZonesOf, snapshot.TypeOfferingsOf, snapshot.CapacityReservations,
		snapshot.NodePoolsOf, snapshot.NodeClaimsOf:
		return true
	}
	return false
}

// Limits of a page; --all prints everything. The figures are of a terminal of some fifty
// lines: of a thousand findings a person reads the first few.
const (
	// mostTold is how many causes are printed with their evidence.
	mostTold = 5
	// mostNamed is how many more are named, a line each.
	mostNamed = 15
	// mostSeen is how many pieces of evidence an incident has.
	mostSeen = 10
	// mostUnknown is how many lines list the checks that did not run.
	mostUnknown = 15
	// short is how many ids a line lists in full; of more it lists first ones and a count.
	short = 8
	first = 3
)

// Style is how a result is printed for a person.
type Style struct {
	// All prints what a page has no room for, and advice.
	All bool
	// Advice prints what breaks nothing, too.
	Advice bool
	// Color is of a terminal.
	Color bool
}

// Words is the result for a person, an incident as a message in the channel
// would have it.
func (r Result) Words(subject string, s Style) string {
	var b strings.Builder
	switch status := r.Status(); {
	case r.Plan != "" && status == exit.Healthy:
		made := "it would be created, and "
		if r.There {
			made = ""
		}
		fmt.Fprintf(&b, "%s: %s.\n", subject, s.Paint(Green, made+"its nodes would join"))
	case r.Plan != "" && status == exit.Unsure:
		fmt.Fprintf(&b, "%s: nothing found that would fail, but some checks did not run.\n", subject)
	case status == exit.Healthy:
		fmt.Fprintf(&b, "%s: %s.\n", subject, s.Paint(Green, healthy))
	case status == exit.Unsure:
		fmt.Fprintf(&b, "%s: %s.\n", subject, s.Paint(Yellow, unsure))
	}
	list, advice := r.Incidents, []Incident(nil)
	if !s.All && !s.Advice {
		list, advice = r.withoutAdvice()
	}
	told, rest := r.page(list, s)
	for _, t := range told {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		t.words(&b, r.Mark(t.Incident), s)
		if len(t.alike) > 0 {
			line(&b, "Same for", fmt.Sprintf("%d more: %s; --all lists each", len(t.alike), Some(t.alike)))
		}
	}
	r.rest(&b, rest, s)
	r.notRun(&b, s)
	if len(r.Notes) > 0 {
		b.WriteString("\nNot known here\n")
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "  %s\n", Plain(n))
		}
	}
	if len(advice) > 0 {
		var ids []string
		for _, i := range advice {
			ids = both(ids, []string{i.Cause})
		}
		fmt.Fprintf(&b, "\nAdvice: %s; --advice prints it\n", Some(ids))
	}
	return b.String()
}

const (
	healthy = "OK: all instances have joined, or are still within their join time"
	unsure  = "cause unknown: some checks did not run"
)

// withoutAdvice splits the incidents into those that break something and advice.
func (r Result) withoutAdvice() (list, advice []Incident) {
	for _, i := range r.Incidents {
		if i.Confidence == string(finding.Advice) {
			advice = append(advice, i)
		} else {
			list = append(list, i)
		}
	}
	return list, advice
}

// kind is what findings have in common that are printed as one.
type kind struct{ mark, cluster, cause string }

func (r Result) kind(i Incident) kind { return kind{r.Mark(i), i.Cluster, i.Cause} }

// told is an incident that is printed in full, and the resources of those like it.
type told struct {
	Incident
	alike []string
}

// enough is how many incidents of one kind are each printed in full: two broken route
// tables have two commands. Of more, only the first is.
const enough = 2

// page returns the incidents that a page prints in full, and those that it only names.
func (r Result) page(list []Incident, s Style) (full []told, rest []Incident) {
	count := map[kind]int{}
	for _, i := range list {
		count[r.kind(i)]++
	}
	at := map[kind]int{} // where its first is printed
	for _, i := range list {
		k := r.kind(i)
		n, printed := at[k]
		switch {
		case s.All || !printed && len(full) < mostTold || printed && count[k] <= enough && len(full) < mostTold:
			at[k] = len(full)
			full = append(full, told{Incident: i})
		case printed && count[k] > enough:
			full[n].alike = append(full[n].alike, i.Resource)
		default:
			rest = append(rest, i)
		}
	}
	return full, rest
}

// rest names the incidents that a page has no room for: those of one cause in one
// cluster in one line.
func (r Result) rest(b *strings.Builder, list []Incident, s Style) {
	if len(list) == 0 {
		return
	}
	var kinds []kind
	of := map[kind][]Incident{}
	for _, i := range list {
		k := r.kind(i)
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], i)
	}
	fmt.Fprintf(b, "\nAnd %d more; --all lists each\n", len(list))
	for n, k := range kinds {
		if n == mostNamed {
			fmt.Fprintf(b, "  … %d more causes\n", len(kinds)-mostNamed)
			return
		}
		if same := of[k]; len(same) == 1 {
			fmt.Fprintf(b, "  %s %s · %s (%s)\n", s.Paint(tint(k.mark), k.mark), k.cluster, Plain(same[0].Title), k.cause)
			continue
		}
		var about []string
		for _, i := range of[k] {
			about = append(about, i.Resource)
		}
		fmt.Fprintf(b, "  %s %s · %d of %s: %s\n", s.Paint(tint(k.mark), k.mark), k.cluster, len(about), k.cause, Plain(Some(about)))
	}
}

// gap is one reason for which checks did not run.
type gap struct {
	reason string
	// missing is the denied permission, answer the service's own words about it.
	missing, answer string
	checks, about   []string
}

// gaps are the reasons for which checks did not run: a denied permission is one, whoever
// was denied it and for whatever resource.
func (r Result) gaps() []gap {
	var list []gap
	at := map[string]int{}
	for _, u := range r.Unknown {
		about := strings.Fields(u.Resource)
		if u.Check == "" { // a function, by its name
			about = []string{u.Resource}
		}
		g := gap{reason: u.Reason}
		for _, id := range about {
			g.reason = strings.ReplaceAll(g.reason, id, "it")
		}
		if u.Missing != "" {
			g = gap{reason: u.Missing + " denied", missing: u.Missing, answer: u.Reason}
		}
		n, found := at[g.reason]
		if !found {
			n, at[g.reason] = len(list), len(list)
			list = append(list, g)
		}
		list[n].about = both(list[n].about, about)
		if u.Check != "" {
			list[n].checks = both(list[n].checks, []string{u.Check})
		}
	}
	return list
}

// what names the checks that did not run, and for what.
func (g gap) what() string {
	about := Some(g.about)
	if len(g.about) > short {
		about = fmt.Sprintf("%d: %s", len(g.about), about)
	}
	switch len(g.checks) {
	case 0:
		return about
	case 1:
		return g.checks[0] + " not run for " + about
	}
	return fmt.Sprintf("%d checks not run for %s (%s)", len(g.checks), about, few(g.checks))
}

// NotChecked returns the reasons for which checks did not run, each once.
func (r Result) NotChecked() []page.NotRun {
	var list []page.NotRun
	for _, g := range r.gaps() {
		list = append(list, page.NotRun{Reason: g.reason, What: g.what(), Answer: g.answer})
	}
	return list
}

// grants returns what permits the denied calls: a statement of an IAM policy, and rules of
// a ClusterRole. Of one that is denied explicitly, as by a service control policy, only
// the service's own words say so.
func grants(list []gap) []string {
	var actions, rules []string
	for _, g := range list {
		switch request, ofCluster := strings.CutPrefix(g.missing, "kubernetes: "); {
		case ofCluster:
			rules = append(rules, request)
		case g.missing != "":
			actions = append(actions, `"`+g.missing+`"`)
		}
	}
	var lines []string
	if len(actions) > 0 {
		lines = append(lines, `Policy statement to add: {"Effect": "Allow", "Action": [`+strings.Join(actions, ", ")+`], "Resource": "*"}`)
	}
	if len(rules) > 0 {
		lines = append(lines, "ClusterRole rules to add: "+strings.Join(rules, "; ")+" (deploy/clusterrole.yaml has all of them)")
	}
	return lines
}

// notRun prints the checks that did not run: those that lacked the same in one line.
func (r Result) notRun(b *strings.Builder, s Style) {
	list := r.gaps()
	if len(list) == 0 {
		return
	}
	b.WriteString("\nNot checked\n")
	if s.All {
		for _, u := range r.Unknown {
			fmt.Fprintf(b, "  %s\n", Plain(strings.TrimSpace(u.Check+"  "+u.Resource+": "+u.Reason)))
		}
	} else {
		for _, g := range list[:min(len(list), mostUnknown)] {
			fmt.Fprintf(b, "  %s: %s\n", Plain(g.reason), Plain(g.what()))
		}
		if n := len(list) - mostUnknown; n > 0 {
			fmt.Fprintf(b, "  … %d more; --all lists all\n", n)
		}
		if i := slices.IndexFunc(list, func(g gap) bool { return g.missing != "" }); i >= 0 {
			fmt.Fprintf(b, "  Response: %s\n", Plain(list[i].answer))
		}
	}
	for _, line := range grants(list) {
		fmt.Fprintf(b, "  %s\n", Plain(line))
	}
}

// Mark is what an incident is: of what is only planned, whether it would be refused
// or fail.
func (r Result) Mark(i Incident) string {
	switch {
	case r.Plan == "" || i.Confidence == string(finding.Advice):
		return mark(i.Confidence)
	case preflight.IsRefusal(checkid.ID(i.Cause)):
		return "WOULD BE REFUSED"
	case i.Confidence == string(finding.Possible):
		return "MIGHT FAIL"
	}
	return "WOULD FAIL"
}

func (i Incident) words(b *strings.Builder, mark string, s Style) {
	list := Some
	if s.All {
		list = func(ids []string) string { return strings.Join(ids, ", ") }
	}
	where := i.Cluster
	if len(i.Nodegroups) > 0 {
		where += " / " + list(i.Nodegroups)
	}
	fmt.Fprintf(b, "%s %s · %s\n", s.Paint(tint(mark), mark), Plain(where), Plain(i.Title))
	line(b, "Cause", i.Cause+" ("+i.Confidence+")")
	line(b, "Why", i.Why)
	line(b, "Where", list(i.Resources))
	line(b, "Nodes", list(i.Instances))
	for k, e := range i.Evidence {
		name := ""
		if k == 0 {
			name = "Seen"
		}
		if k == mostSeen && len(i.Evidence) > mostSeen+1 && !s.All {
			line(b, "", fmt.Sprintf("… %d more; --all lists all", len(i.Evidence)-mostSeen))
			break
		}
		line(b, name, e.What+": "+e.Value)
	}
	line(b, "Do", i.Fix.Text)
	if i.Fix.Command != "" {
		line(b, "", i.Fix.Command)
	}
	line(b, "Console", i.Console)
	line(b, "Beside", strings.Join(i.Contributing, ", "))
	line(b, "Explains", strings.Join(i.Symptoms, ", "))
	for _, h := range i.Hidden {
		line(b, "Hidden", h.Check+" (because of "+h.Because+")")
	}
}

func mark(confidence string) string {
	switch confidence {
	case "advice":
		return "ADVICE"
	case "symptom":
		return "SYMPTOM"
	}
	return "FAULT"
}

// line writes one fact; a value of several lines is indented as a whole.
func line(b *strings.Builder, name, value string) {
	if value == "" {
		return
	}
	for k, text := range strings.Split(strings.TrimRight(value, "\n"), "\n") {
		if k > 0 {
			name = ""
		}
		fmt.Fprintf(b, "  %-9s %s\n", name, Plain(text))
	}
}

// Some lists ids; of many the first ones, and how many more there are.
func Some(ids []string) string {
	if len(ids) <= short {
		return strings.Join(ids, ", ")
	}
	return few(ids)
}

// few lists the first ids, and how many more there are.
func few(ids []string) string {
	if len(ids) <= first {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:first], ", "), len(ids)-first)
}

// Colors of a terminal (ECMA-48, SGR).
const (
	Red    = "1;31"
	Green  = "32"
	Yellow = "33"
	Blue   = "36"
)

// tint is the color of a mark.
func tint(mark string) string {
	switch mark {
	case "ADVICE":
		return Blue
	case "SYMPTOM", "MIGHT FAIL":
		return Yellow
	}
	return Red
}

// Paint colors a text on a terminal.
func (s Style) Paint(color, text string) string {
	if !s.Color {
		return text
	}
	return "\033[" + color + "m" + text + "\033[0m"
}

// Clean is a text without what would move a terminal's cursor, change its colors or turn
// the direction of its lines (Unicode's categories Cc and Cf but for line breaks and tabs,
// and its line and paragraph separators): anybody who may name a thing could write them.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// Plain is a clean text that cannot begin a line, which readers would take for Rollcall's
// own words.
func Plain(text string) string {
	return strings.NewReplacer("\n", string(unicode.ReplacementChar), "\t", " ").Replace(Clean(text))
}
