package facts

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
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
		t := Attempt{Group: r.Launcher, At: r.First, Told: "refused, as " + r.by + " says", Refused: &r.RefusedLaunch, Claims: r.claims}
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
	if !told || a.S.Time.Sub(l.Since) < claimPatience || a.told(unit) || a.startedSince(unit, l.Since) {
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
	if class == "" || pool == "" || a.S.Time.Sub(e.Last) > Counted || e.Last.After(a.S.Time) || a.told(unit) || a.startedSince(unit, e.Last) {
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

// told tells that CloudTrail told of refused calls of a pool.
func (a *Attempts) told(unit string) bool {
	return slices.ContainsFunc(a.List, func(t Attempt) bool { return t.Group == unit && t.Refused != nil && t.Told == ToldByCloudTrail })
}

// startedSince tells that an instance of a pool was started since.
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
