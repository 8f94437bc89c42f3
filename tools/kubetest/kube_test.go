//go:build kube

package kubetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"rollcall/shared/gather"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
	"rollcall/tools/testfile"
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

// testExpiredPages lets the reader go on with a list that has expired. The
// API server takes longer to forget a list than the reader waits for an
// answer; so a proxy gives the reader's second request the page of a list that
// was begun and forgotten before.
func testExpiredPages(t *testing.T, real *place, etcd string) {
	expired := expiredPage(t, real, etcd)
	target, err := url.Parse(real.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if len(asked) == 1 {
				query := r.Out.URL.Query()
				query.Set("continue", expired)
				r.Out.URL.RawQuery = query.Encode()
			}
		},
		Transport: real.http.Transport,
		ModifyResponse: func(r *http.Response) error {
			page := "first"
			if r.Request.URL.Query().Get("continue") != "" {
				page = "next"
			}
			asked = append(asked, fmt.Sprintf("%s %d", page, r.StatusCode))
			return nil
		},
	}
	server := httptest.NewTLSServer(proxy)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	nodes, err := newPlace(t, "proxy", server.URL, ca).nodes(t.Context(), rollcallToken)
	if err != nil || len(nodes) != len(samples()) {
		t.Errorf("got %d nodes, %v; want the %d of the second try", len(nodes), err, len(samples()))
	}
	if diff := cmp.Diff(asked, []string{"first 200", "next 410", "first 200", "next 200", "next 200"}); diff != "" {
		t.Errorf("requests (-got +want):\n%s", diff)
	}
}

// expireTime is how long an expired list may live on: the server looks every 15
// seconds which of the versions in its cache are too old.
const expireTime = time.Minute

// expiredPage begins a list, makes etcd forget all old versions, as the API
// server does every five minutes, and gives the page that is gone.
func expiredPage(t *testing.T, real *place, etcd string) string {
	t.Helper()
	next := real.ask(t, rollcallToken, http.MethodGet, "/api/v1/nodes?limit=1", nil).list(t).Metadata.Continue
	// A change, so that the version of the list is an old one.
	if err := real.create(t.Context(), "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "later"}}); err != nil {
		t.Fatal(err)
	}
	// The key by which API servers tell each other what they have compacted.
	key := base64.StdEncoding.EncodeToString([]byte("compact_rev_key"))
	var now struct{ Header struct{ Revision string } }
	testfile.Parse(t, askEtcd(t, etcd+"/v3/kv/range", map[string]any{"key": key}), &now)
	revision := now.Header.Revision
	askEtcd(t, etcd+"/v3/kv/put", map[string]any{"key": key, "value": base64.StdEncoding.EncodeToString([]byte(revision))})
	askEtcd(t, etcd+"/v3/kv/compaction", map[string]any{"revision": revision})
	for until := time.Now().Add(expireTime); ; time.Sleep(500 * time.Millisecond) {
		got := real.ask(t, rollcallToken, http.MethodGet, "/api/v1/nodes?limit=1&continue="+url.QueryEscape(next), nil)
		if got.code == http.StatusGone && got.status().Reason == "Expired" {
			return next
		}
		if got.code != http.StatusOK || time.Now().After(until) {
			t.Fatalf("a page of a list that is gone: %v, want 410 Expired", got.status())
		}
	}
}

// askEtcd calls etcd's API by its JSON gateway.
func askEtcd(t *testing.T, address string, in map[string]any) []byte {
	t.Helper()
	res, err := http.Post(address, "application/json", bytes.NewReader(testfile.JSON(t, in)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("etcd: %s: %d %s %v", address, res.StatusCode, out, err)
	}
	return out
}

// readers are what Rollcall reads of a cluster, by the method of its client.
func readers() map[string]func(context.Context, *kube.Client) (any, error) {
	return map[string]func(context.Context, *kube.Client) (any, error){
		"AWSAuth":                func(ctx context.Context, c *kube.Client) (any, error) { return c.AWSAuth(ctx) },
		"CNIDaemonSet":           func(ctx context.Context, c *kube.Client) (any, error) { return c.CNIDaemonSet(ctx) },
		"CNIPods":                func(ctx context.Context, c *kube.Client) (any, error) { return c.CNIPods(ctx) },
		"CNIServiceAccount":      func(ctx context.Context, c *kube.Client) (any, error) { return c.CNIServiceAccount(ctx) },
		"CSRs":                   func(ctx context.Context, c *kube.Client) (any, error) { return c.CSRs(ctx) },
		"ENIConfigs":             func(ctx context.Context, c *kube.Client) (any, error) { return c.ENIConfigs(ctx) },
		"AutoNodeClasses":        func(ctx context.Context, c *kube.Client) (any, error) { return c.AutoNodeClasses(ctx) },
		"EC2NodeClasses":         func(ctx context.Context, c *kube.Client) (any, error) { return c.EC2NodeClasses(ctx) },
		"NodeClaims":             func(ctx context.Context, c *kube.Client) (any, error) { return c.NodeClaims(ctx) },
		"NodePools":              func(ctx context.Context, c *kube.Client) (any, error) { return c.NodePools(ctx) },
		"NodeEvents":             func(ctx context.Context, c *kube.Client) (any, error) { return c.NodeEvents(ctx) },
		"Nodes":                  func(ctx context.Context, c *kube.Client) (any, error) { return c.Nodes(ctx) },
		"PersistentVolumeClaims": func(ctx context.Context, c *kube.Client) (any, error) { return c.PersistentVolumeClaims(ctx) },
		"PersistentVolumes":      func(ctx context.Context, c *kube.Client) (any, error) { return c.PersistentVolumes(ctx) },
		"PodsOn":                 func(ctx context.Context, c *kube.Client) (any, error) { return c.PodsOn(ctx, "bare") },
		"PodWarnings":            func(ctx context.Context, c *kube.Client) (any, error) { return c.PodWarnings(ctx) },
		"PoolEvents":             func(ctx context.Context, c *kube.Client) (any, error) { return c.PoolEvents(ctx) },
		"SchedulingEvents":       func(ctx context.Context, c *kube.Client) (any, error) { return c.SchedulingEvents(ctx) },
		"WaitingPods":            func(ctx context.Context, c *kube.Client) (any, error) { return c.WaitingPods(ctx) },
	}
}

// testReads makes an object of each form that is read, by the API's own rules,
// and reads all with Rollcall's rights: what comes must be what was made, and
// the same of the stage with the same objects.
func testReads(t *testing.T, real *place) {
	ctx := t.Context()
	// Everything that the client reads is judged here, also what is new.
	var methods []string
	client := reflect.TypeFor[*kube.Client]()
	for i := range client.NumMethod() {
		// Raw takes a path, and is judged below.
		if m := client.Method(i); m.Type.NumOut() == 2 && m.Name != "Raw" {
			methods = append(methods, m.Name)
		}
	}
	for _, name := range methods {
		if readers()[name] == nil {
			t.Errorf("the client's %s is not held against a real API server: make an object for it here", name)
		}
	}
	read := func(p *place, name string) any {
		c, err := kube.New(p.endpoint, p.ca, rollcallToken)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got, err := readers()[name](ctx, c)
		if err != nil {
			t.Fatalf("%s: %s: %v", p.name, name, err)
		}
		return got
	}
	for name, empty := range map[string]any{
		"AWSAuth": (*kube.ConfigMap)(nil), "CNIDaemonSet": (*kube.DaemonSet)(nil), "CNIServiceAccount": (*kube.ServiceAccount)(nil), "ENIConfigs": []kube.ENIConfig(nil),
		"NodePools": []kube.NodePool(nil), "NodeClaims": []kube.NodeClaim(nil), "EC2NodeClasses": []kube.NodeClass(nil), "AutoNodeClasses": []kube.NodeClass(nil),
	} {
		if diff := cmp.Diff(empty, read(real, name)); diff != "" {
			t.Errorf("%s, before there is one (-want +got):\n%s", name, diff)
		}
	}

	for _, o := range objects(t) {
		if slices.Contains([]string{eniConfigs, nodePools, nodeClaims, ec2Classes, autoClasses}, o.path) {
			await(t, real, o.path)
		}
		if err := real.create(ctx, o.path, json.RawMessage(o.object)); err != nil {
			t.Fatal(err)
		}
		if o.status == "" {
			continue
		}
		if got := real.ask(t, adminToken, http.MethodPatch, o.path+"/"+o.name+"/"+o.under, json.RawMessage(o.status)); got.code != http.StatusOK {
			t.Fatalf("the %s of %s: %d %s", o.under, o.name, got.code, got.body)
		}
	}
	lists := map[string][]json.RawMessage{}
	for plural, path := range map[string]string{
		"nodes": "/api/v1/nodes", "pods": "/api/v1/pods", "events": "/api/v1/events", "configmaps": "/api/v1/configmaps", "serviceaccounts": "/api/v1/serviceaccounts",
		"persistentvolumes": "/api/v1/persistentvolumes", "persistentvolumeclaims": "/api/v1/persistentvolumeclaims", "daemonsets": "/apis/apps/v1/daemonsets",
		"certificatesigningrequests": "/apis/certificates.k8s.io/v1/certificatesigningrequests", "eniconfigs": eniConfigs,
		"nodepools": nodePools, "nodeclaims": nodeClaims, "ec2nodeclasses": ec2Classes, "nodeclasses": autoClasses,
	} {
		lists[plural] = real.objects(t, path)
	}
	stage := startStage(t, lists)
	for _, p := range []*place{real, stage} {
		c, err := kube.New(p.endpoint, p.ca, rollcallToken)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		// Items say what they are where they are custom resources.
		for plural, path := range map[string]string{"nodes": "/api/v1/nodes", "nodepools": nodePools} {
			raw, err := c.Raw(ctx, path, nil)
			if err != nil {
				t.Fatalf("%s: Raw: %v", p.name, err)
			}
			var answer struct{ Items []any }
			if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Items) == 0 {
				t.Fatalf("%s: Raw of %s: %v, %d items", p.name, plural, err, len(answer.Items))
			}
			if diff := cmp.Diff(plain(t, lists[plural]), plain(t, answer.Items)); diff != "" {
				t.Errorf("%s: Raw of %s (-the API's answer +got):\n%s", p.name, plural, diff)
			}
		}
	}
	for _, name := range methods {
		got := read(real, name)
		if diff := cmp.Diff(read(stage, name), got); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", name, diff)
		}
		if want, ok := wanted()[name]; ok {
			if diff := cmp.Diff(want, plain(t, got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		} else if name != "Nodes" { // testNodes has them
			t.Errorf("nothing is wanted of %s", name)
		}
	}
}

// plain is what was read as JSON, without what is empty and without times that
// the server sets.
func plain(t *testing.T, v any) any {
	t.Helper()
	b := testfile.JSON(t, v)
	var out any
	testfile.Parse(t, b, &out)
	out, _ = shorten(out)
	return out
}

func shorten(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if k == "creationTimestamp" || k == "lastTransitionTime" {
				continue
			}
			if s, ok := shorten(inner); ok {
				out[k] = s
			}
		}
		return out, len(out) > 0
	case []any:
		out := []any{}
		for _, inner := range v {
			s, _ := shorten(inner)
			out = append(out, s)
		}
		return out, len(out) > 0
	case nil:
		return nil, false
	case string:
		return v, v != "" && v != "0001-01-01T00:00:00Z"
	case float64:
		return v, v != 0
	case bool:
		return v, v
	}
	return v, true
}

// kindTime is how long a custom kind may take to be served once it is defined.
const kindTime = 30 * time.Second

// await waits until a path is there.
func await(t *testing.T, p *place, path string) {
	t.Helper()
	for until := time.Now().Add(kindTime); ; time.Sleep(50 * time.Millisecond) {
		got := p.ask(t, adminToken, http.MethodGet, path, nil)
		if got.code == http.StatusOK {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// wanted is what must be read of the objects, as JSON.
func wanted() map[string]any {
	text := map[string]string{
		"AWSAuth":           `{"data":{"mapRoles":"- rolearn: arn:aws:iam::123456789012:role/node\n"}}`,
		"CNIServiceAccount": `{"metadata":{"annotations":{"eks.amazonaws.com/role-arn":"arn:aws:iam::123456789012:role/cni"}}}`,
		"CNIDaemonSet": `{"spec":{"template":{"spec":{"containers":[{"name":"aws-node","image":"cni:v1.19.0","env":[
			{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME"}]}]}}},"status":{"desiredNumberScheduled":3,"numberReady":2}}`,
		"CNIPods": `[{"metadata":{"name":"aws-node-1","namespace":"kube-system"},"spec":{"nodeName":"bare","volumes":[{"name":"eks-pod-identity-token"}],
			"containers":[{"name":"aws-node","env":[{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME"}]}]},"status":{"phase":"Running","containerStatuses":[
			{"name":"aws-node","restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
			"lastState":{"terminated":{"reason":"Error","exitCode":1,"finishedAt":"2026-11-20T15:01:00Z"}}}]}}]`,
		"CSRs":       `[{"metadata":{"name":"csr-approved"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"admin"},"status":{"conditions":[{"type":"Approved"}]}},{"metadata":{"name":"csr-pending"},"spec":{"signerName":"kubernetes.io/kubelet-serving","username":"admin"}}]`,
		"ENIConfigs": `[{"metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-0a1b2c3d4e5f60718","securityGroups":["sg-0a1b2c3d4e5f60718"]}}]`,
		"NodePools": `[{"metadata":{"name":"gpu","generation":1},"spec":{"limits":{"cpu":"100","memory":"400Gi"},"template":{"metadata":{"labels":{"team":"ml"}},"spec":{
			"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}]}}},
			"status":{"resources":{"cpu":"96"},"conditions":[{"type":"NodeClassReady","status":"True","observedGeneration":1}]}}]`,
		"NodeClaims":      `[{"metadata":{"name":"gpu-x7k2p","generation":1,"labels":{"karpenter.sh/nodepool":"gpu"}},"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"}},"status":{"providerID":"aws:///us-west-2a/i-0a1b2c3d4e5f60718","nodeName":"bare"}}]`,
		"EC2NodeClasses":  `[{"metadata":{"name":"gpu","generation":1},"spec":{"role":"node","subnetSelectorTerms":[{"tags":{"karpenter.sh/discovery":"prod"}}]}}]`,
		"AutoNodeClasses": `[{"metadata":{"name":"default","generation":1},"spec":{"role":"auto","subnetSelectorTerms":[{"id":"subnet-0a1b2c3d4e5f60718"}]}}]`,
		"NodeEvents": `[{"involvedObject":{"kind":"Node","namespace":"default","name":"bare"},"reason":"NodeNotReady","message":"Node bare status is now: NodeNotReady",
				"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z"},
			{"involvedObject":{"kind":"Node","namespace":"default","name":"bare"},"reason":"Rebooted","message":"Node bare has been rebooted","reportingComponent":"kubelet",
				"eventTime":"2026-11-20T15:03:00.123456Z","series":{"lastObservedTime":"2026-11-20T15:04:00.5Z"}}]`,
		"PodWarnings": `[{"involvedObject":{"kind":"Pod","namespace":"default","name":"web-0"},"reason":"FailedScheduling","message":"0/3 nodes are available","reportingComponent":"default-scheduler",
				"eventTime":"2026-11-20T15:03:00Z"},
			{"involvedObject":{"kind":"Pod","namespace":"kube-system","name":"coredns-1"},"reason":"FailedCreatePodSandBox","message":"failed to assign an IP address to container",
				"source":{"component":"kubelet"},"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z"}]`,
		"SchedulingEvents": `[{"involvedObject":{"kind":"Pod","namespace":"default","name":"web-0"},"reason":"FailedScheduling","message":"0/3 nodes are available","reportingComponent":"default-scheduler",
				"eventTime":"2026-11-20T15:03:00Z"}]`,
		// Claims' events first, then pools'.
		"PoolEvents": `[{"involvedObject":{"kind":"NodeClaim","name":"gpu-x7k2p"},"reason":"InsufficientCapacityError","message":"creating instance, insufficient capacity","source":{"component":"karpenter"},
				"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:00:00Z"},
			{"involvedObject":{"kind":"NodePool","name":"gpu"},"reason":"NoCompatibleInstanceTypes","message":"NodePool requirements filtered out all instance types","source":{"component":"karpenter"},
				"firstTimestamp":"2026-11-20T15:01:00Z","lastTimestamp":"2026-11-20T15:01:00Z"}]`,
		"PodsOn": `[{"metadata":{"name":"web-1","namespace":"default"},"spec":{"nodeName":"bare","containers":[{"name":"web"}]},"status":{"phase":"Succeeded"}},
			{"metadata":{"name":"aws-node-1","namespace":"kube-system"},"spec":{"nodeName":"bare","volumes":[{"name":"eks-pod-identity-token"}],
			"containers":[{"name":"aws-node","env":[{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME"}]}]},"status":{"phase":"Running","containerStatuses":[
			{"name":"aws-node","restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
			"lastState":{"terminated":{"reason":"Error","exitCode":1,"finishedAt":"2026-11-20T15:01:00Z"}}}]}},
			{"metadata":{"name":"coredns-1","namespace":"kube-system"},"spec":{"nodeName":"bare","containers":[{"name":"coredns"}]},"status":{"phase":"Running"}}]`,
		"PersistentVolumes": `[{"metadata":{"name":"pvc-1"},"spec":{"storageClassName":"gp3","claimRef":{"namespace":"default","name":"data-web-0"},"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-0a1b2c3d4e5f60718"},
			"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["us-west-2a"]}]}]}}},"status":{"phase":"Bound"}}]`,
		"PersistentVolumeClaims": `[{"metadata":{"name":"data-web-0","namespace":"default"},"spec":{"storageClassName":"gp3","volumeName":"pvc-1"},"status":{"phase":"Bound"}}]`,
		// The tolerations of an hour are the API server's own.
		"WaitingPods": `[{"metadata":{"name":"web-0","namespace":"default","ownerReferences":[{"kind":"StatefulSet","name":"web","controller":true}]},
			"spec":{"containers":[{}],"nodeSelector":{"disk":"ssd"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["us-west-2b"]}]}]}}},
			"tolerations":[{"key":"dedicated","operator":"Equal","value":"web","effect":"NoSchedule"},{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute"}],
			"schedulingGates":[{"name":"example.com/wait"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}},{"name":"scratch"}]},
			"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated","message":"Scheduling is blocked due to non-empty scheduling gates"}]}}]`,
	}
	out := map[string]any{}
	for name, t := range text {
		var v any
		if err := json.Unmarshal([]byte(t), &v); err != nil {
			panic(err) // a mistake in the literals above
		}
		out[name], _ = shorten(v)
	}
	return out
}

// testNodes reads all nodes with Rollcall's reader and rights.
func testNodes(t *testing.T, real, stage *place, created time.Time) {
	var want []kube.Node
	for _, s := range samples() {
		want = append(want, s.node())
	}
	slices.SortFunc(want, func(a, b kube.Node) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	inReal, err := real.nodes(t.Context(), rollcallToken)
	if err != nil {
		t.Fatal(err)
	}
	onStage, err := stage.nodes(t.Context(), rollcallToken)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(onStage, inReal); diff != "" {
		t.Errorf("nodes (-stage +kube-apiserver):\n%s", diff)
	}
	for i := range inReal {
		made := &inReal[i].Metadata.CreationTimestamp
		if made.Before(created) || made.After(time.Now()) {
			t.Errorf("%s was created at %s, want between %s and now", inReal[i].Metadata.Name, made, created)
		}
		*made = time.Time{}
	}
	if diff := cmp.Diff(inReal, want); diff != "" {
		t.Errorf("nodes (-got +want):\n%s", diff)
	}
}

// testPages compares where the pages begin and end, and what they say is left.
func testPages(t *testing.T, real, stage *place) {
	type seen struct {
		kind        string
		count       int
		first, last string
		remaining   int
	}
	for _, query := range []string{"limit=500", "limit=1205", "limit=0", "limit=-1", "limit=600&resourceVersion=0", "limit=150&labelSelector=topology.kubernetes.io/zone%3Dus-west-2a"} {
		walk := func(p *place) []seen {
			var out []seen
			for next := ""; ; {
				l := p.ask(t, adminToken, http.MethodGet, "/api/v1/nodes?"+query+"&continue="+url.QueryEscape(next), nil).list(t)
				names := l.names()
				if len(names) == 0 {
					t.Fatalf("%s: %s: an empty page", p.name, query)
				}
				s := seen{kind: l.Kind, count: len(names), first: names[0], last: names[len(names)-1], remaining: -1}
				if l.Metadata.RemainingItemCount != nil {
					s.remaining = *l.Metadata.RemainingItemCount
				}
				out = append(out, s)
				if next = l.Metadata.Continue; next == "" {
					return out
				}
			}
		}
		if diff := cmp.Diff(walk(stage), walk(real), cmp.AllowUnexported(seen{})); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", query, diff)
		}
	}
}

// testSelectors asks both for the same selections.
func testSelectors(t *testing.T, real, stage *place) {
	const zone = "topology.kubernetes.io/zone"
	for _, s := range []struct {
		label, field string
		count        int // what both must find
	}{
		{label: zone + "=us-west-2a", count: 400},
		{label: zone + "==us-west-2b", count: 400},
		{label: zone + "!=us-west-2c", count: 805},
		{label: zone + " in (us-west-2a, us-west-2b)", count: 800},
		{label: zone + " notin (us-west-2a,us-west-2b)", count: 405},
		{label: "!" + zone, count: 5},
		{label: zone + ",i in (0,1,2,3)", count: 4},
		{label: zone + "=us-west-2a,i=3", count: 1},
		{label: "special", count: 1},
		{label: "special=", count: 1},
		{label: "special in ()", count: 1},
		{label: "special notin ()", count: 1204},
		{label: "i>1197", count: 2},
		{label: "i<3", count: 3},
		{label: " " + zone + " = us-west-2a ", count: 400},
		{label: zone + "=nowhere", count: 0},
		{field: "metadata.name=bare", count: 1},
		{field: "metadata.name!=bare", count: 1204},
		{field: "spec.unschedulable=true", count: 1},
		{field: "spec.unschedulable=false", count: 1204},
		{field: "metadata.name=bare,spec.unschedulable=false", count: 0},
		{label: "special", field: "spec.unschedulable=false", count: 1},
	} {
		target := "/api/v1/nodes?" + url.Values{"labelSelector": {s.label}, "fieldSelector": {s.field}}.Encode()
		inReal, onStage := real.ask(t, adminToken, http.MethodGet, target, nil), stage.ask(t, adminToken, http.MethodGet, target, nil)
		if inReal.code != http.StatusOK || onStage.code != http.StatusOK {
			t.Errorf("%q %q: kube-apiserver: %v, stage: %v; want two lists", s.label, s.field, inReal.status(), onStage.status())
			continue
		}
		names := inReal.list(t).names()
		if len(names) != s.count {
			t.Errorf("%q %q: kube-apiserver found %d nodes, want %d", s.label, s.field, len(names), s.count)
		}
		if diff := cmp.Diff(onStage.list(t).names(), names); diff != "" {
			t.Errorf("%q %q (-stage +kube-apiserver):\n%s", s.label, s.field, diff)
		}
	}
}

// bindingTime is how long the authorizer may take to learn of a binding, by a
// watch of its own. It takes milliseconds.
const bindingTime = 15 * time.Second

// testRights applies the manifest. Before, Rollcall may nothing.
func testRights(t *testing.T, real *place) {
	const message = `nodes is forbidden: User "arn:aws:iam::123456789012:role/join-check" cannot list resource "nodes" in API group "" at the cluster scope`
	if diff := cmp.Diff(real.refusal(t, rollcallToken), kube.StatusError{Code: 403, Reason: "Forbidden", Message: message}); diff != "" {
		t.Errorf("before the manifest is applied (-got +want):\n%s", diff)
	}
	applyManifest(t, real)
	for until := time.Now().Add(bindingTime); ; time.Sleep(50 * time.Millisecond) {
		_, err := real.nodes(t.Context(), rollcallToken)
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the manifest's rights do not let Rollcall list the nodes: %v", err)
		}
	}
	for _, r := range []struct {
		method, target string
		code           int
	}{
		{http.MethodGet, "/api/v1/nodes?limit=1", 200},
		{http.MethodGet, "/api/v1/nodes/bare", 403},
		{http.MethodGet, "/api/v1/nodes?watch=true", 403},
		{http.MethodGet, "/apis/certificates.k8s.io/v1/certificatesigningrequests", 200},
		{http.MethodGet, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DNode", 200},
		{http.MethodGet, "/api/v1/namespaces/kube-system/pods?labelSelector=k8s-app%3Daws-node", 200},
		{http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node", 404},
		{http.MethodGet, "/api/v1/namespaces/kube-system/serviceaccounts/aws-node", 404},
		{http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/aws-auth", 404},
		{http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/other", 403},
		{http.MethodGet, "/api/v1/namespaces/kube-system/serviceaccounts/default", 403},
		{http.MethodGet, "/api/v1/events?fieldSelector=involvedObject.kind%3DPod%2Ctype%3DWarning", 200},
		{http.MethodGet, "/api/v1/namespaces/default/events/one", 403},
		{http.MethodGet, "/api/v1/events?watch=true", 403},
		{http.MethodDelete, "/api/v1/namespaces/default/events/one", 403},
		{http.MethodGet, "/apis/events.k8s.io/v1/events", 403},
		{http.MethodGet, "/api/v1/pods?fieldSelector=status.phase%3DPending", 200},
		{http.MethodGet, "/api/v1/pods?watch=true", 403},
		{http.MethodGet, "/api/v1/namespaces/default/pods/one", 403},
		{http.MethodGet, "/api/v1/namespaces/default/pods/one/log", 403},
		{http.MethodPost, "/api/v1/namespaces/default/pods/one/exec", 403},
		{http.MethodGet, "/api/v1/persistentvolumes", 200},
		{http.MethodGet, "/api/v1/persistentvolumes/one", 403},
		{http.MethodGet, "/api/v1/persistentvolumeclaims", 200},
		{http.MethodGet, "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs", 404},
		{http.MethodGet, "/apis/karpenter.sh/v1/nodepools", 404},
		{http.MethodGet, "/apis/karpenter.sh/v1/nodeclaims", 404},
		{http.MethodGet, "/apis/karpenter.k8s.aws/v1/ec2nodeclasses", 404},
		{http.MethodGet, "/apis/eks.amazonaws.com/v1/nodeclasses", 404},
		{http.MethodGet, "/apis/karpenter.sh/v1/nodepools/one", 403},
		{http.MethodGet, "/apis/eks.amazonaws.com/v1alpha1/nodediagnostics", 403},
		{http.MethodPatch, "/apis/karpenter.sh/v1/nodepools/one", 403},
		{http.MethodPut, "/apis/certificates.k8s.io/v1/certificatesigningrequests/one/approval", 403},
		{http.MethodGet, "/api/v1/secrets", 403},
		{http.MethodGet, "/api/v1/namespaces/kube-system/configmaps", 403},
		{http.MethodPatch, "/api/v1/nodes/bare", 403},
		{http.MethodDelete, "/api/v1/nodes/bare", 403},
		{http.MethodDelete, "/api/v1/nodes", 403},
	} {
		got := real.ask(t, rollcallToken, r.method, r.target, nil)
		if got.code != r.code || r.code == 403 && got.status().Reason != "Forbidden" {
			t.Errorf("%s %s = %d %q, want %d", r.method, r.target, got.code, got.status().Reason, r.code)
		}
	}
	// The API's own list of what the callers may in a namespace: Rollcall's is
	// longer by what its reader asks for, and by nothing else.
	for _, namespace := range []string{"default", "kube-system", "kube-public"} {
		want := rules(t, real, strangerToken, namespace)
		for _, r := range gather.KubeRules(snapshot.All()...) {
			if r.Namespace == "" || r.Namespace == namespace {
				want = append(want, rule{Verbs: r.Verbs, APIGroups: []string{r.Group}, Resources: r.Resources, ResourceNames: r.Names})
			}
		}
		byText := cmpopts.SortSlices(func(a, b rule) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
		if diff := cmp.Diff(rules(t, real, rollcallToken, namespace), want, byText); diff != "" {
			t.Errorf("what Rollcall may in %s (-got +want):\n%s", namespace, diff)
		}
	}
}

// rule is one of the API's own list of a caller's rights.
type rule struct{ Verbs, APIGroups, Resources, ResourceNames []string }

func rules(t *testing.T, real *place, token, namespace string) []rule {
	t.Helper()
	got := real.ask(t, token, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
		map[string]any{"spec": map[string]any{"namespace": namespace}})
	var review struct {
		Status struct {
			ResourceRules []rule
			Incomplete    bool
		}
	}
	if err := json.Unmarshal(got.body, &review); err != nil || got.code != http.StatusCreated || review.Status.Incomplete {
		t.Fatalf("list the rights of %s: %d %s %v", token, got.code, got.body, err)
	}
	return review.Status.ResourceRules
}

// applyManifest creates what the file that the README tells people to apply
// holds.
func applyManifest(t *testing.T, real *place) {
	t.Helper()
	file, err := os.Open("../../deploy/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	paths := map[string]string{
		"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings", "Role": "roles", "RoleBinding": "rolebindings",
	}
	applied := map[string]bool{}
	for documents := yaml.NewDecoder(file); ; {
		var object map[string]any
		if err := documents.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kind, _ := object["kind"].(string)
		if paths[kind] == "" {
			t.Fatalf("the manifest holds the kind %q", kind)
		}
		path := "/apis/rbac.authorization.k8s.io/v1/"
		if meta, _ := object["metadata"].(map[string]any); meta["namespace"] != nil {
			path += fmt.Sprintf("namespaces/%s/", meta["namespace"])
		}
		if err := real.create(t.Context(), path+paths[kind], object); err != nil {
			t.Fatal(err)
		}
		applied[kind] = true
	}
	if len(applied) != len(paths) {
		t.Fatalf("the manifest holds only %v", applied)
	}
}

// made is an object as a user of a cluster makes it, and what its controller
// then writes under one of its subresources.
type made struct{ path, name, object, under, status string }

const (
	defaultPods = "/api/v1/namespaces/default/pods"
	systemPods  = "/api/v1/namespaces/kube-system/pods"
	csrs        = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	eniConfigs  = "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs"
	nodePools   = "/apis/karpenter.sh/v1/nodepools"
	nodeClaims  = "/apis/karpenter.sh/v1/nodeclaims"
	ec2Classes  = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
	autoClasses = "/apis/eks.amazonaws.com/v1/nodeclasses"
	events      = "/api/v1/namespaces/default/events"
	podEvents   = "/api/v1/namespaces/kube-system/events"
)

// objects are what is read, and beside it what must not come: pods that run,
// events about other things, objects of other names.
func objects(t *testing.T) []made {
	t.Helper()
	definition := func(plural, singular, kind, group, version string) made {
		name := plural + "." + group
		return made{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", name, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":%q,"scope":"Cluster",
			"names":{"plural":%q,"singular":%q,"kind":%q},"versions":[{"name":%q,"served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`,
			name, group, plural, singular, kind, version), "", ""}
	}
	const containers = `"containers":[{"name":"aws-node","image":"cni:v1.19.0","env":[{"name":"ENABLE_PREFIX_DELEGATION","value":"true"},{"name":"MY_NODE_NAME","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}}]}]`
	request := func(name string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"signerName":"kubernetes.io/kubelet-serving","usages":["digital signature","server auth"],"request":%q}}`, name, certificateRequest(t))
	}
	return []made{
		{"/api/v1/namespaces/kube-system/configmaps", "aws-auth", `{"metadata":{"name":"aws-auth"},"data":{"mapRoles":"- rolearn: arn:aws:iam::123456789012:role/node\n"}}`, "", ""},
		{"/api/v1/namespaces/default/configmaps", "aws-auth", `{"metadata":{"name":"aws-auth"},"data":{"mapRoles":"another"}}`, "", ""},
		{"/api/v1/namespaces/kube-system/serviceaccounts", "aws-node", `{"metadata":{"name":"aws-node","annotations":{"eks.amazonaws.com/role-arn":"arn:aws:iam::123456789012:role/cni"}}}`, "", ""},
		{"/apis/apps/v1/namespaces/kube-system/daemonsets", "aws-node", `{"metadata":{"name":"aws-node"},"spec":{"selector":{"matchLabels":{"k8s-app":"aws-node"}},"template":{"metadata":{"labels":{"k8s-app":"aws-node"}},"spec":{` + containers + `}}}}`,
			"status", `{"status":{"desiredNumberScheduled":3,"currentNumberScheduled":3,"numberMisscheduled":0,"numberReady":2}}`},
		{systemPods, "aws-node-1", `{"metadata":{"name":"aws-node-1","labels":{"k8s-app":"aws-node"}},"spec":{"nodeName":"bare","volumes":[{"name":"eks-pod-identity-token","emptyDir":{}}],` + containers + `}}`,
			"status", `{"status":{"phase":"Running","containerStatuses":[{"name":"aws-node","image":"cni:v1.19.0","imageID":"x","ready":false,"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off"}},
				"lastState":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":"2026-11-20T15:01:00Z"}}}]}}`},
		{systemPods, "coredns-1", `{"metadata":{"name":"coredns-1","labels":{"k8s-app":"kube-dns"}},"spec":{"nodeName":"bare","containers":[{"name":"coredns","image":"coredns"}]}}`, "status", `{"status":{"phase":"Running"}}`},
		{defaultPods, "web-0", `{"metadata":{"name":"web-0","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","uid":"0a1b2c3d-0000-4000-8000-000000000000","controller":true}]},
			"spec":{"containers":[{"name":"web","image":"web"}],"nodeSelector":{"disk":"ssd"},"schedulingGates":[{"name":"example.com/wait"}],
			"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"NotIn","values":["us-west-2b"]}]}]}}},
			"tolerations":[{"key":"dedicated","operator":"Equal","value":"web","effect":"NoSchedule"}],"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-web-0"}},{"name":"scratch","emptyDir":{}}]}}`, "", ""},
		{defaultPods, "web-1", `{"metadata":{"name":"web-1"},"spec":{"nodeName":"bare","containers":[{"name":"web","image":"web"}]}}`, "status", `{"status":{"phase":"Succeeded"}}`},
		{"/api/v1/persistentvolumes", "pvc-1", `{"metadata":{"name":"pvc-1"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"gp3","claimRef":{"namespace":"default","name":"data-web-0"},
			"csi":{"driver":"ebs.csi.aws.com","volumeHandle":"vol-0a1b2c3d4e5f60718"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"topology.kubernetes.io/zone","operator":"In","values":["us-west-2a"]}]}]}}}}`,
			"status", `{"status":{"phase":"Bound"}}`},
		{"/api/v1/namespaces/default/persistentvolumeclaims", "data-web-0", `{"metadata":{"name":"data-web-0"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"gp3","volumeName":"pvc-1","resources":{"requests":{"storage":"1Gi"}}}}`,
			"status", `{"status":{"phase":"Bound"}}`},
		{csrs, "csr-pending", request("csr-pending"), "", ""},
		{csrs, "csr-approved", request("csr-approved"), "approval", `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"AutoApproved"}]}}`},
		{events, "bare.1", `{"metadata":{"name":"bare.1"},"involvedObject":{"kind":"Node","name":"bare","namespace":"default"},"type":"Normal","reason":"NodeNotReady","message":"Node bare status is now: NodeNotReady","firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z","count":2}`, "", ""},
		{events, "bare.2", `{"metadata":{"name":"bare.2"},"involvedObject":{"kind":"Node","name":"bare","namespace":"default"},"type":"Warning","reason":"Rebooted","message":"Node bare has been rebooted","action":"Rebooted","reportingComponent":"kubelet","reportingInstance":"bare",
			"eventTime":"2026-11-20T15:03:00.123456Z","series":{"count":2,"lastObservedTime":"2026-11-20T15:04:00.500000Z"}}`, "", ""},
		{events, "web-0.1", `{"metadata":{"name":"web-0.1"},"involvedObject":{"kind":"Pod","name":"web-0","namespace":"default"},"type":"Normal","reason":"Scheduled","message":"another","lastTimestamp":"2026-11-20T15:02:00Z"}`, "", ""},
		{events, "web-0.2", `{"metadata":{"name":"web-0.2"},"involvedObject":{"kind":"Pod","name":"web-0","namespace":"default"},"type":"Warning","reason":"FailedScheduling","message":"0/3 nodes are available","action":"Scheduling",
			"reportingComponent":"default-scheduler","reportingInstance":"scheduler-1","eventTime":"2026-11-20T15:03:00.000000Z"}`, "", ""},
		{podEvents, "coredns-1.1", `{"metadata":{"name":"coredns-1.1"},"involvedObject":{"kind":"Pod","name":"coredns-1","namespace":"kube-system"},"type":"Warning","reason":"FailedCreatePodSandBox",
			"message":"failed to assign an IP address to container","source":{"component":"kubelet","host":"bare"},"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:02:00Z","count":3}`, "", ""},
		{events, "gpu-x7k2p.1", `{"metadata":{"name":"gpu-x7k2p.1"},"involvedObject":{"kind":"NodeClaim","apiVersion":"karpenter.sh/v1","name":"gpu-x7k2p"},"type":"Warning","reason":"InsufficientCapacityError",
			"message":"creating instance, insufficient capacity","source":{"component":"karpenter"},"firstTimestamp":"2026-11-20T15:00:00Z","lastTimestamp":"2026-11-20T15:00:00Z"}`, "", ""},
		{events, "gpu.1", `{"metadata":{"name":"gpu.1"},"involvedObject":{"kind":"NodePool","apiVersion":"karpenter.sh/v1","name":"gpu"},"type":"Warning","reason":"NoCompatibleInstanceTypes",
			"message":"NodePool requirements filtered out all instance types","source":{"component":"karpenter"},"firstTimestamp":"2026-11-20T15:01:00Z","lastTimestamp":"2026-11-20T15:01:00Z"}`, "", ""},
		{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "eniconfigs.crd.k8s.amazonaws.com", `{"metadata":{"name":"eniconfigs.crd.k8s.amazonaws.com"},"spec":{"group":"crd.k8s.amazonaws.com","scope":"Cluster",
			"names":{"plural":"eniconfigs","singular":"eniconfig","kind":"ENIConfig"},"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, "", ""},
		{eniConfigs, "us-west-2a", `{"apiVersion":"crd.k8s.amazonaws.com/v1alpha1","kind":"ENIConfig","metadata":{"name":"us-west-2a"},"spec":{"subnet":"subnet-0a1b2c3d4e5f60718","securityGroups":["sg-0a1b2c3d4e5f60718"]}}`, "", ""},
		definition("nodepools", "nodepool", "NodePool", "karpenter.sh", "v1"),
		definition("nodeclaims", "nodeclaim", "NodeClaim", "karpenter.sh", "v1"),
		definition("ec2nodeclasses", "ec2nodeclass", "EC2NodeClass", "karpenter.k8s.aws", "v1"),
		definition("nodeclasses", "nodeclass", "NodeClass", "eks.amazonaws.com", "v1"),
		{nodePools, "gpu", `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"gpu"},"spec":{"limits":{"cpu":100,"memory":"400Gi"},"template":{"metadata":{"labels":{"team":"ml"}},
			"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"},"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]}]}}},
			"status":{"resources":{"cpu":"96"},"conditions":[{"type":"NodeClassReady","status":"True","observedGeneration":1}]}}`, "", ""},
		{nodeClaims, "gpu-x7k2p", `{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim","metadata":{"name":"gpu-x7k2p","labels":{"karpenter.sh/nodepool":"gpu"}},"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"gpu"}},
			"status":{"providerID":"aws:///us-west-2a/i-0a1b2c3d4e5f60718","nodeName":"bare"}}`, "", ""},
		{ec2Classes, "gpu", `{"apiVersion":"karpenter.k8s.aws/v1","kind":"EC2NodeClass","metadata":{"name":"gpu"},"spec":{"role":"node","subnetSelectorTerms":[{"tags":{"karpenter.sh/discovery":"prod"}}]}}`, "", ""},
		{autoClasses, "default", `{"apiVersion":"eks.amazonaws.com/v1","kind":"NodeClass","metadata":{"name":"default"},"spec":{"role":"auto","subnetSelectorTerms":[{"id":"subnet-0a1b2c3d4e5f60718"}]}}`, "", ""},
	}
}

// certificateRequest is what a kubelet sends for its serving certificate, in
// PEM and base64.
func certificateRequest(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "system:node:bare", Organization: []string{"system:nodes"}}, DNSNames: []string{"bare"},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// place is a Kubernetes API: the real one, or the stage's.
type place struct {
	name, endpoint string
	ca             []byte
	http           *http.Client
}

func newPlace(t *testing.T, name, endpoint string, ca []byte) *place {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatalf("%s: the authority holds no certificate: %q", name, ca)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &place{name: name, endpoint: endpoint, ca: ca, http: &http.Client{Transport: transport}}
}

// nodes lists the nodes with Rollcall's own reader.
func (p *place) nodes(ctx context.Context, token string) ([]kube.Node, error) {
	client, err := kube.New(p.endpoint, p.ca, token)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	return client.Nodes(ctx)
}

// refusal lists the nodes and gives the status that came instead.
func (p *place) refusal(t *testing.T, token string) kube.StatusError {
	t.Helper()
	nodes, err := p.nodes(t.Context(), token)
	var status *kube.StatusError
	if !errors.As(err, &status) {
		t.Fatalf("%s: got %d nodes and %v, want a status", p.name, len(nodes), err)
	}
	return *status
}

// answer is what came back.
type answer struct {
	code int
	body []byte
}

// ask makes one request as it is. A token may be empty.
func (p *place) ask(t *testing.T, token, method, target string, body any) answer {
	t.Helper()
	got, err := p.try(t.Context(), token, method, target, body)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	return got
}

func (p *place) try(ctx context.Context, token, method, target string, body any) (answer, error) {
	var content io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, p.endpoint+target, content)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := p.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, fmt.Errorf("%s %s: %w", method, target, err)
	}
	return answer{code: res.StatusCode, body: got}, nil
}

// create makes an object.
func (p *place) create(ctx context.Context, path string, object any) error {
	got, err := p.try(ctx, adminToken, http.MethodPost, path, object)
	if err != nil {
		return err
	}
	if got.code != http.StatusCreated {
		return fmt.Errorf("create in %s: %d %s", path, got.code, got.body)
	}
	return nil
}

// status reads an answer as the API's error.
func (a answer) status() kube.StatusError {
	var s struct {
		Kind, Reason, Message string
		Code                  int
	}
	if err := json.Unmarshal(a.body, &s); err != nil || s.Kind != "Status" || s.Code != a.code {
		return kube.StatusError{Code: a.code, Message: fmt.Sprintf("not a Status: %.80s", a.body)}
	}
	return kube.StatusError{Code: s.Code, Reason: s.Reason, Message: s.Message}
}

// page is what a list says beside its objects, and their names.
type page struct {
	Kind     string
	Metadata struct {
		Continue           string
		RemainingItemCount *int
	}
	Items []struct{ Metadata struct{ Name string } }
}

// list reads an answer as a list, and its code if it is none.
func (a answer) list(t *testing.T) page {
	t.Helper()
	var l page
	if err := json.Unmarshal(a.body, &l); err != nil {
		t.Fatalf("answer %d %q: %v", a.code, a.body, err)
	}
	return l
}

func (l page) names() []string {
	names := []string{}
	for _, i := range l.Items {
		names = append(names, i.Metadata.Name)
	}
	return names
}
