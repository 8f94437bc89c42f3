package source

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/smithy-go"

	"rollcall/shared/snapshot"
)

var (
	// ErrNoVPC: neither the cluster nor who asks tells where to look.
	ErrNoVPC = errors.New("the cluster's VPC is not known")
	// ErrClusterUnread: its endpoint is not known, so nobody was asked.
	ErrClusterUnread = errors.New("the cluster could not be read")
	// ErrNoEndpoint: a cluster that is being made has no endpoint yet.
	ErrNoEndpoint = errors.New("the cluster has no endpoint")
	// ErrTooMany: an answer says that it is not all, and not how to get the rest.
	ErrTooMany = errors.New("there are more than are read")
	// ErrHalf: an answer lacks what it is about.
	ErrHalf = errors.New("the answer holds nothing")
	// ErrChanged: something that IAM has just listed is not there any more. Its
	// code would be taken for the role's own end, so it is not passed on.
	ErrChanged = errors.New("the role changed while it was read")
)

// CallError is a request that failed, of a source that takes several and whose
// client does not tell which one it was.
type CallError struct {
	Call string
	Err  error
}

func (e CallError) Error() string { return e.Call + ": " + e.Err.Error() }

// Unwrap is the error of the request.
func (e CallError) Unwrap() error { return e.Err }

// NotGrantedError: certificate signing requests, ENIConfigs and Karpenter's
// objects can be listed with the rights of deploy/clusterrole.yaml, and by none
// of EKS's access policies that gives no secrets. In most clusters nothing
// certain hangs on them, so that is no fault of the deployment.
type NotGrantedError struct {
	What string
	// Code is Forbidden where the checks tell whether anything hangs on it.
	Code string
}

// Forbidden is Kubernetes' reason for refusing somebody whom it knows.
const Forbidden = "Forbidden"

func (e NotGrantedError) Error() string {
	return "listing " + e.What + " takes the rights of deploy/clusterrole.yaml"
}

// ForgottenError: EC2 tells no user data of an instance that has ended. It may
// have had some.
type ForgottenError struct{ Instance string }

func (e ForgottenError) Error() string {
	return "EC2 tells no user data of " + e.Instance + ", which has ended: whether it had any cannot be told"
}

// unreadError: a source cannot be read because what names its things was not.
type unreadError struct {
	source snapshot.Source
	// code is NotCaptured where nobody asked for that one either.
	code string
	// why is what failed: the call and the reason.
	why string
}

func (e unreadError) Error() string {
	return fmt.Sprintf("what to ask for is in the %s, which were not read%s", e.source, e.why)
}

// Gone tells that a service does not have the thing that was asked for. EC2
// has a code for each kind: InvalidInstanceID.NotFound and the like.
func Gone(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	code := api.ErrorCode()
	return code == "ResourceNotFoundException" || code == "NoSuchEntity" ||
		strings.HasSuffix(code, ".NotFound") || strings.HasSuffix(code, ".NotFoundException") || strings.HasSuffix(code, ".VersionNotFound")
}

// SilentError stands for asking a Kubernetes API that did not answer a moment ago: it is
// told as its silence was.
type SilentError struct {
	Reason        snapshot.Reason
	Code, Message string
}

func (e SilentError) Error() string { return "the cluster's API does not answer: " + e.Message }
