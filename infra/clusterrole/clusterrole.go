// Package clusterrole makes the Kubernetes manifest of the functions' rights
// in a watched cluster, for access by group (setting kubernetesAccess).
package clusterrole

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"rollcall/shared/fn"
)

// Group is the Kubernetes group that access entries put the functions in. EKS
// refuses names that begin with system:, eks:, aws:, amazon: or iam:.
const Group = "rollcall"

const header = `# The Kubernetes rights of Rollcall, for kubernetesAccess=group: apply it once
# in each watched cluster. Made from the functions' specs: make generate.
`

type metadata struct {
	Name string `yaml:"name"`
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

// Manifest is the ClusterRole and its binding, as YAML.
func Manifest(list []fn.Spec) ([]byte, error) {
	const rbac = "rbac.authorization.k8s.io"
	name := metadata{Name: Group}
	var out bytes.Buffer
	out.WriteString(header)
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	documents := []any{
		role{APIVersion: rbac + "/v1", Kind: "ClusterRole", Metadata: name, Rules: rules(list)},
		binding{
			APIVersion: rbac + "/v1", Kind: "ClusterRoleBinding", Metadata: name,
			RoleRef:  roleRef{APIGroup: rbac, Kind: "ClusterRole", Name: Group},
			Subjects: []subject{{APIGroup: rbac, Kind: "Group", Name: Group}},
		},
	}
	for _, d := range documents {
		if err := enc.Encode(d); err != nil {
			return nil, fmt.Errorf("encode manifest: %w", err)
		}
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return out.Bytes(), nil
}

// rules is what any of the functions needs, once, in a fixed order.
func rules(list []fn.Spec) []rule {
	rules := []rule{}
	seen := map[string]bool{}
	for _, spec := range list {
		for _, k := range spec.Kube {
			r := rule{
				APIGroups: []string{k.Group},
				Resources: slices.Sorted(slices.Values(k.Resources)),
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
