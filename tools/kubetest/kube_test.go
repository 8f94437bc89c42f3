//go:build kube

package kubetest

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestKubernetes starts one API for all tests.
func TestKubernetes(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	if deadline, ok := t.Deadline(); ok {
		// End before the test tool does, which would leave the servers behind.
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-30*time.Second))
		defer cancel()
	}
	servers, err := build(ctx, os.Stderr)
	if err != nil {
		t.Fatalf("this test needs a real API server and cannot build it: %v", err)
	}
	real, etcd := startAPI(t, ctx, servers)
	created := time.Now().Add(-time.Second) // the API's times are whole seconds
	var creating errgroup.Group
	creating.SetLimit(16)
	for _, s := range samples() {
		creating.Go(func() error { return real.create(ctx, "/api/v1/nodes", s.json()) })
	}
	if err := creating.Wait(); err != nil {
		t.Fatal(err)
	}
	stage := startStage(t, map[string][]json.RawMessage{"nodes": real.objects(t, "/api/v1/nodes")})

	t.Run("rights", func(t *testing.T) { testRights(t, real) })
	t.Run("nodes", func(t *testing.T) { testNodes(t, real, stage, created) })
	t.Run("pages", func(t *testing.T) { testPages(t, real, stage) })
	t.Run("selectors", func(t *testing.T) { testSelectors(t, real, stage) })
	t.Run("answers", func(t *testing.T) { testAnswers(t, real, stage) })
	t.Run("reads", func(t *testing.T) { testReads(t, real) })
	t.Run("expired pages", func(t *testing.T) { testExpiredPages(t, real, etcd) })
}
