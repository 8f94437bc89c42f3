package kubeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// RBAC holds the roles and bindings of a manifest as a cluster has them after kubectl apply:
// what its API tells of them. What is deleted or replaced by hand is returned from then on;
// it changes nothing of what the stage's API allows.
type RBAC struct {
	mu  sync.Mutex
	all []rbacObject
}

// rbacObject is one of them, by its kind's plural.
type rbacObject struct {
	plural string
	raw    json.RawMessage
}

// ReadRBAC reads a manifest.
func ReadRBAC(manifest []byte) (*RBAC, error) {
	list, err := parse(manifest)
	if err != nil {
		return nil, err
	}
	return &RBAC{all: list}, nil
}

// Replace makes the manifest's objects all that there are.
func (o *RBAC) Replace(manifest []byte) error {
	list, err := parse(manifest)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = list
	return nil
}

// List lists the objects of a kind by its plural; ok is false for kinds of other groups.
func (o *RBAC) List(plural string) (items []json.RawMessage, ok bool) {
	if !slices.Contains(plurals(), plural) {
		return nil, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, x := range o.all {
		if x.plural == plural {
			items = append(items, x.raw)
		}
	}
	return items, true
}

// head is what all of these objects have.
type head struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	RoleRef  struct{ Kind, Name string }
	Subjects []struct{ Kind, Name string }
	Rules    []struct {
		APIGroups, Resources, ResourceNames, Verbs []string
	}
}

// Apply makes an object, or replaces the one of its name, and reports whether it was there
// (Kubernetes, "Server-Side Apply": a PATCH creates what is not there).
func (o *RBAC) Apply(plural string, object json.RawMessage) (there bool, err error) {
	wanted, err := readHead(object)
	if err != nil {
		return false, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, x := range o.all {
		if h, err := readHead(x.raw); err == nil && x.plural == plural && h.Metadata == wanted.Metadata {
			o.all[i].raw, there = object, true
		}
	}
	if !there {
		o.all = append(o.all, rbacObject{plural, object})
	}
	return there, nil
}

func readHead(raw json.RawMessage) (h head, err error) {
	if err = json.Unmarshal(raw, &h); err != nil {
		return h, fmt.Errorf("read the object: %w", err)
	}
	return h, nil
}

// Rules are those that bindings give a group.
func (o *RBAC) Rules(group string) (list []Rule) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []head
	for _, x := range o.all {
		if h, err := readHead(x.raw); err == nil {
			all = append(all, h)
		}
	}
	for _, binding := range all {
		if !slices.ContainsFunc(binding.Subjects, func(s struct{ Kind, Name string }) bool { return s.Kind == "Group" && s.Name == group }) {
			continue
		}
		for _, role := range all {
			if role.Kind != binding.RoleRef.Kind || role.Metadata.Name != binding.RoleRef.Name || role.Kind == "Role" && role.Metadata.Namespace != binding.Metadata.Namespace {
				continue
			}
			for _, r := range role.Rules {
				rule := Rule{Groups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs, Names: r.ResourceNames}
				if binding.Metadata.Namespace != "" {
					rule.Namespaces = []string{binding.Metadata.Namespace}
				}
				list = append(list, rule)
			}
		}
	}
	return list
}

// plurals are the kinds of rbac.authorization.k8s.io (Kubernetes, "Using RBAC
// Authorization").
func plurals() []string {
	return []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"}
}

func parse(manifest []byte) ([]rbacObject, error) {
	var list []rbacObject
	for objects := yaml.NewDecoder(bytes.NewReader(manifest)); ; {
		var v map[string]any
		if err := objects.Decode(&v); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		kind, _ := v["kind"].(string)
		plural := strings.ToLower(kind) + "s"
		if !slices.Contains(plurals(), plural) {
			return nil, fmt.Errorf("read the manifest: %q is no role and no binding", kind)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("read the manifest: %w", err)
		}
		list = append(list, rbacObject{plural, raw})
	}
}
