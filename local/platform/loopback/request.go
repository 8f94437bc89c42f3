package loopback

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// received is a request as its server sees it: with all of its body, which the
// client may close before it is read.
func received(req *http.Request) (*http.Request, error) {
	in := req.Clone(req.Context())
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
	}
	in.Body, in.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	in.RemoteAddr, in.RequestURI = "127.0.0.1:1", in.URL.RequestURI()
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	u := *in.URL
	u.Scheme, u.Host, u.User = "", "", nil // a server is asked for a path
	in.URL = &u
	return in, nil
}
