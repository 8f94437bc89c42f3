package diagnose

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/caller"
	"rollcall/local/callertest"
	"rollcall/local/exit"
	"rollcall/local/result"
	"rollcall/local/stage"
	"rollcall/local/testfull"
	"rollcall/shared/kube"
)

// TestLiveAsTheFunctions: over the worlds of the corpus, each behind real ports, the
// command says the same as the functions: the first cause, and all causes. In make test
// each sixtieth world is played, of most families of checks one: that the two ways go
// through the same engine shows in any of them.
func TestLiveAsTheFunctions(t *testing.T) {
	worlds, err := filepath.Glob(filepath.Join("..", "worlds", "corpus", "*.yaml"))
	if err != nil || len(worlds) < 300 {
		t.Fatalf("%d worlds, %v", len(worlds), err)
	}
	step := testfull.Of(1, 60)
	for i := 0; i < len(worlds); i += step {
		name := strings.TrimSuffix(filepath.Base(worlds[i]), ".yaml")
		t.Run(name, func(t *testing.T) {
			want, err := Examine(t.Context(), Subject{Path: worlds[i]}, io.Discard)
			if err != nil {
				if name == "unseen" { // a list, no world
					return
				}
				t.Fatal(err)
			}
			s, at := callertest.Serve(t, worlds[i], Settled)
			callertest.LogIn(t, s)
			got := lookedAt(t, s, Live{At: at, All: true})
			if diff := cmp.Diff(causesOf(want), causesOf(got)); diff != "" || want.Healthy != got.Healthy {
				t.Errorf("(-functions +live), healthy %v and %v:\n%s\nlive: %+v", want.Healthy, got.Healthy, diff, got.Unknown)
			}
		})
	}
}

// lookedAt is what is said of the stage as it is. Worlds of the corpus tell endpoints
// of clusters as AWS has them: what is there instead the stage knows.
func lookedAt(t *testing.T, s *stage.Stage, of Live) result.Result {
	t.Helper()
	a := NewAccount(of)
	if err := a.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range a.clusters {
		if endpoint, ca, ok := s.Cloud.Kubernetes(c.Name); ok {
			via, err := kube.Transport(ca)
			if err != nil {
				t.Fatal(err)
			}
			a.servers[c.Name] = caller.APIServer{Endpoint: endpoint, CA: ca, Transport: via}
		}
	}
	r, _, err := a.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A cluster that cannot be reached, or that does not know the caller, is told as that;
// what AWS alone tells is told all the same.
func TestLiveWithoutKubernetes(t *testing.T) {
	s, at := callertest.Serve(t, filepath.Join("..", "worlds", "route-blackhole.yaml"), Settled)
	callertest.LogIn(t, s)
	stranger := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"kind": "Status", "status": "Failure", "message": "Unauthorized", "reason": "Unauthorized", "code": 401}`)
	}))
	defer stranger.Close()
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: stranger.Certificate().Raw})
	for name, tt := range map[string]struct{ endpoint, unknown, note string }{
		"nobody answers":  {"https://127.0.0.1:1", "kubernetes: list nodes: unreachable (no connection)", ""},
		"nobody knows us": {stranger.URL, "kubernetes: list nodes: denied (Unauthorized: Unauthorized)", "what Kubernetes has of eks-workshop: it does not know arn:aws:iam::111122223333:user/"},
	} {
		t.Run(name, func(t *testing.T) {
			via, err := kube.Transport(ca)
			if err != nil {
				t.Fatal(err)
			}
			a := NewAccount(Live{At: at, Clusters: []string{cluster}})
			if err := a.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			a.servers[cluster] = caller.APIServer{Endpoint: tt.endpoint, CA: ca, Transport: via}
			r, _, err := a.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Status() != exit.Causes || !strings.HasPrefix(first(r), "route/blackhole") || !slices.ContainsFunc(r.Unknown, func(u result.Unknown) bool { return u.Check == "node/not-registered" && u.Reason == tt.unknown }) {
				t.Errorf("status %d, first %s, unknown %+v, want %q", r.Status(), first(r), r.Unknown, tt.unknown)
			}
			if got := strings.Join(r.Notes[1:], "\n"); !strings.HasPrefix(got, tt.note) || tt.note == "" && got != "" {
				t.Errorf("notes %q, want %q", got, tt.note)
			}
		})
	}
}

// causesOf are the first cause, and all others in any order.
func causesOf(r result.Result) []string {
	var all []string
	for _, i := range r.Incidents {
		all = append(all, strings.Join([]string{i.Cause, i.Confidence, i.Cluster, strings.Join(i.Instances, " ")}, " / "))
	}
	if len(all) > 1 {
		slices.Sort(all[1:])
	}
	return all
}
