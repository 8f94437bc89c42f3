package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Of a call that could not be signed, because the role's credentials were refused, the
// failure is that of the call for those.
func TestACallWithoutCredentials(t *testing.T) {
	for code, reason := range map[string]snapshot.Reason{"AccessDenied": snapshot.Denied, "RegionDisabledException": snapshot.Denied, "Throttling": snapshot.Throttled} {
		refused := &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: &smithy.GenericAPIError{Code: code, Message: "no"}}
		err := &smithy.OperationError{ServiceID: "EKS", OperationName: "ListClusters", Err: fmt.Errorf("get identity: get credentials: %w", refused)}
		got := Source{Name: snapshot.Clusters}.Failure(fmt.Errorf("list: %w", err))
		want := &snapshot.Failure{Source: snapshot.Clusters, Call: "sts:AssumeRole", Reason: reason, Code: code, Message: "no"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	plain := &smithy.OperationError{ServiceID: "EKS", OperationName: "ListClusters", Err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}
	if got := (Source{Name: snapshot.Clusters}).Failure(plain); got.Call != "eks:ListClusters" {
		t.Errorf("a call that was sent is told as %s", got.Call)
	}
}

// TestOneFaultOfAWholeAPI: that nobody answers, or knows us, is one fault, whichever list met
// it; that one list is refused or takes too long is that list's own.
func TestOneFaultOfAWholeAPI(t *testing.T) {
	pods := Source{Name: snapshot.Pods, Kube: []spec.KubeRule{{Resources: []string{"pods"}, Verbs: []string{"list"}}}}
	own := pods.Call()
	through := func(err error) error {
		return fmt.Errorf("list pods: %w", &url.Error{Op: "Get", URL: "https://x", Err: err})
	}
	for name, test := range map[string]struct {
		err   error
		whole bool
	}{
		"it did not answer a moment ago":   {SilentError{Reason: snapshot.TimedOut}, true},
		"nobody knows us":                  {&kube.StatusError{Code: 401, Reason: "Unauthorized"}, true},
		"no connection":                    {through(&net.OpError{Op: "dial", Err: errors.New("connection refused")}), true},
		"no connection in time":            {through(&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), true},
		"no such name":                     {through(&net.DNSError{Name: "x"}), true},
		"cut before the answer":            {through(errors.New("EOF")), true},
		"this list is forbidden":           {&kube.StatusError{Code: 403, Reason: "Forbidden"}, false},
		"this list is throttled":           {&kube.StatusError{Code: 429}, false},
		"this list takes too long":         {through(context.DeadlineExceeded), false},
		"the answer stops":                 {through(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}), false},
		"the cluster was not described":    {ErrClusterUnread, false},
		"an answer that is not understood": {errors.New("invalid character"), false},
	} {
		want := own
		if test.whole {
			want = snapshot.WholeKubernetesAPI
		}
		if got := pods.Failure(test.err); got.Call != want || got.Source != snapshot.Pods {
			t.Errorf("%s: %+v, want the call %s", name, got, want)
		}
	}
	if got := (Source{Name: snapshot.Clusters}).Failure(through(errors.New("EOF"))); got.Call == snapshot.WholeKubernetesAPI {
		t.Error("a call of AWS is told as one of Kubernetes")
	}
}
