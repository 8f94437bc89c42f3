package detect

import (
	"context"
	"errors"
	"slices"
	"testing"

	"rollcall/shared/snapshot"
)

type region struct {
	names  []string
	failed *snapshot.Failure
	asked  int
}

func (r *region) Clusters(context.Context) ([]string, *snapshot.Failure) {
	r.asked++
	return r.names, r.failed
}

func TestEach(t *testing.T) {
	down := errors.New("down")
	var seen []string
	look := func(_ context.Context, name string) error {
		if seen = append(seen, name); name == "bad" {
			return down
		}
		return nil
	}
	all := &region{names: []string{"bad", "dev", "prod"}}
	done, err := Each(t.Context(), "sweep", nil, all, look)
	if done != 2 || !errors.Is(err, down) || err.Error() != "sweep cluster bad: down" || !slices.Equal(seen, all.names) {
		t.Errorf("%d done, %v, looked at %q", done, err, seen)
	}
	seen = nil
	if done, err := Each(t.Context(), "sweep", []string{"prod"}, all, look); done != 1 || err != nil || all.asked != 1 || !slices.Equal(seen, []string{"prod"}) {
		t.Errorf("%d done, %v, looked at %q; want the named one, and no list", done, err, seen)
	}
	seen = nil
	if done, err := Each(t.Context(), "sweep", []string{}, all, look); done != 0 || err != nil || len(seen) > 0 {
		t.Errorf("none is named: %d done, %v, looked at %q", done, err, seen)
	}
	all.failed = &snapshot.Failure{Call: "eks:ListClusters", Reason: snapshot.Denied, Message: "no"}
	if done, err := Each(t.Context(), "sweep", nil, all, look); done != 0 || err == nil || err.Error() != "list the clusters: eks:ListClusters denied: no" {
		t.Errorf("%d done, %v", done, err)
	}
}
