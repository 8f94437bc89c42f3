package check

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/messages"
	"rollcall/shared/node/refusal"
	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

// claimPatience is how long a NodeClaim must have been refused, and a pod have waited:
// what was just made is known to EC2 some seconds later, and Karpenter tries other types
// at once.
const claimPatience = time.Minute

// refusedRun is the refusals of one pool and class that Karpenter itself reports.
type refusedRun struct {
	snapshot.RefusedLaunch
	claims []string
	by     string // what reports it
}

// refusedClaims takes the launches that Karpenter's own NodeClaims and their events
// report as refused. It keeps a NodeClaim that EC2 refuses for five minutes, with what it
// was told, and makes the next one (kubernetes-sigs/karpenter
// pkg/controllers/nodeclaim/lifecycle/launch.go and liveness.go). A shortage it deletes
// at once, and reports in an event alone. Where CloudTrail has the same pool's calls,
// these tell more.
func (a *Attempts) refusedClaims() {
	for _, p := range a.S.NodePools {
		a.Units = append(a.Units, PoolKey(p.Name))
	}
	runs := map[string]*refusedRun{}
	for _, c := range a.S.NodeClaims {
		a.refusedClaim(c, runs)
	}
	for _, e := range a.S.PoolEvents {
		a.refusedEvent(e, runs)
	}
	for _, key := range slices.Sorted(maps.Keys(runs)) {
		r := runs[key]
		t := Attempt{Group: r.Launcher, At: r.First, Status: "refused, according to " + r.by, Refused: &r.RefusedLaunch, Claims: r.claims}
		t.Verdict = activity.Classify(r.Text)
		t.Verdict.Class = r.Class
		if d := t.Verdict.Denial; d != nil {
			t.Denied = &Denied{Denial: *d}
			t.judgeDenial()
		}
		a.add(t)
	}
	if a.S.Has(snapshot.NodePoolsOf) && !a.S.Has(snapshot.PoolEventsOf) {
		a.unseen()
	}
}

// add takes a run of refusals that counts: one for which a pod waits, or that has gone on
// for some time. A shortage that passed while nothing waited is none.
func (a *Attempts) add(t Attempt) {
	standing := refusal.Stands(*t.Refused, a.S.Time)
	waiting, known := a.awaited(*t.Refused)
	switch {
	case standing != refusal.Refused && standing != refusal.Brief:
		return
	case waiting, len(t.Claims) > 0 && standing == refusal.Refused: // a NodeClaim waits itself
	case known && standing == refusal.Brief:
		why, unread := a.unlogged(t)
		if !unread {
			return
		}
		t.Blocked = &why
	case known:
		t.Unneeded = true
	case standing == refusal.Brief && len(t.Claims) == 0:
		unread := []snapshot.Source{snapshot.WaitingPods, snapshot.NodePoolsOf}
		i := slices.IndexFunc(unread, func(source snapshot.Source) bool { return !a.S.Has(source) })
		if i < 0 || !strings.HasPrefix(t.Group, PoolKey("")) {
			return // of a pool that is gone, or of who calls EC2 for no pod
		}
		why := a.S.Why(unread[i])
		t.Blocked = &why
	case len(t.Claims) == 0 && strings.HasPrefix(t.Group, PoolKey("")) && a.S.Failures[snapshot.WaitingPods].Call != "":
		t.Likely = true // perhaps no pod waits for it
	}
	a.List = append(a.List, t)
}

// unlogged is why it is not known what EC2 said of a launch of EKS Auto Mode: its NodeClaim
// says only that it failed, and the log was not read.
func (a *Attempts) unlogged(t Attempt) (snapshot.Failure, bool) {
	auto := slices.ContainsFunc(a.S.NodePools, func(p snapshot.NodePool) bool {
		return PoolKey(p.Name) == t.Group && p.Class.Group == snapshot.AutoModeGroup
	})
	if !auto || len(t.Claims) == 0 || t.Verdict.Class != checkid.LaunchUnclassified {
		return snapshot.Failure{}, false
	}
	if f, failed := a.S.Failures[snapshot.AutoModeLogsOf]; failed {
		return f, true
	}
	return snapshot.Failure{
		Source: snapshot.AutoModeLogsOf, Reason: snapshot.NotRead, Call: "logs:FilterLogEvents", Message: "no log group of it was named",
	}, a.S.AutoModeLogs == nil
}

// unseen takes the NodePools of which no refusal is known although pods wait for them:
// a shortage stands in the events alone, which were not read.
func (a *Attempts) unseen() {
	for _, p := range a.S.NodePools {
		unit := PoolKey(p.Name)
		if p.Deleting || slices.ContainsFunc(a.List, func(t Attempt) bool { return t.Group == unit }) || slices.ContainsFunc(a.S.Refused, func(r snapshot.RefusedLaunch) bool { return r.Launcher == unit }) ||
			!slices.ContainsFunc(Unschedulable(a.S, refusal.Patience), func(w *snapshot.WaitingPod) bool { return scheduling.PoolTakes(p, w) }) {
			continue
		}
		why := a.S.Why(snapshot.PoolEventsOf)
		a.List = append(a.List, Attempt{Group: unit, Verdict: activity.Verdict{Class: checkid.LaunchInsufficientCapacity}, Blocked: &why})
	}
}

// awaited reports whether something waits for what a NodePool was refused: a pod that its
// nodes would take, or a node of a static pool. Known is false where the pods were not
// read, and for launches that are for no pool.
func (a *Attempts) awaited(r snapshot.RefusedLaunch) (waiting, known bool) {
	name, ofPool := strings.CutPrefix(r.Launcher, PoolKey(""))
	if !ofPool || !a.S.Has(snapshot.WaitingPods) {
		return false, false
	}
	i := slices.IndexFunc(a.S.NodePools, func(p snapshot.NodePool) bool { return p.Name == name })
	if i < 0 && a.S.Has(snapshot.NodePoolsOf) {
		return false, false // it is gone
	}
	if i >= 0 {
		p := a.S.NodePools[i]
		if left, ok := scheduling.Remaining(strconv.Itoa(replicas(p)), cmp.Or(p.Used["nodes"], "0")); p.Replicas != nil && ok && left.Sign() > 0 {
			return true, true
		}
	}
	for w := range a.S.WaitingPods {
		w := &a.S.WaitingPods[w]
		// A pod that began to wait after the last of them waits for something else,
		// unless they go on: Karpenter asks again within minutes.
		if w.Gated || w.Scheduled.Status != "False" || w.Scheduled.Reason != "Unschedulable" || a.S.Time.Sub(w.Since()) < claimPatience ||
			w.Since().After(r.Last.Add(claimPatience)) && a.S.Time.Sub(r.Last) > refusal.Calm {
			continue
		}
		switch {
		case i >= 0 && scheduling.PoolTakes(a.S.NodePools[i], w):
			return true, true
		case i < 0:
			return false, false // whether its nodes would take the pod is not known
		}
	}
	return false, true
}

func replicas(p snapshot.NodePool) int {
	if p.Replicas == nil {
		return 0
	}
	return *p.Replicas
}

// refusedClaim takes in what the condition Launched of a NodeClaim says.
func (a *Attempts) refusedClaim(c snapshot.NodeClaim, runs map[string]*refusedRun) {
	l, unit := c.Conditions["Launched"], PoolKey(c.Pool)
	if c.Pool == "" || c.Deleting || c.Instance != "" || l.Status == "" || l.Status == "True" || !l.Current(c.Generation) || l.Message == "" {
		return
	}
	class, told := claimClass(l.Reason, l.Message)
	said, who := claimText(l.Message), "its NodeClaim"
	if told && class == checkid.LaunchUnclassified {
		// "Instance launch failed": what EC2 said may stand in the log.
		if cause, line, is := a.logged(c.Name); is {
			class, said, who = cause, line, "the log of EKS Auto Mode"
		}
	}
	if !told || a.S.Time.Sub(l.Since) < claimPatience || a.reported(unit) || a.startedSince(unit, l.Since) {
		return
	}
	addRun(runs, snapshot.RefusedLaunch{Launcher: unit, Class: class, Call: "CreateFleet", Text: said, First: l.Since, Last: a.S.Time}, who, c.Name)
}

// refusedEvent takes in what an event of a NodeClaim or a NodePool says. The NodeClaim
// of a shortage is gone: its name is that of its pool, a dash and five letters
// (kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go,
// generateName).
func (a *Attempts) refusedEvent(e snapshot.PoolEvent, runs map[string]*refusedRun) {
	pool, class, said := e.Name, checkid.ID(""), ""
	switch e.Kind {
	case "NodeClaim":
		pool = a.poolOfClaim(e.Name)
		class, said = eventClass(e)
	case "NodePool":
		if e.Reason == "NoCompatibleInstanceTypes" {
			class, said = checkid.LaunchUnsupportedType, activity.Clean(e.Message)
		}
	}
	unit := PoolKey(pool)
	if class == "" || pool == "" || a.S.Time.Sub(e.Last) > Counted || e.Last.After(a.S.Time) || a.reported(unit) || a.startedSince(unit, e.Last) {
		return
	}
	if e.Kind == "NodePool" && slices.ContainsFunc(a.S.PoolEvents, func(o snapshot.PoolEvent) bool {
		c, _ := eventClass(o)
		return o.Kind == "NodeClaim" && c != "" && a.poolOfClaim(o.Name) == pool
	}) {
		return // its types are left out for some minutes because EC2 had none of them
	}
	addRun(runs, snapshot.RefusedLaunch{Launcher: unit, Class: class, Call: "CreateFleet", Text: said, First: e.First, Last: e.Last}, "an event of Kubernetes", "")
}

// addRun adds a refusal to the run of its pool and class.
func addRun(runs map[string]*refusedRun, r snapshot.RefusedLaunch, by, claim string) {
	key := r.Launcher + " " + string(r.Class)
	run := runs[key]
	if run == nil {
		run = &refusedRun{RefusedLaunch: r, by: by}
		runs[key] = run
	}
	if r.First.Before(run.First) {
		run.First = r.First
	}
	if r.Last.After(run.Last) {
		run.Last = r.Last
	}
	if claim != "" {
		run.claims = append(run.claims, claim)
	}
}

// poolOfClaim is the NodePool of a NodeClaim that may be gone; empty for none of the
// cluster's.
func (a *Attempts) poolOfClaim(name string) string {
	for _, c := range a.S.NodeClaims {
		if c.Name == name {
			return c.Pool
		}
	}
	at := strings.LastIndex(name, "-")
	if at < 0 || len(name)-at-1 != 5 {
		return ""
	}
	// The API server cuts a long name before it adds the five letters.
	prefix, cut := name[:at], at+1 == 58
	for _, p := range a.S.NodePools {
		if p.Name == prefix || cut && strings.HasPrefix(p.Name, prefix) {
			return p.Name
		}
	}
	if a.S.Has(snapshot.NodePoolsOf) {
		return ""
	}
	return prefix
}

// transitionForm is an event of a condition that changed (awslabs/operatorpkg
// status/controller.go).
var transitionForm = regexp.MustCompile(`^Status condition transitioned, Type: Launched, Status: \w+ -> False, Reason: (\w+)(?:, Message: (.*))?$`)

// eventClass is the check that an event of a NodeClaim points to, and what EC2 said;
// empty for an event of none (kubernetes-sigs/karpenter pkg/events/reason.go; an empty
// reason is of aws/karpenter-provider-aws pkg/providers/instance).
func eventClass(e snapshot.PoolEvent) (checkid.ID, string) {
	said := claimText(e.Message)
	switch e.Reason {
	case "InsufficientCapacityError":
		if class := activity.Classify(said).Class; class != checkid.LaunchUnclassified {
			return class, said
		}
		return checkid.LaunchInsufficientCapacity, said
	case "FailedLaunch", "LaunchFailed", "":
		if class := activity.Classify(said).Class; e.Reason != "" || class != checkid.LaunchUnclassified {
			return class, said
		}
	case "Launched":
		if m := transitionForm.FindStringSubmatch(e.Message); m != nil {
			if class, told := claimClass(m[1], m[2]); told {
				return class, claimText(m[2])
			}
		}
	}
	return "", ""
}

// reported reports whether CloudTrail has refused calls of a pool.
func (a *Attempts) reported(unit string) bool {
	return slices.ContainsFunc(a.List, func(t Attempt) bool { return t.Group == unit && t.Refused != nil && t.Status == ToldByCloudTrail })
}

// startedSince reports whether an instance of a pool was started since.
func (a *Attempts) startedSince(unit string, at time.Time) bool {
	for _, worked := range a.worked[unit] {
		if worked.After(at) {
			return true
		}
	}
	return false
}

// claimClass is the check that a reason of the condition Launched points to; false
// where Karpenter has not asked EC2, or its class is at fault, which another check
// tells (aws/karpenter-provider-aws pkg/errors/errors.go, ToReasonMessage).
func claimClass(reason, message string) (checkid.ID, bool) {
	switch reason {
	case "", "AwaitingReconciliation", "NodeClassReadinessUnknown", "NodeClassNotReady":
		return "", false
	case "SecurityGroupSubnetVPCMismatch":
		return checkid.LaunchSecurityGroup, true
	case "SpotSLRCreationFailed":
		return checkid.LaunchServiceRole, true
	case "AMIAuthorizationFailure", "InvalidAMIID", "AMINotFound":
		return checkid.LaunchAMI, true
	case "InstanceProfileNameInvalid":
		return checkid.LaunchProfile, true
	case "LaunchTemplateNotFound", "UserDataSizeLimitExceeded":
		return checkid.LaunchTemplate, true
	case "RequestLimitExceeded":
		return checkid.LaunchThrottled, true
	case "FreeTierIneligible":
		return checkid.LaunchUnsupportedType, true
	case "FleetQuotaExceeded":
		return checkid.LaunchFleetLimit, true
	case "AccountPendingVerification":
		return checkid.LaunchAccountValidation, true
	case "SpotQuotaExceeded":
		return checkid.LaunchSpotLimit, true
	case "VCPULimitExceeded":
		return checkid.LaunchVCPULimit, true
	case "InsufficientFreeAddressesInSubnet":
		return checkid.LaunchSubnetFull, true
	}
	class := activity.Classify(message).Class
	if reason == "Unauthorized" && class == checkid.LaunchUnclassified {
		class = checkid.LaunchUnauthorized
		if strings.Contains(message, "service control policy") || strings.Contains(message, "permission boundary") {
			class = checkid.LaunchPolicyDenied
		}
	}
	return class, true
}

// claimText is what EC2 said, as far as Karpenter gives it on.
func claimText(message string) string {
	if about, said, is := strings.Cut(message, " event: "); is && strings.HasPrefix(about, "NodeClaim ") {
		message = said
	}
	for _, prefix := range []string{"Error creating fleet request: ", "launching nodeclaim, ", "creating nodeclaim, ", "creating instance, ", "creating fleet request, ", "insufficient capacity, ", "with fleet error(s), "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return activity.Clean(message)
}

// Template is the version of the launch template that a group launches from;
// the group's reference where the version was not read.
func (a *Attempts) Template(group string) (snapshot.LaunchTemplate, bool) {
	ref := a.Groups[group].Template
	if ref.ID == "" || !a.S.Has(snapshot.LaunchTemplates) {
		return snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version}, false
	}
	for _, t := range a.S.LaunchTemplates {
		if t.ID == ref.ID && (t.Version == ref.Version || ref.Version == "$Latest" && t.Latest || (ref.Version == "$Default" || ref.Version == "") && t.Default) {
			return t, true
		}
	}
	return snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version}, false
}

// Types are the instance types that a failed launch can have been of: the one
// that the text names, else those that the group allows.
func (a *Attempts) Types(t Attempt) []string {
	if t.Verdict.Named.Type != "" {
		return []string{t.Verdict.Named.Type}
	}
	if t.Refused != nil {
		return t.Refused.Types
	}
	if g := a.Groups[t.Group]; len(g.Types) > 0 {
		return g.Types
	}
	for _, n := range a.S.Nodegroups {
		for _, g := range n.Groups {
			if g == t.Group && len(n.Types) > 0 {
				return n.Types
			}
		}
	}
	if template, read := a.Template(t.Group); read && template.Type != "" {
		return []string{template.Type}
	}
	return nil
}

// Image is the AMI of a failed launch: the text names it, else the override of the type,
// else the launch template. Where overrides differ and the type is not known it is empty.
func (a *Attempts) Image(t Attempt) string {
	if t.Verdict.Named.AMI != "" {
		return t.Verdict.Named.AMI
	}
	template, _ := a.Template(t.Group)
	var all []string
	for _, name := range a.Types(t) {
		// Auto Scaling API, LaunchTemplateOverrides, ImageId: it replaces the template's.
		all = append(all, cmp.Or(a.Groups[t.Group].Images[name], template.Image))
	}
	switch all = slices.Compact(slices.Sorted(slices.Values(all))); len(all) {
	case 0:
		return template.Image
	case 1:
		return all[0]
	}
	return ""
}

// judgeSettings names the setting of the account, the image or the VPC that refused a
// launch where EC2's text does not: it says of an image that Allowed AMIs hide that it
// does not exist, and its texts for images' rules of types and for VPC Encryption Controls
// are not published.
func (a *Attempts) judgeSettings() {
	for i := range a.List {
		t := &a.List[i]
		switch v := t.Verdict; {
		case v.Class == checkid.LaunchAMI && a.hidden(t):
		case v.Class == checkid.LaunchAMI && NotFound(v):
			t.Likely = t.Likely || a.unsettled(v)
			continue
		case v.Class != checkid.LaunchUnclassified && (v.Class != checkid.LaunchUnsupportedType || !generic(v)):
			continue
		case a.imageRefuses(t), a.unencrypted(t):
		default:
			// What was not read could be the setting that refused it.
			t.Likely = t.Likely || a.unsettled(v)
			continue
		}
		_, t.Verdict.Next = messages.Words(t.Verdict.Class)
	}
}

// unsettled reports whether a setting that could have refused a launch was requested and
// could not be read.
func (a *Attempts) unsettled(v activity.Verdict) bool {
	sources := []snapshot.Source{snapshot.LaunchTemplates, snapshot.Images, snapshot.Subnets, snapshot.VPCs, snapshot.InstanceTypes}
	if v.Class == checkid.LaunchAMI {
		sources = []snapshot.Source{snapshot.LaunchTemplates, snapshot.Images, snapshot.AllowedImagesOf}
	}
	return slices.ContainsFunc(sources, func(source snapshot.Source) bool { return a.S.Failures[source].Call != "" })
}

// generic reports whether EC2 said no more than that the request is not supported.
func generic(v activity.Verdict) bool {
	return strings.HasPrefix(v.By, "Unsupported") || strings.HasPrefix(v.By, "requested configuration")
}

// hidden decides whether Allowed AMIs refused the image of a launch. An image that EC2
// lists, and does not allow, is refused for certain; one that it does not list may have
// been deregistered as well.
func (a *Attempts) hidden(t *Attempt) bool {
	s, ami := a.S.AllowedImages, a.Image(*t)
	i := slices.IndexFunc(a.S.Images, func(i snapshot.Image) bool { return i.ID == ami })
	switch {
	case ami == "" || !NotFound(t.Verdict) || !a.S.Has(snapshot.Images) || s != nil && s.State != "enabled" || i >= 0 && a.S.Images[i].Allowed != "false" || s == nil && i < 0:
		return false
	case s == nil: // not allowed, by settings that could not be read
		t.Verdict.Class, t.Likely = checkid.LaunchImageNotAllowed, true
		t.Verdict.Meaning = "EC2 lists " + ami + " as not allowed and reports that it does not exist"
		return true
	}
	t.Verdict.Class, t.Verdict.Meaning = checkid.LaunchImageNotAllowed, "the account's Allowed AMIs do not allow "+ami+", and EC2 reports that it does not exist"
	if t.Likely = i < 0; t.Likely {
		t.Verdict.Meaning = "the account's Allowed AMIs hide other AMIs, and EC2 does not list " + ami + ": it is hidden, or was deregistered"
	}
	return true
}

// NotFound reports whether a launch was refused for an image that does not exist, as EC2
// says of a hidden one too (EC2 user guide, "Control the discovery and use of AMIs in
// Amazon EC2 with Allowed AMIs").
func NotFound(v activity.Verdict) bool {
	return strings.HasPrefix(v.By, "InvalidAMIID") || v.By == "AmiIdNotFound" || strings.Contains(v.By, "does not exist") || strings.Contains(v.Text, "does not exist")
}

// imageRefuses decides whether the image's own rules refuse every type of a launch.
func (a *Attempts) imageRefuses(t *Attempt) bool {
	ami := a.Image(*t)
	i := slices.IndexFunc(a.S.Images, func(i snapshot.Image) bool { return i.ID == ami })
	list := a.Types(*t)
	if i < 0 || len(list) == 0 || slices.ContainsFunc(list, func(name string) bool { return !ImageRefuses(a.S.Images[i], name) }) {
		return false
	}
	t.Verdict.Class, t.Verdict.Meaning = checkid.LaunchImageNotAllowed, fmt.Sprintf("the rules of %s do not allow the type %s", ami, strings.Join(list, ", "))
	return true
}

// ImageRefuses reports whether the rules of an image exclude an instance type.
func ImageRefuses(i snapshot.Image, name string) bool {
	in := func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return err == nil && ok
	}
	return len(i.Supported) > 0 && !slices.ContainsFunc(i.Supported, in) || slices.ContainsFunc(i.Unsupported, in)
}

// unencrypted decides whether the VPC enforces encryption in transit, which no type of a
// launch has.
func (a *Attempts) unencrypted(t *Attempt) bool {
	list, vpc := a.Types(*t), a.enforcing(*t)
	if vpc == "" || len(list) == 0 || slices.ContainsFunc(list, func(name string) bool {
		i := slices.IndexFunc(a.S.InstanceTypes, func(k snapshot.InstanceType) bool { return k.Name == name })
		return i < 0 || a.S.InstanceTypes[i].EncryptsInTransit
	}) {
		return false
	}
	t.Verdict.Class = checkid.LaunchEncryptionControls
	t.Verdict.Meaning = fmt.Sprintf("%s enforces encryption in transit, and %s does not encrypt", vpc, strings.Join(list, ", "))
	return true
}

// enforcing is the VPC of a launch whose Encryption Controls enforce encryption; empty for
// none.
func (a *Attempts) enforcing(t Attempt) string {
	subnets := a.Groups[t.Group].Subnets
	if t.Subnet != "" {
		subnets = []string{t.Subnet}
	} else if t.Refused != nil {
		subnets = t.Refused.Subnets
	}
	for _, n := range a.S.Subnets {
		if !slices.Contains(subnets, n.ID) {
			continue
		}
		for _, v := range a.S.VPCs {
			if v.ID == n.VPC && v.Encrypts {
				return v.ID
			}
		}
	}
	return ""
}
