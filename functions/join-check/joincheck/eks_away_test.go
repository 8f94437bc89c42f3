package joincheck

import (
	"context"
	"slices"
	"testing"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"rollcall/functions/join-check/spec"
	"rollcall/local/stage/stagetest"
	"rollcall/shared/lambda"
	"rollcall/shared/node/outcome"

	"rollcall/shared/snapshot"
)

// EKS is away for an hour while an instance is launched: each look says what it
// cannot see and none that the cluster was deleted, the outcome is not guessed, and
// afterwards it is what it is.
func TestEKSAwayForAnHour(t *testing.T) {
	away := true
	// EKS API reference, "Common Errors": ServiceUnavailableException, 503.
	refuse := middleware.InitializeMiddlewareFunc("EKSAway", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if away && awsmiddleware.GetServiceID(ctx) == "EKS" {
			return middleware.InitializeOutput{}, middleware.Metadata{}, &smithy.OperationError{
				ServiceID: "EKS", OperationName: awsmiddleware.GetOperationName(ctx),
				Err: &smithy.GenericAPIError{Code: "ServiceUnavailableException", Message: "Service is unavailable.", Fault: smithy.FaultServer},
			}
		}
		return next.HandleInitialize(ctx, in)
	})
	b := stagetest.Start(t, spec.Spec(), func(ctx context.Context, e lambda.Env) (lambda.Handler, error) {
		e.AWS.APIOptions = append(slices.Clone(e.AWS.APIOptions), func(s *middleware.Stack) error { return s.Initialize.Add(refuse, middleware.After) })
		return Build(ctx, e)
	}, healthy)
	b.Scale(1)
	news := b.News(0)
	id := b.Instance(news[0])
	opened(t, b, stagetest.Cluster)
	until := b.Now().Add(time.Hour)
	b.Advance(5 * time.Minute)
	b.Send(news...)
	for b.Now().Before(until) {
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		if l, recorded := b.Launch(id); recorded && l.Status.Final() {
			t.Fatalf("%s: the record is %+v, and nobody can know", b.Now(), l)
		}
		all := b.Observations()
		for _, o := range all {
			const call = "eks:DescribeCluster"
			if o.ClusterGone || !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Call == call && f.Reason == snapshot.Unreachable }) {
				t.Errorf("%s: of %s: gone %t, blind %+v; want %s named", o.At, o.Cluster, o.ClusterGone, o.Blind, call)
			}
		}
		if len(all) == 0 {
			t.Errorf("%s: nothing is told of the cluster", b.Now())
		}
		b.Advance(5 * time.Minute)
	}
	away = false
	if _, err := b.Handle(b.Sweep()); err != nil {
		t.Fatal(err)
	}
	last := of(b, stagetest.Cluster)
	if len(last) != 1 || len(last[0].Blind) > 0 || len(last[0].Launches) != 1 || last[0].Launches[0].Status != outcome.Joined {
		t.Fatalf("afterwards: %+v; want that it joined", last)
	}
	if l, _ := b.Launch(id); l.Status != outcome.Joined || l.Ready.IsZero() || l.Ready.After(until.Add(-50*time.Minute)) {
		t.Errorf("the record is %+v, want joined, and within its first minutes", l)
	}
}
