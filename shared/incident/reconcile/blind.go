package reconcile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

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

// silentAPI tells a call of the Kubernetes API that nobody answered.
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
func failuresOf(cause diagnose.Cause, obs report.Observation) []snapshot.Failure {
	return slices.DeleteFunc(failures(obs), func(f snapshot.Failure) bool { return sight(f) != cause.Resource })
}

// blindCauses are what could not be looked at, one cause per permission.
func blindCauses(obs report.Observation) []diagnose.Cause {
	var causes []diagnose.Cause
	for _, f := range failures(obs) {
		if n := len(causes); n > 0 && causes[n-1].Resource == sight(f) {
			continue
		}
		causes = append(causes, blindCause(f, blindedChecks(f, obs), obs.Of()))
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
	return "Deploy the spoke again in that account and region, for this hub and with this hub's externalId (`make deploy-spoke`): its role is gone, trusts another hub, wants another external id, or the account has left the organization. If it is to be watched no more, take it out of the setting spokes and deploy the hub again."
}

func blindCause(f snapshot.Failure, blinded []string, of spoke.Cluster) diagnose.Cause {
	c := diagnose.Cause{
		Check:      incident.CannotLook,
		Confidence: checks.Possible,
		Resource:   sight(f),
		Covers:     []string{sight(f)},
	}
	c.Title = fmt.Sprintf("cannot look at the %s: %s %s", f.Source, sight(f), happened(f.Reason))
	if f.Call == snapshot.WholeKubernetesAPI {
		c.Title = fmt.Sprintf("cannot look at the %s: %s %s", snapshot.Nodes, sight(f), happened(f.Reason))
		if f.Code == "Unauthorized" {
			c.Title = "cannot look into the cluster: its Kubernetes API does not know Rollcall"
		}
	}
	c.Why = "Whether instances can join cannot be told as long as this is not read. What depends on it is not judged, and nothing is called well."
	if ofKarpenter(f.Source) {
		c.Why = "Why Karpenter or EKS Auto Mode launches no node, or does not call one initialized, cannot be told without it. Everything else is judged as before."
	}
	if f.Source == snapshot.AutoModeLogsOf {
		c.Why = "What EKS Auto Mode itself says of nodes that do not come is not told without it. Everything is judged as before."
	}
	if silentAPI(f) {
		c.Title = "cannot look into the cluster: its Kubernetes API " + happened(f.Reason)
		c.Why = "Whether nodes have joined, and what pods and volumes wait for, cannot be told as long as the API does not answer Rollcall. What depends on it is not judged, and nothing is called well. What AWS tells is judged as before."
		blinded = nil // each look has its own, and they are one fault
	}
	if f.Call == report.AssumeRole {
		c.Title = "cannot look at this account and region: Rollcall's role there does not let it in"
		c.Why = "Nothing of this account in this region is read, and nothing there is called well, as long as its role reader does not let Rollcall's hub in. No other account is touched by it."
	}
	switch f.Code {
	case snapshot.NoRelay:
		c.Title = "cannot look into this cluster: its API has a private endpoint only, and there is no relay for it"
		c.Why = "Nodes, pods and volumes of this cluster are not read. Whether instances join is not told, and nothing is called well, as long as it has no relay."
	case snapshot.NotOpen:
		c.Title = "cannot look into this cluster: its public API endpoint is not open to Rollcall (publicAccessCidrs), and there is no relay for it"
		c.Why = "Nodes, pods and volumes of this cluster are not read. Whether instances join is not told, and nothing is called well, as long as it has no relay."
	case snapshot.RelayUnnamed:
		c.Title = "cannot look into this cluster: its API has a private endpoint only, and the setting relays does not name it"
		c.Why = "Nodes, pods and volumes of this cluster are not read. Whether instances join is not told, and nothing is called well, as long as its relay is not named: anybody who can create functions can create one of a relay's name."
	case snapshot.RelayRefuses:
		c.Title = "cannot look into this cluster: its relay refuses what it is asked"
	}
	if f.Call == deletes {
		c.Title = fmt.Sprintf("cannot delete leaked interfaces: %s %s", sight(f), happened(f.Reason))
		if f.Code == report.NoCleaner {
			c.Title = "cannot delete leaked interfaces: this account's role cleaner does not let Rollcall in"
		}
		c.Why = "Network interfaces of dead nodes keep their addresses as long as EC2 does not delete them. What Rollcall says of nodes does not hang on it."
	}
	if len(blinded) > 0 {
		c.Evidence = append(c.Evidence, checks.Evidence{What: "Checks that could not judge", Value: strings.Join(blinded, ", ")})
	}
	if f.Code != "" {
		c.Evidence = append(c.Evidence, checks.Evidence{What: "Error code", Value: f.Code})
	}
	if f.Message != "" {
		c.Evidence = append(c.Evidence, checks.Evidence{What: "Answer", Value: f.Message})
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
		return "gives no answer in time"
	case snapshot.Unreachable:
		return "cannot be reached"
	case snapshot.OverBudget:
		return "takes too much work to read"
	case snapshot.NotShown:
		return "does not show all that the cluster names"
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
		return "Deploy the spoke again in that account and region, with what its clusters opted in to: `make deploy-spoke … " + shell.Command("SPOKE="+of.ID.String()) + " SET=\"cleanup=…\"`, with the hub's words. If nothing is to be deleted there, take its clusters out of the setting cleanup and deploy the hub again."
	}
	switch f.Code {
	case snapshot.NoRelay:
		return "Deploy the relay of this cluster, with credentials of its account and region: " + deployRelay(of) + ". Rollcall finds it by its name within minutes. The hub's own cluster is also read by functions in its VPC (settings vpcSubnetIds and vpcSecurityGroupIds)."
	case snapshot.NotOpen:
		return "Deploy the relay of this cluster, with credentials of its account and region: " + deployRelay(of) + ". Then add the cluster to the setting relays (`" + shell.Command("SET=relays="+of.String()) + "`, with the others) and deploy the hub again; publicAccessCidrs stays as it is. The relay needs the private endpoint: where that is off, turn it on first: `" +
			shell.Command("aws", "eks", "update-cluster-config", "--name", of.Name, "--resources-vpc-config", "endpointPrivateAccess=true") + "`. The hub's own cluster is also read by functions in its VPC (settings vpcSubnetIds and vpcSecurityGroupIds)."
	case snapshot.RelayUnnamed:
		return "Add " + of.String() + " to the setting relays (`" + shell.Command("SET=relays="+of.String()) + "`, with the others) and deploy the hub again, once its relay is deployed with credentials of its account and region: " + deployRelay(of) + "."
	case snapshot.RelayRefuses:
		return "Deploy the relay of this cluster again, of the release of Rollcall's hub and with credentials of the cluster's account and region: " + deployRelay(of) + "."
	}
	if silentAPI(f) {
		return "Check that the cluster's API endpoint can be reached from Rollcall's functions (its public access, or the functions' VPC with the endpoint's security group), and that the control plane is up. It is asked again by itself, less often the longer it is silent."
	}
	switch f.Reason {
	case snapshot.Denied:
		if f.Call == snapshot.WholeKubernetesAPI && f.Code == "Unauthorized" {
			return "Let Rollcall's reader into the cluster: run the stack's output KubernetesAccessCommand (KubernetesPolicyCommand where kubernetesAccess=policy). An access entry from before the reader's stack was deleted and deployed again does not work any more, although it has the right ARN: these commands delete it first. `rollcall doctor` says which clusters let the reader in, and prints the command for each that does not, in spokes too."
		}
		if disabled(f.Code) {
			return fmt.Sprintf("Allow %s to Rollcall's role: AWS does not know its credentials. In a spoke whose region the account has not enabled, enable it (account:EnableRegion), or take the spoke out of the setting spokes and deploy the hub again.", sight(f))
		}
		if ofKarpenter(f.Source) {
			return "Give Rollcall's group the rights in the cluster: the stack's output ClusterRoleCommand, or `kubectl apply -f deploy/clusterrole.yaml`. No access policy of EKS that gives no Secrets has them: with kubernetesAccess=policy this takes kubernetesAccess=group."
		}
		return fmt.Sprintf("Allow %s to Rollcall's functions: deploy the stack again if the permission is missing in their roles, else look for a permissions boundary or a service control policy that denies it.", sight(f))
	case snapshot.Throttled:
		return fmt.Sprintf("Find who else in this account calls %s so often, or ask for a higher rate.", sight(f))
	case snapshot.TimedOut, snapshot.Unreachable:
		return "Check that the function has a network path to the service, and that the service is up."
	case snapshot.OverBudget:
		return "Look at what the answer names: it is larger, or packed more often, than anything that is meant to be read."
	case snapshot.NotShown:
		return "Look for the instance in the other accounts that share the VPC, and ask with --include-managed-resources. If it is gone, delete its Node object, or detach the volume."
	}
	return "Read the function's log for the full answer."
}

// couldRead tells whether an observation could read what the incident lacks. That
// no failure is told is no proof; that the source was read in full is.
func (rec *reconciler) couldRead(u *incident.Update) bool {
	if len(failuresOf(u.Cause, rec.Observation)) > 0 {
		return false
	}
	// What was read of an API shows that it answers, and knows us; what of it is still refused
	// is told by its own call.
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
