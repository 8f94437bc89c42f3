// Package awsauth reads the ConfigMap kube-system/aws-auth as the cluster's
// authenticator does: which IAM roles and users are which Kubernetes users.
// What it does stands in kubernetes-sigs/aws-iam-authenticator (commit 81b1dab):
// pkg/mapper/configmap (ParseMap, saveMap, Map), pkg/config/mapper.go (Matches,
// Key) and pkg/arn (Canonicalize).
package awsauth

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Mapping is one entry of mapRoles or mapUsers.
type Mapping struct {
	// ARN is the entry's rolearn in mapRoles, its userarn in mapUsers, as
	// written; empty when it has none.
	ARN string
	// Stray is a rolearn found in mapUsers or a userarn found in mapRoles,
	// which nothing reads.
	Stray    string
	Username string
	Groups   []string
	// Place is the entry's place in its list, from 1.
	Place int
	// Fault is what of the entry is not written as it must be, if anything;
	// the rest of it still counts.
	Fault string
}

// maxText bounds what is read: Kubernetes keeps no ConfigMap over 1 MiB.
const maxText = 1 << 20

// Roles reads mapRoles. An error means that the authenticator gets nothing
// from it: it is no YAML, or no list.
func Roles(text string) ([]Mapping, error) { return read(text, "mapRoles", "rolearn", "userarn") }

// Users reads mapUsers.
func Users(text string) ([]Mapping, error) { return read(text, "mapUsers", "userarn", "rolearn") }

func read(text, field, arn, stray string) ([]Mapping, error) {
	// The authenticator skips what people write for "nothing" (isSkippable).
	if trimmed := strings.TrimSpace(text); slices.Contains([]string{"", "``", `""`, "''"}, trimmed) {
		return nil, nil
	}
	if len(text) > maxText {
		return nil, fmt.Errorf("read %s: %d bytes are more than a ConfigMap can hold", field, len(text))
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("read %s: %w", field, err)
	}
	if len(document.Content) == 0 {
		return nil, nil // comments only
	}
	list := resolve(document.Content[0])
	switch {
	case list.Kind == yaml.ScalarNode && list.Tag == "!!null":
		return nil, nil
	case list.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("read %s: it is %s, not a list", field, kind(list))
	}
	var mappings []Mapping
	for i, item := range list.Content {
		mappings = append(mappings, mapping(resolve(item), i+1, arn, stray))
	}
	return mappings, nil
}

func mapping(n *yaml.Node, place int, arn, stray string) Mapping {
	m := Mapping{Place: place}
	if n.Kind != yaml.MappingNode {
		m.Fault = fmt.Sprintf("entry %d is %s, not a mapping", place, kind(n))
		return m
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := resolve(n.Content[i+1])
		var err error
		// Keys count in any case: people write roleARN too.
		switch key := strings.ToLower(n.Content[i].Value); key {
		case arn:
			m.ARN, err = text(value)
		case stray:
			m.Stray, err = text(value)
		case "username":
			m.Username, err = text(value)
		case "groups":
			m.Groups, err = texts(value)
		}
		if err != nil && m.Fault == "" {
			m.Fault = fmt.Sprintf("entry %d, %s: %s", place, n.Content[i].Value, err)
		}
	}
	return m
}

func text(n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("it is %s, not a text", kind(n))
	case n.Tag == "!!null":
		return "", nil
	case n.Tag != "!!str":
		return "", errors.New("it is not a text")
	}
	return n.Value, nil
}

func texts(n *yaml.Node) ([]string, error) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, nil
	case n.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("it is %s, not a list", kind(n))
	}
	var list []string
	for _, item := range n.Content {
		value, err := text(resolve(item))
		if err != nil {
			return list, err
		}
		list = append(list, value)
	}
	return list, nil
}

// resolve follows an alias. One step is enough: an anchor is never an alias.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value"
}

// Canonical is the ARN by which the authenticator looks a role up: STS names
// an assumed role without its path, so the path is not in it (Canonicalize).
func Canonical(role string) string {
	start := strings.Index(role, ":role/")
	if start < 0 {
		return role
	}
	return role[:start] + ":role/" + role[strings.LastIndexByte(role, '/')+1:]
}

// ForRole returns the mappings that the authenticator would find for a role, in their
// order; capitals do not count (Matches). Of several, the last one counts: saveMap
// keeps roles by their ARN in small letters.
func ForRole(list []Mapping, role string) []Mapping {
	want := Canonical(role)
	return slices.DeleteFunc(slices.Clone(list), func(m Mapping) bool { return !strings.EqualFold(m.ARN, want) })
}

// Means is what a mapping lets a node do.
type Means int

// The means.
const (
	// Joins: as a node, or as an administrator, who may do all that a node may.
	Joins Means = iota
	// Hardly: a node without system:bootstrappers, which the documentation
	// asks for and the node authorizer does not.
	Hardly
	// Renamed: as a node of another name than the kubelet registers.
	Renamed
	// Never: the API server takes it for no node.
	Never
)

// sessionName is right for Fargate and Auto Mode. The session of an instance is called
// by the instance's id, and a node may only write the Node of its own name (Kubernetes,
// "Using Node Authorization"; aws/karpenter-provider-aws#7508).
const sessionName = "system:node:{{SessionName}}"

// Node reports whether a kubelet that comes with this mapping may register: the
// node authorizer wants the group system:nodes and a user name that begins
// with system:node: (Kubernetes, "Using Node Authorization").
func (m Mapping) Node() (Means, string) {
	switch {
	case slices.Contains(m.Groups, "system:masters"):
		return Joins, ""
	case !slices.Contains(m.Groups, "system:nodes"):
		return Never, "without the group system:nodes"
	case !strings.HasPrefix(m.Username, "system:node:"):
		return Never, fmt.Sprintf("as user %q, which is no node", m.Username)
	case m.Username == sessionName:
		return Renamed, "as user system:node:{{SessionName}}, which is the instance's id and not the node's name"
	case !slices.Contains(m.Groups, "system:bootstrappers"):
		return Hardly, "without the group system:bootstrappers"
	}
	return Joins, ""
}
