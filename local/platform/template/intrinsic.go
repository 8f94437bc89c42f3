package template

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

// intrinsic tells if an object is a call of an intrinsic function. An object
// with one key "Condition" is one only inside conditions, see condition.
func intrinsic(v map[string]any) (string, any, bool) {
	if len(v) != 1 {
		return "", nil, false
	}
	for k, arg := range v {
		if k == "Ref" || strings.HasPrefix(k, "Fn::") {
			return k, arg, true
		}
	}
	return "", nil, false
}

func (r *resolver) call(name string, arg any, p place) (any, error) {
	switch name {
	case "Ref":
		id, ok := arg.(string)
		if !ok {
			return nil, p.refuse("must be a name")
		}
		return r.ref(id, p)
	case "Fn::GetAtt":
		return r.getAtt(arg, p)
	case "Fn::Sub":
		return r.sub(arg, p)
	case "Fn::Join":
		return r.joined(arg, p)
	case "Fn::Select":
		return r.selected(arg, p)
	case "Fn::Split":
		return r.split(arg, p)
	case "Fn::If":
		return r.conditional(arg, p)
	case "Fn::FindInMap":
		return r.findInMap(arg, p)
	case "Fn::Base64":
		s, err := r.text(arg, p)
		return base64.StdEncoding.EncodeToString([]byte(s)), err
	case "Fn::GetAZs":
		return []any{r.o.Region + "a", r.o.Region + "b", r.o.Region + "c"}, nil
	case "Fn::Equals", "Fn::And", "Fn::Or", "Fn::Not":
		return nil, p.refuse("is for conditions only")
	default:
		return nil, p.refuse("intrinsic function %q is not understood", name)
	}
}

// list evaluates an argument that must be an array with n items.
func (r *resolver) list(arg any, n int, p place) ([]any, error) {
	raw, ok := arg.([]any)
	if !ok || len(raw) != n {
		return nil, p.refuse("must be an array of %d", n)
	}
	out := make([]any, n)
	for i, item := range raw {
		v, err := r.value(item, p.at(strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// text evaluates a value that must be a scalar.
func (r *resolver) text(v any, p place) (string, error) {
	v, err := r.value(v, p)
	if err != nil {
		return "", err
	}
	s, ok := scalar(v)
	if !ok {
		return "", p.refuse("must be a string")
	}
	return s, nil
}

// scalar writes strings, numbers and booleans as CloudFormation does where it
// wants a string.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

func (r *resolver) joined(arg any, p place) (any, error) {
	args, err := r.list(arg, 2, p)
	if err != nil {
		return nil, err
	}
	delimiter, ok1 := args[0].(string)
	items, ok2 := args[1].([]any)
	if !ok1 || !ok2 {
		return nil, p.refuse("must be a delimiter and a list")
	}
	parts := make([]string, len(items))
	for i, item := range items {
		s, ok := scalar(item)
		if !ok {
			return nil, p.at(strconv.Itoa(i)).refuse("must be a string")
		}
		parts[i] = s
	}
	return strings.Join(parts, delimiter), nil
}

func (r *resolver) selected(arg any, p place) (any, error) {
	args, err := r.list(arg, 2, p)
	if err != nil {
		return nil, err
	}
	index, _ := scalar(args[0])
	i, err := strconv.Atoi(index)
	items, ok := args[1].([]any)
	if err != nil || !ok || i < 0 || i >= len(items) {
		return nil, p.refuse("index %q is not in the list of %d", index, len(items))
	}
	return items[i], nil
}

func (r *resolver) split(arg any, p place) (any, error) {
	args, err := r.list(arg, 2, p)
	if err != nil {
		return nil, err
	}
	delimiter, ok1 := args[0].(string)
	source, ok2 := args[1].(string)
	if !ok1 || !ok2 || delimiter == "" {
		return nil, p.refuse("must be a delimiter and a string")
	}
	var out []any
	for _, s := range strings.Split(source, delimiter) {
		out = append(out, s)
	}
	return out, nil
}

func (r *resolver) findInMap(arg any, p place) (any, error) {
	args, err := r.list(arg, 3, p)
	if err != nil {
		return nil, err
	}
	var keys [3]string
	for i, a := range args {
		keys[i], _ = scalar(a)
	}
	v, ok := r.doc.Mappings[keys[0]][keys[1]][keys[2]]
	if !ok {
		return nil, p.refuse("no entry %q", keys)
	}
	return v, nil
}

// sub replaces ${Name}, ${Name.Attribute} and ${Variable}; ${!x} is a
// literal ${x}.
func (r *resolver) sub(arg any, p place) (any, error) {
	source, ok := arg.(string)
	variables := map[string]any{}
	if list, isList := arg.([]any); isList && len(list) == 2 {
		source, ok = list[0].(string)
		if m, isMap := list[1].(map[string]any); isMap {
			variables = m
		} else {
			ok = false
		}
	}
	if !ok {
		return nil, p.refuse("must be a string, or a string and its variables")
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(source, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, p.refuse("%q is not closed", "${"+rest)
		}
		source = after
		if literal, ok := strings.CutPrefix(name, "!"); ok {
			b.WriteString("${" + literal + "}")
			continue
		}
		s, err := r.subName(name, variables, p)
		if err != nil {
			return nil, err
		}
		b.WriteString(s)
	}
}

func (r *resolver) subName(name string, variables map[string]any, p place) (string, error) {
	if v, ok := variables[name]; ok {
		return r.text(v, p.at(name))
	}
	var v any
	var err error
	if id, attribute, dotted := strings.Cut(name, "."); dotted {
		v, err = r.getAtt([]any{id, attribute}, p)
	} else {
		v, err = r.ref(name, p)
	}
	if err != nil {
		return "", err
	}
	s, ok := scalar(v)
	if !ok {
		return "", p.refuse("%q is not a string", name)
	}
	return s, nil
}
