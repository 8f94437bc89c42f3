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
