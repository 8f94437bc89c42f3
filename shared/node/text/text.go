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
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"html"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
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

// Tell tells what a text means.
func Tell(text string) Told { return tell(text, whole{}) }

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

// tell reads each message by itself. Where none tells a cause, the text as one
// is read: a sentence may be wrapped over lines in any way.
func tell(text string, v vocabulary) Told {
	messages, joined := decode(text)
	rows := rows()
	var best Told
	for _, m := range messages {
		if t := one(factsOf(m), rows, v); t.weight() > best.weight() {
			best = t
		}
	}
	if f := factsOf(joined); best.weight() < 3 {
		if t := one(f, rows, v); t.weight() > best.weight() {
			best = t
		}
	}
	if best.weight() == 0 {
		f := factsOf(joined)
		best = unknown(f)
	}
	return best
}

// one tells what one message means: by its facts, by the console's table, by
// the launches' table. A cause of any of them counts before a symptom.
func one(f facts, rows []row, v vocabulary) Told {
	best := byFacts(f, rows, v)
	for _, next := range []func(facts, vocabulary) Told{byConsole, byLaunch, byNodegroup} {
		if best.weight() == 3 {
			break
		}
		if t := next(f, v); t.weight() > best.weight() {
			best = t
		}
	}
	if best.weight() > 0 {
		best.Kind, best.Failed = f.kind(), f.failed()
	}
	return best
}

func byFacts(f facts, rows []row, v vocabulary) Told {
	var best Told
	for _, r := range rows {
		if t := r.told(); t.weight() > best.weight() && r.fits(f, v) {
			best = t
		}
		if best.weight() == 3 {
			break
		}
	}
	return best
}

// unknown says what kind of text it is, and what to send next.
func unknown(f facts) Told {
	t := Told{Kind: f.kind(), Failed: f.failed(), Meaning: "the text alone does not tell why a node did not join"}
	switch {
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

// Bounds of what is looked at. A ticket may hold a whole log; what says most
// is mostly at its end or its begin.
const (
	maxText     = 64 << 10 // bytes
	maxMessage  = 8 << 10
	maxMessages = 400
	maxDepth    = 24 // of objects in objects
	quotedDepth = 8  // what JSON in a string counts for
	maxObjects  = 64 // of JSON that are looked for in lines
)

// own begins a line that is a message of its own. Texts do not hold it: it is
// taken out of them as every control character is.
const own = "\x00"

// message is one message: its words without the wrapping, and the program that
// a log's prefix names.
type message struct {
	program string
	words   string // quotes and escapes are taken away, one blank between words
}

// decode takes a text apart: the messages in it, and all of it as one.
func decode(text string) (list []message, joined message) {
	if len(text) > maxText {
		// The begin holds what was asked, the end what happened last.
		text = text[:maxText/2] + "\n" + text[len(text)-maxText/2:]
	}
	text = clean(text)
	lines := split(text)
	var all strings.Builder
	for _, line := range lines {
		program, rest, starts := prefix(line)
		words := plain(rest)
		if words == "" {
			continue
		}
		if all.Len() < maxText {
			all.WriteByte(' ')
			all.WriteString(plain(strings.TrimPrefix(line, own)))
		}
		last := len(list) - 1
		switch {
		case last >= 0 && !starts && len(list[last].words)+len(words) < maxMessage:
			// A line without a prefix goes on where the one before it ended.
			list[last].words += " " + words
		case len(list) < maxMessages:
			list = append(list, message{program: program, words: words})
		}
	}
	// Lines that do not begin as a log's do are also messages of their own.
	if len(list) < maxMessages && len(lines) > len(list) {
		for _, line := range lines {
			if _, rest, starts := prefix(line); !starts && len(list) < maxMessages {
				list = append(list, message{words: plain(rest)})
			}
		}
	}
	return list, message{words: strings.TrimSpace(all.String())}
}

// split makes lines of a text. JSON becomes a line for each object that says
// something, however deep it stands and however often it is quoted.
func split(text string) []string {
	trimmed := strings.TrimSpace(text)
	if lines, ok := values(trimmed, 0); ok {
		return lines
	}
	var lines []string
	objects := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		// Quoted in a reply or a box, or an item of a list.
		line = strings.TrimSpace(strings.TrimLeft(line, ">|│ \t"))
		if at := strings.IndexByte(line, '{'); at >= 0 && objects < maxObjects {
			objects++
			if found, rest, ok := object(line[at:]); ok {
				for _, f := range found {
					lines = append(lines, own+line[:at]+" "+strings.TrimPrefix(f, own)+" "+rest)
				}
				continue
			}
		}
		for part := range strings.SplitSeq(unescape(line), "\n") {
			lines = append(lines, strings.TrimSpace(part))
		}
	}
	return lines
}

// values reads a text that is JSON as a whole, or a string of JSON.
func values(text string, depth int) ([]string, bool) {
	if text == "" || !strings.ContainsRune(`{["`, rune(text[0])) || depth > maxDepth {
		return nil, false
	}
	var value any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		return nil, false
	}
	if s, ok := value.(string); ok {
		return split(s), true
	}
	return flatten(value, depth), true
}

// object reads an object at the begin of a line; rest is what follows it.
func object(text string) (lines []string, rest string, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value map[string]any
	if d.Decode(&value) != nil || len(value) == 0 {
		return nil, "", false
	}
	return flatten(value, 0), text[d.InputOffset():], true
}

// flatten makes a line of each object: its own fields, and behind it lines of
// the objects in it.
func flatten(value any, depth int) []string {
	if depth > maxDepth {
		return nil
	}
	switch v := value.(type) {
	case []any:
		var lines []string
		for _, item := range v {
			lines = append(lines, flatten(item, depth+1)...)
		}
		return lines
	case map[string]any:
		var fields bytes.Buffer
		var below []string
		for _, name := range fieldNames(v) {
			switch field := v[name].(type) {
			case string:
				inner, ok := values(strings.TrimSpace(field), depth+quotedDepth)
				if ok && len(inner) > 0 {
					below = append(below, inner...)
					field = strings.ReplaceAll(strings.Join(inner, " "), own, "")
				}
				fmt.Fprintf(&fields, "%s: %s, ", name, strings.ReplaceAll(unescape(field), "\n", " "))
			case json.Number, bool:
				fmt.Fprintf(&fields, "%s: %v, ", name, field)
			case []any, map[string]any:
				below = append(below, flatten(field, depth+1)...)
			}
		}
		return append([]string{own + strings.TrimSuffix(fields.String(), ", ")}, below...)
	case string:
		return []string{unescape(v)}
	}
	return nil
}

// fieldNames are the fields of an object, those first that say where it comes from.
// The others follow by name, so that the same text always reads the same.
func fieldNames(v map[string]any) []string {
	first := []string{"level", "logger", "caller", "type", "Type", "status", "Status", "reason", "Reason", "eventSource", "eventName", "errorCode", "ErrorCode",
		"Code", "code", "msg", "message", "Message", "error", "err"}
	list := make([]string, 0, len(v))
	seen := map[string]bool{}
	for _, name := range first {
		if _, ok := v[name]; ok {
			list, seen[name] = append(list, name), true
		}
	}
	rest := len(list)
	for name := range v {
		if !seen[name] && name != "stacktrace" {
			list = append(list, name)
		}
	}
	slices.Sort(list[rest:])
	return list
}

// clean takes away what only draws: colours, boxes, invisible and curly signs.
func clean(text string) string {
	text = ansi.ReplaceAllString(strings.ToValidUTF8(text, ""), "")
	if strings.ContainsRune(text, '&') {
		text = html.UnescapeString(text)
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '“', '”', '„', '″':
			return '"'
		case '‘', '’', '′':
			return '\''
		case '│', '╷', '╵', '║', '\u00a0', '\u2028', '\t', '\ufeff':
			return ' '
		case '–', '—', '−':
			return '-'
		case '\r', '\v', '\f':
			return '\n'
		case '\n':
			return r
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

var ansi = lazyregexp.New(`\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*\x07)`)

// unescape undoes escapes of strings in strings, three deep at the most.
func unescape(text string) string {
	for range 3 {
		if !strings.ContainsRune(text, '\\') {
			return text
		}
		text = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\n", `\t`, " ", `\"`, `"`, `\'`, `'`, `\/`, `/`,
			`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u0022`, `"`, `\u0027`, "'").Replace(text)
	}
	return text
}

// plain takes quotes and marks of Markdown away, and puts one blank between
// words.
func plain(line string) string {
	line = strings.ReplaceAll(unescape(line), "\n", " ")
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'', '`', '\\', '*':
			return -1
		}
		return r
	}, line)), " ")
}

// The forms in which logs begin a line; all are of documented formats:
// klog's header, RFC 3339, RFC 3164 (syslog, journald's short form), the
// kernel's seconds, and levels.
var (
	klogLine    = lazyregexp.New(`^(?:[A-Za-z][\w.-]*: +)?[IWEF]\d{4} \d\d:\d\d:\d\d(?:\.\d+)? +\d+ ([\w./-]+\.go):\d+\] ?`)
	klogTail    = lazyregexp.New(`^([a-z_]+\.go):\d+\] ?`)
	stampLine   = lazyregexp.New(`^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)? ?(?:Z|[+-]\d\d:?\d\d|UTC)?\]?[ -]*`)
	syslogLine  = lazyregexp.New(`^(?:[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d) +(?:(\S+) +)?`)
	kernelLine  = lazyregexp.New(`^\[ *\d+\.\d+\] *`)
	tagged      = lazyregexp.New(`^([A-Za-z][\w.@/-]{1,40})\[\d+\]: *`)
	eventLine   = lazyregexp.New(`^(?:Warning|Normal) +[A-Z][A-Za-z]+ `)
	errorLine   = lazyregexp.New(`^(?:\[?(?:ERROR|Error|error|FATAL|WARN|WARNING|INFO|DEBUG|FAILED|DEPEND)\]?:? )|^(?:\[[✖ℹ!✔▶]\] )|^(?:- |\d+\. |[•] )`)
	logfmtLine  = lazyregexp.New(`^time=\S+ level=\w+ `)
	unitCommand = lazyregexp.New(`^(?:systemd(?:\[1\])?): `)
)

// prefix takes a log's prefix from a line. starts tells that the line is a
// message's first.
func prefix(line string) (program, rest string, starts bool) {
	rest, starts = strings.CutPrefix(line, own)
	for range 4 {
		before := rest
		for _, form := range []*lazyregexp.Regexp{stampLine, syslogLine, kernelLine} {
			if m := form.FindString(rest); m != "" {
				rest, starts = rest[len(m):], true
			}
		}
		if m := tagged.FindStringSubmatch(rest); m != nil {
			program, rest, starts = m[1], rest[len(m[0]):], true
		}
		for _, form := range []*lazyregexp.Regexp{klogLine, klogTail} {
			if m := form.FindStringSubmatch(rest); m != nil {
				if program == "" {
					program = m[1]
				}
				rest, starts = rest[len(m[0]):], true
			}
		}
		if rest == before {
			break
		}
	}
	for _, form := range []*lazyregexp.Regexp{eventLine, errorLine, logfmtLine, unitCommand} {
		starts = starts || form.MatchString(rest)
	}
	return program, strings.TrimSpace(rest), starts
}

// facts are what a message says, apart from its wording.
type facts struct {
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
}

func addresses() []address {
	return []address{
		{clusterAPI, apiHost}, {serviceIP, serviceHost}, {eksAuth, eksAuthHost}, {eksAPI, eksHost}, {ec2API, ec2Host}, {stsAPI, stsHost}, {ecr, ecrHost},
		{s3, s3Host}, {ssm, ssmHost}, {iamAPI, iamHost}, {imds, imdsHost}, {podIdentity, podIdentityHost}, {ntp, ntpHost}, {nameServer, nameServerHost},
		{kubeletPort, kubeletHost}, {runtimeSock, runtimeHost}, {ipamdPort, ipamdHost}, {elsewhere, otherHost},
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
	eventName   = lazyregexp.New(`(?i)\b(?:eventName|calling|call|operation|operation:|action:?|aws-operation-name[=:])\s*:? ?(?:the )?([A-Z][a-z]+(?:[A-Z][A-Za-z0-9]+)+)`)
	codeForm    = lazyregexp.New(`\b[A-Z][A-Za-z0-9]+(?:\.[A-Z][A-Za-z0-9]+)*\b`)
	nodeRole    = lazyregexp.New(`assumed-role/[\w+=,.@-]+/i-[0-9a-fx*]{4,}|:node:|/i-[0-9a-f]{8,17}\b`)
)

// calm is what is said of a node that lacks nothing: conditions and events of
// the kubelet.
var calm = lazyregexp.New(`node(?:has)?no(?:disk|memory|pid)pressure|nodehassufficient\w+|kubelethas(?:sufficient|no)\w+|has no disk pressure|has sufficient \w+|` +
	`\b(?:disk|memory|pid)pressure:? +false|\bnetworkunavailable:? +false|type: \w+pressure,? status: false[^;]*?(?:message: [^,]*)?`)

func factsOf(m message) facts {
	f := facts{words: m.words, low: calm.ReplaceAllString(strings.ToLower(m.words), " ")}
	f.program, f.wrapped = programOf(m.program, f.low)
	for _, s := range failures() {
		if slices.ContainsFunc(s.words, func(words string) bool { return says(f.low, words) }) {
			f.fails = append(f.fails, s.failure)
		}
	}
	for _, a := range addresses() {
		if a.form.MatchString(f.low) {
			f.hosts = append(f.hosts, a.host)
		}
	}
	f.node = nodeRole.MatchString(f.words)
	f.readCalls()
	f.readCodes()
	return f
}

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
// differ in numbers and ids alone are told once. The error is the reader's.
func ReadLog(r io.Reader) (Log, error) { return readLog(r, mostForms) }

// readLog tells so many forms of lines at most.
func readLog(r io.Reader, most int) (Log, error) {
	in := bufio.NewReaderSize(r, longestLine)
	seed := maphash.MakeSeed()
	forms := map[uint64]int{} // 0 is a form that tells nothing, else the place in told, from 1
	var l Log
	for {
		line, cut, err := nextLine(in)
		if len(line) > 0 || cut {
			l.Lines++
			if cut {
				l.Cut++
			}
			l.take(line, forms, most, seed)
		} else if err == nil {
			l.Lines++ // an empty one
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Log{}, fmt.Errorf("read the log: %w", err)
		}
	}
	slices.SortStableFunc(l.Told, func(a, b Line) int { return b.weight() - a.weight() })
	return l, nil
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

// take tells a line, unless one of its form was told.
func (l *Log) take(line []byte, forms map[uint64]int, most int, seed maphash.Seed) {
	if !utf8.Valid(line) && noise(line) {
		return
	}
	f := form(line, seed)
	place, seen := forms[f]
	if !seen {
		if len(forms) == most {
			l.Unread++
			return
		}
		place = l.tell(string(line))
		forms[f] = place
	}
	if place > 0 {
		l.Told[place-1].Count++
	}
}

// tell tells a line, and returns its place in Told, from 1: 0 where it tells nothing.
func (l *Log) tell(line string) int {
	t := Tell(line)
	if t.Check == "" || t.Check == checkid.LaunchUnclassified {
		return 0
	}
	if i := slices.IndexFunc(l.Told, func(o Line) bool { return o.Check == t.Check }); i >= 0 {
		return i + 1
	}
	l.Told = append(l.Told, Line{Told: t, Number: l.Lines, Text: strings.ToValidUTF8(line, "�")})
	return len(l.Told)
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

// form is a line's hash without what differs from one to the next: words with a digit
// in them, which are times, addresses, ids and counts.
func form(line []byte, seed maphash.Seed) uint64 {
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

func programOf(prefix, low string) (of, wrapped program) {
	for _, m := range wrappings() {
		if containsAny(low, m.words) {
			wrapped = m.program
			break
		}
	}
	prefix = strings.ToLower(prefix)
	for _, m := range marks() {
		for _, p := range m.prefix {
			if prefix == p || strings.HasSuffix(prefix, "/"+p) || !strings.HasSuffix(p, ".go") && len(p) > 4 && strings.HasPrefix(prefix, p) {
				return m.program, wrapped
			}
		}
	}
	for _, m := range marks() {
		if containsAny(low, m.words) {
			return m.program, wrapped
		}
	}
	return unknownProgram, wrapped
}
