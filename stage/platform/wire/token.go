package wire

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TokenRefusal is why a Kubernetes token was not believed.
type TokenRefusal string

// The refusals.
const (
	// TokenTooLong: over 4 KiB, which the EKS authenticator does not read.
	TokenTooLong TokenRefusal = "too long"
	// TokenMalformed: not a presigned GetCallerIdentity request.
	TokenMalformed TokenRefusal = "malformed"
	// TokenExpired: signed more than 15 minutes ago.
	TokenExpired TokenRefusal = "expired"
	// TokenNotYetValid: signed in the future.
	TokenNotYetValid TokenRefusal = "not yet valid"
	// TokenUnknownKey: signed with a key without an owner.
	TokenUnknownKey TokenRefusal = "unknown key"
	// TokenBadSignature: forged, or made for another cluster. The cluster's
	// name is only in the signature, so the two look the same.
	TokenBadSignature TokenRefusal = "signature does not match"
)

// TokenError is a refused token.
type TokenError struct {
	Reason TokenRefusal
	Detail string
}

// Error gives the reason and never the token.
func (e *TokenError) Error() string {
	if e.Detail == "" {
		return "token " + string(e.Reason)
	}
	return "token " + string(e.Reason) + ": " + e.Detail
}

func refused(reason TokenRefusal, format string, args ...any) error {
	return &TokenError{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

const (
	tokenPrefix    = "k8s-aws-v1."
	clusterHeader  = "x-k8s-aws-id"
	maxTokenLength = 4 << 10
	// tokenLife is how long EKS believes a token after X-Amz-Date, whatever
	// X-Amz-Expires says.
	tokenLife = 15 * time.Minute
	// clockSkew is how far ahead of ours a signer's clock may be; it is
	// SigV4's own limit.
	clockSkew = 5 * time.Minute
	amzTime   = "20060102T150405Z"
)

// VerifyClusterToken does what the EKS authenticator and STS do together with
// a bearer token: it is a presigned GetCallerIdentity request whose signature
// covers the cluster's name. It returns the ARN of the signer, or a
// *TokenError. secretFor tells the secret key and the owner of an access key
// id with its session token; now is wall time, as the signer's clock is.
func VerifyClusterToken(token, cluster string, now time.Time, secretFor func(accessKeyID, sessionToken string) (secret, arn string, ok bool)) (arn string, err error) {
	u, err := parseToken(token)
	if err != nil {
		return "", err
	}
	p, err := readPresigned(u)
	if err != nil {
		return "", err
	}
	if now.After(p.signedAt.Add(tokenLife)) {
		return "", refused(TokenExpired, "signed %s ago", now.Sub(p.signedAt).Round(time.Second))
	}
	if p.signedAt.After(now.Add(clockSkew)) {
		return "", refused(TokenNotYetValid, "signed %s ahead", p.signedAt.Sub(now).Round(time.Second))
	}
	secret, arn, ok := secretFor(p.scope.accessKeyID, p.query.Get("X-Amz-Security-Token"))
	if !ok {
		return "", refused(TokenUnknownKey, "access key id %q", p.scope.accessKeyID)
	}
	want := p.signature(u, cluster, secret)
	if !hmac.Equal([]byte(want), []byte(p.given)) {
		return "", refused(TokenBadSignature, "for cluster %q", cluster)
	}
	return arn, nil
}

// parseToken takes the URL out of a token.
func parseToken(token string) (*url.URL, error) {
	if len(token) > maxTokenLength {
		return nil, refused(TokenTooLong, "%d bytes", len(token))
	}
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return nil, refused(TokenMalformed, "no %q in front", tokenPrefix)
	}
	// kubectl's helpers differ in whether they keep the padding.
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		return nil, refused(TokenMalformed, "not base64")
	}
	u, err := url.Parse(string(raw))
	if err != nil {
		return nil, refused(TokenMalformed, "not a URL")
	}
	if !isSTSHost(u) {
		return nil, refused(TokenMalformed, "host %q is not STS", u.Host)
	}
	if u.Path != "/" && u.Path != "" {
		return nil, refused(TokenMalformed, "path %q", u.Path)
	}
	return u, nil
}

var stsHost = regexp.MustCompile(`^sts(-fips)?(\.[a-z0-9-]+)?\.(amazonaws\.com(\.cn)?|api\.aws)$`)

// isSTSHost reports whether a URL is one of STS, which on a local stage is a
// loopback address.
func isSTSHost(u *url.URL) bool {
	host := u.Hostname()
	if host == "localhost" || net.ParseIP(host).IsLoopback() {
		return u.Scheme == "http" || u.Scheme == "https"
	}
	return u.Scheme == "https" && stsHost.MatchString(host)
}

// presigned is a presigned GetCallerIdentity request.
type presigned struct {
	scope    scope
	signedAt time.Time
	headers  []string
	query    url.Values
	given    string // the signature that came with it
}

// tokenParams are the parameters that the EKS authenticator accepts, in lower
// case. Action and Version may be followed by nothing else.
var tokenParams = []string{"action", "version", "x-amz-algorithm", "x-amz-credential", "x-amz-date",
	"x-amz-expires", "x-amz-security-token", "x-amz-signature", "x-amz-signedheaders", "x-amz-user-agent"}

func readPresigned(u *url.URL) (presigned, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return presigned{}, refused(TokenMalformed, "query string")
	}
	for key, values := range query {
		if !slices.Contains(tokenParams, strings.ToLower(key)) || len(values) != 1 {
			return presigned{}, refused(TokenMalformed, "parameter %q", key)
		}
	}
	p := presigned{query: query, given: query.Get("X-Amz-Signature"), headers: strings.Split(query.Get("X-Amz-SignedHeaders"), ";")}
	if query.Get("Action") != "GetCallerIdentity" || query.Get("X-Amz-Algorithm") != algorithm || p.given == "" {
		return presigned{}, refused(TokenMalformed, "not a presigned GetCallerIdentity")
	}
	if seconds, err := strconv.Atoi(query.Get("X-Amz-Expires")); err != nil || seconds < 0 || seconds > int(tokenLife/time.Second) {
		return presigned{}, refused(TokenMalformed, "X-Amz-Expires")
	}
	if !slices.Equal(p.headers, []string{"host", clusterHeader}) {
		return presigned{}, refused(TokenMalformed, "signed headers %q, want host and %s", p.headers, clusterHeader)
	}
	if p.signedAt, err = time.Parse(amzTime, query.Get("X-Amz-Date")); err != nil {
		return presigned{}, refused(TokenMalformed, "X-Amz-Date")
	}
	var ok bool
	if p.scope, ok = parseScope(query.Get("X-Amz-Credential")); !ok || p.scope.signing != "sts" ||
		p.scope.date != p.signedAt.Format("20060102") {
		return presigned{}, refused(TokenMalformed, "credential scope")
	}
	return p, nil
}

// signature computes the SigV4 signature of the request for a cluster.
func (p presigned) signature(u *url.URL, cluster, secret string) string {
	keys := make([]string, 0, len(p.query))
	for key := range p.query {
		if key != "X-Amz-Signature" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	params := make([]string, len(keys))
	for i, key := range keys {
		params[i] = escapeRFC3986(key) + "=" + escapeRFC3986(p.query.Get(key))
	}
	canonical := strings.Join([]string{
		"GET", "/", strings.Join(params, "&"),
		"host:" + u.Host,
		clusterHeader + ":" + strings.TrimSpace(cluster),
		"", "host;" + clusterHeader,
		hexSHA256(""), // the request has no body
	}, "\n")
	return sign(p.scope, p.query.Get("X-Amz-Date"), canonical, secret)
}

// sign is SigV4's last step: the string to sign, and the key derived for the
// scope.
func sign(sc scope, amzDate, canonicalRequest, secret string) string {
	stringToSign := strings.Join([]string{
		algorithm, amzDate, strings.Join([]string{sc.date, sc.region, sc.signing, "aws4_request"}, "/"),
		hexSHA256(canonicalRequest),
	}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range []string{sc.date, sc.region, sc.signing, "aws4_request"} {
		key = hmacSHA256(key, part)
	}
	return hex.EncodeToString(hmacSHA256(key, stringToSign))
}

// escapeRFC3986 is SigV4's encoding: a space is %20, and only unreserved
// characters stay.
func escapeRFC3986(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// protocol is one of the wire protocols.
type protocol int

const (
	ec2Query protocol = iota // form in, XML out
	awsQuery                 // form in, XML with a result wrapper out
	awsJSON                  // X-Amz-Target, JSON in and out
	restJSON                 // method and path, JSON in and out
	restXML                  // method and path, XML out
	passOnly                 // JSON service that is only passed on
	objects                  // S3: method and path, bodies as they are, passed on
)

// service is what the protocol layer knows of an AWS service.
type service struct {
	// name is the SDK's package name, signing the name in the credential
	// scope, which is mostly the prefix of its IAM actions, too.
	name, signing string
	// prefix is that of its IAM actions, where it is another.
	prefix      string
	protocol    protocol
	version     string // API version of query services
	namespace   string // XML namespace of query services
	target      string // prefix of X-Amz-Target
	contentType string
	// What the service answers when it denies, throttles and breaks.
	denied, throttled, broken Error
}

const (
	json10 = "application/x-amz-json-1.0"
	json11 = "application/x-amz-json-1.1"
)

// services lists the services that can be simulated. The error codes and
// statuses are the ones each service documents as its common errors.
func services() []service {
	const rate = "Rate exceeded"
	return []service{
		{name: "ec2", signing: "ec2", protocol: ec2Query, version: "2016-11-15",
			namespace: "http://ec2.amazonaws.com/doc/2016-11-15/", contentType: "text/xml;charset=UTF-8",
			denied:    Error{Code: "UnauthorizedOperation", Status: 403},
			throttled: Error{Code: "RequestLimitExceeded", Message: "Request limit exceeded.", Status: 503},
			broken:    Error{Code: "InternalError", Message: "An internal error has occurred", Status: 500}},
		{name: "autoscaling", signing: "autoscaling", protocol: awsQuery, version: "2011-01-01",
			namespace: "http://autoscaling.amazonaws.com/doc/2011-01-01/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		// botocore's model (cloudformation/2010-05-15): the query protocol. CloudFormation API reference,
		// "Common errors".
		{name: "cloudformation", signing: "cloudformation", protocol: awsQuery, version: "2010-05-15",
			namespace: "http://cloudformation.amazonaws.com/doc/2010-05-15/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		{name: "iam", signing: "iam", protocol: awsQuery, version: "2010-05-08",
			namespace: "https://iam.amazonaws.com/doc/2010-05-08/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "ServiceFailure", Message: "The request processing has failed because of an unknown error.", Status: 500}},
		{name: "sts", signing: "sts", protocol: awsQuery, version: "2011-06-15",
			namespace: "https://sts.amazonaws.com/doc/2011-06-15/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		// botocore's model (sns/2010-03-31): the query protocol, Throttled with 429, AuthorizationError with 403.
		{name: "sns", signing: "sns", protocol: awsQuery, version: "2010-03-31",
			namespace: "http://sns.amazonaws.com/doc/2010-03-31/", contentType: "text/xml",
			denied:    Error{Code: "AuthorizationError", Status: 403},
			throttled: Error{Code: "Throttled", Message: rate, Status: 429},
			broken:    Error{Code: "InternalError", Message: "An internal error occurred.", Status: 500}},
		{name: "eks", signing: "eks", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 429},
			broken:    Error{Code: "ServerException", Message: "Internal server error", Status: 500}},
		// Lambda API reference, "Common errors" and the errors of GetFunctionConfiguration.
		{name: "lambda", signing: "lambda", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "TooManyRequestsException", Message: rate, Status: 429},
			broken:    Error{Code: "ServiceException", Message: "The AWS Lambda service encountered an internal error.", Status: 500}},
		{name: "sqs", signing: "sqs", protocol: awsJSON, target: "AmazonSQS.", contentType: json10,
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "The request has failed due to an internal error.", Status: 500}},
		{name: "secretsmanager", signing: "secretsmanager", protocol: awsJSON, target: "secretsmanager.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServiceError", Message: "An error occurred on the server side.", Status: 500}},
		{name: "eventbridge", signing: "events", protocol: awsJSON, target: "AWSEvents.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalException", Message: "An internal error occurred.", Status: 500}},
		{name: "cloudtrail", signing: "cloudtrail", protocol: awsJSON, target: "CloudTrail_20131101.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "The request processing has failed because of an unknown error, exception or failure.", Status: 500}},
		{name: "cloudwatchlogs", signing: "logs", protocol: awsJSON, target: "Logs_20140328.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "ServiceUnavailableException", Message: "The service cannot complete the request.", Status: 500}},
		{name: "route53resolver", signing: "route53resolver", protocol: awsJSON, target: "Route53Resolver.", contentType: json11,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServiceErrorException", Message: "An internal error occurred.", Status: 500}},
		// botocore's model (route53/2013-04-01): REST and XML. Route 53 API reference, "Common
		// errors" and ThrottlingException of its operations.
		{name: "route53", signing: "route53", protocol: restXML, namespace: "https://route53.amazonaws.com/doc/2013-04-01/", contentType: "text/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "Throttling", Message: rate, Status: 400},
			broken:    Error{Code: "InternalFailure", Message: "An internal failure occurred.", Status: 500}},
		// botocore's model (route53profiles/2018-05-10): REST and JSON.
		{name: "route53profiles", signing: "route53profiles", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 429},
			broken:    Error{Code: "InternalServiceErrorException", Message: "An internal error occurred.", Status: 500}},
		// botocore's model (arc-zonal-shift/2022-10-30): REST and JSON.
		{name: "arczonalshift", signing: "arc-zonal-shift", protocol: restJSON, contentType: "application/json",
			denied:    Error{Code: "AccessDeniedException", Status: 403},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 429},
			broken:    Error{Code: "InternalServerException", Message: "There was an internal server error.", Status: 500}},
		// botocore's model (cloudwatch/2010-08-01): JSON 1.0 is one of its three protocols.
		{name: "cloudwatch", signing: "monitoring", prefix: "cloudwatch", protocol: awsJSON, target: "GraniteServiceVersion20100801.", contentType: json10,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServiceFault", Message: "Request processing has failed due to some unknown error, exception, or failure.", Status: 500}},
		// S3 API reference, "Error responses", and its tables of error codes.
		{name: "s3", signing: "s3", protocol: objects, contentType: "application/xml",
			denied:    Error{Code: "AccessDenied", Status: 403},
			throttled: Error{Code: "SlowDown", Message: "Please reduce your request rate.", Status: 503},
			broken:    Error{Code: "InternalError", Message: "We encountered an internal error. Please try again.", Status: 500}},
		{name: "dynamodb", signing: "dynamodb", protocol: passOnly, target: "DynamoDB_20120810.", contentType: json10,
			denied:    Error{Code: "AccessDeniedException", Status: 400},
			throttled: Error{Code: "ThrottlingException", Message: rate, Status: 400},
			broken:    Error{Code: "InternalServerError", Message: "The request processing has failed because of an unknown error.", Status: 500}},
	}
}

// isJSON reports whether errors are JSON, as opposed to XML.
func (s service) isJSON() bool {
	return s.protocol == awsJSON || s.protocol == restJSON || s.protocol == passOnly
}

// action is the operation as IAM writes it.
func (s service) action(operation string) string {
	if s.name == "lambda" && operation == "Invoke" {
		operation = "InvokeFunction" // service authorization reference, AWS Lambda
	}
	return cmp.Or(s.prefix, s.signing) + ":" + operation
}

// deniedError is the answer to a caller without the permission, in AWS's
// words. EC2 puts a sentence of its own in front.
func (s service) deniedError(callerARN, operation string) *Error {
	action := s.action(operation)
	e := s.denied
	e.Message = "User: " + callerARN + " is not authorized to perform: " + action +
		" because no identity-based policy allows the " + action + " action"
	if s.protocol == ec2Query {
		e.Message = "You are not authorized to perform this operation. " + e.Message
	}
	return &e
}

// unknownOperation is the answer to an operation without a handler.
func (s service) unknownOperation(operation string) *Error {
	if s.isJSON() {
		return &Error{Code: "UnknownOperationException", Status: 400,
			Message: "The operation " + strings.TrimSpace(s.signing+" "+operation) + " is not one of the simulated AWS"}
	}
	return Errorf("InvalidAction", "The action %s is not valid for this web service", operation)
}

// signed reports whether a request bears the signature that its secret gives: the
// service's part of Signature Version 4 (IAM User Guide, "AWS Signature Version
// 4 for API requests"). The body is the one that was read.
func signed(r *http.Request, body []byte, sc scope, secret string) bool {
	query := r.URL.Query()
	given, date := query.Get("X-Amz-Signature"), query.Get("X-Amz-Date")
	headers := strings.Split(query.Get("X-Amz-SignedHeaders"), ";")
	if auth := r.Header.Get("Authorization"); auth != "" {
		parts := authorization(auth)
		given, headers, date = parts["Signature"], strings.Split(parts["SignedHeaders"], ";"), r.Header.Get("X-Amz-Date")
	}
	if !slices.Contains(headers, "host") {
		return false
	}
	payload := hexSHA256(string(body))
	if r.Header.Get("X-Amz-Content-Sha256") == unsignedPayload {
		payload = unsignedPayload
	}
	var fields strings.Builder
	for _, name := range headers {
		fields.WriteString(name + ":" + headerValue(r, name) + "\n")
	}
	canonical := strings.Join([]string{
		r.Method, canonicalPath(r.URL, sc.signing), canonicalQuery(query), fields.String(), strings.Join(headers, ";"), payload,
	}, "\n")
	return hmac.Equal([]byte(given), []byte(sign(sc, date, canonical, secret)))
}

// unsignedPayload stands for the body's digest where the client did not make
// one.
const unsignedPayload = "UNSIGNED-PAYLOAD"

// authorization reads the parts of the header behind the algorithm.
func authorization(header string) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(header, algorithm+" "), ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[k] = v
	}
	return parts
}

// headerValue is a header as it is signed. Go's server keeps two of them
// elsewhere.
func headerValue(r *http.Request, name string) string {
	switch name {
	case "host":
		return r.Host
	case "content-length":
		return strconv.FormatInt(r.ContentLength, 10)
	}
	var values []string
	for _, v := range r.Header.Values(name) {
		values = append(values, strings.Join(strings.Fields(v), " "))
	}
	return strings.Join(values, ",")
}

// canonicalPath is the path as it was sent, encoded once more, as all services
// but S3 want it.
func canonicalPath(u *url.URL, signing string) string {
	path := u.EscapedPath()
	if signing == "s3" {
		return path
	}
	if path == "" {
		return "/"
	}
	return strings.ReplaceAll(escapeRFC3986(path), "%2F", "/")
}

// canonicalQuery is the query string in its order, without the signature.
func canonicalQuery(query url.Values) string {
	var params []string
	for key, values := range query {
		if key == "X-Amz-Signature" {
			continue
		}
		for _, v := range values {
			params = append(params, escapeRFC3986(key)+"="+escapeRFC3986(v))
		}
	}
	slices.Sort(params)
	return strings.Join(params, "&")
}

// wrongSignature is the answer to a signature that another secret made. EC2
// does not say what was wrong (AuthFailure, its "Error codes"); the query
// services say SignatureDoesNotMatch (aws-sdk-ruby issue 374, SQS by its old
// protocol; the AWS CLI says the same of STS and IAM), the JSON services
// InvalidSignatureException with status 400 (DynamoDB Developer Guide, "Error
// handling"; prometheus-ecs-discovery issue 7 of ECS), REST-JSON services with
// 403. That SQS's JSON protocol and EKS do as their kind does was not seen.
func wrongSignature(svc service) *Error {
	const text = "The request signature we calculated does not match the signature you provided. " +
		"Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
	switch {
	case svc.protocol == ec2Query:
		return &Error{Code: "AuthFailure", Message: "AWS was not able to validate the provided access credentials", Status: http.StatusUnauthorized}
	case svc.protocol == restJSON:
		return &Error{Code: "InvalidSignatureException", Message: text, Status: http.StatusForbidden}
	case svc.isJSON():
		return &Error{Code: "InvalidSignatureException", Message: text, Status: http.StatusBadRequest}
	}
	return &Error{Code: "SignatureDoesNotMatch", Message: text, Status: http.StatusForbidden}
}

// xmlTime is how EC2 and Auto Scaling write times: UTC, always with
// milliseconds.
const xmlTime = "2006-01-02T15:04:05.000Z"

// xmlEncoder writes an Output struct with the generated XML names.
type xmlEncoder struct {
	table *serviceNames
	buf   bytes.Buffer
	// fields remembers where the members of a struct are: a page holds many
	// structs of the same few types.
	fields map[reflect.Type][]xmlField
}

// xmlField is a member and the place of its Go field.
type xmlField struct {
	memberNames
	index []int
}

// fieldsOf lists the members of a struct type, none for an answer that has
// none.
func (e *xmlEncoder) fieldsOf(t reflect.Type) ([]xmlField, error) {
	if fields, ok := e.fields[t]; ok {
		return fields, nil
	}
	var fields []xmlField
	if table := e.table.out[t.Name()]; table != nil {
		for _, m := range table.members {
			f, ok := t.FieldByName(m.field)
			if !ok {
				return nil, fmt.Errorf("wire names: %s has no field %s", t, m.field)
			}
			fields = append(fields, xmlField{m, f.Index})
		}
	}
	if e.fields == nil {
		e.fields = map[reflect.Type][]xmlField{}
	}
	e.fields[t] = fields
	return fields, nil
}

// structure writes the members of a struct. With keepEmpty, a nil list is
// written as an empty element: the answers' own lists are always there in
// AWS's answers, and the AWS CLI prints [] for them.
func (e *xmlEncoder) structure(v reflect.Value, keepEmpty bool) error {
	fields, err := e.fieldsOf(v.Type())
	if err != nil {
		return err
	}
	for _, f := range fields {
		if err := e.member(v.FieldByIndex(f.index), f.memberNames, keepEmpty); err != nil {
			return err
		}
	}
	return nil
}

func (e *xmlEncoder) member(v reflect.Value, m memberNames, keepEmpty bool) error {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 {
		return e.list(v, m, keepEmpty)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if v.IsNil() {
			return nil
		}
	case reflect.String:
		// An enumeration: the SDK has no pointer for these, "" is not set.
		if v.Len() == 0 {
			return nil
		}
	}
	return e.element(m.wire, v)
}

func (e *xmlEncoder) list(v reflect.Value, m memberNames, keepEmpty bool) error {
	if m.list == flatList {
		for i := range v.Len() {
			if err := e.element(m.wire, v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if v.IsNil() && !keepEmpty {
		return nil
	}
	if v.Len() == 0 {
		e.buf.WriteString("<" + m.wire + "/>")
		return nil
	}
	e.open(m.wire)
	for i := range v.Len() {
		if err := e.element(m.list, v.Index(i)); err != nil {
			return err
		}
	}
	e.close(m.wire)
	return nil
}

// element writes one value between its tags.
func (e *xmlEncoder) element(name string, v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	e.open(name)
	if isStruct(v.Type()) {
		if err := e.structure(v, false); err != nil {
			return err
		}
		e.close(name)
		return nil
	}
	text, err := scalarText(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := xml.EscapeText(&e.buf, []byte(text)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	e.close(name)
	return nil
}

func (e *xmlEncoder) open(name string)  { e.buf.WriteString("<" + name + ">") }
func (e *xmlEncoder) close(name string) { e.buf.WriteString("</" + name + ">") }

func (e *xmlEncoder) text(name, text string) {
	e.open(name)
	// Writing to a bytes.Buffer does not fail.
	_ = xml.EscapeText(&e.buf, []byte(text))
	e.close(name)
}

func scalarText(v reflect.Value) (string, error) {
	if t, ok := v.Interface().(time.Time); ok {
		return t.UTC().Format(xmlTime), nil
	}
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32), nil
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), nil
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return base64.StdEncoding.EncodeToString(v.Bytes()), nil
		}
	}
	return "", fmt.Errorf("a %s has no text form in XML", v.Type())
}
