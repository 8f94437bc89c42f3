package diagnose

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/capture/mask"
	"rollcall/local/capture/take"
	"rollcall/local/result"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/local/testfull"
)

// takenWorlds are the worlds of which captures are taken: each third of the corpus (all of
// it takes five minutes more, and was green when the taking was written), or a few that
// show something of everything that is taken.
func takenWorlds(t *testing.T) []string {
	t.Helper()
	worlds := filepath.Join(here(t), "..", "worlds")
	all := []string{"healthy-nat", "samples", "nodegroup-update-failed", "karpenter"}
	if testfull.Asked() {
		corpus, err := filepath.Glob(filepath.Join(worlds, "corpus", "*.yaml"))
		if err != nil || len(corpus) == 0 {
			t.Fatalf("no corpus: %v", err)
		}
		for i, file := range corpus {
			if i%3 > 0 {
				continue
			}
			if filepath.Base(file) == "unseen.yaml" {
				continue // a list, no world
			}
			all = append(all, filepath.Join("corpus", strings.TrimSuffix(filepath.Base(file), ".yaml")))
		}
	}
	for i, name := range all {
		all[i] = filepath.Join(worlds, name+".yaml")
	}
	return all
}

// notInCaptures are worlds of which a capture tells less, and why.
func notInCaptures(world string) string {
	switch world {
	case "launch-policy-denied-encoded":
		return "who was denied what is decoded by a call for each message (sts:DecodeAuthorizationMessage)"
	}
	return ""
}

// TestTaken: what is taken of a world is diagnosed as the world is, and so is what is
// left of it when it is masked.
func TestTaken(t *testing.T) {
	for _, file := range takenWorlds(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "capture")
			takeOf(t, file, dir)
			want, got := toldOf(t, file), toldOf(t, dir)
			if why := notInCaptures(strings.TrimSuffix(filepath.Base(file), ".yaml")); why != "" {
				if cmp.Equal(causes(want), causes(got)) {
					t.Errorf("it is diagnosed as the world is, although %s", why)
				}
			} else if diff := cmp.Diff(causes(want), causes(got)); diff != "" {
				t.Errorf("incidents (-world +capture):\n%s", diff)
			}
			masked := dir + "-masked"
			if err := mask.Folder(dir, masked); err != nil {
				t.Fatal(err)
			}
			same := toldOf(t, masked)
			if diff := cmp.Diff(shapes(got), shapes(same)); diff != "" {
				t.Errorf("incidents (-capture +masked):\n%s", diff)
			}
			if diff := cmp.Diff(got.Status(), same.Status()); diff != "" {
				t.Errorf("exit status (-capture +masked):\n%s", diff)
			}
		})
	}
}

// takeOf takes a capture of a world at the time at which it is diagnosed.
func takeOf(t *testing.T, file, dir string) take.Summary {
	t.Helper()
	w, err := worldfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	at := w.Time.Add(Settled)
	s, err := stage.Start(context.Background(), stage.Options{
		World: file, At: at, Template: filepath.Join(here(t), "..", "..", "infra", "Rollcall.template.json"), Quiet: true, Still: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	cfg := s.AsAdmin()
	account := take.Account{Config: cfg, Kubernetes: take.ByToken(cfg, func(_ context.Context, c take.Cluster) (take.APIServer, error) {
		// Where it really is, of a world that says how its cluster is described.
		if endpoint, ca, ok := s.Cloud.Kubernetes(c.Name); ok {
			c.Endpoint, c.CA = endpoint, ca
		}
		return take.APIServer{Endpoint: c.Endpoint, CA: c.CA, Transport: s.HTTPClient().Transport}, nil
	})}
	summary, err := take.Take(t.Context(), account, take.Options{Dir: dir, Instances: 50, Now: at})
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// toldOf is what the command says of a world or a capture.
func toldOf(t *testing.T, subject string) result.Result {
	t.Helper()
	r, err := Examine(t.Context(), Subject{Path: subject}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func causes(r result.Result) [][]string {
	var list [][]string
	for _, i := range r.Incidents {
		list = append(list, append([]string{i.Cause, i.Confidence, i.Cluster}, i.Resources...))
	}
	// The same cause of two clusters is told in no order.
	slices.SortStableFunc(list, slices.Compare[[]string])
	return list
}

// shape is what masking leaves of an incident: names are others.
type shape struct {
	Cause, Confidence string
	Resources         int
	Instances         []string
}

func shapes(r result.Result) []shape {
	var list []shape
	for _, i := range r.Incidents {
		list = append(list, shape{i.Cause, i.Confidence, len(i.Resources), i.Instances})
	}
	return list
}
