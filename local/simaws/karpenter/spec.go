package karpenter

import (
	"encoding/json"
	"slices"
	"strconv"
)

// requirement is one of spec.requirements.
type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

type classRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// poolSpec is what a NodePool wants.
type poolSpec struct {
	Weight   int
	Replicas *int
	Limits   map[string]json.RawMessage
	Template struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			NodeClassRef  classRef
			Requirements  []requirement
			Taints        []taint
			StartupTaints []taint
			ExpireAfter   string
		}
	}
}

// selector is a term by which a class finds subnets, security groups or images.
type selector struct {
	ID, Name, Alias string
	Tags            map[string]string
}

// classSpec is what an EC2NodeClass wants.
type classSpec struct {
	Role, InstanceProfile      string
	UserData                   string
	SubnetSelectorTerms        []selector
	SecurityGroupSelectorTerms []selector
	AMISelectorTerms           []selector
	Tags                       map[string]string
	AssociatePublicIPAddress   *bool
}

// specOf reads an object's spec. What is of another form is as if it were not there:
// the API server refuses it.
func specOf[T any](o map[string]any) T {
	var out T
	if b, err := json.Marshal(o["spec"]); err == nil {
		_ = json.Unmarshal(b, &out)
	}
	return out
}

// plainOf is a value as a Kubernetes object has it.
func plainOf(v any) any {
	var out any
	if b, err := json.Marshal(v); err == nil {
		_ = json.Unmarshal(b, &out) // what was just written can be read
	}
	return out
}

// admits tells whether labels meet a requirement (Kubernetes, node selector
// operators, and Karpenter's Gte and Lte).
func (r requirement) admits(labels map[string]string) bool {
	have, ok := labels[r.Key]
	number := func(than func(have, want int) bool) bool {
		a, err1 := strconv.Atoi(have)
		if len(r.Values) != 1 {
			return false
		}
		b, err2 := strconv.Atoi(r.Values[0])
		return err1 == nil && err2 == nil && than(a, b)
	}
	switch r.Operator {
	case "In":
		return ok && slices.Contains(r.Values, have)
	case "NotIn":
		return !ok || !slices.Contains(r.Values, have)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	case "Gt":
		return number(func(a, b int) bool { return a > b })
	case "Lt":
		return number(func(a, b int) bool { return a < b })
	case "Gte":
		return number(func(a, b int) bool { return a >= b })
	case "Lte":
		return number(func(a, b int) bool { return a <= b })
	}
	return false
}

// chooses tells whether one of some terms fits: by id, or by name and tags, where
// "*" is any value of a tag (KP docs, "NodeClasses", spec.subnetSelectorTerms).
func chooses(terms []selector, id, name string, tags map[string]string) bool {
	return slices.ContainsFunc(terms, func(s selector) bool {
		if s.ID != "" {
			return s.ID == id
		}
		if s.Name != "" && s.Name != name || s.Name == "" && len(s.Tags) == 0 {
			return false
		}
		for key, value := range s.Tags {
			if have, ok := tags[key]; !ok || value != "*" && value != have {
				return false
			}
		}
		return true
	})
}
