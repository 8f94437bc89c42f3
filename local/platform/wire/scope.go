package wire

import (
	"net/http"
	"net/url"
	"strings"
)

// scope is the credential scope of a SigV4 signature.
type scope struct {
	accessKeyID, date, region, signing string
}

const algorithm = "AWS4-HMAC-SHA256"

// requestScope reads the credential scope of a signed request, from its
// Authorization header or from a presigned query.
func requestScope(r *http.Request, query url.Values) (scope, bool) {
	if auth := r.Header.Get("Authorization"); auth != "" {
		if !strings.HasPrefix(auth, algorithm+" ") {
			return scope{}, false
		}
		parts := authorization(auth)
		if parts["Signature"] == "" || parts["SignedHeaders"] == "" {
			return scope{}, false
		}
		return parseScope(parts["Credential"])
	}
	if query.Get("X-Amz-Algorithm") != algorithm || query.Get("X-Amz-Signature") == "" {
		return scope{}, false
	}
	return parseScope(query.Get("X-Amz-Credential"))
}

func parseScope(credential string) (scope, bool) {
	p := strings.Split(credential, "/")
	if len(p) != 5 || p[4] != "aws4_request" || p[0] == "" || p[3] == "" {
		return scope{}, false
	}
	return scope{accessKeyID: p[0], date: p[1], region: p[2], signing: p[3]}, true
}
