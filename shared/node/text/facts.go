package text

import (
	"slices"
	"strings"

	"rollcall/shared/lazyregexp"
)

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
