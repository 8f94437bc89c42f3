package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Limits are numbers or texts, and a condition says which generation it is about.
func TestNodePools(t *testing.T) {
	const answer = `{"items":[{"metadata":{"name":"gpu","generation":3},
		"spec":{"limits":{"cpu":100,"memory":"400Gi","nodes":"7"},"template":{"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"}}}},
		"status":{"resources":{"cpu":"96"},"conditions":[{"type":"NodeClassReady","status":"False","reason":"UnhealthyDependents","message":"SubnetsReady=False","observedGeneration":2,"lastTransitionTime":"2026-11-20T14:00:00Z"}]}}]}`
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/karpenter.sh/v1/nodepools" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		fmt.Fprint(w, answer)
	})
	list, err := c.NodePools(context.Background())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	p := list[0]
	if diff := cmp.Diff(map[string]Quantity{"cpu": "100", "memory": "400Gi", "nodes": "7"}, p.Spec.Limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if got := p.Status.Conditions[0]; got.ObservedGeneration != 2 || got.Type != "NodeClassReady" || got.Message != "SubnetsReady=False" || got.LastTransitionTime.IsZero() || p.Metadata.Generation != 3 {
		t.Errorf("condition %+v of generation %d", got, p.Metadata.Generation)
	}
}

// A cluster without Karpenter has none of its objects; a refusal, or half an
// answer, is no such answer.
func TestKarpenterObjects(t *testing.T) {
	lists := map[string]func(*Client) (int, error){
		"/apis/karpenter.sh/v1/nodepools":                 func(c *Client) (int, error) { l, err := c.NodePools(context.Background()); return len(l), err },
		"/apis/karpenter.sh/v1/nodeclaims":                func(c *Client) (int, error) { l, err := c.NodeClaims(context.Background()); return len(l), err },
		"/apis/karpenter.k8s.aws/v1/ec2nodeclasses":       func(c *Client) (int, error) { l, err := c.EC2NodeClasses(context.Background()); return len(l), err },
		"/apis/eks.amazonaws.com/v1/nodeclasses":          func(c *Client) (int, error) { l, err := c.AutoNodeClasses(context.Background()); return len(l), err },
		"/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs": func(c *Client) (int, error) { l, err := c.ENIConfigs(context.Background()); return len(l), err },
	}
	for path, read := range lists {
		for name, tt := range map[string]struct {
			code   int
			body   string
			want   int
			status int // of the refusal
			fails  bool
		}{
			"two":            {200, `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, 2, 0, false},
			"none":           {200, `{"items":null}`, 0, 0, false},
			"no such kind":   {404, `404 page not found`, 0, 0, false},
			"refused":        {403, `{"reason":"Forbidden","message":"forbidden"}`, 0, 403, true},
			"half an answer": {200, `{"items":[{"metadata":`, 0, 0, true},
		} {
			c := server(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != path {
					t.Errorf("asked for %s, want %s", r.URL.Path, path)
				}
				w.WriteHeader(tt.code)
				fmt.Fprint(w, tt.body)
			})
			got, err := read(c)
			var s *StatusError
			if got != tt.want || (err != nil) != tt.fails || errors.As(err, &s) != (tt.status != 0) || s != nil && s.Code != tt.status {
				t.Errorf("%s, %s: %d, %v", path, name, got, err)
			}
		}
	}
}

func FuzzQuantity(f *testing.F) {
	for _, seed := range []string{`"100"`, `100`, `1.5`, `null`, `true`, `{}`, `"`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var q struct{ Q Quantity }
		_ = json.Unmarshal([]byte(`{"Q":`+raw+`}`), &q) // must not panic
	})
}
