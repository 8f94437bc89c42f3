package checks

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// attempt is one launch that failed, or that cannot be told to have succeeded.
type attempt struct {
	group    string // Auto Scaling group; else what owns the instance
	verdict  activity.Verdict
	at       time.Time
	subnet   string
	zone     string
	instance string // if one was started
	told     string // where it stands: "Failed", "terminated, Client.InternalError"
	unsure   bool   // the status is not known
}

// attempts are the launches of the last hour that still count: those of the
// cluster's groups, and instances of the scope that died before they ran.
type attempts struct {
	s    *View
	list []attempt
	// units are what launches: the groups, and the owners of instances that
	// have no group.
	units []string
	// groups is by name.
	groups map[string]snapshot.Group
	// worked is when the last launch succeeded, by group or owner and place.
	worked map[string]map[place]time.Time
}

// place is where a launch put an instance.
type place struct{ subnet, zone string }

// counted is how long a failed launch counts (CAPTURE rule: an hour). Auto
// Scaling tries again within minutes, and keeps its activities for six weeks.
const counted = time.Hour

func newAttempts(s *View) *attempts {
	a := &attempts{s: s, groups: make(map[string]snapshot.Group, len(s.Groups))}
	for _, g := range s.Groups {
		a.groups[g.Name] = g
		a.units = append(a.units, g.Name)
	}
	a.successes()
	a.activities()
	a.instances()
	slices.Sort(a.units)
	a.units = slices.Compact(a.units)
	return a
}

// activities takes the failed scaling activities. A burst says the same text
// a thousand times: each is read once.
func (a *attempts) activities() {
	read := map[string]activity.Verdict{}
	for _, act := range a.s.Activities {
		if _, ours := a.groups[act.Group]; !ours || !activity.Launching(act.About, act.Message) {
			continue
		}
		text := activity.Reason(act.About, act.Message)
		status := activity.StatusOf(act.Status, text)
		if status != activity.Failed && status != activity.Unknown {
			continue
		}
		v, known := read[text]
		if !known {
			v = activity.Classify(text)
			if v.Class == activity.Suspended {
				// The group says that itself; a failed activity is not to be lost.
				v.Class = activity.Unclassified
			}
			read[text] = v
		}
		at := act.Started
		if at.IsZero() {
			at = act.Ended
		}
		t := attempt{
			group: act.Group, verdict: v, at: at, subnet: cmp.Or(act.Subnet, v.Named.Subnet), zone: act.Zone, instance: act.Instance,
			told: cmp.Or(act.Status, "no status"), unsure: status == activity.Unknown || at.IsZero() || act.About == "" && text == "",
		}
		if a.counts(t) {
			a.list = append(a.list, t)
		}
	}
}

// instances takes the instances of the scope that EC2 could not bring up. One
// that an activity names is told once; where the activity gives no class, the
// instance's own reason does.
func (a *attempts) instances() {
	l := a.s.Index()
	for _, i := range a.s.Scoped() {
		unit := cmp.Or(i.Tags["aws:autoscaling:groupName"], i.Owner(), i.ID)
		if i.Tags["aws:autoscaling:groupName"] == "" && i.Owner() != "" {
			a.units = append(a.units, unit)
		}
		v, dead := l.stillborn(i)
		if !dead {
			continue
		}
		t := attempt{
			group: unit, verdict: v, at: i.StateReason.When, subnet: i.Subnet, zone: i.Zone, instance: i.ID,
			told: i.State + ", " + i.StateReason.Code,
		}
		if t.at.IsZero() {
			t.at = i.Launched
		}
		known := slices.IndexFunc(a.list, func(o attempt) bool { return o.instance == i.ID })
		switch {
		case known >= 0 && a.list[known].verdict.Class == activity.Unclassified:
			a.list[known].verdict, a.list[known].unsure = v, false
		case known < 0 && a.counts(t):
			a.list = append(a.list, t)
		}
	}
}

// stillborn tells that an instance ended because its launch failed: EC2 gives
// a reason with which no node could have run.
func (l ledger) stillborn(i *snapshot.Instance) (activity.Verdict, bool) {
	if !i.Ended() || l.warm[i.ID] || l.wasNode(i) {
		return activity.Verdict{}, false
	}
	v := activity.ClassifyReason(i.StateReason.Code, i.StateReason.Message)
	return v, v.Class.Launch()
}

// counts tells that an attempt is of the last hour, and that no later launch
// of its group in the same subnet succeeded.
func (a *attempts) counts(t attempt) bool {
	if t.at.IsZero() {
		return true // nothing is known to be later
	}
	return a.s.Time.Sub(t.at) <= counted && !a.recovered(t)
}

// recovered tells that a later launch of the group succeeded where this one
// failed. Some fleets name no subnet: then the zone decides, and where neither
// is named, any success of the group.
func (a *attempts) recovered(t attempt) bool {
	for p, at := range a.worked[t.group] {
		same := t.subnet == "" && t.zone == ""
		switch {
		case t.subnet != "" && p.subnet != "":
			same = p.subnet == t.subnet
		case t.zone != "" && p.zone != "":
			same = p.zone == t.zone
		}
		if same && at.After(t.at) {
			return true
		}
	}
	return false
}

// successes gathers the launches that succeeded. A lifecycle hook (EKS sets
// one) keeps an activity open until the node has joined: a running instance
// shows that its launch succeeded.
func (a *attempts) successes() {
	a.worked = map[string]map[place]time.Time{}
	note := func(group string, p place, at time.Time) {
		if a.worked[group] == nil {
			a.worked[group] = map[place]time.Time{}
		}
		if at.After(a.worked[group][p]) {
			a.worked[group][p] = at
		}
	}
	for _, act := range a.s.Activities {
		if activity.StatusOf(act.Status, act.Message) == activity.Succeeded && activity.Launching(act.About, act.Message) {
			note(act.Group, place{act.Subnet, act.Zone}, act.Started)
		}
	}
	for i := range a.s.Instances {
		in := &a.s.Instances[i]
		if in.State == "running" {
			note(cmp.Or(in.Tags["aws:autoscaling:groupName"], in.Owner()), place{in.Subnet, in.Zone}, in.Launched)
		}
	}
}
