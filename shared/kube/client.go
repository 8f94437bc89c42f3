// Package kube reads the few things that Rollcall needs from a cluster's
// Kubernetes API, with net/http and a few structs: a client library would
// triple the size of a function and double its start-up time.
package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Client talks to one cluster.
type Client struct {
	http  *http.Client
	base  *url.URL
	token string
	// answered, if any, is told of each answer, or of how a request failed.
	answered Answered
}

// Answered takes an answer of the API, whose body is not written to afterwards, or how a
// request failed.
type Answered = func(path string, query url.Values, body []byte, err error)

// Telling has each answer told.
func (c *Client) Telling(to Answered) *Client {
	c.answered = to
	return c
}

// Limits: a cluster whose endpoint is private and out of reach drops packets,
// so silence must end well before the function's own deadline.
const (
	dialTimeout = 4 * time.Second
	headTimeout = 10 * time.Second
	// pageSize is kubectl's: a page of nodes is a few megabytes.
	pageSize = 500
	// maxBody guards the function's memory (256 MiB) against a broken answer.
	maxBody = 64 << 20
)

// New makes a client for the cluster at endpoint, which must present a
// certificate of the authority ca (PEM).
func New(endpoint string, ca []byte, token string) (*Client, error) {
	return NewVia(nil, endpoint, ca, token)
}

// NewVia makes a client whose requests go by via, where that is not nil, in place of
// a connection.
func NewVia(via http.RoundTripper, endpoint string, ca []byte, token string) (*Client, error) {
	base, err := url.Parse(endpoint)
	if err != nil || base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("cluster endpoint %q is not an https address", endpoint)
	}
	if via == nil {
		if via, err = Transport(ca); err != nil {
			return nil, err
		}
	}
	return &Client{
		base:  base,
		token: token,
		http: &http.Client{
			// A redirect would carry the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     via,
		},
	}, nil
}

// Transport connects to a cluster, which must present a certificate of the authority
// ca (PEM).
func Transport(ca []byte) (*http.Transport, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the cluster's certificate authority holds no certificate")
	}
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headTimeout,
		ForceAttemptHTTP2:     true,
	}, nil
}

// Close drops the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// StatusError is an answer of the API other than success.
type StatusError struct {
	Code    int // HTTP
	Reason  string
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("kubernetes answered %d %s: %s", e.Code, e.Reason, e.Message)
}

// get decodes the object at path into out.
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	if c.answered == nil {
		return c.try(ctx, path, query, func(body io.Reader) error { return json.NewDecoder(body).Decode(out) })
	}
	var all []byte
	err := c.try(ctx, path, query, func(body io.Reader) (err error) {
		if all, err = io.ReadAll(body); err != nil {
			return err
		}
		return json.Unmarshal(all, out)
	})
	c.answered(path, query, all, err)
	return err
}

// try gives the body of the object at path to decode.
func (c *Client) try(ctx context.Context, path string, query url.Values, decode func(io.Reader) error) error {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("User-Agent", "rollcall")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, maxBody)
	if resp.StatusCode != http.StatusOK {
		return status(resp, body)
	}
	if err := decode(body); err != nil {
		return fmt.Errorf("get %s: decode: %w", path, err)
	}
	return nil
}

func status(resp *http.Response, body io.Reader) error {
	var s struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	// Proxies in between answer with pages of their own; then the code alone must do.
	if json.NewDecoder(body).Decode(&s) != nil || s.Message == "" {
		s.Message = http.StatusText(resp.StatusCode)
	}
	return &StatusError{Code: resp.StatusCode, Reason: s.Reason, Message: s.Message}
}
