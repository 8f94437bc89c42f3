// Package text tells what a text means that somebody pasted: an error of an
// API, a line of a log, a condition, an event, a message of a tool.
//
// It goes by the form of the text and not by a list of sentences. The text is
// unwrapped first, then its facts are found: who wrote
// it, which call it tells of, with which code it ended, what failed and on
// what. Small tables say what those facts mean. What launches say is
// told by package activity, and what consoles say by package console.
//
// It is pure, and quick on any input: what is looked at is bounded.
//
// A text is untrusted. What is told holds words of this package alone, and of
// the text no more than calls and codes that this package knows.
package text

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
)

// Told is what a text tells.
type Told struct {
	// Kind is what kind of text it is: "a line of the kubelet's log".
	Kind string
	// Failed is what failed, as far as the text says: "ec2:DescribeInstances
	// was refused". It may be empty.
	Failed string
	// Check is the id of the check that looks for what the text tells, or empty
	// where the text does not show enough.
	Check checkid.ID
	// Symptom tells that Check names how something shows, and Look what may be
	// behind it.
	Symptom bool
	// Meaning is half a sentence, Next one or two sentences.
	Meaning, Next string
	// Look are the checks that may be behind it, in the order in which to look.
	Look []checkid.ID
	// Named are the resources that the record names which tells it.
	Named activity.Named
	// Command is what to run next; empty where the record names nothing to look at.
	Command string
}

// weight orders what several messages of one text tell: a cause says more than
// a symptom, and a symptom more than an explanation.
func (t Told) weight() int {
	switch {
	case t.Check == "" && t.Meaning == "":
		return 0
	case t.Check == "":
		return 1
	case t.Symptom:
		return 2
	}
	return 3
}

// Tell tells what a text means: of several faults the one that says most, the earliest
// of those.
func Tell(text string) Told { return tell(text, whole{}) }

// All tells of each fault of a text once: causes in the order in which they came, then
// how they show.
func All(text string) []Told {
	var list []Told
	for _, f := range findings(text, whole{}) {
		list = append(list, f.Told)
	}
	return list
}

// CauseOfKarpenter is the check that looks for what a line of Karpenter's log tells;
// empty where it tells no cause, or only how something shows.
func CauseOfKarpenter(line string) checkid.ID {
	if told := Tell("karpenter: " + line); !told.Symptom {
		return told.Check
	}
	return ""
}

// vocabulary is what is known; evaluations take parts of it away.
type vocabulary interface {
	// knows tells that a phrase counts in a row with this source.
	knows(phrase, source string) bool
	// knowsRow tells that a row of another package's table counts.
	knowsRow(name string) bool
}

// whole is all of the vocabulary.
type whole struct{}

func (whole) knows(string, string) bool { return true }
func (whole) knowsRow(string) bool      { return true }

func tell(text string, v vocabulary) Told {
	list := findings(text, v)
	if len(list) == 0 {
		return unknown(known().facts(record{words: plain(clean(text[:min(len(text), maxRecord)]))}))
	}
	return list[0].Told
}

// finding is what a record tells.
type finding struct {
	Told
	record record
}

// findings reads each record by itself, in their order. What is over later is not in it: a
// condition that became well, a node that registered after all.
func findings(text string, v vocabulary) []finding {
	records := part(text)
	e := known()
	var list []finding
	settled := map[string]bool{}
	for _, r := range records {
		if r.form == condition {
			settled[r.subject] = true
		}
	}
	take := func(r record) bool {
		t := e.one(r, v)
		if t.weight() == 0 {
			return false
		}
		t = t.naming(r)
		list = append(list, finding{t, r})
		return true
	}
	for i := 0; i < len(records); i++ {
		r := records[i]
		list = slices.DeleteFunc(list, func(f finding) bool { return overBy(f, r) })
		if r.form == command || (r.form == transition || r.form == event) && r.subject != "" && settled[r.subject] {
			continue
		}
		if r.form == prose && r.level != calm {
			if n := sentence(records[i:]); n > 1 {
				// Each line alone, else what is wrapped over them.
				found := false
				for _, line := range records[i : i+n] {
					found = take(line) || found
				}
				if !found || list[len(list)-1].weight() < 3 {
					take(joined(records[i : i+n]))
				}
				i += n - 1
				continue
			}
		}
		take(r)
	}
	return ordered(list)
}

// sentence is over how many lines a sentence may be wrapped that begins with the first.
func sentence(records []record) int {
	n := 1
	for n < len(records) && n < maxRun && records[n].form == prose && records[n].level != calm && records[n].paragraph == records[0].paragraph {
		n++
	}
	return n
}

func joined(records []record) record {
	r := records[0]
	r.words = ""
	for _, one := range records {
		r.words = strings.TrimSpace(r.words + " " + one.words)
	}
	return r
}

// ordered are the findings each once, what says most first.
func ordered(list []finding) []finding {
	slices.SortStableFunc(list, func(a, b finding) int { return b.weight() - a.weight() })
	var kept []finding
	for _, f := range list {
		same := func(o finding) bool { return o.Check == f.Check && (f.Check != "" || o.Meaning == f.Meaning) }
		if !slices.ContainsFunc(kept, same) {
			kept = append(kept, f)
		}
	}
	return kept
}

// naming takes in what a record names, and what to run for it.
func (t Told) naming(r record) Told {
	if t.Check == "" {
		return t
	}
	t.Named = activity.NamedIn(r.words)
	t.Command = commandOf(t.Check, t.Named)
	return t
}

// overBy reports whether what was found is over with a later record: the same condition
// has become well, or the node has registered or become Ready.
func overBy(f finding, r record) bool {
	if !endsAny(r) || ofOthers(f.record.words, r.words) {
		return false
	}
	if r.subject != "" && r.subject == f.record.subject && r.form != condition {
		return true
	}
	switch {
	case isReady(r):
		return f.Symptom && (f.Check == checkid.NodeNotReady || f.Check == checkid.NodeCNINotReady) || untilRegistered(f)
	case isRegistered(r):
		return untilRegistered(f)
	}
	return false
}

// named are the nodes, instances and objects of Karpenter that a record names.
var named = lazyregexp.New(`\bip-\d+-\d+-\d+-\d+\b|\bi-[0-9a-f]{8,17}\b|\b(?:nodeclaim|nodepool|ec2nodeclass|nodeclass)/[\w.-]+`)

// ofOthers reports whether two records name objects, and none that both name: that one
// node became Ready says nothing about another.
func ofOthers(a, b string) bool {
	const most = 8
	of, others := named.FindAllString(a, most), named.FindAllString(b, most)
	return len(of) > 0 && len(others) > 0 && !slices.ContainsFunc(of, func(name string) bool { return slices.Contains(others, name) })
}

// endsAny reports whether a record may end something that was found.
func endsAny(r record) bool {
	return r.level == calm && r.subject != "" || r.level != fault && (isReady(r) || isRegistered(r))
}

// isReady reports whether a record says that a node became Ready.
func isReady(r record) bool {
	return r.form == event && strings.Contains(r.words, "status is now: NodeReady") || strings.Contains(r.words, "as it just became ready") ||
		r.form == transition && r.subject == "ready" && strings.Contains(r.words, "KubeletReady")
}

// isRegistered reports whether a record says that a node registered (Kubernetes,
// pkg/kubelet/kubelet_node_status.go; Karpenter, pkg/controllers/nodeclaim/lifecycle).
func isRegistered(r record) bool {
	return strings.Contains(r.words, "Successfully registered node") || strings.Contains(r.words, "message: registered nodeclaim") ||
		strings.Contains(r.words, "msg: registered nodeclaim") || r.form == transition && r.level == calm && r.subject == "registered"
}

// untilRegistered reports whether a finding is over once a node has registered.
func untilRegistered(f finding) bool {
	switch f.Check {
	case checkid.NodeNotRegistered, checkid.IAMAccessMissing, checkid.IAMAccessWrongType, checkid.IAMSTSEndpoint, checkid.InstanceConsoleError,
		checkid.InstanceUserData, checkid.InstanceIMDS, checkid.DNSHostnamesOff, checkid.IAMProfileMissing:
		return true
	}
	return false
}

// launchFailed reports whether a text is the end of a launch that failed, whyever.
func launchFailed(low string) bool {
	return strings.Contains(low, "launching ec2 instance failed") || strings.Contains(low, "could not launch spot instances") || strings.Contains(low, "could not launch on-demand instances")
}

// unknown says what kind of text it is, and what to send next.
func unknown(f facts) Told {
	t := Told{Kind: f.kind(), Failed: f.failed(), Meaning: "the text alone does not tell why a node did not join"}
	switch {
	case f.program == unknownProgram && launchFailed(f.low):
		t.Check = checkid.LaunchUnclassified
		t.Meaning, t.Next = activity.Words(checkid.LaunchUnclassified)
	case f.by(kubectl, terraform, eksctl):
		t.Next = "Send what it is about: the nodegroup's health issues (aws eks describe-nodegroup), or the scaling activities of its group."
	case f.by(karpenter):
		t.Next = "Send the NodeClaim's conditions (kubectl describe nodeclaim) and the controller's lines of level ERROR."
	case f.by(kubelet, nodeadm, containerd, cloudInit, bootstrap, bottlerocket):
		t.Next = "Send the lines around it: the last error before the program gave up, with the address that it names."
	default:
		t.Next = "Send the whole message with its code, and the lines before it; or run a diagnosis of the instance or the nodegroup."
	}
	return t
}

// facts are what a message says, apart from its wording.
type facts struct {
	form  form
	words string // as they were written
	low   string // in lower case
	// program wrote the message, as far as it tells; wrapped is the tool that
	// quotes it.
	program, wrapped program
	calls            []string // operations of AWS APIs, in lower case
	codes            []string // of APIs, without "Client." and "Server."
	fails            []failure
	hosts            []host
	node             bool // an instance's own role made the call
}

// failure is how something failed.
type failure string

// The ways to fail.
const (
	timedOut   failure = "did not answer in time"
	refused    failure = "refused the connection"
	noRoute    failure = "has no route that leads to it"
	unresolved failure = "has a name that could not be resolved"
	untrusted  failure = "has a certificate that is not trusted"
	tooEarly   failure = "has a certificate that is not valid yet: the clock is behind"
	tooLate    failure = "has a certificate or token that is no longer valid"
	unknownID  failure = "did not accept the credentials" // 401
	denied     failure = "denied the call"                // 403
	throttled  failure = "asked to slow down"
	proxied    failure = "was asked through a proxy that did not pass it on"
)

// said is a failure and the words for it. They are those of Go's net, crypto
// and http packages, of the C library, curl, Python's requests and botocore,
// Java's SDK, and of HTTP (RFC 9110).
type said struct {
	failure failure
	words   []string
}

func failures() []said {
	return []said{
		{proxied, []string{"proxyconnect tcp", "proxy authentication required", "unable to connect to proxy", "tunnel connection failed", "from proxy after connect"}},
		{unresolved, []string{"no such host", " enotfound", " eai_again", "server misbehaving", "temporary failure in name resolution", "name or service not known",
			"could not resolve host", "failed to resolve", "getaddrinfo", "nodename nor servname", "unknownhostexception", "name resolution",
			"couldnt resolve host", "unable to resolve", "lookup …:53: read udp", "lookup …:53: dial udp"}},
		{untrusted, []string{"signed by unknown authority", "certificate is valid for", "certificate_verify_failed", "certificate verify failed",
			"unable to get local issuer", "self signed certificate", "self-signed certificate", "certificate is not trusted", "tls: bad certificate",
			"doesnt match certificate", "cannot validate certificate"}},
		{tooEarly, []string{"is before 20", "is not yet valid: current time", "signature not yet current", "not yet valid", "issued in the future", "used before issued"}},
		{tooLate, []string{"is after 20", "signature expired", "requestexpired", "expiredtoken", "token is expired", "token has expired",
			"certificate has expired", "request has expired"}},
		{throttled, []string{"rate exceeded", "too many requests", "toomanyrequests", "requestlimitexceeded", "throttl", "request limit exceeded", "rate limit"}},
		{timedOut, []string{"i/o timeout", "connection timed out", "connect: timed out", "handshake timeout", "context deadline exceeded", "client.timeout",
			"connect timeout", "read timeout", "operation timed out", "request canceled while waiting", "dial tcp timeout", "deadline has elapsed", "timed out",
			"connecttimeout", "connection timeout", "max retries exceeded", "exceeded max wait time", "connection reset by peer", "timeout exceeded",
			"unexpected eof", "could not connect to the endpoint", "timeout awaiting", "curl: (28)", " etimedout", ": eof", "request canceled, context deadline",
			"timeout was reached", "statuscode: 0", "connection was aborted", "forcibly closed", "connection attempt failed"}},
		{refused, []string{"connection refused", " econnrefused", "actively refused", "curl: (7)"}},
		{noRoute, []string{"no route to host", " ehostunreach", " enetunreach", "network is unreachable", "host is unreachable", "network unreachable"}},
		{denied, []string{"403 forbidden", "statuscode: 403", "status code: 403", "status: 403", "accessdenied", "access denied", "unauthorizedoperation",
			"not authorized to perform", "is not authorized", "unauthorized operation", "permission denied", "not authorized to", "403 response",
			"allowed: false", "authorization failed", "missing permissions"}},
		{unknownID, []string{"unauthorized", " 401", "no basic auth credentials", "must be logged in", "authentication failed", "invalid token", "unauthenticated"}},
	}
}

// host is what was talked to.
type host string

// The hosts that matter to a node.
const (
	clusterAPI  host = "the cluster's API"
	serviceIP   host = "the cluster's API at its service address"
	eksAPI      host = "the EKS API"
	eksAuth     host = "the EKS Auth API"
	ec2API      host = "the EC2 API"
	stsAPI      host = "STS"
	ecr         host = "ECR"
	s3          host = "S3"
	ssm         host = "Systems Manager"
	iamAPI      host = "IAM"
	elsewhere   host = "a host outside AWS"
	imds        host = "the instance metadata service"
	podIdentity host = "the Pod Identity agent"
	ntp         host = "the time service"
	nameServer  host = "the name server"
	kubeletPort host = "the kubelet's port"
	runtimeSock host = "the container runtime"
	ipamdPort   host = "aws-node's IPAM daemon"
)

// address is how a host is written. Names are those of AWS's endpoints ("AWS
// service endpoints" of the AWS general reference); addresses are those of the
// link-local services of EC2 and of EKS's Pod Identity; service addresses are
// the first of EKS's two default ranges.
type address struct {
	host host
	form *lazyregexp.Regexp
	// parts are what the form's texts have one of, at least.
	parts []string
}

func addresses() []address {
	return []address{
		{clusterAPI, apiHost, []string{".eks.", "/api", "healthz", "/version", "openapi", "kubernetes.default", "/leases/", "api server"}},
		{serviceIP, serviceHost, []string{":443"}},
		{eksAuth, eksAuthHost, []string{"eks-auth", "eks auth"}},
		{eksAPI, eksHost, []string{"eks.", "eks:"}},
		{ec2API, ec2Host, []string{"ec2.", "ec2:", "ec2/", "ec2 describe"}},
		{stsAPI, stsHost, []string{"sts.", "sts:", "webidentity"}},
		{ecr, ecrHost, []string{"ecr"}},
		{s3, s3Host, []string{"s3", "starport"}},
		{ssm, ssmHost, []string{"ssm", "ec2messages"}},
		{iamAPI, iamHost, []string{"iam.", "iam:"}},
		{imds, imdsHost, []string{"169.254.169.254", "fd00:ec2::254", "imds", "ec2metadata", "ec2rolerequest", "/latest/"}},
		{podIdentity, podIdentityHost, []string{"169.254.170.23", "fd00:ec2::23"}},
		{ntp, ntpHost, []string{"169.254.169.123", "chrony", "ntp"}},
		{nameServer, nameServerHost, []string{":53"}},
		{kubeletPort, kubeletHost, []string{":10250"}},
		{runtimeSock, runtimeHost, []string{".sock"}},
		{ipamdPort, ipamdHost, []string{":50051", ":61679"}},
		{elsewhere, otherHost, []string{"docker.io", "quay.io", "gcr.io", "registry.k8s.io", "ghcr.io", "mcr.microsoft", "nvcr.io", "github.com/", "pkg.dev"}},
	}
}

var (
	apiHost         = lazyregexp.New(`[0-9a-zx<*.-]+>?\.(?:\w+\.)?[a-z0-9<>-]+\.eks\.amazonaws\.com|\.eks\.[a-z0-9-]+\.api\.aws|/apis?/[a-z]|:(?:443|6443)/(?:api|healthz|version|openapi)|kubernetes\.default|/leases/|to api server|with api server|contact api server`)
	serviceHost     = lazyregexp.New(`\b(?:172\.20\.0\.1|10\.100\.0\.1|10\.96\.0\.1|\[?fd[0-9a-f:]+::1\]?):443`)
	eksHost         = lazyregexp.New(`(?:^|[^.\w-])(?:fips\.)?eks\.[a-z<][a-z0-9<>-]+\.(?:amazonaws|api\.aws)|operation error eks:|eks: describecluster`)
	eksAuthHost     = lazyregexp.New(`eks-auth\.|operation error eks auth:`)
	ec2Host         = lazyregexp.New(`(?:^|[^.\w-])ec2\.[a-z<][a-z0-9<>-]+\.(?:amazonaws|api\.aws)|operation error ec2:|\bec2/[a-z]|ec2 describe`)
	stsHost         = lazyregexp.New(`(?:^|[^\w-])sts\.(?:[a-z<][a-z0-9<>-]+\.)?(?:amazonaws|api\.aws)|operation error sts:|assumerolewithwebidentity|webidentityerr`)
	ecrHost         = lazyregexp.New(`\.ecr\.|\bdkr-ecr|ecr-fips|operation error ecr:|\becr:[a-z]|public\.ecr\.aws|ecr: getauth`)
	s3Host          = lazyregexp.New(`(?:^|[^\w])s3[.-][a-z0-9.-]*amazonaws|starport-layer-bucket|operation error s3:|\.s3\.`)
	ssmHost         = lazyregexp.New(`(?:^|[^\w-])ssm\.[a-z0-9-]+\.amazonaws|operation error ssm:|ec2messages|ssmmessages`)
	iamHost         = lazyregexp.New(`(?:^|[^\w-])iam\.amazonaws|operation error iam:`)
	imdsHost        = lazyregexp.New(`169\.254\.169\.254|fd00:ec2::254|ec2 ?imds|ec2metadata|imds://|ec2rolerequest|https?://\S*/latest/(?:meta-data|api/token|dynamic|user-data)`)
	podIdentityHost = lazyregexp.New(`169\.254\.170\.23|fd00:ec2::23`)
	ntpHost         = lazyregexp.New(`169\.254\.169\.123|chrony|\bntp\b`)
	nameServerHost  = lazyregexp.New(`(?:\d|\]):53\b`)
	kubeletHost     = lazyregexp.New(`:10250\b`)
	runtimeHost     = lazyregexp.New(`containerd\.sock|dockershim\.sock|crio\.sock`)
	ipamdHost       = lazyregexp.New(`:50051\b|:61679\b`)
	otherHost       = lazyregexp.New(`docker\.io|quay\.io|gcr\.io|registry\.k8s\.io|ghcr\.io|mcr\.microsoft|nvcr\.io|github\.com/|pkg\.dev`)
)

// The forms in which SDKs and services name a call and its error: AWS SDKs for
// Go v2, Java and Python, the CLI, IAM's messages, CloudTrail, XML of EC2 and
// S3, and the JSON of what wraps them.
var (
	goError     = lazyregexp.New(`operation error ([A-Za-z0-9 ]{2,40}): ?([A-Za-z0-9]{3,60})`)
	goCode      = lazyregexp.New(`api error ([A-Za-z][A-Za-z0-9._-]{2,70})`)
	pythonError = lazyregexp.New(`An error occurred \(([A-Za-z0-9._]{3,70})\)(?: when calling the ([A-Za-z0-9]{3,60}) operation)?`)
	namedCode   = lazyregexp.New(`(?:[Ee]rror ?[Cc]ode|HandlerErrorCode|\b[Cc]ode|<Code>|aws-error-code)\s*[:=>]?\s*([A-Z][A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*)`)
	slashed     = lazyregexp.New(`\b[a-z][a-z0-9-]{1,30}/([A-Z][a-z]+[A-Z][A-Za-z]{2,60})\b`)
	action      = lazyregexp.New(`\b(ec2|eks|ecr|iam|sts|autoscaling|ssm|kms|eks-auth|s3|pricing|sqs|elasticloadbalancing):([A-Z][A-Za-z]{3,60})\b`)
	eventName   = lazyregexp.New(`\b(?i:eventName|calling|call|operation|operation:|action:?|aws-operation-name[=:])\s*:? ?(?:the )?([A-Z][a-z]+(?:[A-Z][A-Za-z0-9]+)+)`)
	codeForm    = lazyregexp.New(`\b[A-Z][A-Za-z0-9]+(?:\.[A-Z][A-Za-z0-9]+)*\b`)
	nodeRole    = lazyregexp.New(`assumed-role/[\w+=,.@-]+/i-[0-9a-fx*]{4,}|:node:|/i-[0-9a-f]{8,17}\b`)
)

// healthy is what is said of a node that lacks nothing: conditions and events of
// the kubelet.
var healthy = lazyregexp.New(`node(?:has)?no(?:disk|memory|pid)pressure|nodehassufficient\w+|kubelethas(?:sufficient|no)\w+|has no disk pressure|has sufficient \w+|` +
	`\b(?:disk|memory|pid)pressure:? +false|\bnetworkunavailable:? +false|type: \w+pressure,? status: false[^;]*?(?:message: [^,]*)?`)

func (f *facts) readCalls() {
	call := func(name string) {
		if name = strings.ToLower(name); !slices.Contains(f.calls, name) {
			f.calls = append(f.calls, name)
		}
	}
	for _, m := range goError.FindAllStringSubmatch(f.words, -1) {
		call(m[2])
	}
	for _, m := range pythonError.FindAllStringSubmatch(f.words, -1) {
		if m[2] != "" {
			call(m[2])
		}
	}
	for _, m := range action.FindAllStringSubmatch(f.words, -1) {
		call(m[2])
	}
	for _, m := range slashed.FindAllStringSubmatch(f.words, -1) {
		call(m[1])
	}
	for _, m := range eventName.FindAllStringSubmatch(f.words, -1) {
		call(m[1])
	}
	for _, name := range knownCalls() {
		if strings.Contains(f.words, name) {
			call(name)
		}
	}
	if containsAny(f.low, []string{"creating fleet", "create fleet", "launchtemplateandoverrides"}) {
		call("CreateFleet")
	}
}

func (f *facts) readCodes() {
	code := func(name string) {
		for _, side := range []string{"Client.", "Server."} {
			// "Client.InternalError" and "Server.InternalError" are not the same.
			if rest, ok := strings.CutPrefix(name, side); ok && rest != "InternalError" {
				name = rest
			}
		}
		if len(f.codes) < 32 && !slices.Contains(f.codes, name) {
			f.codes = append(f.codes, name)
		}
	}
	for _, m := range goCode.FindAllStringSubmatch(f.words, -1) {
		code(strings.TrimRight(m[1], "."))
	}
	for _, m := range pythonError.FindAllStringSubmatch(f.words, -1) {
		code(m[1])
	}
	for _, m := range namedCode.FindAllStringSubmatch(f.words, -1) {
		code(m[1])
	}
	for _, word := range codeForm.FindAllString(f.words, 400) {
		if capitals(word) > 1 || strings.Contains(word, ".") {
			code(word)
		}
	}
}

func capitals(word string) int {
	n := 0
	for _, r := range word {
		if 'A' <= r && r <= 'Z' {
			n++
		}
	}
	return n
}

func (f facts) by(programs ...program) bool {
	return slices.Contains(programs, f.program) || f.wrapped != "" && slices.Contains(programs, f.wrapped)
}

func (f facts) failed1(kinds ...failure) bool {
	return slices.ContainsFunc(kinds, func(k failure) bool { return slices.Contains(f.fails, k) })
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// MaxPasted is how long a text may be that Tell reads as a whole, in bytes. A longer
// one is a log.
const MaxPasted = maxText

const (
	// longestLine is how much of a line is read: the longest that a kubelet writes, an
	// error with the object in it, has some 10 KB.
	longestLine = 32 << 10
	// mostForms is how many lines of different form are told, half a millisecond each.
	// A month of a kubelet's journal has some 2,000.
	mostForms = 10_000
	// mostBlock is how many lines that belong together are read as one.
	mostBlock = 200
)

// Log is what the lines of a log tell.
type Log struct {
	Lines int
	// Told is one line for each check, those that tell a cause first, then how it
	// shows; of those the one that came first in the log.
	Told []Line
	// Unread are lines of forms beyond the most that are told.
	Unread int
	// Cut are lines of which only the begin was read.
	Cut int
}

// Line is the first line of a log that tells of a check.
type Line struct {
	Told
	Number int // from 1
	Text   string
	// Count is how many lines tell of the check.
	Count int
}

// ReadLog reads a log line by line, in memory that does not grow with it. Lines that
// differ in numbers and ids alone are told once. What is over later in the log is not
// told. The error is the reader's.
func ReadLog(r io.Reader) (Log, error) { return readLog(r, mostForms) }

// logReader is how far a log is read.
type logReader struct {
	log  Log
	most int
	// known is what lines of a form come to.
	known map[uint64]*line
	seed  maphash.Seed
	found []*found
	// block are lines that belong together, and begin at line from: tables, objects,
	// sentences.
	block []string
	from  int
}

// line is what lines of one form come to: nothing, a fault, or that some are over.
type line struct {
	record record
	found  *found
}

// found is a fault of a log. It stays where it was first seen, unless it was over in
// between.
type found struct {
	Line
	record record
	over   bool
}

// readLog tells so many forms of lines at most.
func readLog(r io.Reader, most int) (Log, error) {
	in := bufio.NewReaderSize(r, longestLine)
	l := logReader{most: most, known: map[uint64]*line{}, seed: maphash.MakeSeed()}
	for {
		text, cut, err := nextLine(in)
		if len(text) > 0 || cut {
			l.log.Lines++
			if cut {
				l.log.Cut++
			}
			l.take(text)
		} else if err == nil {
			l.log.Lines++ // an empty one
			l.endBlock()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Log{}, fmt.Errorf("read the log: %w", err)
		}
	}
	l.endBlock()
	for _, f := range l.found {
		if !f.over {
			l.log.Told = append(l.log.Told, f.Line)
		}
	}
	slices.SortStableFunc(l.log.Told, func(a, b Line) int { return cmp.Or(b.weight()-a.weight(), a.Number-b.Number) })
	return l.log, nil
}

// nextLine reads a line without its end, of a longer one the begin. What it returns
// is overwritten by the next call.
func nextLine(in *bufio.Reader) (line []byte, cut bool, err error) {
	line, err = in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = slices.Clone(line)
		for cut = true; errors.Is(err, bufio.ErrBufferFull); {
			_, err = in.ReadSlice('\n')
		}
		return line, cut, err
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, false, err
}

// take reads a line, unless one of its form was read.
func (l *logReader) take(text []byte) {
	if !utf8.Valid(text) && noise(text) {
		return
	}
	f := shape(text, l.seed)
	if known, ok := l.known[f]; ok {
		l.endBlock()
		l.again(known)
		return
	}
	if len(l.known)+len(l.block) >= l.most {
		l.log.Unread++
		return
	}
	one := string(text)
	if !alone(one) {
		if len(l.block) == 0 {
			l.from = l.log.Lines
		}
		if l.block = append(l.block, one); len(l.block) == mostBlock {
			l.endBlock()
		}
		return
	}
	l.endBlock()
	known := &line{}
	for _, r := range part(one) {
		l.ends(r)
		if endsAny(r) {
			known.record = r
		}
		if f := l.find(r, l.log.Lines, one); f != nil {
			known.found = f
		}
	}
	l.known[f] = known
}

// alone reports whether a line is a whole record: a log's line, not a table's or an
// object's.
func alone(line string) bool {
	h := headOf(clean(line))
	return h.starts && h.rest != strings.TrimSpace(line) || strings.HasPrefix(line, "{") && strings.HasSuffix(strings.TrimSpace(line), "}")
}

// endBlock reads the lines that belong together.
func (l *logReader) endBlock() {
	if len(l.block) == 0 {
		return
	}
	block, from := l.block, l.from
	l.block = nil
	for _, one := range block {
		l.known[shape([]byte(one), l.seed)] = nil
	}
	for _, f := range findings(strings.Join(block, "\n"), whole{}) {
		l.add(f.Told, f.record, from+f.record.line, strings.TrimSpace(block[min(f.record.line, len(block)-1)]))
	}
	for _, r := range part(strings.Join(block, "\n")) {
		l.ends(r)
	}
}

// again counts a line of a form that was read.
func (l *logReader) again(known *line) {
	if known == nil {
		return
	}
	if known.record.words != "" {
		l.ends(known.record)
	}
	if known.found == nil {
		return
	}
	if known.found.over {
		known.found.over, known.found.Number = false, l.log.Lines
	}
	known.found.Count++
}

// ends takes in that a record may end what was found before it.
func (l *logReader) ends(r record) {
	if !endsAny(r) {
		return
	}
	for _, f := range l.found {
		f.over = f.over || overBy(finding{f.Told, f.record}, r)
	}
}

// find reads a record.
func (l *logReader) find(r record, number int, text string) *found {
	if r.form == command {
		return nil
	}
	return l.add(known().one(r, whole{}).naming(r), r, number, text)
}

// add takes in a fault; nil for what is none.
func (l *logReader) add(t Told, r record, number int, text string) *found {
	if t.Check == "" || t.Check == checkid.LaunchUnclassified {
		return nil
	}
	if i := slices.IndexFunc(l.found, func(o *found) bool { return o.Check == t.Check }); i >= 0 {
		f := l.found[i]
		if f.over {
			*f = found{Line: Line{Told: t, Number: number, Text: strings.ToValidUTF8(text, "�")}, record: r}
		}
		f.Count++
		return f
	}
	f := &found{Line: Line{Told: t, Number: number, Text: strings.ToValidUTF8(text, "�"), Count: 1}, record: r}
	l.found = append(l.found, f)
	return f
}

// noise tells that a line is not of a text: more than one byte in eight that no text
// has.
func noise(line []byte) bool {
	bad := 0
	for _, b := range line {
		if b < ' ' && b != '\t' && b != '\r' && b != '\x1b' || b == 0x7f {
			bad++
		}
	}
	return bad*8 > len(line)
}

// shape is a line's hash without what differs from one to the next: words with a digit
// in them, which are times, addresses, ids and counts.
func shape(line []byte, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	begin, digit := 0, false
	word := func(end int) {
		if digit {
			h.WriteByte('#')
		} else {
			h.Write(line[begin:end])
		}
	}
	for i, b := range line {
		switch {
		case b >= '0' && b <= '9':
			digit = true
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= utf8.RuneSelf:
		default:
			word(i)
			h.WriteByte(b)
			begin, digit = i+1, false
		}
	}
	word(len(line))
	return h.Sum64()
}

// program is who wrote a message.
type program string

// The programs.
const (
	kubelet         program = "the kubelet"
	nodeadm         program = "nodeadm"
	containerd      program = "containerd"
	cloudInit       program = "cloud-init"
	bootstrap       program = "bootstrap.sh"
	bottlerocket    program = "Bottlerocket"
	ipamd           program = "aws-node"
	karpenter       program = "Karpenter"
	autoscaler      program = "the Cluster Autoscaler"
	cloudController program = "the cloud controller"
	scheduler       program = "the scheduler"
	csi             program = "the EBS CSI driver"
	systemd         program = "systemd"
	kubectl         program = "kubectl"
	terraform       program = "Terraform"
	eksctl          program = "eksctl"
	cloudFormation  program = "CloudFormation"
	runbook         program = "AWS's runbook"
	cloudTrail      program = "CloudTrail"
	unknownProgram  program = ""
)

// mark is what tells a program: what stands in its prefix, and words of its
// own messages.
type mark struct {
	program program
	prefix  []string
	words   []string
}

// marks are in the order in which they count: a message of Karpenter may name
// the kubelet, and hardly the other way.
func marks() []mark {
	return []mark{
		{runbook, nil, []string{"awssupport-troubleshooteks", "[error]: the ", "[error]: vpc ", "[warning]: "}},
		{karpenter, []string{"karpenter"}, []string{"karpenter", "nodeclaim", "ec2nodeclass", "nodepool", "nodeclass", "launch template configs",
			"subnetsready", "securitygroupsready", "amisready", "instanceprofileready", "controller.provision", "with fleet error"}},
		{ipamd, []string{"aws-k8s-agent", "ipamd", "cni.go"}, []string{"ipamd", "aws-node", "aws-cni", "awscni", "amazon-k8s-cni", "vpc-cni", "awsutils",
			"rpc_handler", "missingiampermissions", "discovercustomsecuritygroups", "ipam daemon", "ipam-d", "ipam connectivity", "aws-k8s-agent", "datastore",
			"eniconfig", "amazoneksvpccnirole"}},
		{csi, []string{"ebs-csi"}, []string{"ebs-csi", "ebs.csi.aws.com", "attachvolume.attach", "provisioningfailed", "failed to provision volume"}},
		{nodeadm, []string{"nodeadm"}, []string{"nodeadm", "nodeconfig"}},
		{bottlerocket, []string{"pluto", "sundog", "early-boot-config", "host-ctr", "thar-be-settings"}, []string{"bottlerocket", "pluto", "sundog",
			"early-boot-config", "host-containers", "thar-be-settings"}},
		{autoscaler, []string{"cluster-autoscaler", "static_autoscaler.go", "auto_scaling_groups.go", "scale_up.go", "orchestrator.go", "clusterstate.go"},
			[]string{"cluster-autoscaler", "scale-up", "static_autoscaler", "auto_scaling_groups.go", "placeholder-cannot-be-fulfilled", "outofresource"}},
		{cloudController, []string{"node_controller.go", "node_lifecycle_controller.go", "aws-cloud-controller-manager"}, []string{"cloud-controller-manager",
			"at cloudprovider", "cloud-node-lifecycle-controller", "according to cloud provider", "according to the cloud provider"}},
		{cloudInit, []string{"cloud-init", "util.py", "cc_scripts_user.py", "ec2"}, []string{"cloud-init", "cc_scripts", "/var/lib/cloud/instance", "modules:final"}},
		{bootstrap, nil, []string{"bootstrap.sh", "eks-bootstrap"}},
		{kubelet, []string{"kubelet", "kubelet.go", "kubelet_node_status.go", "server.go", "run.go", "reflector.go", "csi_plugin.go", "controller.go",
			"certificate_manager.go", "pod_workers.go", "container_manager_linux.go", "transport.go", "kuberuntime_manager.go", "event.go",
			"eviction_manager.go", "nodelease.go", "log.go", "remote_runtime.go", "remote_image.go", "kubelet_network.go", "csi_plugin.go", "tags.go",
			"desired_state_of_world_populator.go"}, []string{"kubelet"}},
		{containerd, []string{"containerd", "dockerd", "pull-sandbox-image.sh", "cri-tools", "crictl"}, []string{"containerd"}},
		{scheduler, []string{"default-scheduler"}, []string{"default-scheduler", "failedscheduling", "nodes are available:"}},
		{systemd, []string{"systemd"}, []string{"systemd", "dependency failed for", "main process exited", "failed with result"}},
		{cloudTrail, nil, []string{"eventsource: ", "eventname: "}},
		{kubectl, nil, []string{"unable to connect to the server", "kubernetes cluster unreachable", "you must be logged in", "the connection to the server",
			"kubectl", "kubeconfig"}},
	}
}

// wrappings are the tools that quote messages of others.
func wrappings() []mark {
	return []mark{
		{eksctl, nil, []string{"eksctl", "[✖]", "[ℹ]"}},
		{terraform, nil, []string{"terraform", "aws_eks_", "with module.", "waiting for eks ", "creating eks ", "module.", "wanted target",
			"while waiting for state to become"}},
		{cloudFormation, nil, []string{"resource handler returned", "handlererrorcode", "cloudformation", "aws::"}},
	}
}
