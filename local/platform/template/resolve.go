package template

import (
	"fmt"
	"strconv"
	"strings"
)

// resolver evaluates intrinsic functions. Values of resources (names, ARNs)
// are made on demand, because the name of one may refer to another.
type resolver struct {
	doc        *document
	o          Options
	parameters map[string]any
	conditions map[string]bool
	// busy holds the conditions and resource names under evaluation, so that
	// a circle ends in an error.
	busy map[string]bool
}

// noValue is what {"Ref": "AWS::NoValue"} gives: the property is left out.
type noValue struct{}

// place is where in the template an error is.
type place struct{ id, path string }

func (p place) at(step string) place {
	if p.path == "" {
		return place{p.id, step}
	}
	return place{p.id, p.path + "." + step}
}

func (p place) refuse(format string, args ...any) error {
	return &Error{LogicalID: p.id, Path: p.path, Reason: fmt.Sprintf(format, args...)}
}

func newResolver(doc *document, o Options) (*resolver, error) {
	r := &resolver{doc: doc, o: o, parameters: map[string]any{}, conditions: map[string]bool{}, busy: map[string]bool{}}
	for name := range o.Parameters {
		if _, ok := doc.Parameters[name]; !ok {
			return nil, place{name, "Parameters"}.refuse("a value is given for a parameter that the template does not have")
		}
	}
	for _, name := range sortedKeys(doc.Parameters) {
		p := doc.Parameters[name]
		var value any = p.Default
		if s, ok := o.Parameters[name]; ok {
			value = s
		}
		if s, ok := value.(string); ok && (strings.HasPrefix(p.Type, "List<") || p.Type == "CommaDelimitedList") {
			var list []any
			for _, item := range strings.Split(s, ",") {
				list = append(list, strings.TrimSpace(item))
			}
			value = list
		}
		if value != nil {
			r.parameters[name] = value
		}
	}
	for _, name := range sortedKeys(doc.Conditions) {
		if _, err := r.condition(name, place{name, "Conditions"}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// ids lists the resources whose condition holds.
func (r *resolver) ids() []string {
	var out []string
	for _, id := range sortedKeys(r.doc.Resources) {
		if r.exists(id) {
			out = append(out, id)
		}
	}
	return out
}

func (r *resolver) exists(id string) bool {
	res, ok := r.doc.Resources[id]
	return ok && (res.Condition == "" || r.conditions[res.Condition])
}

// properties returns the resolved properties of a resource.
func (r *resolver) properties(id string) (map[string]any, error) {
	res := r.doc.Resources[id]
	if res.Type == "" {
		return nil, place{id, "Type"}.refuse("missing")
	}
	if res.Condition != "" {
		if _, ok := r.doc.Conditions[res.Condition]; !ok {
			return nil, place{id, "Condition"}.refuse("condition %q does not exist", res.Condition)
		}
	}
	if err := r.checkDependsOn(id, res.DependsOn); err != nil {
		return nil, err
	}
	v, err := r.value(map[string]any(res.Properties), place{id, "Properties"})
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, place{id, "Properties"}.refuse("must be an object")
	}
	return m, nil
}

func (r *resolver) checkDependsOn(id string, depends any) error {
	list, ok := depends.([]any)
	if !ok && depends != nil {
		list = []any{depends}
	}
	for _, d := range list {
		name, ok := d.(string)
		if !ok {
			return place{id, "DependsOn"}.refuse("must be names of resources")
		}
		if _, ok := r.doc.Resources[name]; !ok {
			return place{id, "DependsOn"}.refuse("resource %q does not exist", name)
		}
	}
	return nil
}

func (r *resolver) outputs() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range sortedKeys(r.doc.Outputs) {
		o := r.doc.Outputs[name]
		if o.Condition != "" && !r.conditions[o.Condition] {
			continue
		}
		p := place{name, "Outputs.Value"}
		v, err := r.text(o.Value, p)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// value evaluates a value and all that is in it.
func (r *resolver) value(v any, p place) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if name, arg, ok := intrinsic(v); ok {
			return r.call(name, arg, p.at(name))
		}
		out := make(map[string]any, len(v))
		for _, k := range sortedKeys(v) {
			inner, err := r.value(v[k], p.at(k))
			if err != nil {
				return nil, err
			}
			if _, none := inner.(noValue); !none {
				out[k] = inner
			}
		}
		return out, nil
	case []any:
		out := make([]any, 0, len(v))
		for i, item := range v {
			inner, err := r.value(item, p.at(strconv.Itoa(i)))
			if err != nil {
				return nil, err
			}
			if _, none := inner.(noValue); !none {
				out = append(out, inner)
			}
		}
		return out, nil
	case string:
		if strings.Contains(v, "{{resolve:") {
			return nil, p.refuse("dynamic references are not understood")
		}
		return v, nil
	default:
		return v, nil
	}
}
