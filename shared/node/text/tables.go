package text

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/nodegroup"
)

// rows are all rows in the order in which they count among equals.
func rows() []row {
	return slices.Concat(identityRows(), pathRows(), karpenterRows(), bootRows(), eksRows(), kubernetesRows(), apiRows())
}

// retried is how often a line must stand in a console before those failures
// count that are retried (package console); who pastes a line has seen them.
const retried = 6

// byConsole asks the table of consoles. A line that names no more than a unit,
// or a service that does not answer, is a symptom: the text does not say why.
func byConsole(f facts, v vocabulary) Told {
	// A user of IAM is a person, or what a person runs; instances have roles.
	if f.by(karpenter, terraform, kubectl, autoscaler) || strings.Contains(f.low, ":user/") {
		return Told{}
	}
	r := console.Read(strings.Repeat(f.words+"\n", retried))
	if len(r.Matches) == 0 || !v.knowsRow("console/"+r.Matches[0].ID) {
		return Told{}
	}
	m := r.Matches[0]
	if m.ID == "token-failed" && !f.by(kubelet) {
		return Told{} // kubectl and helm ask the same way
	}
	t := Told{Check: m.Check, Meaning: strings.TrimSuffix(lowerFirst(m.Means), "."), Next: m.Next}
	if m.Unanswered || !m.Certain || m.Check == "" || vague(m.ID) {
		t.Check, t.Symptom = checkid.InstanceConsoleError, true
		if m.Check != "" {
			t.Look = append(t.Look, m.Check)
		}
		if m.Check == "" {
			t.Look = []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI, checkid.IAMRolePolicies, checkid.EndpointMissing}
		}
		if m.Unanswered {
			for _, id := range pathAnywhere() {
				if id != m.Check {
					t.Look = append(t.Look, id)
				}
			}
		}
	}
	return t
}

// vague are the console's rows that see a line which does not say why.
func vague(id string) bool {
	return slices.Contains([]string{"nodeadm-unit", "kubelet-unit", "sandbox-unit", "sandbox-failed", "nodeadm-failed", "kubelet-failed", "kubelet-cloud-init",
		"bootstrap-failed", "pluto-failed", "kubelet-anonymous", "token-failed", "containerd-down"}, id)
}

// byLaunch asks the table of failed launches, and of why instances ended. What
// a node's own programs say, and calls that start nothing, are no launches,
// whatever their codes.
func byLaunch(f facts, v vocabulary) Told {
	if f.by(kubelet, nodeadm, containerd, cloudInit, bootstrap, bottlerocket, ipamd, csi, kubectl, scheduler) {
		return Told{}
	}
	if len(f.calls) > 0 && !slices.ContainsFunc(f.calls, func(c string) bool { return slices.Contains(launchCalls(), c) }) {
		return Told{}
	}
	if verdict := activity.Classify(f.words); verdict.Class != checkid.LaunchUnclassified {
		if !v.knows(verdict.By, "") {
			return Told{}
		}
		return Told{Check: verdict.Class, Meaning: verdict.Meaning, Next: verdict.Next}
	}
	if len(f.calls) > 0 && slices.ContainsFunc(f.codes, func(c string) bool { return strings.HasPrefix(c, "InvalidParameter") }) && !f.by(eksctl, cloudFormation) {
		_, next := activity.Words(checkid.LaunchTemplate)
		return Told{Check: checkid.LaunchTemplate, Meaning: "EC2 does not take a parameter of the launch; the words behind the code say which", Next: next}
	}
	if verdict, ok := activity.Ended(f.words); ok {
		return Told{Check: verdict.Class, Meaning: verdict.Meaning, Next: verdict.Next}
	}
	return Told{}
}

// byNodegroup knows EKS's own codes, as its console, its API, CloudFormation
// and Terraform quote them: of a nodegroup's health issue, or of why an update
// failed.
func byNodegroup(f facts, _ vocabulary) Told {
	if f.by(kubelet, containerd, karpenter, ipamd, csi, cloudInit) || strings.Contains(f.low, "rpc error") {
		return Told{} // "code = Unknown" is gRPC's
	}
	words := strings.FieldsFunc(f.words, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') })
	for i, word := range words {
		quoted := i > 0 && slices.Contains([]string{"code", "errorcode"}, strings.ToLower(words[i-1]))
		if capitals(word) < 2 && word != "Unknown" || len(words) > 1 && !quoted && common(word) {
			continue
		}
		if c := nodegroup.OfIssue(word); c.Known {
			return Told{Check: checkid.NodegroupHealth, Symptom: c.Symptom, Meaning: c.Meaning, Next: c.Next, Look: behind(c)}
		}
		if c := nodegroup.OfUpdate(word); c.Known {
			return Told{Check: checkid.NodegroupUpdateFailed, Meaning: c.Meaning, Next: c.Next, Look: behind(c)}
		}
	}
	return Told{}
}

// behind are the checks behind a code of EKS, by its class.
func behind(c nodegroup.Code) []checkid.ID {
	switch c.Class {
	case nodegroup.Join:
		return notJoining()
	case nodegroup.Launch:
		return launches()
	case nodegroup.IAM:
		return []checkid.ID{checkid.IAMAccessMissing, checkid.IAMAWSAuthInvalid, checkid.IAMRolePolicies, checkid.IAMProfileMissing}
	case nodegroup.Address:
		return []checkid.ID{checkid.IPSubnetExhausted, checkid.LaunchSubnetFull}
	}
	return nil
}

// common are codes that other services use too, and words that any text may
// hold: in a longer text they count only where it calls them a code.
func common(code string) bool {
	return slices.Contains([]string{"AccessDenied", "LimitExceeded", "InternalFailure", "OperationNotPermitted", "Unknown"}, code)
}

func lowerFirst(s string) string {
	if len(s) > 1 && 'A' <= s[0] && s[0] <= 'Z' && !('A' <= s[1] && s[1] <= 'Z') && s[1] >= 'a' && strings.HasPrefix(s, "The ") {
		return "t" + s[1:]
	}
	return s
}

// kind says what kind of text it is, and who quotes it.
func (f facts) kind() string {
	what := "a text"
	switch {
	case f.program == cloudTrail:
		what = "an event of CloudTrail"
	case f.program == runbook:
		what = "a finding of AWS's runbook for worker nodes"
	case f.program == karpenter && conditionForm.MatchString(f.low):
		what = "a condition or an event of Karpenter's objects"
	case f.program == unknownProgram && launchForm.MatchString(f.low):
		what = "a status message of Auto Scaling"
	case f.program == unknownProgram && stateForm.MatchString(f.words):
		what = "a state reason of EC2"
	case conditionForm.MatchString(f.low) && f.program == unknownProgram:
		what = "a condition of Kubernetes"
	case taintForm.MatchString(f.low):
		what = "a taint of a node"
	case f.program == kubectl:
		what = "an answer of kubectl"
	case f.program != unknownProgram:
		what = "a message of " + string(f.program)
	case len(f.calls) > 0 || goCode.MatchString(f.words) || pythonError.MatchString(f.words):
		what = "an error of an AWS API"
	case slices.ContainsFunc(f.codes, func(c string) bool { return c != "Unknown" && nodegroup.OfIssue(c).Known }):
		what = "a health issue of EKS"
	case len(f.fails) > 0 && (len(f.hosts) > 0 || f.failed1(timedOut, refused, noRoute, unresolved, untrusted, tooEarly, tooLate, proxied)):
		what = "a failed connection"
	}
	if f.wrapped != "" && f.wrapped != f.program {
		what += ", as " + string(f.wrapped) + " quotes it"
	}
	return what
}

var (
	conditionForm = lazyregexp.New(`\b(?:type|status|reason|condition)s?: |status condition transitioned|lasttransitiontime|\b(?:false|unknown|true) \w{3}, \d\d `)
	taintForm     = lazyregexp.New(`\btaints?\b|:no(?:schedule|execute)`)
	launchForm    = lazyregexp.New(`launching (?:a new )?ec2 instance|status reason:|could not launch (?:spot|on-demand)|inservice state|statusmessage|placing spot`)
	stateForm     = lazyregexp.New(`\b(?:Client|Server)\.(?:Insufficient|Instance|Internal|Invalid|Scheduled|Spot|User|Volume)`)
)

// failed says what failed, in words of this package.
func (f facts) failed() string {
	call := ""
	for _, known := range knownCalls() {
		if slices.Contains(f.calls, strings.ToLower(known)) {
			call = "the call " + known
			break
		}
	}
	switch {
	case len(f.fails) == 0:
		return ""
	case len(f.hosts) > 0 && !f.failed1(denied):
		return string(f.hosts[0]) + " " + string(f.fails[0])
	case call != "" && f.failed1(denied):
		return call + " was denied"
	case call != "" && f.failed1(timedOut):
		return call + " was not answered in time"
	case call != "" && f.failed1(throttled):
		return call + " was throttled"
	}
	return cmp.Or(call, "")
}
