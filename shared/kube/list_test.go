package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRequests holds what is asked for: it is what the rules allow.
func TestRequests(t *testing.T) {
	var asked []string
	c := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("labelSelector")+r.URL.Query().Get("fieldSelector"))
		fmt.Fprint(w, `{"metadata":{},"items":[{}]}`)
	})
	ctx := context.Background()
	for name, call := range map[string]func() (int, error){
		"pods":   func() (int, error) { l, err := c.CNIPods(ctx); return len(l), err },
		"CSRs":   func() (int, error) { l, err := c.CSRs(ctx); return len(l), err },
		"events": func() (int, error) { l, err := c.NodeEvents(ctx); return len(l), err },
	} {
		if n, err := call(); err != nil || n != 1 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if _, err := c.CNIDaemonSet(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.CNIServiceAccount(ctx); err != nil {
		t.Error(err)
	}
	if _, err := c.AWSAuth(ctx); err != nil {
		t.Error(err)
	}
	want := map[string]bool{
		"GET /api/v1/namespaces/kube-system/pods k8s-app=aws-node":       true,
		"GET /apis/certificates.k8s.io/v1/certificatesigningrequests ":   true,
		"GET /api/v1/namespaces/default/events involvedObject.kind=Node": true,
		"GET /apis/apps/v1/namespaces/kube-system/daemonsets/aws-node ":  true,
		"GET /api/v1/namespaces/kube-system/serviceaccounts/aws-node ":   true,
		"GET /api/v1/namespaces/kube-system/configmaps/aws-auth ":        true,
	}
	got := map[string]bool{}
	for _, a := range asked {
		got[a] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestListIsBounded holds that a list that is too long is refused, not cut:
// what is missing in it would look like what does not exist.
func TestListIsBounded(t *testing.T) {
	pagesGiven := 0
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		pagesGiven++
		fmt.Fprintf(w, `{"metadata":{"continue":"more"},"items":[%s]}`, strings.TrimSuffix(strings.Repeat(`{},`, pageSize), ","))
	})
	_, err := c.NodeEvents(context.Background())
	var many *TooManyError
	if !errors.As(err, &many) || many.Most != maxEvents || many.What == "" {
		t.Fatalf("error %v, want that there are too many", err)
	}
	if want := maxEvents / pageSize; pagesGiven != want {
		t.Errorf("read %d pages, want %d", pagesGiven, want)
	}
}

// TestListOfTheLimit holds that a list that is just as long as is read of it
// is read.
func TestListOfTheLimit(t *testing.T) {
	c := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":[{},{}]}`) })
	if got, err := list[Event](context.Background(), c, "events", "/api/v1/events", nil, 2); err != nil || len(got) != 2 {
		t.Errorf("got %d, %v", len(got), err)
	}
	if _, err := list[Event](context.Background(), c, "events", "/api/v1/events", nil, 1); err == nil {
		t.Error("a list of two where one is read is taken for whole")
	}
}

// TestObjectThatDoesNotExist holds that this is an answer, and a refusal none.
func TestObjectThatDoesNotExist(t *testing.T) {
	code := http.StatusNotFound
	c := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, `{"kind":"Status","reason":"x","message":"y"}`)
	})
	if m, err := c.AWSAuth(context.Background()); m != nil || err != nil {
		t.Errorf("aws-auth that does not exist: %v, %v", m, err)
	}
	code = http.StatusForbidden
	var status *StatusError
	if _, err := c.AWSAuth(context.Background()); !errors.As(err, &status) || status.Code != code {
		t.Errorf("aws-auth that may not be read: %v", err)
	}
}

const podJSON = `{"metadata":{"name":"aws-node-x","namespace":"kube-system"},"spec":{"nodeName":"n"},"status":{"phase":"Running","containerStatuses":[{"name":"aws-node","ready":false,"restartCount":3,
	"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 40s"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":"2026-11-20T15:00:00Z","message":"m"}}}]}}`

func FuzzPodList(f *testing.F) {
	f.Add([]byte(`{"metadata":{"continue":"c"},"items":[` + podJSON + `]}`))
	f.Add([]byte(`{"items":[{"status":{"containerStatuses":[null,{"state":{"running":{}}}]}}]}`))
	fuzzDecode[page[Pod]](f)
}

func FuzzDaemonSet(f *testing.F) {
	f.Add([]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"aws-node","env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}]}}},"status":{"desiredNumberScheduled":2,"numberReady":1}}`))
	fuzzDecode[DaemonSet](f)
}

func FuzzCSRList(f *testing.F) {
	f.Add([]byte(`{"items":[{"metadata":{"name":"csr-x","creationTimestamp":"2026-11-20T15:00:00Z"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"system:node:n","request":"LS0t"},"status":{"conditions":[{"type":"Approved"}]}}]}`))
	fuzzDecode[page[CSR]](f)
}

func FuzzEventList(f *testing.F) {
	f.Add([]byte(`{"items":[{"involvedObject":{"kind":"Node","name":"n"},"reason":"NodeReady","lastTimestamp":null,"eventTime":"2026-11-20T15:00:00.000001Z","series":{"count":2,"lastObservedTime":"2026-11-20T15:00:00.000001Z"}}]}`))
	fuzzDecode[page[Event]](f)
}

func fuzzDecode[T any](f *testing.F) {
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v T
		_ = json.Unmarshal(raw, &v) // must not panic
	})
}
