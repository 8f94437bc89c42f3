//go:build kube

package kubetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"rollcall/shared/gather"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

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
