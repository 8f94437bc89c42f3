// Package reconcile tells what an observation makes of a cluster's incidents:
// which opens, changes, is resolved or comes back, and why.
package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/incident/correlate"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Decide tells what an observation makes of the cluster's incidents. It gives
// a decision for each incident that the observation or the passing of time
// touches, in the order of previous, then the new ones.
//
// Observations may come late, twice, or not at all. So each subnet or instance
// has its own newest verdict, a launch never goes back, and an observation
// from before what is known changes nothing.
func Decide(previous []incident.Incident, obs report.Observation, now time.Time, policy incident.Policy) []incident.Decision {
	rec := reconciler{correlate.Look{Observation: obs, Now: now, Policy: policy}}
	rec.begin(previous)
	if obs.ClusterGone {
		rec.each(rec.closeWithCluster)
		return rec.decisions()
	}
	causes := rec.causes()
	rec.relate(causes)
	for _, cause := range causes {
		rec.applyCause(cause)
	}
	rec.each(rec.applyVerdicts)
	rec.each(rec.advance)
	// Last, because an incident can be superseded by any other.
	rec.AttachExplained()
	rec.each(rec.Supersede)
	rec.each(rec.updateCapacity)
	rec.each(rec.updatePods)
	rec.each(rec.worsen)
	rec.each(rec.updateChart)
	return rec.decisions()
}

// CloseUnwatched closes the incidents of a cluster that is not watched any more, with the
// first that is observed of it: by a function that began before, or by report's own clock.
// What was observed is not taken in.
func CloseUnwatched(previous []incident.Incident, obs report.Observation, now time.Time, policy incident.Policy) []incident.Decision {
	rec := reconciler{correlate.Look{Observation: obs, Now: now, Policy: policy}}
	rec.begin(previous)
	rec.each(func(u *incident.Update) { u.Apply(u.AfterUnwatched(now), now) })
	return rec.decisions()
}

// begin takes in the cluster's incidents, and how their launches stand now.
func (rec *reconciler) begin(previous []incident.Incident) {
	for _, inc := range previous {
		if inc.Key.SpokeCluster() == rec.Observation.SpokeCluster() {
			u := &incident.Update{Incident: inc.Clone(), Repeated: slices.Contains(inc.Applied, rec.Observation.ID)}
			if inc.State == incident.Open {
				u.Was = inc.Severity()
			}
			rec.Updates = append(rec.Updates, u)
		}
	}
	rec.each(rec.updateLaunches)
}

// each makes a step of every incident that the observation is new to.
func (rec *reconciler) each(step func(*incident.Update)) {
	for _, u := range rec.Updates {
		if !u.Repeated {
			step(u)
		}
	}
}

// relate takes in which failures the look explains with which, before any of them
// is taken in.
func (rec *reconciler) relate(causes []diagnosis.Cause) {
	for _, cause := range causes {
		key := rec.Observation.Key(cause.Check, cause.Resource)
		if u := rec.find(key); u != nil && !u.Repeated && u.State != incident.Closed {
			rec.RecordRelations(u, cause)
		}
	}
}

// advance verifies remedies and takes an incident as far as it goes; a node that
// joined may end it, which verifies the remedy that replaced one.
func (rec *reconciler) advance(u *incident.Update) {
	rec.verifyRemedies(u)
	rec.transition(u)
	rec.verifyRemedies(u)
}

// worsen tells of an incident that has become critical.
func (rec *reconciler) worsen(u *incident.Update) {
	if u.GotWorse(rec.Now) {
		u.Because(incident.IsWorse)
	}
}

// closeWithCluster ends an incident whose cluster does not exist any more.
func (rec *reconciler) closeWithCluster(u *incident.Update) {
	u.Apply(u.AfterClusterDeleted(rec.Observation.At), rec.Now)
}

// decisions are what is to be recorded, said and told.
func (rec *reconciler) decisions() (list []incident.Decision) {
	for _, u := range rec.Updates {
		if decision, touched := rec.decisionOn(u); touched {
			list = append(list, decision)
		}
	}
	return list
}

// reconciler takes one observation in.
type reconciler struct{ correlate.Look }

// causes are the diagnosis's causes and what could not be looked at; symptoms
// come last, when it is known what explains them. Advice is no incident:
// nothing failed because of it, and no one is mentioned.
func (rec *reconciler) causes() []diagnosis.Cause {
	causes := slices.Concat(rec.Observation.Diagnosis.Causes, blindCauses(rec.Observation))
	causes = slices.DeleteFunc(causes, func(c diagnosis.Cause) bool { return c.Confidence == catalog.Advice })
	slices.SortStableFunc(causes, func(a, b diagnosis.Cause) int {
		return addressesFirst(a) - addressesFirst(b)
	})
	return causes
}

func (rec *reconciler) find(key report.Key) *incident.Update {
	for _, u := range rec.Updates {
		if u.Key == key {
			return u
		}
	}
	return nil
}

// addressesFirst orders the causes of one look: a leak is taken in before what
// belongs to it.
func addressesFirst(c diagnosis.Cause) int {
	switch {
	case c.Check == checkid.IPLeakedInterfaces:
		return -1
	case c.Check == checkid.IPRunway:
		return 1
	case c.Confidence == catalog.Symptom, c.Check == checkid.NodeCNINotReady:
		return 2
	}
	return 0
}

// LooksBeforeSaid is in how many observations a fault that may pass by itself
// (a throttle, a timeout) must be seen before it is said: with the sweep every
// five minutes that is within a quarter of an hour. A denied permission does
// not pass by itself, and is said at once.
const LooksBeforeSaid = 3

func fleeting(failures []snapshot.Failure) bool {
	return !slices.ContainsFunc(failures, func(f snapshot.Failure) bool { return f.Reason == snapshot.Denied })
}

// sight is what hangs on one permission, or on one thing that does not answer: the
// Kubernetes API of a cluster answers all that is asked of it, or nothing.
func sight(f snapshot.Failure) string {
	if silentAPI(f) {
		return report.KubernetesAPI
	}
	return cmp.Or(f.Call, string(f.Source))
}

// silentAPI reports whether a call of the Kubernetes API got no response.
func silentAPI(f snapshot.Failure) bool {
	return strings.HasPrefix(f.Call, report.KubernetesAPI+": ") && (f.Reason == snapshot.Unreachable || f.Reason == snapshot.TimedOut)
}

// failures are all that an observation could not read.
func failures(obs report.Observation) []snapshot.Failure {
	all := slices.Clone(obs.Blind)
	for _, u := range obs.Diagnosis.Unknown {
		all = append(all, u.Blocked...)
	}
	all = slices.DeleteFunc(all, func(f snapshot.Failure) bool { return f.Reason == snapshot.NotRead })
	slices.SortStableFunc(all, func(a, b snapshot.Failure) int {
		return cmp.Or(strings.Compare(sight(a), sight(b)), strings.Compare(string(a.Source), string(b.Source)), strings.Compare(string(a.Reason), string(b.Reason)))
	})
	return slices.CompactFunc(all, func(a, b snapshot.Failure) bool { return sight(a) == sight(b) && a.Source == b.Source })
}

// failuresOf are the failures of one permission.
func failuresOf(cause diagnosis.Cause, obs report.Observation) []snapshot.Failure {
	return slices.DeleteFunc(failures(obs), func(f snapshot.Failure) bool { return sight(f) != cause.Resource })
}

// blindCauses are what could not be read, one cause per permission.
func blindCauses(obs report.Observation) []diagnosis.Cause {
	var causes []diagnosis.Cause
	for _, f := range failures(obs) {
		if n := len(causes); n > 0 && causes[n-1].Resource == sight(f) {
			continue
		}
		causes = append(causes, blindCause(f, blindedChecks(f, obs), obs.SpokeCluster()))
	}
	return causes
}

// blindedChecks are the checks that a failure kept from looking.
func blindedChecks(f snapshot.Failure, obs report.Observation) []string {
	var ids []string
	for _, u := range obs.Diagnosis.Unknown {
		if slices.ContainsFunc(u.Blocked, func(b snapshot.Failure) bool { return sight(b) == sight(f) }) {
			ids = incident.Union(ids, []string{string(u.Check)})
		}
	}
	return ids
}

// deletes is the one call among those that fail that reads nothing.
const deletes = "ec2:DeleteNetworkInterface"

// disabled tells the codes by which services refuse the credentials of an account that has
// not enabled their region (EC2 API reference, "Common client errors": AuthFailure,
// OptInRequired; EKS and others, "Common errors": UnrecognizedClientException,
// OptInRequired).
func disabled(code string) bool {
	return code == "AuthFailure" || code == "OptInRequired" || code == "UnrecognizedClientException"
}

// remedyForSpoke is what to do where a spoke's role cannot be assumed. STS says AccessDenied
// whether the role is gone, trusts another hub, or wants another external id or
// organization (API reference, AssumeRole, "Errors"): it does not tell which.
func remedyForSpoke(code string) string {
	if code == "RegionDisabledException" {
		return "STS is deactivated for the hub's region in that account: activate it there (IAM, Account settings, Endpoints)."
	}
	return "Redeploy the spoke in that account and region, for this hub and with this hub's externalId (`make deploy-spoke`): its role was deleted, trusts another hub, expects another external id, or the account has left the organization. To stop watching it, remove it from the setting spokes and redeploy the hub."
}

func blindCause(f snapshot.Failure, blinded []string, of spoke.Cluster) diagnosis.Cause {
	c := diagnosis.Cause{
		Check:      incident.CannotLook,
		Confidence: catalog.Possible,
		Resource:   sight(f),
		Covers:     []string{sight(f)},
	}
	c.Title = fmt.Sprintf("cannot read %s: %s %s", f.Source, sight(f), happened(f.Reason))
	if f.Call == snapshot.WholeKubernetesAPI {
		c.Title = fmt.Sprintf("cannot read %s: %s %s", snapshot.Nodes, sight(f), happened(f.Reason))
		if f.Code == "Unauthorized" {
			c.Title = "cannot read the cluster: its Kubernetes API rejects Rollcall's credentials"
		}
	}
	c.Why = "Whether instances can join is unknown until this can be read. Checks that depend on it are skipped, and nothing they cover is reported healthy."
	if ofKarpenter(f.Source) {
		c.Why = "Without it, Rollcall cannot explain why Karpenter or EKS Auto Mode launches no node or does not initialize one. Everything else is checked as usual."
	}
	if f.Source == snapshot.AutoModeLogsOf {
		c.Why = "Without it, EKS Auto Mode's own messages about missing nodes are left out. Everything is checked as usual."
	}
	if silentAPI(f) {
		c.Title = "cannot read the cluster: its Kubernetes API " + happened(f.Reason)
		c.Why = "Whether nodes have joined, and what pods and volumes wait for, is unknown until the API responds to Rollcall. Checks that depend on it are skipped, and nothing they cover is reported healthy. Checks of AWS data run as usual."
		blinded = nil // each look has its own, and they are one fault
	}
	if f.Call == report.AssumeRole {
		c.Title = "cannot read this account and region: sts:AssumeRole of Rollcall's role there is denied"
		c.Why = "Nothing is checked in this account and region until its reader role trusts Rollcall's hub. Other accounts are unaffected."
	}
	switch f.Code {
	case snapshot.NoRelay:
		c.Title = "cannot read this cluster: its API has only a private endpoint, and there is no relay for it"
		c.Why = "Nodes, pods and volumes of this cluster are not read. Whether instances join is unknown, and nothing is reported healthy, until it has a relay."
	case snapshot.NotOpen:
		c.Title = "cannot read this cluster: its public API endpoint is not open to Rollcall (publicAccessCidrs), and there is no relay for it"
		c.Why = "Nodes, pods and volumes of this cluster are not read. Whether instances join is unknown, and nothing is reported healthy, until it has a relay."
	case snapshot.RelayUnnamed:
		c.Title = "cannot read this cluster: its API has only a private endpoint, and the setting relays does not name it"
		c.Why = "Nodes, pods and volumes of this cluster are not read. Whether instances join is unknown, and nothing is reported healthy, until the setting names its relay: anybody who can create functions can create one with a relay's name."
	case snapshot.RelayRefuses:
		c.Title = "cannot read this cluster: its relay rejects the requests"
	}
	if f.Call == deletes {
		c.Title = fmt.Sprintf("cannot delete leaked interfaces: %s %s", sight(f), happened(f.Reason))
		if f.Code == report.NoCleaner {
			c.Title = "cannot delete leaked interfaces: sts:AssumeRole of this account's cleaner role is denied"
		}
		c.Why = "Network interfaces of terminated nodes keep their addresses until they can be deleted. Reports on nodes do not depend on it."
	}
	if len(blinded) > 0 {
		c.Evidence = append(c.Evidence, finding.Evidence{What: "Checks not run", Value: strings.Join(blinded, ", ")})
	}
	if f.Code != "" {
		c.Evidence = append(c.Evidence, finding.Evidence{What: "Error code", Value: f.Code})
	}
	if f.Message != "" {
		c.Evidence = append(c.Evidence, finding.Evidence{What: "Answer", Value: f.Message})
	}
	c.Fix.Text = remedyFor(f, of)
	return c
}

// ofKarpenter tells the sources of Karpenter's own objects, which newer rights
// in the cluster give than those of the other sources.
func ofKarpenter(s snapshot.Source) bool {
	return slices.Contains([]snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf}, s)
}

func happened(r snapshot.Reason) string {
	switch r {
	case snapshot.Denied:
		return "is denied"
	case snapshot.Throttled:
		return "is throttled"
	case snapshot.TimedOut:
		return "timed out"
	case snapshot.Unreachable:
		return "cannot be reached"
	case snapshot.OverBudget:
		return "is too large to read"
	case snapshot.NotShown:
		return "does not return everything that the cluster names"
	}
	return "fails"
}

// deployRelay is the command for a cluster's relay. Which bucket its account has for the
// program is not known here.
func deployRelay(of spoke.Cluster) string {
	return "`" + shell.Command("make", "deploy-relay", "CLUSTER="+of.Name, "BUCKET=a-bucket-of-this-region") + "`"
}

func remedyFor(f snapshot.Failure, of spoke.Cluster) string {
	if f.Call == report.AssumeRole {
		return remedyForSpoke(f.Code)
	}
	if f.Call == deletes && f.Code == report.NoCleaner {
		return "Redeploy the spoke in that account and region, with the settings of its clusters: `make deploy-spoke … " + shell.Command("SPOKE="+of.ID.String()) + " SET=\"cleanup=…\"`, as for the hub. If nothing should be deleted there, remove its clusters from the setting cleanup and redeploy the hub."
	}
	switch f.Code {
	case snapshot.NoRelay:
		return "Deploy the relay of this cluster, with credentials of its account and region: " + deployRelay(of) + ". Rollcall finds it by name within minutes. The hub's own cluster can also be read by functions in its VPC (settings vpcSubnetIds and vpcSecurityGroupIds)."
	case snapshot.NotOpen:
		return "Deploy the relay of this cluster, with credentials of its account and region: " + deployRelay(of) + ". Then add the cluster to the setting relays (`" + shell.Command("SET=relays="+of.String()) + "`, with the others) and redeploy the hub; publicAccessCidrs stays as it is. The relay needs the private endpoint; if it is off, enable it first: `" +
			shell.Command("aws", "eks", "update-cluster-config", "--name", of.Name, "--resources-vpc-config", "endpointPrivateAccess=true") + "`. The hub's own cluster can also be read by functions in its VPC (settings vpcSubnetIds and vpcSecurityGroupIds)."
	case snapshot.RelayUnnamed:
		return "Add " + of.String() + " to the setting relays (`" + shell.Command("SET=relays="+of.String()) + "`, with the others) and redeploy the hub, once its relay is deployed with credentials of its account and region: " + deployRelay(of) + "."
	case snapshot.RelayRefuses:
		return "Redeploy the relay of this cluster, from the same release as the hub and with credentials of the cluster's account and region: " + deployRelay(of) + "."
	}
	if silentAPI(f) {
		return "Check that the cluster's API endpoint can be reached from Rollcall's functions (its public access, or the functions' VPC with the endpoint's security group), and that the control plane is up. Rollcall retries by itself, less often the longer it does not respond."
	}
	switch f.Reason {
	case snapshot.Denied:
		if f.Call == snapshot.WholeKubernetesAPI && f.Code == "Unauthorized" {
			return "Give Rollcall's reader access to the cluster: run the stack's output KubernetesAccessCommand (KubernetesPolicyCommand where kubernetesAccess=policy). An access entry older than a redeployed reader stack no longer works, although its ARN is right: these commands delete it first. `rollcall doctor` lists the clusters with and without access, and prints the command for each without, in spokes too."
		}
		if disabled(f.Code) {
			return fmt.Sprintf("Allow %s for Rollcall's role: AWS rejects its credentials. If the account has not enabled the spoke's region, enable it (account:EnableRegion), or remove the spoke from the setting spokes and redeploy the hub.", sight(f))
		}
		if ofKarpenter(f.Source) {
			return "Give Rollcall's group its permissions in the cluster: the stack's output ClusterRoleCommand, or `kubectl apply -f deploy/clusterrole.yaml`. No EKS access policy grants them without Secrets: if kubernetesAccess is policy, change it to group."
		}
		return fmt.Sprintf("Allow %s for Rollcall's functions: redeploy the stack if the permission is missing from their roles; otherwise look for a permissions boundary or service control policy that denies it.", sight(f))
	case snapshot.Throttled:
		return fmt.Sprintf("Find what else in this account calls %s that often, or request a higher quota.", sight(f))
	case snapshot.TimedOut, snapshot.Unreachable:
		return "Check that the function has a network path to the service, and that the service is up."
	case snapshot.OverBudget:
		return "Check the object that the error names: it is larger, or compressed more times, than anything Rollcall is meant to read."
	case snapshot.NotShown:
		return "Look for the instance in the other accounts that share the VPC, with --include-managed-resources. If it is gone, delete its Node object, or detach the volume."
	}
	return "See the function's log for the full error."
}

// couldRead reports whether an observation could read what the incident lacks. That
// no failure is reported is no proof; that the source was read in full is.
func (rec *reconciler) couldRead(u *incident.Update) bool {
	if len(failuresOf(u.Cause, rec.Observation)) > 0 {
		return false
	}
	// What was read of an API shows that it answers, and knows us; what of it is still refused
	// is reported by its own call.
	if u.Key.Resource == report.KubernetesAPI || u.Key.Resource == snapshot.WholeKubernetesAPI {
		return slices.ContainsFunc(u.Blind, func(b snapshot.Failure) bool { return slices.Contains(rec.Observation.Read, b.Source) })
	}
	for _, b := range u.Blind {
		if !slices.Contains(rec.Observation.Read, b.Source) {
			return false
		}
	}
	return len(u.Blind) > 0
}

// updateCapacity takes in what the groups of an open incident want and have. A message
// gives numbers of one moment: where its launches stand otherwise now, and this look did
// not count its groups, what an earlier one counted is not said any more.
func (rec *reconciler) updateCapacity(u *incident.Update) {
	before := u.Capacity
	if u.State != incident.Open {
		u.Capacity = nil // it is said of what is open alone
		return
	}
	counted := u.CapacityIn(rec.Observation)
	switch {
	case counted != nil && (before == nil || !rec.Observation.At.Before(before.At)):
		u.Capacity = counted
	case !u.CapacityStands(rec.Observation.At):
		u.Capacity = nil
	}
	u.Touched = u.Touched || !before.Same(u.Capacity)
}

// updatePods takes in which pods wait for an incident that is not over. What one look
// found is known for as long as its capacity would be.
func (rec *reconciler) updatePods(u *incident.Update) {
	before := u.Pods
	if u.State == incident.Closed {
		u.Pods = nil
		return
	}
	found := u.PodsIn(rec.Observation)
	stands := before != nil && rec.Observation.At.Sub(before.At) <= incident.CountHolds
	switch {
	case found != nil && stands && before.IsMorePreciseThan(*found):
		// Two detectors look at each tick: the message does not go back and forth.
	case found != nil && (before == nil || !rec.Observation.At.Before(before.At)):
		u.Pods = found
	case before != nil && before.Unread == nil && rec.Observation.At.Sub(before.At) > incident.LookHolds:
		u.Pods = &incident.PodImpact{At: before.At, Unread: &snapshot.Failure{Source: snapshot.WaitingPods, Reason: snapshot.NotRead}}
	}
	u.Touched = u.Touched || !before.Same(u.Pods)
}

// applyCause brings a failed cause into its incident, and makes one if there is none.
func (rec *reconciler) applyCause(cause diagnosis.Cause) {
	if len(cause.Covers) == 0 {
		cause.Covers = []string{cause.Resource}
	}
	key := rec.Observation.Key(cause.Check, cause.Resource)
	u := rec.find(key)
	if u != nil && u.Repeated {
		return
	}
	if (u == nil || u.State == incident.Closed) && rec.Explained(cause) {
		return
	}
	if u == nil {
		u = &incident.Update{Incident: incident.Incident{Key: key}}
		rec.Updates = append(rec.Updates, u)
		rec.open(u, cause)
		return
	}
	if u.State != incident.Closed {
		rec.refresh(u, cause)
		return
	}
	switch {
	case !rec.isNews(u, cause):
		u.Late = true
	case u.Number == 0 || rec.Now.Sub(u.Resolved) > rec.Policy.ReopenTime:
		// The record's version goes on, all else is new: it is a new message.
		u.Incident = incident.Incident{Key: key, Version: u.Version, Acts: u.Acts}
		rec.open(u, cause)
	default:
		rec.reopen(u, cause)
	}
}

// isNews reports whether a failure is later than what a closed incident knows.
func (rec *reconciler) isNews(u *incident.Update, cause diagnosis.Cause) bool {
	if !rec.Observation.At.After(u.Settled) {
		return false
	}
	for _, cover := range cause.Covers {
		v, known := u.VerdictOn(cover)
		switch {
		case !known:
			return true
		case u.AllEnded(), u.HasGivenUp(cover):
			// An instance ends once, and is given up once: that it is seen
			// again is no news.
		case rec.Observation.At.After(v.At):
			return true
		}
	}
	return false
}

func (rec *reconciler) open(u *incident.Update, cause diagnosis.Cause) {
	u.Format = report.Format
	u.Began = rec.Observation.At
	rec.applyFailure(u, cause)
	u.Times = 1
	if u.IsBlind() && fleeting(u.Blind) {
		u.State = incident.Pending
		u.Because(incident.NotYet)
		return
	}
	rec.announce(u, incident.Opened)
}

func (rec *reconciler) reopen(u *incident.Update, cause diagnosis.Cause) {
	u.Times++
	if u.IsBlind() && fleeting(failuresOf(cause, rec.Observation)) && u.Times < LooksBeforeSaid {
		u.Because(incident.NotYet)
		return
	}
	rec.forgetEnded(u)
	u.Before = u.Resolved
	u.KeepForNotes()
	u.Launches, u.More, u.Affected = nil, nil, 0
	u.Joins, u.Proof, u.ClearedBy, u.Effects, u.By = nil, nil, nil, nil, nil
	u.Cleared, u.Resolved, u.Resolution = time.Time{}, time.Time{}, ""
	// A mute is of the cause, and holds until its time; who took on the last
	// opening did not take on this one. Since the last call it is calm.
	u.Ack, u.Offers, u.RecentChanges, u.Calls = nil, nil, nil, 0
	u.Evidence = nil // of the last time
	u.Began = rec.Observation.At
	rec.applyFailure(u, cause)
	rec.announce(u, incident.Reopened)
}

// forgetEnded lets go of what an incident that comes back covered the last time and
// that has ended since, so that a record that comes back every day stays small.
func (rec *reconciler) forgetEnded(u *incident.Update) {
	oneOff := u.AllEnded()
	kept := u.Verdicts[:0]
	for _, v := range u.Verdicts {
		if u.HasGivenUp(v.Of) {
			v.Found = incident.Absent
		}
		if (v.Found != incident.Failing || oneOff) && rec.Now.Sub(v.At) > rec.Policy.ReopenTime {
			u.Covers = slices.DeleteFunc(u.Covers, func(c string) bool { return c == v.Of })
			continue
		}
		kept = append(kept, v)
	}
	u.Verdicts = kept
}

// announce opens an incident to the world.
func (rec *reconciler) announce(u *incident.Update, why incident.Reason) {
	u.State = incident.Open
	u.Number++
	u.Opened = rec.Now
	u.Because(why)
}

// refresh brings a failed cause into an incident that is not closed.
func (rec *reconciler) refresh(u *incident.Update, cause diagnosis.Cause) {
	words, known := u.Cause, u.Seen
	added := rec.applyFailure(u, cause)
	switch {
	case u.State == incident.Pending:
		if !rec.Observation.At.Equal(known) { // the parts of one look are one
			u.Times++
		}
		u.Because(incident.NotYet)
		if u.Times >= LooksBeforeSaid || !fleeting(u.Blind) {
			u.Began = incident.Earlier(u.Began, rec.Observation.At)
			rec.announce(u, incident.Opened)
		}
	case added > 0:
		u.Because(incident.MoreAffected)
	case !rec.Observation.At.Before(known) && differ(words, u.Cause):
		u.Because(incident.BetterKnown)
	}
}

// applyFailure takes in what a failed cause says, and counts the newly affected
// launches.
func (rec *reconciler) applyFailure(u *incident.Update, cause diagnosis.Cause) (added int) {
	rec.RecordRelations(u, cause)
	for _, cover := range cause.Covers {
		if u.RecordVerdict(cover, incident.Failing, rec.Observation.At) {
			u.Touched = true
		}
	}
	for _, l := range correlate.LaunchesOf(rec.Observation, cause) {
		if u.AddAffected(l) {
			added++
			u.Touched = true
		}
		if l.Started.After(u.Before) && l.Started.Before(u.Began) {
			u.Began, u.Touched = l.Started, true
		}
	}
	if !cause.Since.IsZero() && cause.Since.After(u.Before) && cause.Since.Before(u.Began) {
		u.Began, u.Touched = cause.Since, true
	}
	if rec.Observation.At.Before(u.Seen) {
		u.Late = true
		return added
	}
	u.Seen, u.Touched = rec.Observation.At, true
	rec.locate(u)
	cause.Nodegroups = incident.Union(u.Cause.Nodegroups, cause.Nodegroups)
	cause.Covers, cause.Instances = u.Covers, nil // Launches has them
	u.Cause = cause
	u.AddTags(rec.Observation.Tags, rec.Policy.TagKeys)
	u.Owner = u.Owner.Merge(rec.Policy.Owners.Decide(u.Tagged(rec.Observation.Tagged), u.Key.SpokeCluster()))
	u.Logs = cmp.Or(rec.Observation.Logs, u.Logs, rec.Policy.Logs)
	if key := rec.Observation.Evidence; key != "" {
		kept := incident.Evidence{Opened: key, Newest: key}
		if u.Evidence != nil {
			kept.Opened = u.Evidence.Opened
		}
		u.Evidence = &kept
	}
	if len(rec.Observation.Facts) > 0 {
		u.Facts = incident.BoundedFacts(rec.Observation.Facts)
	}
	u.Blind = rec.Observation.Blind
	if u.IsBlind() {
		u.Blind = failuresOf(cause, rec.Observation)
	}
	return added
}

// locate takes in where the cause is. A look that was woken by a reminder does
// not know its account: what is known stays, or nothing could be planned for the
// incident until the next sweep.
func (rec *reconciler) locate(u *incident.Update) {
	u.Account = cmp.Or(rec.Observation.Account, u.Account)
	u.Region = cmp.Or(rec.Observation.Region, u.Region)
	u.Partition = cmp.Or(rec.Observation.Partition, u.Partition)
	u.Whose = rec.Observation.Whose
}

// differ reports whether the words or the evidence of a cause differ.
func differ(a, b diagnosis.Cause) bool {
	return a.Title != b.Title || a.Why != b.Why || a.Confidence != b.Confidence || a.Fix != b.Fix ||
		!slices.Equal(a.Evidence, b.Evidence) || !slices.Equal(a.Resources, b.Resources) ||
		!slices.Equal(a.Contributing, b.Contributing) || !slices.Equal(a.Symptoms, b.Symptoms) ||
		!slices.Equal(a.Hidden, b.Hidden)
}

// redrawn is how often the picture of an incident in which nothing happens is
// drawn anew: an edit of the message and a file in Slack each time.
const redrawn = time.Hour

// follows is how soon a picture follows numbers that go on changing: two looks of
// subnet-watch.
const follows = 10 * time.Minute

// updateChart takes the chart of an incident's subnet where its message needs one: it
// has none, the incident has moved on since, its numbers are others, an hour has passed, or a cleanup that
// ended the incident had not yet told what it gave back when the last one was drawn.
func (rec *reconciler) updateChart(u *incident.Update) {
	turn := u.Phase()
	if turn == "" && u.Chart.Due() && u.Touched {
		u.Chart = &incident.Chart{At: u.Chart.At, Alt: cmp.Or(u.Chart.FileAlt, u.Chart.Alt), Of: u.Chart.FileOf, File: u.Chart.File, FileAlt: u.Chart.FileAlt, FileOf: u.Chart.FileOf} // no longer shown
	}
	if turn == "" || u.State != incident.Open && rec.Observation.At.Before(u.Cleared) {
		return
	}
	for _, c := range rec.Observation.Charts {
		if c.Of != u.Key.Resource || len(c.PNG) == 0 {
			continue
		}
		var have incident.Chart
		if u.Chart != nil {
			have = *u.Chart
		}
		old := u.State != incident.Closed && rec.Observation.At.Sub(have.At) >= redrawn
		told := u.State == incident.Closed && c.Returned > have.Returned && rec.Observation.At.Sub(u.Resolved) < redrawn
		// Beside other numbers than its own it is not shown, so that another is needed.
		other := u.State != incident.Closed && have.Of != "" && have.Of != u.Moment() && rec.Observation.At.Sub(have.At) >= follows
		if rec.Observation.At.Before(have.At) || have.Turn == turn && len(have.PNG) == 0 && !old && !told && !other {
			return
		}
		u.Chart = &incident.Chart{
			Alt: c.Alt, Of: u.Moment(), At: rec.Observation.At, Turn: turn, Returned: c.Returned, PNG: c.PNG,
			File: have.File, FileAlt: cmp.Or(have.FileAlt, have.Alt), FileOf: have.FileOf, Missing: have.Missing,
		}
		u.Touched = true
		return
	}
}

// precedence is the order in which reasons count when there are several.
func precedence() []incident.Reason {
	return []incident.Reason{
		incident.Opened, incident.Reopened, incident.IsProved, incident.IsUnproved, incident.IsSuperseded, incident.IsWithdrawn, incident.IsGivenUpOn,
		incident.FailedAgain, incident.CauseGone, incident.IsUnhelpful, incident.IsVerified, incident.HasMissed, incident.IsWorse, incident.MoreAffected, incident.BetterKnown, incident.NotYet,
	}
}

// decisionOn makes the decision, and puts what is to be said and told into the
// record's outbox.
func (rec *reconciler) decisionOn(u *incident.Update) (decision incident.Decision, touched bool) {
	switch {
	case u.Repeated:
		return incident.Decision{Incident: u.Incident, Reason: incident.AlreadyApplied}, true
	case !u.Touched && u.Late:
		return incident.Decision{Incident: u.Incident, Reason: incident.OutOfDate}, true
	case !u.Touched:
		return incident.Decision{}, false
	}
	u.MarkApplied(rec.Observation.ID)
	top := incident.NothingNew
	for _, r := range slices.Backward(precedence()) {
		if slices.Contains(u.Reasons, r) {
			top = r
		}
	}
	if u.State == incident.Closed && u.Number > 0 {
		// Gone and proved at once: the ending says both.
		u.Reasons = slices.DeleteFunc(u.Reasons, func(r incident.Reason) bool { return r == incident.CauseGone })
	}
	if top.Event() != "" {
		u.Changed = rec.Now
	}
	for _, r := range u.Reasons {
		if r == incident.IsVerified && endsCause(u) {
			continue // the note on that says by what
		}
		if r == incident.IsWorse && slices.Contains(u.Reasons, incident.HasMissed) && !u.HasNote(incident.HasMissed) {
			continue // that note says how
		}
		if n := unsentMissed(u, rec.Now); r == incident.HasMissed && n != nil {
			n.Count += len(u.Missed)
			continue
		}
		if r.Noted() && (r != incident.HasMissed || !u.HasNote(incident.HasMissed)) && !hovers(u, r) {
			rec.addNote(u, r)
		}
	}
	if !u.Muted(rec.Now) && (u.Silence == nil || !u.Posted()) && !slices.Contains(u.Reasons, incident.Opened) && !slices.Contains(u.Reasons, incident.Reopened) { // else the message says it from the start
		u.Delivery.Notes = append(u.Delivery.Notes, u.JoinedNotes...)
	}
	rec.addEvents(u, top)
	u.Delivery.Dirty = u.Number > 0
	return incident.Decision{Incident: u.Incident, Reason: top, Changed: true}, true
}

// endsCause reports whether the thread gets a reply now that the cause is gone, or that it is over.
func endsCause(u *incident.Update) bool {
	return slices.ContainsFunc(u.Reasons, func(r incident.Reason) bool {
		return (r == incident.CauseGone || r == incident.IsProved || r == incident.IsUnproved) && !hovers(u, r)
	})
}

// addEvents tells of the top reason; an incident that opened and ended with one
// observation has two things to tell.
func (rec *reconciler) addEvents(u *incident.Update, top incident.Reason) {
	u.AddEvent(top, rec.Now)
	if end := u.Resolution.Reason(); u.State == incident.Closed && top != end && slices.Contains(u.Reasons, end) {
		u.AddEvent(end, rec.Now)
	}
}

// mostComings is how often the thread gets a reply that a subnet's addresses are
// short again, or well again. The message always says how things stand, and for
// which time.
const mostComings = 3

// hovers reports whether an incident of addresses comes and goes, as a subnet does
// that is always nearly full: the thread has been told often enough.
func hovers(u *incident.Update, r incident.Reason) bool {
	return incident.OfAddresses(u.Key.Check) && u.Number > mostComings && (r == incident.Reopened || r == incident.IsProved || r == incident.IsSuperseded)
}

func (rec *reconciler) addNote(u *incident.Update, r incident.Reason) {
	n := u.AddNote(r, rec.Now)
	if n == nil {
		return
	}
	switch r {
	case incident.Opened, incident.Reopened:
		n.Count = u.Affected
		for _, l := range incident.First(u.Launches, incident.MaxNamed) {
			n.Instances = append(n.Instances, l.Instance)
		}
		n.Evidence, n.Facts, n.Blind = u.Cause.Evidence, u.Facts, u.Blind
	case incident.HasMissed:
		if slices.Contains(u.Reasons, incident.IsWorse) { // it says how
			n.Line, u.Lined = true, rec.Now
		}
		n.Count, n.Instances, n.Within = len(u.Missed), incident.First(u.Missed, incident.MaxNamed), rec.shortestAge(u.Missed)
		n.Facts, n.Blind = incident.BoundedFacts(rec.Observation.Facts), rec.Observation.Blind
	case incident.FailedAgain:
		n.Evidence = u.Cause.Evidence
	case incident.CauseGone, incident.IsProved, incident.IsUnproved:
		n.Evidence, n.Launch = u.ClearedBy, u.Proof
		if slices.Contains(u.Reasons, incident.IsVerified) {
			n.Offer = u.LastOffer(incident.Helped)
		}
	case incident.IsVerified:
		n.Evidence, n.Offer = u.ClearedBy, u.LastOffer(incident.Helped)
	case incident.IsUnhelpful:
		n.Evidence, n.Offer = u.Cause.Evidence, u.LastOffer(incident.Unhelpful)
	}
	u.SplitLine()
}

// updateLaunches takes in how the affected launches stand now. A closed incident
// follows them too: its message counts them.
func (rec *reconciler) updateLaunches(u *incident.Update) {
	u.Missed, u.Touched = u.UpdateLaunches(rec.Observation.Launches)
	if u.State == incident.Closed || len(u.Missed) == 0 && unsentMissed(u, rec.Now) == nil {
		return
	}
	for _, l := range rec.Observation.Launches {
		// How those stood that are not kept by name is not remembered: they are
		// counted with the others of their look.
		if _, more := slices.BinarySearch(u.More, l.Instance); more && (l.Status == report.Missed || l.Status == report.GivenUp) {
			u.Missed = append(u.Missed, l.Instance)
		}
	}
	if len(u.Missed) > 0 {
		u.Because(incident.HasMissed)
	}
}

// unsentMissed is the note on those who missed, if it was made now and is
// still to be sent: the parts of one look are one note.
func unsentMissed(u *incident.Update, now time.Time) *incident.Note {
	for i, n := range u.Delivery.Notes {
		if n.Reason == incident.HasMissed && n.TS == "" && n.Sending.IsZero() && n.At.Equal(now) {
			return &u.Delivery.Notes[i]
		}
	}
	return nil
}

// shortestAge is how long launches had to become Ready when they were looked at: of several, the
// least; 0 where that is not known.
func (rec *reconciler) shortestAge(instances []string) (least time.Duration) {
	for _, id := range instances {
		l := correlate.LaunchOf(rec.Observation, id)
		if d := rec.Observation.At.Sub(l.Started); !l.Started.IsZero() && (least == 0 || d < least) {
			least = d
		}
	}
	return max(least, 0)
}
