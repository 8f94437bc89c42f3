package facts

import (
	"cmp"
	"slices"
	"time"

	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Attempt is one launch that failed, or that cannot be told to have succeeded.
type Attempt struct {
	Group    string // Auto Scaling group; else what owns the instance
	Verdict  activity.Verdict
	At       time.Time
	Subnet   string
	Zone     string
	Instance string // if one was started
	Told     string // where it stands: "Failed", "terminated, Client.InternalError"
	Unsure   bool   // the status is not known
	// Refused is the run of refused calls that it stands for; nil for others.
	Refused *snapshot.RefusedLaunch
	// Claims are the NodeClaims that say so themselves.
	Claims []string
	// Likely reports that the class is likely and not certain.
	Likely bool
	// Unneeded reports that nothing waits for what was refused.
	Unneeded bool
	// Blocked is why it is not known whether it counts; nil where that is known.
	Blocked *snapshot.Failure
	// Denied is which policy refused it, as far as its message tells; nil for a launch
	// that failed for another reason.
	Denied *Denied
}

// Attempts are the launches of the last hour that still count: those of the
// cluster's groups, those without a group that were refused, and instances of the
// scope that died before they ran.
type Attempts struct {
	S    *View
	List []Attempt
	// Units are what launches: the groups, and the owners of instances that
	// have no group.
	Units []string
	// Groups is by name.
	Groups map[string]snapshot.Group
	// worked is when the last launch succeeded, by group or owner and place.
	worked map[string]map[place]time.Time
}

// ToldByCloudTrail is Attempt.Told of calls that CloudTrail recorded.
const ToldByCloudTrail = "refused"

// place is where a launch put an instance.
type place struct{ subnet, zone string }

// Counted is how long a failed launch counts (CAPTURE rule: an hour). Auto
// Scaling tries again within minutes, and keeps its activities for six weeks.
const Counted = time.Hour

func newAttempts(s *View) *Attempts {
	a := &Attempts{S: s, Groups: make(map[string]snapshot.Group, len(s.Groups))}
	for _, g := range s.Groups {
		a.Groups[g.Name] = g
		a.Units = append(a.Units, g.Name)
	}
	a.successes()
	messages := map[int]encoded{}
	a.activities(messages)
	a.denied(messages)
	a.refused()
	a.refusedClaims()
	a.instances()
	a.judgeSettings()
	slices.Sort(a.Units)
	a.Units = slices.Compact(a.Units)
	return a
}

// activities takes the failed scaling activities, and the encoded messages of those
// that have one. A burst says the same text a thousand times: each is read once.
func (a *Attempts) activities(messages map[int]encoded) {
	read := map[string]activity.Verdict{}
	for _, act := range a.S.Activities {
		if _, ours := a.Groups[act.Group]; !ours || !activity.Launching(act.About, act.Message) {
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
			if v.Class == checkid.LaunchSuspended {
				// The group says that itself; a failed activity is not to be lost.
				v.Class = checkid.LaunchUnclassified
			}
			read[text] = v
		}
		at := act.Started
		if at.IsZero() {
			at = act.Ended
		}
		t := Attempt{
			Group: act.Group, Verdict: v, At: at, Subnet: cmp.Or(act.Subnet, v.Named.Subnet), Zone: act.Zone, Instance: act.Instance,
			Told: cmp.Or(act.Status, "no status"), Unsure: status == activity.Unknown || at.IsZero() || act.About == "" && text == "",
		}
		if !a.counts(t) {
			continue
		}
		if m, whole := denial.Encoded(text); m != "" {
			messages[len(a.List)] = encoded{m, whole}
		}
		a.List = append(a.List, t)
	}
}

// refused takes the launches without a group that CloudTrail told of. Each run of
// them is one: that it goes on says nothing new.
func (a *Attempts) refused() {
	for i := range a.S.Refused {
		r := a.S.Refused[i]
		a.Units = append(a.Units, r.Launcher)
		for _, at := range a.worked[r.Launcher] {
			if at.After(r.Worked) {
				r.Worked = at
			}
		}
		v := activity.Classify(r.Text)
		v.Class = r.Class
		t := Attempt{Group: r.Launcher, Verdict: v, At: r.First, Told: ToldByCloudTrail, Refused: &r}
		if v.Denial != nil || r.Denial != nil || r.Undecoded != "" {
			t.Denied = &Denied{Undecoded: r.Undecoded}
			if v.Denial != nil {
				t.Denied.Denial = *v.Denial
			}
			if r.Denial != nil {
				t.Denied.Denial = denial.Merge(t.Denied.Denial, *r.Denial)
			}
			t.judgeDenial()
		}
		a.add(t)
	}
}

// instances takes the instances of the scope that EC2 could not bring up. One
// that an activity names is told once; where the activity gives no class, the
// instance's own reason does.
func (a *Attempts) instances() {
	l := a.S.Index()
	for _, i := range a.S.Scoped() {
		unit := cmp.Or(snapshot.LauncherOf(i.Tags), i.ID)
		if i.Tags["aws:autoscaling:groupName"] == "" && i.Owner() != "" {
			a.Units = append(a.Units, unit)
		}
		v, dead := l.stillborn(i)
		if !dead || !l.LaunchesKnown(i) {
			continue
		}
		t := Attempt{
			Group: unit, Verdict: v, At: i.StateReason.When, Subnet: i.Subnet, Zone: i.Zone, Instance: i.ID,
			Told: i.State + ", " + i.StateReason.Code,
		}
		if t.At.IsZero() {
			t.At = i.Launched
		}
		known := slices.IndexFunc(a.List, func(o Attempt) bool { return o.Instance == i.ID })
		switch {
		case known >= 0 && a.List[known].Verdict.Class == checkid.LaunchUnclassified:
			a.List[known].Verdict, a.List[known].Unsure = v, false
		case known < 0 && a.counts(t):
			a.List = append(a.List, t)
		}
	}
}

// stillborn tells that an instance ended because its launch failed: EC2 gives
// a reason with which no node could have run.
func (l InstanceIndex) stillborn(i *snapshot.Instance) (activity.Verdict, bool) {
	if !i.Ended() || l.Warm[i.ID] || l.Past(i) == Served {
		return activity.Verdict{}, false
	}
	v := activity.ClassifyReason(i.StateReason.Code, i.StateReason.Message)
	return v, v.Class.Family() == checkid.Launch
}

// LaunchesKnown reports whether the other launches of an instance's group, if it has
// one, were read: a later one may have succeeded.
func (l InstanceIndex) LaunchesKnown(i *snapshot.Instance) bool {
	return i.Tags["aws:autoscaling:groupName"] == "" || l.S.Has(snapshot.Groups) && l.S.Has(snapshot.Activities)
}

// counts tells that an attempt is of the last hour, and that no later launch
// of its group in the same subnet succeeded.
func (a *Attempts) counts(t Attempt) bool {
	if t.At.IsZero() {
		return true // nothing is known to be later
	}
	return a.S.Time.Sub(t.At) <= Counted && !a.recovered(t)
}

// recovered tells that a later launch of the group succeeded where this one
// failed. Some fleets name no subnet: then the zone decides, and where neither
// is named, any success of the group.
func (a *Attempts) recovered(t Attempt) bool {
	for p, at := range a.worked[t.Group] {
		same := t.Subnet == "" && t.Zone == ""
		switch {
		case t.Subnet != "" && p.subnet != "":
			same = p.subnet == t.Subnet
		case t.Zone != "" && p.zone != "":
			same = p.zone == t.Zone
		}
		if same && at.After(t.At) {
			return true
		}
	}
	return false
}

// successes gathers the launches that succeeded. A lifecycle hook (EKS sets
// one) keeps an activity open until the node has joined: a running instance
// shows that its launch succeeded.
func (a *Attempts) successes() {
	a.worked = map[string]map[place]time.Time{}
	note := func(group string, p place, at time.Time) {
		if a.worked[group] == nil {
			a.worked[group] = map[place]time.Time{}
		}
		if at.After(a.worked[group][p]) {
			a.worked[group][p] = at
		}
	}
	for _, act := range a.S.Activities {
		if activity.StatusOf(act.Status, act.Message) == activity.Succeeded && activity.Launching(act.About, act.Message) {
			note(act.Group, place{act.Subnet, act.Zone}, act.Started)
		}
	}
	for i := range a.S.Instances {
		in := &a.S.Instances[i]
		if in.State == "running" {
			note(snapshot.LauncherOf(in.Tags), place{in.Subnet, in.Zone}, in.Launched)
		}
	}
	for _, c := range a.S.NodeClaims {
		if l := c.Conditions["Launched"]; c.Pool != "" && l.Status == "True" {
			note(PoolKey(c.Pool), place{}, l.Since)
		}
	}
}
