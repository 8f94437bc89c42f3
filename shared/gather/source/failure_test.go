package source

import (
	"fmt"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
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
