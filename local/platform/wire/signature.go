package wire

import (
	"crypto/hmac"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// signed tells whether a request bears the signature that its secret gives: the
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
