package source

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/smithy-go"

	"rollcall/shared/kube"
	"rollcall/shared/relay"
	"rollcall/shared/snapshot"
)

// AssumeRole is the call by which the hub becomes a spoke's role: without it nothing of the
// spoke can be read.
const AssumeRole = "sts:AssumeRole"

// Failure says why a source, or one item of it, could not be read: by the
// service's code and never by its text. Where a source takes several calls, the
// error knows which one it was; else it is the first.
func (s Source) Failure(err error) *snapshot.Failure {
	f := &snapshot.Failure{Source: s.Name, Call: s.Call(), Reason: snapshot.Broken}
	var (
		op     *smithy.OperationError
		api    smithy.APIError
		status *kube.StatusError
		dns    *net.DNSError
		conn   *net.OpError
		ca     x509.UnknownAuthorityError
		host   x509.HostnameError
		nerr   net.Error
		sent   *url.Error // whatever else kept the HTTP client from an answer
		asked  CallError
		many   *kube.TooManyError
		named  unreadError
		right  NotGrantedError
		lost   ForgottenError
		silent SilentError
		absent *relay.MissingError
		unname *relay.UnnamedError
		no     *relay.Refusal
		fails  *relay.Failure
	)
	if errors.As(err, &asked) {
		f.Call = asked.Call
	}
	// Of a call that was never sent, for want of credentials, what failed is the call
	// that asks for those.
	for inner := err; errors.As(inner, &op); inner = op.Err {
		f.Call = action(op)
	}
	switch {
	case errors.As(err, &silent):
		f.Reason, f.Code, f.Message = silent.Reason, silent.Code, silent.Message
		if f.Code == snapshot.NoRelay || f.Code == snapshot.NotOpen || f.Code == snapshot.RelayUnnamed {
			f.Call = askRelay
		}
	case errors.As(err, &absent):
		// Whatever was asked for, it is one thing that is missing.
		f.Reason, f.Code, f.Call = snapshot.Unreachable, snapshot.NoRelay, askRelay
		f.Message = absent.Error()
		if len(absent.OpenTo) > 0 {
			f.Code = snapshot.NotOpen
		}
	case errors.As(err, &unname):
		f.Reason, f.Code, f.Call = snapshot.Unreachable, snapshot.RelayUnnamed, askRelay
		f.Message = "the API has a private endpoint only, and " + unname.Error() + ": its relay is not asked"
	case errors.As(err, &no):
		f.Code, f.Message, f.Call = snapshot.RelayRefuses, no.Error(), askRelay
	case errors.As(err, &fails):
		f.Reason, f.Message = reasonOfRelay(fails.Reason), fails.Says
	case errors.Is(err, ErrClusterUnread), errors.Is(err, ErrNoVPC), errors.Is(err, ErrNoEndpoint), errors.As(err, &right), errors.As(err, &named):
		// Nobody was asked: what kept us from asking has a failure of its own.
		f.Reason, f.Message, f.Code = snapshot.NotRead, err.Error(), cmp.Or(named.code, right.Code)
	case errors.As(err, &lost):
		f.Reason, f.Message = snapshot.NotRead, lost.Error()
	case errors.As(err, &many):
		f.Reason, f.Message = snapshot.NotRead, many.Error()
	case errors.Is(err, ErrTooMany):
		f.Reason, f.Message = snapshot.NotRead, ErrTooMany.Error()
	case errors.Is(err, ErrChanged):
		f.Message = ErrChanged.Error()
	case errors.As(err, &api):
		f.Code, f.Message = api.ErrorCode(), plain(api.ErrorMessage())
		f.Reason = reasonOf(f.Code, api.ErrorFault())
	case errors.As(err, &status):
		f.Code, f.Message = status.Reason, status.Message
		if f.Reason = reasonOfStatus(status.Code); status.Reason == snapshot.NotCaptured {
			f.Reason = snapshot.NotRead
		}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &nerr) && nerr.Timeout():
		f.Reason, f.Message = snapshot.TimedOut, "no answer in time"
	case errors.As(err, &ca), errors.As(err, &host):
		f.Message = "the certificate is not the cluster's"
	case errors.As(err, &dns):
		f.Reason, f.Message = snapshot.Unreachable, "the name "+dns.Name+" does not resolve"
	case errors.As(err, &conn):
		f.Reason, f.Message = snapshot.Unreachable, "no connection"
	case errors.As(err, &sent):
		f.Reason, f.Message = snapshot.Unreachable, "the connection was cut before the answer"
	default:
		f.Message = "the answer could not be read"
	}
	if status != nil && status.Code == http.StatusUnauthorized && op == nil {
		// Nobody knows us: each list has that fault, whichever met it.
		f.Call = snapshot.WholeKubernetesAPI
	}
	return f
}

// action is an operation as IAM names it. For the services that are read here
// IAM's prefix is the service's id in lower case, without spaces; but for two.
func action(op *smithy.OperationError) string {
	prefix := strings.ToLower(strings.ReplaceAll(op.Service(), " ", ""))
	switch prefix {
	case "cloudwatchlogs":
		prefix = "logs"
	case "arczonalshift":
		prefix = "arc-zonal-shift"
	}
	if prefix == "lambda" && op.Operation() == "Invoke" {
		return askRelay
	}
	return prefix + ":" + op.Operation()
}

// askRelay is the permission to ask a relay (service authorization reference, AWS Lambda).
const askRelay = "lambda:InvokeFunction"

func reasonOfRelay(r relay.Reason) snapshot.Reason {
	switch r {
	case relay.TimedOut:
		return snapshot.TimedOut
	case relay.Unreachable, relay.Unresolved, relay.Disconnected:
		return snapshot.Unreachable
	}
	return snapshot.Broken
}

// Codes: EC2 "Common client error codes"; Auto Scaling and EKS "Common errors"; STS,
// AssumeRole, "Errors".
func reasonOf(code string, fault smithy.ErrorFault) snapshot.Reason {
	switch code {
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthFailure",
		"UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException", "OptInRequired", "RegionDisabledException":
		return snapshot.Denied
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "TooManyRequestsException",
		"RequestThrottled", "RequestThrottledException", "EC2ThrottledException", "SlowDown", "BandwidthLimitExceeded":
		return snapshot.Throttled
	case "RequestTimeout", "RequestTimeoutException":
		return snapshot.TimedOut
	case "Unavailable", "ServiceUnavailable", "ServiceUnavailableException":
		return snapshot.Unreachable
	case snapshot.NotCaptured:
		return snapshot.NotRead
	}
	return snapshot.Broken
}

func reasonOfStatus(code int) snapshot.Reason {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return snapshot.Denied
	case http.StatusTooManyRequests:
		return snapshot.Throttled
	case http.StatusGatewayTimeout:
		return snapshot.TimedOut
	case http.StatusServiceUnavailable, http.StatusBadGateway:
		return snapshot.Unreachable
	}
	return snapshot.Broken
}

// plain drops the encoded blob that EC2 appends to a refusal: it is long, and
// holds the caller's whole request.
func plain(message string) string {
	message, _, _ = strings.Cut(message, " Encoded authorization failure message:")
	return message
}
