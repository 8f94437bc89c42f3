// Package clusterrole makes the Kubernetes manifest of the functions' rights
// in a watched cluster, for access by group (setting kubernetesAccess): a
// ClusterRole for what belongs to no namespace, and a Role in each namespace
// in which something is read.
package clusterrole

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"rollcall/shared/spec"
)

// Group is the Kubernetes group that access entries put the functions in. EKS
// refuses names that begin with system:, eks:, aws:, amazon: or iam:.
const Group = "rollcall"

const header = `# The Kubernetes rights of Rollcall, for kubernetesAccess=group: apply it once
# in each watched cluster. Made from the functions' specs: make generate.
`

type metadata struct {
	Name      string `yaml:"name"`
	Namespace string `yaml:"namespace,omitempty"`
}

type role struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Rules      []rule   `yaml:"rules"`
}

type rule struct {
	APIGroups []string `yaml:"apiGroups,flow"`
	Resources []string `yaml:"resources,flow"`
	Names     []string `yaml:"resourceNames,flow,omitempty"`
	Verbs     []string `yaml:"verbs,flow"`
}

type binding struct {
	APIVersion string    `yaml:"apiVersion"`
	Kind       string    `yaml:"kind"`
	Metadata   metadata  `yaml:"metadata"`
	RoleRef    roleRef   `yaml:"roleRef"`
	Subjects   []subject `yaml:"subjects"`
}

type roleRef struct {
	APIGroup string `yaml:"apiGroup"`
	Kind     string `yaml:"kind"`
	Name     string `yaml:"name"`
}

type subject = roleRef

// Manifest is the roles and their bindings, as YAML.
func Manifest(list []spec.Spec) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(header)
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	for _, namespace := range namespaces(list) {
		for _, d := range grant(namespace, rules(list, namespace)) {
			if err := enc.Encode(d); err != nil {
				return nil, fmt.Errorf("encode manifest: %w", err)
			}
		}
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return out.Bytes(), nil
}

// grant is a role and its binding, in a namespace or, without one, for the
// whole cluster.
func grant(namespace string, rules []rule) []any {
	const rbac = "rbac.authorization.k8s.io"
	scope := "Cluster"
	if namespace != "" {
		scope = ""
	}
	name := metadata{Name: Group, Namespace: namespace}
	return []any{
		role{APIVersion: rbac + "/v1", Kind: scope + "Role", Metadata: name, Rules: rules},
		binding{
			APIVersion: rbac + "/v1", Kind: scope + "RoleBinding", Metadata: name,
			RoleRef:  roleRef{APIGroup: rbac, Kind: scope + "Role", Name: Group},
			Subjects: []subject{{APIGroup: rbac, Kind: "Group", Name: Group}},
		},
	}
}

// namespaces are those in which something is read; the empty one, for the
// whole cluster, is always the first.
func namespaces(list []spec.Spec) []string {
	names := []string{""}
	for _, spec := range list {
		for _, k := range spec.Kube {
			names = append(names, k.Namespace)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// rules is what any of the functions needs in a namespace, once, in a fixed
// order.
func rules(list []spec.Spec, namespace string) []rule {
	rules := []rule{}
	seen := map[string]bool{}
	for _, spec := range list {
		for _, k := range spec.Kube {
			if k.Namespace != namespace {
				continue
			}
			r := rule{
				APIGroups: []string{k.Group},
				Resources: slices.Sorted(slices.Values(k.Resources)),
				Names:     slices.Sorted(slices.Values(k.Names)),
				Verbs:     slices.Sorted(slices.Values(k.Verbs)),
			}
			if key := fmt.Sprint(r); !seen[key] {
				seen[key] = true
				rules = append(rules, r)
			}
		}
	}
	slices.SortFunc(rules, func(a, b rule) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return rules
}
