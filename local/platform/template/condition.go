package template

import "reflect"

// condition evaluates a named condition once.
func (r *resolver) condition(name string, p place) (bool, error) {
	if v, ok := r.conditions[name]; ok {
		return v, nil
	}
	source, ok := r.doc.Conditions[name]
	if !ok {
		return false, p.refuse("condition %q does not exist", name)
	}
	if r.busy["condition "+name] {
		return false, p.refuse("condition %q refers to itself", name)
	}
	r.busy["condition "+name] = true
	defer delete(r.busy, "condition "+name)
	v, err := r.test(source, place{name, "Conditions"})
	if err != nil {
		return false, err
	}
	r.conditions[name] = v
	return v, nil
}

// test evaluates a condition expression.
func (r *resolver) test(v any, p place) (bool, error) {
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return false, p.refuse("must be one condition function")
	}
	for name, arg := range m {
		p := p.at(name)
		switch name {
		case "Condition":
			s, _ := arg.(string)
			return r.condition(s, p)
		case "Fn::Equals":
			args, err := r.list(arg, 2, p)
			if err != nil {
				return false, err
			}
			return equalValues(args[0], args[1]), nil
		case "Fn::Not", "Fn::And", "Fn::Or":
			return r.combine(name, arg, p)
		default:
			return false, p.refuse("condition function %q is not understood", name)
		}
	}
	return false, nil
}

func (r *resolver) combine(name string, arg any, p place) (bool, error) {
	list, ok := arg.([]any)
	if !ok || len(list) == 0 || (name == "Fn::Not") != (len(list) == 1) {
		return false, p.refuse("wrong number of conditions")
	}
	and, or := true, false
	for _, item := range list {
		v, err := r.test(item, p)
		if err != nil {
			return false, err
		}
		and, or = and && v, or || v
	}
	switch name {
	case "Fn::Not":
		return !and, nil
	case "Fn::And":
		return and, nil
	default:
		return or, nil
	}
}

// equalValues compares as CloudFormation does, which has strings only.
func equalValues(a, b any) bool {
	s, ok1 := scalar(a)
	t, ok2 := scalar(b)
	if ok1 && ok2 {
		return s == t
	}
	return reflect.DeepEqual(a, b)
}

// conditional is Fn::If. Only the branch that is taken is evaluated.
func (r *resolver) conditional(arg any, p place) (any, error) {
	list, ok := arg.([]any)
	if !ok || len(list) != 3 {
		return nil, p.refuse("must be a condition and two values")
	}
	name, ok := list[0].(string)
	if !ok {
		return nil, p.refuse("must start with the name of a condition")
	}
	v, err := r.condition(name, p)
	if err != nil {
		return nil, err
	}
	if v {
		return r.value(list[1], p.at("1"))
	}
	return r.value(list[2], p.at("2"))
}
