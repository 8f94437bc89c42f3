package kubeapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// object is one Kubernetes object: its JSON, and what lists look at.
type object struct {
	raw  json.RawMessage
	meta struct {
		Metadata struct {
			Name, Namespace, UID string
			CreationTimestamp    string
			Labels               map[string]string
		}
	}
	tree map[string]any
	// named tells that raw says its kind and version.
	named bool
}

func (o object) name() string      { return o.meta.Metadata.Name }
func (o object) namespace() string { return o.meta.Metadata.Namespace }

// key orders objects as etcd does.
func (o object) key() string { return o.namespace() + "/" + o.name() }

// newObject reads an object; in its tree kind and version stand also where they are
// left out.
func newObject(k Kind, raw json.RawMessage) (object, error) {
	o := object{raw: raw}
	if err := json.Unmarshal(raw, &o.meta); err != nil {
		return o, fmt.Errorf("read a %s: %w", k.Kind, err)
	}
	if err := json.Unmarshal(raw, &o.tree); err != nil {
		return o, fmt.Errorf("read a %s: %w", k.Kind, err)
	}
	o.named = o.tree["kind"] != nil && o.tree["apiVersion"] != nil
	if !o.named {
		o.tree["kind"], o.tree["apiVersion"] = k.Kind, k.groupVersion()
	}
	return o, nil
}

// alone is the object as it is answered by itself: with kind and version.
func (o object) alone() (json.RawMessage, error) {
	if o.named {
		return o.raw, nil
	}
	return json.Marshal(o.tree)
}

// item is the object in a list: an API server writes kind and version into the items of
// custom resources alone (held against one in local/kubetest).
func (o object) item(k Kind) (json.RawMessage, error) {
	switch {
	case k.Custom:
		return o.alone()
	case !o.named:
		return o.raw, nil
	}
	tree := maps.Clone(o.tree)
	delete(tree, "kind")
	delete(tree, "apiVersion")
	return json.Marshal(tree)
}

// field returns the text at a path of names, empty if there is none. Booleans
// and numbers are written as the API writes them in field selectors.
func (o object) field(path string) string {
	var v any = o.tree
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[name]
	}
	switch v := v.(type) {
	case string:
		return v
	case bool, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// selectObjects reads the objects, keeps those that match and sorts them.
func selectObjects(r request, items []json.RawMessage, labels, fields []requirement) ([]object, error) {
	var out []object
	for _, raw := range items {
		o, err := newObject(r.kind, raw)
		if err != nil {
			return nil, err
		}
		if r.namespace != "" && o.namespace() != r.namespace {
			continue
		}
		if all(labels, o.meta.Metadata.Labels) && all(fields, fieldMap(o, fields)) {
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b object) int { return strings.Compare(a.key(), b.key()) })
	return out, nil
}

func all(rs []requirement, values map[string]string) bool {
	for _, r := range rs {
		if !r.matches(values) {
			return false
		}
	}
	return true
}

// fieldMap holds the selected fields. A field that is not set has the empty
// value, and a boolean one is false, as in the API's own structs.
func fieldMap(o object, fields []requirement) map[string]string {
	m := map[string]string{}
	for _, f := range fields {
		m[f.key] = o.field(f.key)
		if f.key == "spec.unschedulable" && m[f.key] == "" {
			m[f.key] = "false"
		}
	}
	return m
}
