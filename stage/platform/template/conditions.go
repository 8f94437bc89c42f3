package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a template says for several deployments at once: parameters with bounds, conditions,
// mappings and rules. Sources: CloudFormation template reference, "Parameters", "Conditions",
// "Mappings", "Rules", "Intrinsic functions", "Condition functions" and "Pseudo parameters"
// (AWS::NoValue).

// parameter is one as written.
type parameter struct {
	Type, AllowedPattern                     string
	Default                                  any
	AllowedValues                            []any
	MinLength, MaxLength, MinValue, MaxValue *whole
}

// rule refuses parameters that do not go together.
type rule struct {
	RuleCondition any
	Assertions    []struct {
		Assert            any
		AssertDescription string
	}
}

// take reads the values of the parameters, and refuses those that CloudFormation would.
func (r *resolver) take() error {
	for name := range r.o.Parameters {
		if _, ok := r.doc.Parameters[name]; !ok {
			return place{name, "Parameters"}.refuse("a value is given for a parameter that the template does not have")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.doc.Parameters)) {
		p := r.doc.Parameters[name]
		value := p.Default
		if s, ok := r.o.Parameters[name]; ok {
			value = s
		}
		if value == nil {
			continue
		}
		text, ok := scalar(value)
		if !ok {
			return place{name, "Parameters"}.refuse("the default must be a text or a number")
		}
		values := []string{text}
		isList := strings.HasPrefix(p.Type, "List<") || p.Type == "CommaDelimitedList"
		if isList {
			values = nil
			for item := range strings.SplitSeq(text, ",") {
				values = append(values, strings.TrimSpace(item))
			}
		}
		for _, v := range values {
			if reason := p.refuses(v); reason != "" {
				return place{name, "Parameters"}.refuse("%s", reason)
			}
		}
		// 4,096 bytes (CloudFormation quotas, "Parameter value").
		if len(text) > 4096 {
			return place{name, "Parameters"}.refuse("%d bytes are more than 4096", len(text))
		}
		r.parameters[name] = text
		if isList {
			list := []any{}
			for _, v := range values {
				list = append(list, v)
			}
			r.parameters[name] = list
		}
	}
	return nil
}

// refuses says what of a value a parameter's bounds do not allow. A pattern is for the whole
// value, that of a list for each item.
func (p parameter) refuses(value string) string {
	length := utf8.RuneCountInString(value)
	number, isNumber := strconv.ParseFloat(value, 64)
	switch {
	case p.Type == "Number" && isNumber != nil:
		return fmt.Sprintf("%q is no number", value)
	case len(p.AllowedValues) > 0 && !slices.ContainsFunc(p.AllowedValues, func(v any) bool { text, _ := scalar(v); return text == value }):
		return fmt.Sprintf("%q is not one of the allowed values", value)
	case p.MinLength != nil && length < int(*p.MinLength), p.MaxLength != nil && length > int(*p.MaxLength):
		return fmt.Sprintf("%d characters are too few or too many", length)
	case p.MinValue != nil && number < float64(*p.MinValue), p.MaxValue != nil && number > float64(*p.MaxValue):
		return fmt.Sprintf("%s is too small or too large", value)
	case p.AllowedPattern != "":
		form, err := regexp.Compile(`^(?:` + p.AllowedPattern + `)$`)
		if err != nil {
			return fmt.Sprintf("its pattern: %v", err)
		}
		if !form.MatchString(value) {
			return fmt.Sprintf("%q does not match %s", value, p.AllowedPattern)
		}
	}
	return ""
}

// choose takes out the resources and outputs whose conditions do not hold: what refers to one
// of them then is an error, as in CloudFormation. The rules are judged before.
func (r *resolver) choose() error {
	for _, name := range slices.Sorted(maps.Keys(r.doc.Rules)) {
		if err := r.judge(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.doc.Conditions)) {
		if _, err := r.condition(name, place{name, "Conditions"}); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.doc.Resources)) {
		if err := r.keep(r.doc.Resources[id].Condition, place{id, "Condition"}, func() { delete(r.doc.Resources, id) }); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.doc.Outputs)) {
		if err := r.keep(r.doc.Outputs[id].Condition, place{id, "Condition"}, func() { delete(r.doc.Outputs, id) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) keep(condition string, p place, without func()) error {
	if condition == "" {
		return nil
	}
	holds, err := r.condition(condition, p)
	if err == nil && !holds {
		without()
	}
	return err
}

func (r *resolver) judge(name string) error {
	of, p := r.doc.Rules[name], place{name, "Rules"}
	if of.RuleCondition != nil {
		holds, err := r.holds(of.RuleCondition, p)
		if err != nil || !holds {
			return err
		}
	}
	for _, a := range of.Assertions {
		holds, err := r.holds(a.Assert, p)
		if err != nil {
			return err
		}
		if !holds {
			return p.refuse("%s", a.AssertDescription)
		}
	}
	return nil
}

// condition evaluates a condition by its name, once.
func (r *resolver) condition(name string, p place) (bool, error) {
	if holds, known := r.conditions[name]; known {
		return holds, nil
	}
	expression, ok := r.doc.Conditions[name]
	if !ok {
		return false, p.refuse("%q is no condition of the template", name)
	}
	if r.busy["condition "+name] {
		return false, p.refuse("condition %q refers to itself", name)
	}
	r.busy["condition "+name] = true
	defer delete(r.busy, "condition "+name)
	holds, err := r.holds(expression, place{name, "Conditions"})
	if err != nil {
		return false, err
	}
	r.conditions[name] = holds
	return holds, nil
}

// holds evaluates the functions of conditions and rules.
func (r *resolver) holds(expression any, p place) (bool, error) {
	object, ok := expression.(map[string]any)
	if !ok || len(object) != 1 {
		return false, p.refuse("must be a condition")
	}
	for name, arg := range object {
		p := p.child(name)
		switch name {
		case "Condition":
			text, _ := arg.(string)
			return r.condition(text, p)
		case "Fn::Equals":
			pair, ok := arg.([]any)
			if !ok || len(pair) != 2 {
				return false, p.refuse("must be an array of 2")
			}
			a, err := r.text(pair[0], p)
			if err != nil {
				return false, err
			}
			b, err := r.text(pair[1], p)
			return a == b, err
		case "Fn::Contains":
			pair, ok := arg.([]any)
			if !ok || len(pair) != 2 {
				return false, p.refuse("must be an array of 2")
			}
			list, ok := pair[0].([]any)
			value, err := r.text(pair[1], p)
			if err != nil || !ok {
				return false, p.refuse("must be a list and a text")
			}
			return slices.ContainsFunc(list, func(v any) bool { text, _ := scalar(v); return text == value }), nil
		case "Fn::Not", "Fn::And", "Fn::Or":
			return r.joint(name, arg, p)
		}
		return false, p.refuse("the function %q is not understood in a condition", name)
	}
	return false, nil
}

// joint evaluates Fn::Not of one condition, Fn::And and Fn::Or of two to ten.
func (r *resolver) joint(name string, arg any, p place) (bool, error) {
	list, _ := arg.([]any)
	least, most := 2, 10
	if name == "Fn::Not" {
		least, most = 1, 1
	}
	if len(list) < least || len(list) > most {
		return false, p.refuse("%d conditions", len(list))
	}
	all, any := true, false
	for i, one := range list {
		holds, err := r.holds(one, p.child(strconv.Itoa(i)))
		if err != nil {
			return false, err
		}
		all, any = all && holds, any || holds
	}
	switch name {
	case "Fn::Not":
		return !all, nil
	case "Fn::And":
		return all, nil
	}
	return any, nil
}

// none is the value of AWS::NoValue: the property or the list's item is not there.
type none struct{}

func (r *resolver) ifElse(arg any, p place) (any, error) {
	args, ok := arg.([]any)
	if !ok || len(args) != 3 {
		return nil, p.refuse("must be an array of 3")
	}
	name, _ := args[0].(string)
	holds, err := r.condition(name, p)
	if err != nil {
		return nil, err
	}
	at := 2
	if holds {
		at = 1
	}
	return r.value(args[at], p.child(strconv.Itoa(at)))
}

func (r *resolver) split(arg any, p place) (any, error) {
	args, err := r.list(arg, 2, p)
	if err != nil {
		return nil, err
	}
	delimiter, ok1 := args[0].(string)
	text, ok2 := scalar(args[1])
	if !ok1 || !ok2 || delimiter == "" {
		return nil, p.refuse("must be a delimiter and a text")
	}
	out := []any{}
	for part := range strings.SplitSeq(text, delimiter) {
		out = append(out, part)
	}
	return out, nil
}

// selected is Fn::Select, which has an error for an item that is not there.
func (r *resolver) selected(arg any, p place) (any, error) {
	args, err := r.list(arg, 2, p)
	if err != nil {
		return nil, err
	}
	text, _ := scalar(args[0])
	n, err := strconv.Atoi(text)
	list, ok := args[1].([]any)
	if err != nil || !ok {
		return nil, p.refuse("must be a number and a list")
	}
	if n < 0 || n >= len(list) {
		return nil, p.refuse("there is no item %d of %d", n, len(list))
	}
	return list[n], nil
}

func (r *resolver) inMap(arg any, p place) (any, error) {
	args, err := r.list(arg, 3, p)
	if err != nil {
		return nil, err
	}
	var keys [3]string
	for i, v := range args {
		keys[i], _ = scalar(v)
	}
	value, ok := r.doc.Mappings[keys[0]][keys[1]][keys[2]]
	if !ok {
		return nil, p.refuse("the mappings have no %s", strings.Join(keys[:], " "))
	}
	return value, nil
}

// Resolved is a template as CloudFormation would create it: all functions evaluated, and
// without what its conditions leave out.
type Resolved struct {
	Resources map[string]ResolvedResource
	Outputs   map[string]string
}

// ResolvedResource is a resource with its properties.
type ResolvedResource struct {
	Type       string
	Properties map[string]any
	// DeletionPolicy and UpdateReplacePolicy are "" where the template is silent.
	DeletionPolicy, UpdateReplacePolicy string
}

// Resolve reads a template in JSON as Parse does, and returns all of its resources, those of
// types that the stage does not run too.
func Resolve(source []byte, o Options) (Resolved, error) {
	r, err := open(source, o)
	if err != nil {
		return Resolved{}, err
	}
	out := Resolved{Resources: map[string]ResolvedResource{}}
	for _, id := range slices.Sorted(maps.Keys(r.doc.Resources)) {
		properties, err := r.properties(id)
		if err != nil {
			return Resolved{}, err
		}
		res := r.doc.Resources[id]
		out.Resources[id] = ResolvedResource{res.Type, properties, res.DeletionPolicy, res.UpdateReplacePolicy}
	}
	out.Outputs, err = r.outputs()
	return out, err
}

// UnmarshalJSON reads a policy, which a template may also have as a text (the registry's
// schema of AWS::IAM::ManagedPolicy: PolicyDocument is an object or a string).
func (d *policyDocument) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		b = []byte(text)
	}
	type plain policyDocument
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(d))
}
