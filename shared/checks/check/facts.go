package check

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/access/denial"
	"rollcall/shared/checkid"
	"rollcall/shared/network/path"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/autolog"
	"rollcall/shared/node/messages"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/node/userdata"
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
	Status   string // where it stands: "Failed", "terminated, Client.InternalError"
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
			Status: cmp.Or(act.Status, "no status"), Unsure: status == activity.Unknown || at.IsZero() || act.About == "" && text == "",
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
		t := Attempt{Group: r.Launcher, Verdict: v, At: r.First, Status: ToldByCloudTrail, Refused: &r}
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
// that an activity names is reported once; where the activity gives no class, the
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
			Status: i.State + ", " + i.StateReason.Code,
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

// stillborn reports whether an instance ended because its launch failed: EC2 gives
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

// counts reports whether an attempt is of the last hour, and that no later launch
// of its group in the same subnet succeeded.
func (a *Attempts) counts(t Attempt) bool {
	if t.At.IsZero() {
		return true // nothing is known to be later
	}
	return a.S.Time.Sub(t.At) <= Counted && !a.recovered(t)
}

// recovered reports whether a later launch of the group succeeded where this one
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

// mostLogLines are quoted for one cause: a controller repeats itself.
const mostLogLines = 3

// LogEvidence is what EKS Auto Mode logged of NodeClaims and instances, or why that is
// not known. It is empty where the logs were not to be read.
func LogEvidence(s *snapshot.Snapshot, names ...string) []Evidence {
	l := s.AutoModeLogs
	if l == nil || !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(l.Names, name) }) {
		return nil
	}
	var list []Evidence
	var told []string
	for _, r := range l.Records {
		if slices.Contains(told, r.Text) || !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.Names, name) }) {
			continue
		}
		if told = append(told, r.Text); len(told) > mostLogLines {
			list = append(list, Evidence{What: "More", Value: "the logs of EKS Auto Mode have other lines about it"})
			break
		}
		list = append(list, Evidence{What: "Log of EKS Auto Mode (" + component(r.Type) + ")", Value: fmt.Sprintf("%s %s: %s", ClockTime(r.At), r.Level, r.Text)})
	}
	return append(list, unreadLogs(s, len(list) > 0)...)
}

// unreadLogs says where logs go that Rollcall does not read, and that those which were read
// say nothing.
func unreadLogs(s *snapshot.Snapshot, found bool) []Evidence {
	l := s.AutoModeLogs
	about := func(value string) []Evidence {
		return []Evidence{{What: "Logs of EKS Auto Mode", Value: value}}
	}
	f, failed := s.Failures[snapshot.AutoModeLogsOf]
	switch {
	case len(l.Deliveries) == 0 && failed:
		return about("not read: " + failure(f))
	case len(l.Deliveries) == 0:
		return about("they are not delivered: what its Karpenter, IPAM and storage log about this is unknown")
	}
	var list []Evidence
	var read []string
	for _, d := range l.Deliveries {
		what := "Logs of EKS Auto Mode (" + component(d.Type) + ")"
		switch {
		case d.Group == "":
			list = append(list, Evidence{What: what, Value: "go to " + d.Destination + ", which Rollcall does not read"})
		case d.Unnamed:
			list = append(list, Evidence{What: what, Value: fmt.Sprintf("go to the log group %s, which the setting autoModeLogs does not name", d.Group)})
		case d.Gone:
			list = append(list, Evidence{What: what, Value: fmt.Sprintf("go to the log group %s, which does not exist", d.Group)})
		case d.Failure != nil:
			list = append(list, Evidence{What: what, Value: fmt.Sprintf("in the log group %s, not read: %s", d.Group, failure(*d.Failure))})
		default:
			read = append(read, component(d.Type))
		}
	}
	if len(read) > 0 && !found {
		value := "no warning and no error about it in the delivered ones (" + strings.Join(slices.Compact(read), ", ") + ")"
		if l.Cut {
			value += ", as far as they were read"
		}
		list = append(list, about(value)...)
	}
	return list
}

func failure(f snapshot.Failure) string {
	if f.Code == "" {
		return fmt.Sprintf("%s, %s", f.Call, f.Reason)
	}
	return fmt.Sprintf("%s, %s, %s", f.Call, f.Reason, f.Code)
}

// component is which of EKS Auto Mode's parts writes logs of a type.
func component(logType string) string {
	switch logType {
	case autolog.Compute:
		return "compute"
	case autolog.IPAM:
		return "IPAM"
	case autolog.BlockStorage:
		return "block storage"
	case autolog.LoadBalancing:
		return "load balancing"
	}
	return logType
}

// logged is what the log of EKS Auto Mode says of why nothing was launched for a
// NodeClaim: the newest line that tells a cause. A line is read as any text of
// Karpenter's is; one that tells only how something shows is none.
func (a *Attempts) logged(claim string) (class checkid.ID, line string, is bool) {
	if a.S.AutoModeLogs == nil {
		return "", "", false
	}
	for _, r := range slices.Backward(a.S.AutoModeLogs.Records) {
		if r.Type != autolog.Compute || r.Level != "ERROR" || !slices.Contains(r.Names, claim) {
			continue
		}
		if r.Cause.Family() != checkid.Launch || r.Cause == checkid.LaunchUnclassified {
			continue
		}
		line = r.Text
		// What EC2 itself said, in the form of AWS's SDK for Go.
		if _, said, is := strings.Cut(line, "api error "); is {
			line = said
		}
		return r.Cause, activity.Clean(line), true
	}
	return "", "", false
}

// BootConfig is how the scope's instances were started: from which template and
// image, and with what user data.
type BootConfig struct {
	InstanceIndex
	nodegroups map[string]*snapshot.Nodegroup
	Images     map[string]*snapshot.Image
	// own is the place of an instance's user data among the snapshot's, and
	// told what that says: decoded once for all that share it, and only when
	// it is asked for.
	own     map[string]int
	decoded map[int]*DecodedUserData
	// templates is the user data of launch templates, decoded when it is asked for.
	templates map[*snapshot.LaunchTemplate]*DecodedUserData
}

// DecodedUserData is decoded user data, and what it was read from.
type DecodedUserData struct {
	userdata.Document
	From string
	Err  error
}

func newBootConfig(s *View) *BootConfig {
	st := &BootConfig{
		InstanceIndex: s.Index(),
		nodegroups:    make(map[string]*snapshot.Nodegroup, len(s.Nodegroups)),
		Images:        make(map[string]*snapshot.Image, len(s.Images)),
		own:           map[string]int{},
		decoded:       map[int]*DecodedUserData{},
		templates:     map[*snapshot.LaunchTemplate]*DecodedUserData{},
	}
	for i := range s.Nodegroups {
		st.nodegroups[s.Nodegroups[i].Name] = &s.Nodegroups[i]
	}
	for i := range s.LaunchedImages {
		st.Images[s.LaunchedImages[i].ID] = &s.LaunchedImages[i]
	}
	for i := range s.Images {
		st.Images[s.Images[i].ID] = &s.Images[i]
	}
	for n, u := range s.UserData {
		for _, id := range u.Instances {
			st.own[id] = n
		}
	}
	return st
}

func decode(data []byte, from string) *DecodedUserData {
	d, err := userdata.Decode(data)
	return &DecodedUserData{Document: d, From: from, Err: err}
}

// Undecoded is why what was read could not be decoded; without a source it was.
func (t *DecodedUserData) Undecoded() snapshot.Failure {
	if t == nil || t.Err == nil {
		return snapshot.Failure{}
	}
	f := Broken(snapshot.UserDataOf, "%s: %v", t.From, t.Err)
	if errors.As(t.Err, new(*userdata.OverBudget)) {
		f.Reason = snapshot.OverBudget
	}
	return f
}

// Data is the user data of an instance: its own, else that of its launch
// template where its own could not be read.
func (st *BootConfig) Data(i *snapshot.Instance) (*DecodedUserData, snapshot.Failure) {
	if n, ok := st.own[i.ID]; ok {
		return st.ownData(n), snapshot.Failure{}
	}
	why, lacks := st.S.Lacks(snapshot.UserDataOf, i.ID)
	if !lacks {
		why = NotRead(snapshot.UserDataOf, "%s: its user data is not among what was read", i.ID)
	}
	if !st.S.Has(snapshot.UserDataOf) {
		why = st.S.Why(snapshot.UserDataOf)
	}
	lt := st.Template(TemplateOf(i))
	if lt == nil {
		return nil, why
	}
	return st.TemplateData(lt), snapshot.Failure{}
}

// Denied is why an instance's own user data was kept from being read: its launch template's
// stands for it then, of which EKS and others make the instance's.
func (st *BootConfig) Denied(i *snapshot.Instance) (why snapshot.Failure, denied bool) {
	if _, read := st.own[i.ID]; read {
		return why, false
	}
	why, lacks := st.S.Lacks(snapshot.UserDataOf, i.ID)
	if !lacks {
		why = st.S.Failures[snapshot.UserDataOf]
	}
	return why, why.Call != "" && (why.Reason != snapshot.NotRead || why.Code == snapshot.NotCaptured || why.Code == snapshot.Withheld)
}

// ownData is the n-th user data of the snapshot, decoded.
func (st *BootConfig) ownData(n int) *DecodedUserData {
	if st.decoded[n] == nil {
		st.decoded[n] = decode(st.S.UserData[n].Data, st.S.UserData[n].From)
	}
	return st.decoded[n]
}

// TemplateData is the user data of a launch template, decoded.
func (st *BootConfig) TemplateData(lt *snapshot.LaunchTemplate) *DecodedUserData {
	if st.templates[lt] == nil {
		st.templates[lt] = decode(lt.UserData, fmt.Sprintf("%s version %s", lt.ID, lt.Version))
	}
	return st.templates[lt]
}

// Template is a version of a launch template, if it was read.
func (st *BootConfig) Template(ref snapshot.TemplateRef) *snapshot.LaunchTemplate {
	if ref.ID == "" && ref.Name == "" {
		return nil
	}
	for i := range st.S.LaunchTemplates {
		lt := &st.S.LaunchTemplates[i]
		if ref.ID != "" && lt.ID != ref.ID || ref.ID == "" && lt.Name != ref.Name {
			continue
		}
		switch ref.Version {
		case lt.Version:
			return lt
		case "$Latest":
			if lt.Latest {
				return lt
			}
		case "$Default", "":
			if lt.Default {
				return lt
			}
		}
	}
	return nil
}

// TemplateOf is the template that an instance came from. EC2 tags instances
// with it too.
func TemplateOf(i *snapshot.Instance) snapshot.TemplateRef {
	if i.Template.ID != "" {
		return i.Template
	}
	return snapshot.TemplateRef{ID: i.Tags["aws:ec2launchtemplate:id"], Version: i.Tags["aws:ec2launchtemplate:version"]}
}

// Nodegroup is the managed node group of an instance. Managed reports whether it
// has one, also where it was not read.
func (st *BootConfig) Nodegroup(i *snapshot.Instance) (group *snapshot.Nodegroup, managed bool) {
	name := i.Tags["eks:nodegroup-name"]
	return st.nodegroups[name], name != ""
}

// Origin is the stable thing that a change of an instance's start would
// change: the template that a user gave to its node group, else its own
// template, else the instance.
func (st *BootConfig) Origin(i *snapshot.Instance) string {
	if group, _ := st.Nodegroup(i); group != nil && group.Template.ID != "" {
		return group.Template.ID
	}
	if id := TemplateOf(i).ID; id != "" {
		return id
	}
	return i.ID
}

// Merges reports whether EKS adds its own part to the user data of an instance: a
// managed node group whose image EKS chose. It is not known where the node group
// was not read.
func (st *BootConfig) Merges(i *snapshot.Instance) (merges, known bool) {
	group, managed := st.Nodegroup(i)
	switch {
	case !managed:
		// EKS Auto Mode starts instances itself, without any group.
		return st.S.Cluster.AutoMode && i.Tags["aws:autoscaling:groupName"] == "", true
	case group == nil || group.AMIType == "":
		return false, false
	}
	return group.AMIType != "CUSTOM", true
}

// Belongs reports whether tags say that an instance is the cluster's, and no tag
// says that it is another's.
func (st *BootConfig) Belongs(i *snapshot.Instance) bool {
	const prefix = "kubernetes.io/cluster/"
	mine := i.Tags["eks:cluster-name"] == st.S.Cluster.Name
	for key := range i.Tags {
		name, ok := strings.CutPrefix(key, prefix)
		if ok && name != st.S.Cluster.Name {
			return false
		}
		mine = mine || ok
	}
	return mine
}

// Admits reports whether an address is in one of the ranges.
func Admits(ranges []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.IsValid() && p.Contains(a.Unmap()) })
}

// Anyone reports whether the ranges hold every address of a family, in one piece or
// in its two halves.
func Anyone(ranges []netip.Prefix, six bool) bool {
	all := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	upper := netip.PrefixFrom(netip.AddrFrom4([4]byte{128}), 1)
	if six {
		all = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
		upper = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x80}), 1)
	}
	lower := netip.PrefixFrom(all.Addr(), 1)
	return slices.Contains(ranges, all) || slices.Contains(ranges, lower) && slices.Contains(ranges, upper)
}

// Host is an address as a range of one.
func Host(a netip.Addr) string { return netip.PrefixFrom(a, a.BitLen()).String() }

// Cidrs writes ranges, at most ten.
func Cidrs(ranges []netip.Prefix) string {
	names := make([]string, len(ranges))
	for i, p := range ranges {
		names[i] = p.String()
	}
	if len(names) == 0 {
		return "none"
	}
	return Some(names, 10)
}

// mostClaims is the number of instances whose NodeClaims are quoted: in a burst
// they all say the same.
const mostClaims = 3

// ClaimEvidence is what Karpenter or EKS Auto Mode says of instances that it
// launched: the conditions of their NodeClaims, as they are or as they were when
// they were last seen, and that it ended those that did not register.
func ClaimEvidence(s *snapshot.Snapshot, instances []string) []Evidence {
	claims := map[string]snapshot.NodeClaim{}
	for _, c := range s.NodeClaims {
		if c.Instance != "" {
			claims[c.Instance] = c
		}
	}
	launches := map[string]snapshot.ExpectedJoin{}
	for _, l := range s.Launches {
		launches[l.Instance] = l
	}
	of := map[string]*snapshot.Instance{}
	for i := range s.Instances {
		of[s.Instances[i].ID] = &s.Instances[i]
	}
	var list []Evidence
	var names []string // of instances and NodeClaims that are quoted
	told := 0
	for _, id := range instances {
		if told == mostClaims {
			break
		}
		before := len(list)
		l := launches[id]
		names = append(names, id)
		if c, is := claims[id]; is {
			names = append(names, c.Name)
			list = append(list, Evidence{What: "NodeClaim " + c.Name, Value: claimSays(c)})
		} else if l.Claim != nil {
			names = append(names, l.Claim.Name)
			list = append(list, Evidence{What: "NodeClaim " + l.Claim.Name, Value: claimSays(*l.Claim) + "; that was its state at " + ClockTime(l.ClaimSeen) + ", before it was deleted"})
		}
		if span, timedOut := TimedOut(of[id], l.Started); timedOut {
			list = append(list, Evidence{What: "End of " + id, Value: fmt.Sprintf(
				"%s after its launch: Karpenter terminates an instance whose node has not registered 15 minutes after its NodeClaim was created, and deletes the NodeClaim", span)})
		}
		if len(list) > before {
			told++
		}
	}
	return append(list, LogEvidence(s, names...)...)
}

// claimSays is how far a NodeClaim came, and why no further.
func claimSays(c snapshot.NodeClaim) string {
	var parts []string
	for _, step := range []string{"Launched", "Registered", "Initialized"} {
		o, is := c.Conditions[step]
		if !is {
			continue
		}
		text := step
		if o.Status != "True" {
			text = "not " + step
		}
		if !o.Since.IsZero() {
			text += " since " + ClockTime(o.Since)
		}
		if o.Status != "True" {
			text += ": " + o.Reason
			if o.Message != "" {
				text += " (" + Clip(strings.TrimSuffix(o.Message, ".")) + ")"
			}
		}
		parts = append(parts, text)
	}
	return cmp.Or(strings.Join(parts, "; "), "has no conditions yet")
}

// registrationTimeout is how long Karpenter waits for a node to register, from
// the making of the NodeClaim on (kubernetes-sigs/karpenter
// pkg/controllers/nodeclaim/lifecycle/liveness.go). The instance is a call or two
// younger than that, and its end takes some seconds: around is for both.
const (
	registrationTimeout = 15 * time.Minute
	around              = time.Minute
)

// TimedOut reports whether an instance of a NodePool was ended by a call just when
// Karpenter gives up on what has not registered, and how long after its launch.
func TimedOut(i *snapshot.Instance, started time.Time) (span time.Duration, is bool) {
	if i == nil || !i.Ended() || i.StateReason.Code != UserInitiated || i.NodeClaim() != "" || i.Tags[scheduling.PoolLabel] == "" && i.Tags[AutoPoolTag] == "" {
		return 0, false
	}
	if started.IsZero() {
		started = i.Launched
	}
	span = i.StateReason.When.Sub(started).Round(time.Second)
	return span, !i.StateReason.When.IsZero() && span >= registrationTimeout-around && span <= registrationTimeout+around
}

// Denied is what is known of a launch that was refused for want of permission.
type Denied struct {
	snapshot.Denial
	// Undecoded is why its encoded message is not decoded; empty where it is, and
	// where there is none.
	Undecoded string
}

// denied adds to the attempts what their messages say, each its own. One that was
// not decoded is taken for what AWS's sentence says of it; where a launch of the same group
// got the same sentence, and that one's message is decoded, it is the same fault.
func (a *Attempts) denied(messages map[int]encoded) {
	byMessage := map[string]snapshot.DecodedMessage{}
	for _, m := range a.S.Denials {
		byMessage[m.Encoded] = m
	}
	told := map[sentence]activity.Verdict{} // of those that are decoded; of no class where they differ
	var open []int
	for i := range a.List {
		t := &a.List[i]
		m, has := messages[i]
		if !has && t.Verdict.Denial == nil {
			continue
		}
		d := Denied{}
		if t.Verdict.Denial != nil {
			d.Denial = *t.Verdict.Denial
		}
		known := byMessage[m.text].Denial
		switch {
		case known != nil && m.text != "":
			d.Denial = denial.Merge(d.Denial, *known)
		case has:
			d.Undecoded = a.undecoded(m, byMessage[m.text])
			open = append(open, i)
		}
		says := sentenceOf(*t)
		t.Denied = &d
		t.judgeDenial()
		if f := byMessage[m.text].Failure; has && known == nil && f != nil && f.Code != "" && t.Verdict.Class == checkid.LaunchUnauthorized {
			t.Likely = true // the message may name a policy above the launcher's own
		}
		if known == nil || m.text == "" {
			continue
		}
		if v, other := told[says]; other && v.Class != t.Verdict.Class {
			told[says] = activity.Verdict{}
		} else if !other {
			told[says] = t.Verdict
		}
	}
	for _, i := range open {
		t := &a.List[i]
		v := told[sentenceOf(*t)]
		if v.Class == "" {
			continue
		}
		// Which statement denied it is known only of those that are decoded.
		t.Denied, t.Likely = nil, false
		t.Verdict.Class, t.Verdict.Meaning, t.Verdict.Next = v.Class, v.Meaning, v.Next
	}
}

// sentence is what AWS says of a denial without its encoded message, and to which group.
type sentence struct {
	group, action, kind, policy string
	explicit                    bool
}

func sentenceOf(t Attempt) sentence {
	s := sentence{group: t.Group}
	if d := t.Verdict.Denial; d != nil {
		s.action, s.kind, s.policy, s.explicit = d.Action, d.Kind, d.Policy, d.Explicit
	}
	return s
}

// judgeDenial names the policy where the message says that one above the launcher's
// own refused.
func (t *Attempt) judgeDenial() {
	if t.Verdict.Class == checkid.LaunchUnauthorized && denial.Above(t.Denied.Denial) {
		t.Verdict.Class, t.Verdict.Meaning = checkid.LaunchPolicyDenied, activity.Forbids(t.Denied.Denial)
		_, t.Verdict.Next = messages.Words(t.Verdict.Class)
	}
}

// encoded is the encoded message of an attempt; whole as denial.Encoded has it.
type encoded struct {
	text  string
	whole bool
}

// undecoded says why a message is not decoded.
func (a *Attempts) undecoded(m encoded, tried snapshot.DecodedMessage) string {
	switch {
	case !m.whole:
		return denial.Cut
	case !a.S.Has(snapshot.DenialsOf):
		return denial.NotGranted
	case tried.Failure != nil:
		return denial.Undecodable(*tried.Failure)
	}
	return denial.Others
}

// Describing is what some instances must reach beside what every node needs:
// EKS itself, where all of them ask it for the cluster's endpoint and authority
// (bootstrap.sh and its Windows twin without these arguments). User data that
// was not read, or that may take another branch, is no reason to blame a path.
func (st *BootConfig) Describing(list []*snapshot.Instance) []path.Service {
	for _, i := range list {
		if _, own := st.own[i.ID]; !own {
			return nil
		}
		t, _ := st.Data(i)
		if t == nil || t.Err != nil || !t.Describes || t.Branch || t.Has(userdata.NodeConfig) {
			return nil
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []path.Service{path.EKS}
}
