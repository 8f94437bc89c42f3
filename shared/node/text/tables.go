package text

import (
	"cmp"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/console"
	"rollcall/shared/node/messages"
	"rollcall/shared/nodegroup"
)

// byConsole asks the table of consoles. A line that names no more than a unit,
// or a service that does not answer, is a symptom: the text does not say why.
func byConsole(f facts) Result {
	// A user of IAM is a person, or what a person runs; instances have roles.
	if f.by(messages.Karpenter, messages.Terraform, messages.Kubectl, messages.Autoscaler) || strings.Contains(f.low, ":user/") {
		return Result{}
	}
	m, ok := console.Line(f.words)
	if !ok {
		return Result{}
	}
	if m.ID == "token-failed" && !f.by(messages.Kubelet) {
		return Result{} // kubectl and helm ask the same way
	}
	t := Result{Check: m.Check, Meaning: strings.TrimSuffix(m.Means, "."), Next: m.Next}
	if rest, ok := strings.CutPrefix(t.Meaning, "The "); ok {
		t.Meaning = "the " + rest
	}
	if m.Unanswered || !m.Certain || m.Check == "" || vague(m.ID) {
		t.Check, t.Symptom = checkid.InstanceConsoleError, true
		if m.Check != "" {
			t.Look = append(t.Look, m.Check)
		}
		if m.Check == "" {
			t.Look = []checkid.ID{checkid.InstanceUserData, checkid.InstanceAMI, checkid.IAMRolePolicies, checkid.EndpointMissing}
		}
		if m.Unanswered {
			for _, id := range messages.PathAnywhere() {
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
func byLaunch(f facts) Result {
	if f.by(messages.Kubelet, messages.Nodeadm, messages.Containerd, messages.CloudInit, messages.Bootstrap, messages.Bottlerocket, messages.IPAMD, messages.CSI, messages.Kubectl, messages.Scheduler) {
		return Result{}
	}
	if len(f.calls) > 0 && !slices.ContainsFunc(f.calls, func(c string) bool { return slices.Contains(messages.LaunchCalls(), c) }) {
		return Result{}
	}
	if verdict := activity.Classify(f.words); verdict.Class != checkid.LaunchUnclassified {
		if verdict.Class == checkid.LaunchSuspended && otherProcess.MatchString(f.low) {
			return Result{}
		}
		return Result{Check: verdict.Class, Meaning: verdict.Meaning, Next: verdict.Next}
	}
	if len(f.calls) > 0 && slices.ContainsFunc(f.codes, func(c string) bool { return strings.HasPrefix(c, "InvalidParameter") }) && !f.by(messages.Eksctl, messages.CloudFormation) {
		_, next := messages.Words(checkid.LaunchTemplate)
		return Result{Check: checkid.LaunchTemplate, Meaning: "EC2 does not take a parameter of the launch; the words behind the code say which", Next: next}
	}
	if verdict, ok := activity.Ended(f.words); ok {
		return Result{Check: verdict.Class, Meaning: verdict.Meaning, Next: verdict.Next}
	}
	return Result{}
}

// otherProcess is a process of an Auto Scaling group other than that which launches.
var otherProcess = lazyregexp.New(`processname: (?:terminate|azrebalance|healthcheck|replaceunhealthy|alarmnotification|scheduledactions|addtoloadbalancer|instancerefresh)\b|\b(?:terminate|azrebalance) process`)

// byNodegroup knows EKS's own codes, as its console, its API, CloudFormation
// and Terraform quote them: of a nodegroup's health issue, or of why an update
// failed.
func byNodegroup(f facts) Result {
	if f.by(messages.Kubelet, messages.Containerd, messages.Karpenter, messages.IPAMD, messages.CSI, messages.CloudInit) || strings.Contains(f.low, "rpc error") {
		return Result{} // "code = Unknown" is gRPC's
	}
	words := strings.FieldsFunc(f.words, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') })
	for i, word := range words {
		quoted := i > 0 && slices.Contains([]string{"code", "errorcode"}, strings.ToLower(words[i-1]))
		if capitals(word) < 2 && word != "Unknown" || len(words) > 1 && !quoted && common(word) {
			continue
		}
		if c := nodegroup.OfIssue(word); c.Known {
			return Result{Check: checkid.NodegroupHealth, Symptom: c.Symptom, Meaning: c.Meaning, Next: c.Next, Look: checksOfCode(c)}
		}
		if c := nodegroup.OfUpdate(word); c.Known {
			return Result{Check: checkid.NodegroupUpdateFailed, Meaning: c.Meaning, Next: c.Next, Look: checksOfCode(c)}
		}
	}
	return Result{}
}

// checksOfCode are the checks behind a code of EKS, by its class.
func checksOfCode(c nodegroup.Code) []checkid.ID {
	switch c.Class {
	case nodegroup.Join:
		return messages.NotJoining()
	case nodegroup.Launch:
		return messages.Launches()
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

// kind says what kind of text it is, and who quotes it.
func (f facts) kind() string {
	what := "a text"
	switch {
	case f.program == messages.CloudTrail:
		what = "an event of CloudTrail"
	case f.program == messages.Runbook:
		what = "a finding of AWS's runbook for worker nodes"
	case f.program == messages.Karpenter && conditionForm.MatchString(f.low):
		what = "a condition or an event of Karpenter's objects"
	case f.program == messages.UnknownProgram && launchForm.MatchString(f.low):
		what = "a status message of Auto Scaling"
	case f.program == messages.UnknownProgram && stateForm.MatchString(f.words):
		what = "a state reason of EC2"
	case conditionForm.MatchString(f.low) && f.program == messages.UnknownProgram:
		what = "a condition of Kubernetes"
	case taintForm.MatchString(f.low):
		what = "a taint of a node"
	case f.program == messages.Kubectl:
		what = "an answer of kubectl"
	case f.program != messages.UnknownProgram:
		what = "a message of " + string(f.program)
	case len(f.calls) > 0 || goCode.MatchString(f.words) || pythonError.MatchString(f.words):
		what = "an error of an AWS API"
	case slices.ContainsFunc(f.codes, func(c string) bool { return c != "Unknown" && nodegroup.OfIssue(c).Known }):
		what = "a health issue of EKS"
	case len(f.fails) > 0 && (len(f.hosts) > 0 || f.failed1(messages.TimedOut, messages.Refused, messages.NoRoute, messages.Unresolved, messages.Untrusted, messages.TooEarly, messages.TooLate, messages.Proxied)):
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
	for _, known := range messages.KnownCalls() {
		if slices.Contains(f.calls, strings.ToLower(known)) {
			call = "the call " + known
			break
		}
	}
	switch {
	case len(f.fails) == 0:
		return ""
	case f.fails[0] == messages.Unresolved:
		return f.unresolved()
	case len(f.hosts) > 0 && !f.failed1(messages.Denied):
		return string(f.hosts[0]) + " " + string(f.fails[0])
	case call != "" && f.failed1(messages.Denied):
		return call + " was denied"
	case call != "" && f.failed1(messages.TimedOut):
		return call + " was not answered in time"
	case call != "" && f.failed1(messages.Throttled):
		return call + " was throttled"
	}
	return cmp.Or(call, "")
}

// The forms in which a name that was looked up is written, and the name server that was
// asked: Go (net.DNSError: "lookup NAME on SERVER: …"), curl, git and ssh ("Could not resolve
// host: NAME"), urllib3 ("Failed to resolve 'NAME'"), Node ("getaddrinfo ENOTFOUND NAME"), Java
// ("UnknownHostException: NAME").
var (
	lookedUp = lazyregexp.New(`(?i:\blookup|resolve host(?:name)?:?|failed to resolve|unable to resolve(?: host)?(?: address)?|enotfound|eai_again|unknownhostexception:) ["'‘]?([\w<>*-]+(?:\.[\w<>*-]+)+)`)
	askedOn  = lazyregexp.New(`\blookup \S+ on \[?([0-9a-f.:]+?)\]?:53\b`)
)

// unresolved returns which name could not be resolved, and by which name server, as far as
// the text has them.
func (f facts) unresolved() string {
	name, host := "a name", ""
	if len(f.hosts) > 0 && f.hosts[0] != messages.NameServer {
		name, host = "the name of "+string(f.hosts[0]), " ("+string(f.hosts[0])+")"
	}
	if m := lookedUp.FindStringSubmatch(f.words); m != nil {
		name = "the name " + m[1] + host
	}
	server := ""
	if m := askedOn.FindStringSubmatch(f.words); m != nil {
		server = " by the name server " + m[1]
	}
	return name + " could not be resolved" + server
}

func fromRow(r messages.Row) Result {
	t := Result{Check: r.Check, Symptom: r.Symptom, Look: r.Look, Meaning: r.Meaning, Next: r.Next}
	if r.Check != "" {
		meaning, next := messages.Words(r.Check)
		t.Meaning, t.Next = cmp.Or(t.Meaning, meaning), cmp.Or(t.Next, next)
	}
	return t
}

// fits reports whether a record is of a row, and what it names.
func (f facts) fits(r messages.Row) (values []messages.Value, ok bool) {
	switch {
	case len(r.By) > 0 && !f.by(r.By...), len(r.Not) > 0 && f.by(r.Not...), r.Node && !f.node,
		len(r.Fails) > 0 && !f.failed1(r.Fails...),
		len(r.On) > 0 && !slices.ContainsFunc(r.On, func(h messages.Host) bool { return slices.Contains(f.hosts, h) }),
		len(r.Calls) > 0 && !slices.ContainsFunc(r.Calls, func(c string) bool { return slices.Contains(f.calls, c) }),
		len(r.Codes) > 0 && !slices.ContainsFunc(r.Codes, func(c string) bool { return hasCode(f, c) }),
		len(r.Only) > 0 && !slices.Contains(r.Only, strings.Trim(f.low, ".: ")):
		return nil, false
	}
	return r.Match(f.low, maxGap)
}

func hasCode(f facts, code string) bool {
	family, isFamily := strings.CutSuffix(code, "*")
	return slices.ContainsFunc(f.codes, func(c string) bool { return c == code || isFamily && strings.HasPrefix(c, family) })
}

// maxGap bounds what "…" stands for: a sentence, not a log.
const maxGap = 140
