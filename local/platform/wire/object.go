package wire

import (
	"encoding/xml"
	"net/http"
	"strings"
)

// Object is what a request of S3 is about, by its path: the stage's one host has the
// bucket in the path ("path-style requests", S3 user guide).
type Object struct {
	Method, Bucket, Key string
	Header              http.Header
	list                bool
}

func objectOf(r *http.Request) Object {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return Object{Method: r.Method, Bucket: bucket, Key: key, Header: r.Header, list: r.URL.Query().Get("list-type") == "2"}
}

// operation is the operation of a request, "" for one that is not served.
func (o Object) operation() string {
	switch {
	case o.Bucket == "":
	case o.Key == "" && o.Method == http.MethodHead:
		return "HeadBucket"
	case o.Key == "" && o.Method == http.MethodGet && o.list:
		return "ListObjectsV2"
	case o.Key == "":
	case o.Method == http.MethodPut:
		return "PutObject"
	case o.Method == http.MethodGet:
		return "GetObject"
	case o.Method == http.MethodHead:
		return "HeadObject"
	}
	return ""
}

// objectError is the code of an error of S3.
func objectError(body []byte) string {
	var said struct{ Code string }
	if xml.Unmarshal(body, &said) != nil {
		return ""
	}
	return said.Code
}
