package take

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"rollcall/shared/capture/filename"
	"rollcall/shared/kube"
)

// Cluster is where a cluster's API is.
type Cluster struct {
	Name     string
	Endpoint string // of EKS
	CA       []byte // PEM
}

// Kubernetes is a cluster's API. An answer that is not a success is a *kube.StatusError.
type Kubernetes interface {
	Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error)
	Close()
}

var _ Kubernetes = (*kube.Client)(nil)

// kind is what is taken of a cluster, by the part of the file's name after kubectl-get-.
type kind struct {
	file, group, version, plural string
	// namespace and name are of a single object.
	namespace, name string
}

func kinds() []kind {
	const system = "kube-system"
	return []kind{
		{file: "nodes", version: "v1", plural: "nodes"},
		{file: "pods", version: "v1", plural: "pods"},
		{file: "pv", version: "v1", plural: "persistentvolumes"},
		{file: "pvc", version: "v1", plural: "persistentvolumeclaims"},
		{file: "events", version: "v1", plural: "events"},
		{file: "csr", group: "certificates.k8s.io", version: "v1", plural: "certificatesigningrequests"},
		{file: "daemonset-aws-node", group: "apps", version: "v1", plural: "daemonsets", namespace: system, name: "aws-node"},
		{file: "serviceaccount-aws-node", version: "v1", plural: "serviceaccounts", namespace: system, name: "aws-node"},
		{file: "configmap-aws-auth", version: "v1", plural: "configmaps", namespace: system, name: "aws-auth"},
		{file: "eniconfigs", group: "crd.k8s.amazonaws.com", version: "v1alpha1", plural: "eniconfigs"},
		{file: "nodepools", group: "karpenter.sh", version: "v1", plural: "nodepools"},
		{file: "nodeclaims", group: "karpenter.sh", version: "v1", plural: "nodeclaims"},
		{file: "ec2nodeclasses", group: "karpenter.k8s.aws", version: "v1", plural: "ec2nodeclasses"},
		{file: "nodeclasses", group: "eks.amazonaws.com", version: "v1", plural: "nodeclasses"},
		{file: "cninodes", group: "vpcresources.k8s.aws", version: "v1alpha1", plural: "cninodes"},
	}
}

// path is where the API has a kind.
func (k kind) path() string {
	parts := []string{"api", k.version}
	if k.group != "" {
		parts = []string{"apis", k.group, k.version}
	}
	if k.name != "" {
		return "/" + strings.Join(append(parts, "namespaces", k.namespace, k.plural, k.name), "/")
	}
	return "/" + strings.Join(append(parts, k.plural), "/")
}

// kubernetes takes what a cluster's own API says.
func (t *taker) kubernetes(ctx context.Context, name string, described map[string]any) cluster {
	if t.asked.Kubernetes == nil {
		return cluster{}
	}
	where, ok := place(name, described)
	if !ok {
		t.note("cluster %s: nobody knows where its API is: what Kubernetes says is left out", name)
		return cluster{}
	}
	api, err := t.asked.Kubernetes(ctx, where)
	var input *InputError
	if errors.As(err, &input) {
		t.fail(err)
		return cluster{}
	}
	if err != nil {
		t.note("cluster %s: %s: what Kubernetes says is left out", name, oneLine(err))
		return cluster{}
	}
	defer api.Close()
	served := t.served(ctx, api)
	all := kinds()
	trees := make([]map[string]any, len(all))
	list(t, all, func(i int, k kind) {
		if version := served[k.group]; version != "" {
			k.version = version
		}
		trees[i] = t.take(ctx, filename.Of("kubectl-get-"+k.file, name), func(ctx context.Context) (map[string]any, error) {
			if k.name != "" {
				return t.object(ctx, api, k.path(), nil)
			}
			return t.objects(ctx, api, k.path())
		})
	})
	var found cluster
	for i, k := range all {
		found.add(leads(k, trees[i]))
	}
	return found
}

// leads are what a cluster's objects lead to.
func leads(k kind, tree map[string]any) cluster {
	switch k.file {
	case "nodes":
		return cluster{ready: readyInstances(tree)}
	case "serviceaccount-aws-node":
		meta, _ := tree["metadata"].(map[string]any)
		annotations, _ := meta["annotations"].(map[string]any)
		if role, ok := annotations["eks.amazonaws.com/role-arn"].(string); ok {
			return cluster{roles: []string{role}}
		}
	case "nodeclasses", "ec2nodeclasses":
		return cluster{roles: picksOf(tree, "items[].spec.role"), profiles: picksOf(tree, "items[].spec.instanceProfile")}
	case "nodepools":
		var types []string
		for _, r := range nodesOf(tree, "items[].spec.template.spec.requirements[]") {
			if text(r, "key") == "node.kubernetes.io/instance-type" {
				types = append(types, picks(r, "values[]")...)
			}
		}
		return cluster{types: types}
	}
	return cluster{}
}

// instanceID is at the end of a node's provider id, aws:///us-west-2a/i-0abc.
var instanceID = regexp.MustCompile(`/(i-[0-9a-f]+)$`)

func readyInstances(tree map[string]any) []string {
	var ids []string
	for _, n := range nodesOf(tree, "items[]") {
		m := instanceID.FindStringSubmatch(text(n, "spec.providerID"))
		if m == nil {
			continue
		}
		for _, c := range nodes(n, "status.conditions[]") {
			if text(c, "type") == "Ready" && text(c, "status") == "True" {
				ids = append(ids, m[1])
			}
		}
	}
	return ids
}

// served are the versions that the API prefers, by group, as kubectl asks for them.
// Without them those that are known are asked for.
func (t *taker) served(ctx context.Context, api Kubernetes) map[string]string {
	tree, err := t.object(ctx, api, "/apis", nil)
	if err != nil {
		return nil
	}
	versions := map[string]string{}
	for _, g := range nodesOf(tree, "groups[]") {
		versions[text(g, "name")] = text(g, "preferredVersion.version")
	}
	return versions
}

// object is one object as kubectl prints it: without the fields' managers.
func (t *taker) object(ctx context.Context, api Kubernetes, path string, query url.Values) (map[string]any, error) {
	tree, _, err := t.get(ctx, api, path, query)
	withoutManagers(tree)
	return tree, err
}

func (t *taker) get(ctx context.Context, api Kubernetes, path string, query url.Values) (map[string]any, int, error) {
	leave, err := t.limits.enter(ctx, "kubernetes", "")
	if err != nil {
		return nil, 0, err
	}
	raw, err := api.Raw(ctx, path, query)
	leave()
	t.count(func() { t.state.Calls++ })
	if err != nil {
		return nil, 0, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, err)
	}
	return tree, len(raw), nil
}

// objectPage is kubectl's --chunk-size.
const objectPage = 500

// objects is a list of all namespaces as kubectl prints it. A list whose pages ran out
// is begun again, once (410 Gone).
func (t *taker) objects(ctx context.Context, api Kubernetes, path string) (map[string]any, error) {
	all, err := t.objectPages(ctx, api, path)
	var status *kube.StatusError
	if errors.As(err, &status) && status.Code == http.StatusGone {
		return t.objectPages(ctx, api, path)
	}
	return all, err
}

func (t *taker) objectPages(ctx context.Context, api Kubernetes, path string) (map[string]any, error) {
	items, size := []any{}, 0
	query := url.Values{"limit": {strconv.Itoa(objectPage)}}
	for {
		page, n, err := t.get(ctx, api, path, query)
		if err != nil {
			return nil, err
		}
		if size += n; size > maxBytes {
			return nil, errTooLarge
		}
		// The items of a list do not say what they are; kubectl adds it.
		kind := strings.TrimSuffix(text(page, "kind"), "List")
		for _, item := range nodesOf(page, "items[]") {
			if object, ok := item.(map[string]any); ok {
				object["apiVersion"], object["kind"] = text(page, "apiVersion"), kind
				withoutManagers(object)
				items = append(items, object)
			}
		}
		next := text(page, "metadata.continue")
		switch {
		case next == "":
			return map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}, nil
		case next == query.Get("continue"):
			return nil, errHalf
		}
		query.Set("continue", next)
	}
}

func withoutManagers(object map[string]any) {
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
}
