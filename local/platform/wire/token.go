package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/url"
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
	// TokenUnknownKey: signed with a key that belongs to nobody.
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

// isSTSHost tells whether a URL is one of STS, which on a local stage is a
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
