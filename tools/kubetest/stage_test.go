//go:build kube

package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/gather"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/kubeapi"
)

// startStage starts the stage's API with objects by their plurals.
func startStage(t *testing.T, objects map[string][]json.RawMessage) *place {
	t.Helper()
	now := time.Now
	authority, err := kubeapi.NewAuthority(now())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(kubeapi.New(kubeapi.Config{
		Version:      "1.36",
		Authenticate: authenticate,
		Objects:      func(plural string) ([]json.RawMessage, string, error) { return objects[plural], "42", nil },
		Faults:       wire.FaultFunc(func(context.Context, *wire.Call) error { return nil }),
		Record:       func(wire.Call) {},
		Now:          now, Wall: now,
	}))
	server.EnableHTTP2 = true
	if server.TLS, err = authority.ServerTLS(); err != nil {
		t.Fatal(err)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return newPlace(t, "stage", server.URL, authority.PEM())
}

// authenticate knows the callers of the token file. The one in the manifest's
// group has the rights that the manifest is made from, as on the stage.
func authenticate(_ context.Context, token string) (kubeapi.User, error) {
	switch token {
	case adminToken:
		all := []string{"*"}
		return kubeapi.User{Name: "admin", Rules: []kubeapi.Rule{{Groups: all, Resources: all, Verbs: all}}}, nil
	case rollcallToken:
		user := kubeapi.User{Name: "arn:aws:iam::123456789012:role/join-check"}
		for _, r := range gather.KubeRules(snapshot.All()...) {
			user.Rules = append(user.Rules, kubeapi.Rule{Groups: []string{r.Group}, Resources: r.Resources, Verbs: r.Verbs, Names: r.Names, Namespaces: namespacesOf(r)})
		}
		return user, nil
	case strangerToken:
		return kubeapi.User{Name: "arn:aws:iam::123456789012:role/stranger"}, nil
	}
	return kubeapi.User{}, errors.New("unknown token")
}

// namespacesOf are the namespaces of a rule, none for the whole cluster.
func namespacesOf(r spec.KubeRule) []string {
	if r.Namespace == "" {
		return nil
	}
	return []string{r.Namespace}
}

// objects lists the objects at a path as they are, on one page.
func (p *place) objects(t *testing.T, path string) []json.RawMessage {
	t.Helper()
	var list struct{ Items []json.RawMessage }
	got := p.ask(t, adminToken, http.MethodGet, path, nil)
	if err := json.Unmarshal(got.body, &list); got.code != http.StatusOK || err != nil {
		t.Fatalf("%s: %s: %d %v", p.name, path, got.code, err)
	}
	return list.Items
}

// manyNodes is more than two pages of the reader's 500.
const manyNodes = 1200

// sample is a node as it is created, and as the reader must read it. The time
// of creation is the server's.
type sample struct {
	object string
	want   func(*kube.Node)
}

// samples are nodes of the forms that are met in clusters. The names of the
// many sort among them.
func samples() []sample {
	out := []sample{
		{
			// An ordinary EC2 node. The reader leaves out the most of it.
			object: `{"metadata":{"name":"ip-10-42-0-9.us-west-2.compute.internal","labels":{"eks.amazonaws.com/nodegroup":"workers","special":""},"annotations":{"node.alpha.kubernetes.io/ttl":"0"}},
				"spec":{"providerID":"aws:///us-west-2a/i-0ef3c1b2a4d5968f1","podCIDR":"10.42.0.0/24"},
				"status":{"capacity":{"cpu":"2","memory":"7934Mi","pods":"29"},"addresses":[{"type":"InternalIP","address":"10.42.0.9"}],"nodeInfo":{"kubeletVersion":"v1.33.1-eks-1","osImage":"Amazon Linux 2023"},
				"conditions":[{"type":"MemoryPressure","status":"False","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available","lastHeartbeatTime":"2026-11-20T15:05:00Z","lastTransitionTime":"2026-11-20T15:00:40Z"},
					{"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status","lastHeartbeatTime":"2026-11-20T15:05:00Z","lastTransitionTime":"2026-11-20T15:00:58Z"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "ip-10-42-0-9.us-west-2.compute.internal"
				n.Metadata.Labels = map[string]string{"eks.amazonaws.com/nodegroup": "workers", "special": ""}
				n.Metadata.Annotations = map[string]string{"node.alpha.kubernetes.io/ttl": "0"}
				n.Spec.ProviderID = "aws:///us-west-2a/i-0ef3c1b2a4d5968f1"
				n.Status.NodeInfo.KubeletVersion = "v1.33.1-eks-1"
				n.Status.Addresses = []kube.Address{{Type: "InternalIP", Address: "10.42.0.9"}}
				n.Status.Capacity.Pods = "29"
				n.Status.Conditions = []kube.Condition{
					{Type: "MemoryPressure", Status: "False", Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available", LastTransitionTime: at("15:00:40")},
					{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "kubelet is posting ready status", LastTransitionTime: at("15:00:58")},
				}
			},
		},
		{
			// One that has just registered.
			object: `{"metadata":{"name":"ip-10-42-0-10.us-west-2.compute.internal"},"spec":{"providerID":"aws:///us-west-2b/i-0aa3c1b2a4d5968f2",
				"taints":[{"key":"node.cloudprovider.kubernetes.io/uninitialized","value":"true","effect":"NoSchedule"},{"key":"node.kubernetes.io/not-ready","effect":"NoExecute","timeAdded":"2026-11-20T15:00:41Z"}]},
				"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady","message":"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: \"cni <plugin> & config\" – uninitialized","lastTransitionTime":"2026-11-20T15:00:40Z"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "ip-10-42-0-10.us-west-2.compute.internal"
				n.Spec.ProviderID = "aws:///us-west-2b/i-0aa3c1b2a4d5968f2"
				n.Spec.Taints = []kube.Taint{
					{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: "NoSchedule"},
					{Key: "node.kubernetes.io/not-ready", Effect: "NoExecute"},
				}
				n.Status.Conditions = []kube.Condition{{Type: "Ready", Status: "False", Reason: "KubeletNotReady",
					Message:            `container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: "cni <plugin> & config" – uninitialized`,
					LastTransitionTime: at("15:00:40")}}
			},
		},
		{
			// One of Fargate: no instance is behind it.
			object: `{"metadata":{"name":"fargate-ip-10-42-96-7.us-west-2.compute.internal","labels":{"eks.amazonaws.com/compute-type":"fargate"}},
				"spec":{"providerID":"aws:///us-west-2c/5cf7a1c2d3-9d1f3f6c0ab84b7d/fargate-ip-10-42-96-7.us-west-2.compute.internal","taints":[{"key":"eks.amazonaws.com/compute-type","value":"fargate","effect":"NoSchedule"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "fargate-ip-10-42-96-7.us-west-2.compute.internal"
				n.Metadata.Labels = map[string]string{"eks.amazonaws.com/compute-type": "fargate"}
				n.Spec.ProviderID = "aws:///us-west-2c/5cf7a1c2d3-9d1f3f6c0ab84b7d/fargate-ip-10-42-96-7.us-west-2.compute.internal"
				n.Spec.Taints = []kube.Taint{{Key: "eks.amazonaws.com/compute-type", Value: "fargate", Effect: "NoSchedule"}}
			},
		},
		{
			// A hybrid node that is lost.
			object: `{"metadata":{"name":"mi-0123456789abcdef0"},"spec":{"providerID":"eks-hybrid:///us-west-2/prod/mi-0123456789abcdef0"},
				"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status.","lastTransitionTime":"2026-11-20T15:00:40Z"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "mi-0123456789abcdef0"
				n.Spec.ProviderID = "eks-hybrid:///us-west-2/prod/mi-0123456789abcdef0"
				n.Status.Conditions = []kube.Condition{{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.", LastTransitionTime: at("15:00:40")}}
			},
		},
		{
			// One with next to nothing: the API writes a time that is not set as null.
			object: `{"metadata":{"name":"bare"},"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "bare"
				n.Spec.Unschedulable = true
				n.Status.Conditions = []kube.Condition{{Type: "Ready", Status: "Unknown"}}
			},
		},
	}
	for i := range manyNodes {
		name, zone, id := fmt.Sprintf("ip-10-42-%d-%d.many", i/250, i%250), "us-west-2"+string("abc"[i%3]), fmt.Sprintf("aws:///us-west-2a/i-%017x", i)
		out = append(out, sample{
			object: fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"topology.kubernetes.io/zone":%q,"i":"%d"}},"spec":{"providerID":%q}}`, name, zone, i, id),
			want: func(n *kube.Node) {
				n.Metadata.Name, n.Spec.ProviderID = name, id
				n.Metadata.Labels = map[string]string{"topology.kubernetes.io/zone": zone, "i": fmt.Sprint(i)}
			},
		})
	}
	return out
}

func (s sample) node() kube.Node {
	var n kube.Node
	s.want(&n)
	return n
}

func (s sample) json() json.RawMessage { return json.RawMessage(s.object) }

// at is a time of the day of the samples.
func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
	if err != nil {
		panic(err) // a mistake in the literals above
	}
	return t
}

// testAnswers compares what is said instead of a list.
func testAnswers(t *testing.T, real, stage *place) {
	for _, token := range []string{wrongToken, strangerToken} {
		if diff := cmp.Diff(stage.refusal(t, token), real.refusal(t, token)); diff != "" {
			t.Errorf("the reader with the %s (-stage +kube-apiserver):\n%s", token, diff)
		}
	}
	for _, r := range []struct {
		token, method, target string
		code                  int
	}{
		{"", http.MethodGet, "/api/v1/nodes", 401},
		{wrongToken, http.MethodGet, "/api/v1/nodes", 401},
		{wrongToken, http.MethodGet, "/api", 401},
		{wrongToken, http.MethodGet, "/nothing/here", 401},
		{wrongToken, http.MethodDelete, "/api/v1/nodes/bare", 401},

		{strangerToken, http.MethodGet, "/api/v1/nodes", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes?limit=500", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes/bare", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes/missing", 403},
		{strangerToken, http.MethodGet, "/api/v1/nodes?labelSelector=-broken", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes/bare/proxy", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes/bare/status", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes?watch=true", 403},
		{rollcallToken, http.MethodGet, "/api/v1/nodes?watch=1&fieldSelector=metadata.name%3Dbare", 403},
		{rollcallToken, http.MethodGet, "/api/v1/pods?watch=true", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/pods/one", 403},
		{rollcallToken, http.MethodGet, "/api/v1/secrets", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps", 403},
		{rollcallToken, http.MethodGet, "/api/v1/namespaces/kube-system/configmaps/aws-auth", 404},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/daemonsets", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets", 403},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node", 404},
		{rollcallToken, http.MethodGet, "/apis/apps/v1/namespaces/default/daemonsets/aws-node", 403},
		{rollcallToken, http.MethodGet, "/api/v1/widgets", 403},
		{rollcallToken, http.MethodGet, "/apis/example.com/v1/widgets", 403},
		{rollcallToken, http.MethodGet, "/apis/example.com/v1", 404},
		{rollcallToken, http.MethodGet, "/api/v1/secrets?fieldSelector=metadata.name%3Dbare", 403},
		{rollcallToken, http.MethodPost, "/api/v1/nodes", 403},
		{rollcallToken, http.MethodPut, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodPatch, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodDelete, "/api/v1/nodes/bare", 403},
		{rollcallToken, http.MethodDelete, "/api/v1/nodes", 403},

		{adminToken, http.MethodGet, "/api/v1/nodes/missing", 404},
		{adminToken, http.MethodGet, "/api/v1/namespaces/kube-system/pods/missing", 404},
		{adminToken, http.MethodGet, "/apis/apps/v1/namespaces/kube-system/daemonsets/missing", 404},
		{adminToken, http.MethodGet, "/api/v1/widgets", 404},
		{adminToken, http.MethodGet, "/api/v1/widgets/one", 404},
		{adminToken, http.MethodGet, "/apis/apps/v1/widgets", 404},
		{adminToken, http.MethodGet, "/apis/example.com/v1/widgets", 404},
		{adminToken, http.MethodGet, "/apis/example.com/v1", 404},
		{adminToken, http.MethodGet, "/nothing/here", 404},
	} {
		var body any
		if r.method != http.MethodGet && r.method != http.MethodDelete {
			body = json.RawMessage(`{"metadata":{"name":"bare"}}`)
		}
		inReal, onStage := real.ask(t, r.token, r.method, r.target, body).status(), stage.ask(t, r.token, r.method, r.target, body).status()
		if inReal.Code != r.code {
			t.Errorf("%s %s: kube-apiserver answered %v, want %d", r.method, r.target, &inReal, r.code)
		}
		if diff := cmp.Diff(onStage, inReal); diff != "" {
			t.Errorf("%s %s (-stage +kube-apiserver):\n%s", r.method, r.target, diff)
		}
	}
	// What is wrong with a request, each API says in its own words.
	for _, query := range []string{"labelSelector=a+in+b", "labelSelector=-a", "labelSelector=a%3Db+c", "fieldSelector=spec.providerID%3Dx", "limit=x", "labelSelector=i%3Eone", "fieldSelector=metadata.name", "continue=x&limit=1"} {
		type said struct {
			Code   int
			Reason string
		}
		var got []said
		for _, p := range []*place{stage, real} {
			s := p.ask(t, adminToken, http.MethodGet, "/api/v1/nodes?"+query, nil).status()
			got = append(got, said{s.Code, s.Reason})
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%s (-stage +kube-apiserver):\n%s", query, diff)
		}
	}
}
