package source

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/aws/smithy-go"

	"rollcall/shared/kube"
	"rollcall/shared/relay"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/tools/expect"
)

// Of a call that could not be signed, because the role's credentials were refused, the
// failure is that of the call for those.
func TestACallWithoutCredentials(t *testing.T) {
	for code, reason := range map[string]snapshot.Reason{"AccessDenied": snapshot.Denied, "RegionDisabledException": snapshot.Denied, "Throttling": snapshot.Throttled} {
		refused := &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: &smithy.GenericAPIError{Code: code, Message: "no"}}
		err := &smithy.OperationError{ServiceID: "EKS", OperationName: "ListClusters", Err: fmt.Errorf("get identity: get credentials: %w", refused)}
		got := Source{Name: snapshot.Clusters}.Failure(fmt.Errorf("list: %w", err))
		want := &snapshot.Failure{Source: snapshot.Clusters, Call: "sts:AssumeRole", Reason: reason, Code: code, Message: "no"}
		expect.Same(t, "got", got, want)
	}
	plain := &smithy.OperationError{ServiceID: "EKS", OperationName: "ListClusters", Err: &smithy.GenericAPIError{Code: "AccessDeniedException"}}
	if got := (Source{Name: snapshot.Clusters}).Failure(plain); got.Call != "eks:ListClusters" {
		t.Errorf("a call that was sent is told as %s", got.Call)
	}
}

// TestUnknownToAWholeAPI: that a cluster does not know us is one fault, whichever list met it;
// that one list is refused is that list's own, and so is a role that could not be assumed.
func TestUnknownToAWholeAPI(t *testing.T) {
	pods := Source{Name: snapshot.Pods, Kube: []spec.KubeRule{{Resources: []string{"pods"}, Verbs: []string{"list"}}}}
	unknown := &kube.StatusError{Code: 401, Reason: "Unauthorized"}
	refused := &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: &smithy.GenericAPIError{Code: "AccessDenied"}}
	for name, test := range map[string]struct {
		err  error
		call string
	}{
		"nobody knows us":           {fmt.Errorf("list pods: %w", unknown), snapshot.WholeKubernetesAPI},
		"this list is forbidden":    {&kube.StatusError{Code: 403, Reason: "Forbidden"}, pods.Call()},
		"this list is throttled":    {&kube.StatusError{Code: 429}, pods.Call()},
		"nobody could become known": {errors.Join(refused, unknown), AssumeRole},
	} {
		if got := pods.Failure(test.err); got.Call != test.call || got.Source != snapshot.Pods {
			t.Errorf("%s: %+v, want the call %s", name, got, test.call)
		}
	}
}

// What a relay says, or that there is none, is reported as it is to the operator.
func TestFailuresOfRelays(t *testing.T) {
	for name, x := range map[string]struct {
		err  error
		want snapshot.Failure
	}{
		"none": {&relay.MissingError{Function: "rollcall-relay-prod"}, snapshot.Failure{
			Reason: snapshot.Unreachable, Call: "lambda:InvokeFunction", Code: snapshot.NoRelay, Message: "the API has a private endpoint only, and there is no function rollcall-relay-prod, its relay",
		}},
		"refused": {&relay.Refusal{Reason: relay.OtherEndpoint, Says: "deploy it again"}, snapshot.Failure{
			Reason: snapshot.Broken, Call: "lambda:InvokeFunction", Code: snapshot.RelayRefuses, Message: "the relay refuses (OtherEndpoint): deploy it again",
		}},
		"silent":      {&relay.Failure{Reason: relay.TimedOut, Says: "a"}, snapshot.Failure{Reason: snapshot.TimedOut, Message: "a"}},
		"no name":     {&relay.Failure{Reason: relay.Unresolved, Says: "b"}, snapshot.Failure{Reason: snapshot.Unreachable, Message: "b"}},
		"cut":         {&relay.Failure{Reason: relay.Disconnected, Says: "c"}, snapshot.Failure{Reason: snapshot.Unreachable, Message: "c"}},
		"certificate": {&relay.Failure{Reason: relay.Impostor, Says: "d"}, snapshot.Failure{Reason: snapshot.Broken, Message: "d"}},
		"may not ask": {&smithy.OperationError{ServiceID: "Lambda", OperationName: "Invoke", Err: &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}}, snapshot.Failure{
			Reason: snapshot.Denied, Call: "lambda:InvokeFunction", Code: "AccessDeniedException", Message: "no",
		}},
	} {
		x.want.Source = snapshot.Nodes
		got := (Source{Name: snapshot.Nodes}).Failure(fmt.Errorf("list nodes: %w", &url.Error{Op: "Get", URL: "https://a.test", Err: x.err}))
		expect.Same(t, name, got, &x.want)
	}
}

// chain is a source that needs, and one that comes after.
func chain() []Source {
	return []Source{
		{Name: "fields", Needs: []snapshot.Source{"doors"}, After: []snapshot.Source{"hints"}},
		{Name: "doors"},
		{Name: "hints", After: []snapshot.Source{"more hints"}},
		{Name: "more hints"},
	}
}

func namesOf(waves ...[]Source) [][]string {
	var names [][]string
	for _, w := range waves {
		names = append(names, Each(w, func(s Source) string { return string(s.Name) }))
	}
	return names
}

// TestWith: what is needed is brought along, what only tells more is not, what
// is asked for twice is read once, and no source reads Rollcall's own history here.
func TestWith(t *testing.T) {
	got := namesOf(With(chain(), "fields", "fields", "doors", snapshot.LaunchHistory))
	expect.Same(t, "sources", got, [][]string{{"fields", "doors"}})
}

// TestWaves: nothing is read before what it needs or comes after, and nothing
// waits for what was not requested.
func TestWaves(t *testing.T) {
	all := chain()
	for _, test := range []struct {
		name string
		list []Source
		want [][]string
	}{
		{"nothing", nil, nil},
		{"all", all, [][]string{{"doors", "more hints"}, {"hints"}, {"fields"}}},
		{"without what tells more", all[:2], [][]string{{"doors"}, {"fields"}}},
		{"what it needs was read before", all[:1], [][]string{{"fields"}}},
		{"a hint that waits for nobody", []Source{all[0], all[2]}, [][]string{{"hints"}, {"fields"}}},
	} {
		expect.Same(t, test.name, namesOf(Waves(test.list)...), test.want)
	}
}

// TestAtOnce: results are in the list's order, and of two errors the first in it counts,
// however soon the other came.
func TestAtOnce(t *testing.T) {
	late := make(chan struct{})
	got, err := AtOnce([]int{1, 2}, func(n int) (int, error) {
		if n == 1 {
			<-late // the second is done before
		} else {
			close(late)
		}
		return 10 * n, nil
	})
	expect.Same(t, "results", got, []int{10, 20})
	if err != nil {
		t.Error(err)
	}
	first, second := errors.New("first"), errors.New("second")
	late = make(chan struct{})
	_, err = AtOnce([]int{1, 2}, func(n int) (int, error) {
		if n == 1 {
			<-late
			return 0, first
		}
		close(late)
		return 0, second
	})
	if !errors.Is(err, first) {
		t.Errorf("got %v, want the first in the list", err)
	}
}
