// Package relay asks a cluster's API for what Rollcall may list, where nothing else can.
package relay

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"rollcall/shared/kube"
	"rollcall/shared/lambda"
	"rollcall/shared/relay"
)

// patience is how long the API may take for all of an answer: the caller waits ten seconds
// (awsconf) for this, and for a start of the function.
const patience = 7 * time.Second

// UserAgent is how the API's audit log names a relay.
const UserAgent = "rollcall-relay"

// handler answers what one cluster's relay is asked.
type handler struct {
	own   relay.Own
	api   http.RoundTripper
	log   *slog.Logger
	count func(name string, n int)
}

// Build makes the handler of relay from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	h := handler{own: relay.Own{Cluster: e.Config.RelayCluster, Endpoint: e.Config.RelayEndpoint}, api: e.HTTP, log: e.Log, count: e.Metrics.Count}
	if h.api == nil {
		// A RoundTripper follows no redirect.
		transport, err := kube.Transport(e.Config.RelayCA)
		if err != nil {
			return nil, err
		}
		h.api = transport
	}
	return h.handle, nil
}

// handle answers one request. What it refuses is an answer, and counted: to try it again
// would not help.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	ask, refused := h.own.Judge(raw)
	if refused != nil {
		h.count("RefusedRequests", 1)
		// Whose words they are is not known, so none of them is repeated.
		h.log.WarnContext(ctx, "a request is refused", "reason", string(refused.Reason))
		return relay.Answer{Refused: refused}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, failed := h.ask(ctx, ask)
	if failed != nil {
		h.count("UnansweredRequests", 1)
		h.log.WarnContext(ctx, "the cluster's API does not answer", "reason", string(failed.Reason), "path", ask.Path)
		return relay.Answer{Failed: failed}, nil
	}
	return a, nil
}

func (h handler) ask(ctx context.Context, ask relay.Request) (relay.Answer, *relay.Failure) {
	query := url.Values{}
	for key, value := range ask.Query {
		query.Set(key, value)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.own.Endpoint+ask.Path+"?"+query.Encode(), nil)
	if err != nil {
		return relay.Answer{}, h.failure(err)
	}
	req.Header.Set("Accept", "application/json")
	// Asked for by name, it is left as it comes: large lists pass as the API packed them
	// (net/http, Transport.DisableCompression).
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("Authorization", "Bearer "+ask.Token)
	req.Header.Set("User-Agent", UserAgent)
	resp, err := h.api.RoundTrip(req)
	if err != nil {
		return relay.Answer{}, h.failure(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return relay.Answer{}, &relay.Failure{Reason: relay.Redirected, Says: "the cluster's API sends the relay elsewhere, where it does not go"}
	}
	body, err := packed(resp)
	switch {
	case errors.Is(err, errTooLarge):
		return relay.Answer{}, &relay.Failure{Reason: relay.TooLarge, Says: fmt.Sprintf("the answer has more than the %d MB, packed, that a relay can hand on", relay.MostBody>>20)}
	case err != nil:
		return relay.Answer{}, h.failure(err)
	}
	return relay.Answer{Status: resp.StatusCode, Body: body}, nil
}

var errTooLarge = errors.New("the answer is too large")

// mostPlain bounds the work with an answer that the API has not packed itself: as much as a
// client of the API reads at most (package kube).
const mostPlain = 64 << 20

// packed is an answer's body, compressed.
func packed(resp *http.Response) ([]byte, error) {
	if resp.Header.Get("Content-Encoding") == "gzip" {
		body, err := io.ReadAll(io.LimitReader(resp.Body, relay.MostBody+1))
		if err == nil && len(body) > relay.MostBody {
			err = errTooLarge
		}
		return body, err
	}
	out := &bounded{}
	w := gzip.NewWriter(out)
	n, err := io.Copy(w, io.LimitReader(resp.Body, mostPlain+1))
	if err == nil && n > mostPlain {
		err = errTooLarge
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// bounded takes as much as may be answered.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > relay.MostBody {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// failure says how the API did not answer, in words for who must mend it.
func (h handler) failure(err error) *relay.Failure {
	var (
		dns  *net.DNSError
		ca   x509.UnknownAuthorityError
		host x509.HostnameError
		nerr net.Error
		conn *net.OpError
	)
	where := h.own.Endpoint
	switch {
	case errors.As(err, &dns):
		return &relay.Failure{Reason: relay.Unresolved, Says: "the name of " + where +
			" does not resolve in the relay's VPC: it must be the cluster's, with DNS support and DNS hostnames on"}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &nerr) && nerr.Timeout():
		return &relay.Failure{Reason: relay.TimedOut, Says: "cannot reach " + where +
			" in time from the relay's subnets: does the cluster's security group allow the relay's on port 443?"}
	case errors.As(err, &ca), errors.As(err, &host):
		return &relay.Failure{Reason: relay.Impostor, Says: "what answers at " + where + " has not the cluster's certificate: if the cluster was recreated, deploy the relay again"}
	case errors.As(err, &conn):
		return &relay.Failure{Reason: relay.Unreachable, Says: "no connection to " + where + " from the relay's subnets"}
	}
	return &relay.Failure{Reason: relay.Disconnected, Says: "the connection to " + where + " was cut before the answer"}
}
