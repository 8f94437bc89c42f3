package kubestate

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
)

// Patch changes an object as kubectl patch --type merge does (RFC 7386). Another
// spec is another generation.
func (k *Cluster) Patch(plural, namespace, name string, patch map[string]any) error {
	o := k.Find(plural, namespace, name)
	if o == nil {
		return fmt.Errorf("%s %q not found", plural, name)
	}
	before := o["spec"]
	merged := mergePatch(o, patch)
	maps.Copy(o, merged)
	for key := range o {
		if _, kept := merged[key]; !kept {
			delete(o, key)
		}
	}
	if !reflect.DeepEqual(before, o["spec"]) {
		if meta, ok := o["metadata"].(map[string]any); ok {
			meta["generation"] = Generation(o) + 1
		}
	}
	k.Touch(o)
	return nil
}

// Generation is which spec of an object its metadata says this is; 1 where it says
// nothing.
func Generation(o map[string]any) int64 {
	switch n := At(o, "metadata", "generation").(type) {
	case json.Number:
		if whole, err := n.Int64(); err == nil {
			return whole
		}
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 1
}

// mergePatch is an object with a patch: what is null in the patch goes.
func mergePatch(o, patch map[string]any) map[string]any {
	out := maps.Clone(o)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case isObject:
			have, _ := out[key].(map[string]any)
			out[key] = mergePatch(have, inner)
		default:
			out[key] = value
		}
	}
	return out
}

// Delete takes an object away.
func (k *Cluster) Delete(plural string, o map[string]any) {
	list := k.Objects[plural][:0:0]
	for _, other := range k.Objects[plural] {
		if At(other, "metadata", "name") != At(o, "metadata", "name") || At(other, "metadata", "namespace") != At(o, "metadata", "namespace") {
			list = append(list, other)
		}
	}
	k.Objects[plural] = list
	k.Touch(o)
}
