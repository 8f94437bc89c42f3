// Package evidence keeps what a function read as a capture (CAPTURE.md): so that what it
// found can be found again when the instance, the route table and the nodegroup are gone.
//
// A function reads less than whoever takes a capture: the instances of a launch, the
// subnets of a VPC. What it asked for stands beside what it was answered (asked.json), so
// that whoever reads the capture takes nothing for absent that was not asked for.
package evidence

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"rollcall/shared/capture"
)

// AskedFile lists what was asked for, where that is not all that there is.
const AskedFile = "asked.json"

// Question is what narrows a call: the values that are asked for, by the name of the
// parameter or the filter. A call without one is for all that there is.
type Question map[string][]string

// Asked is a question that was asked.
type Asked struct {
	Question Question `json:"question"`
	// Refused is how it was refused where others of the file were answered.
	Refused *capture.Refusal `json:"refused,omitempty"`
}

// Scope is what was asked for, by the names of files without .json. A file that is not in
// it holds all that there is.
type Scope map[string][]Asked

// Find tells whether what a question is for was asked for, and how that was refused.
func (s Scope) Find(file string, q Question) (refused *capture.Refusal, covered bool) {
	asked, narrowed := s[file]
	if !narrowed || searches(file, q) {
		return nil, true
	}
	for _, part := range q.parts() {
		found := false
		var no *capture.Refusal
		for _, a := range asked {
			if !a.Question.covers(part) {
				continue
			}
			if found = true; a.Refused == nil {
				no = nil
				break
			}
			no = a.Refused
		}
		if !found {
			return nil, false
		}
		if no != nil {
			refused = no
		}
	}
	return refused, true
}

// covers tells that whatever fits the other question fits this one: each of its
// conditions is there, with no other values.
func (q Question) covers(narrower Question) bool {
	for name, values := range q {
		wanted, is := narrower[name]
		if !is || slices.ContainsFunc(wanted, func(v string) bool { return !slices.Contains(values, v) }) {
			return false
		}
	}
	return true
}

// parts are questions that together ask for the same, one for each value of the longest
// condition: what is asked for at once here may have been asked for in several calls.
func (q Question) parts() []Question {
	longest := ""
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if len(q[name]) > max(1, len(q[longest])) {
			longest = name
		}
	}
	if longest == "" {
		return []Question{q}
	}
	list := make([]Question, 0, len(q[longest]))
	for _, value := range q[longest] {
		part := maps.Clone(q)
		part[longest] = []string{value}
		list = append(list, part)
	}
	return list
}

// searches tells that a question looks for what there is to look at, and names nothing:
// it finds what the function looked at.
func searches(file string, q Question) bool {
	switch file {
	case "ec2-describe-instances", "autoscaling-describe-auto-scaling-groups", "autoscaling-describe-scaling-activities":
		for _, name := range []string{"InstanceIds", "filter instance-id", "AutoScalingGroupNames", "AutoScalingGroupName", "ActivityIds"} {
			if len(q[name]) > 0 {
				return false
			}
		}
		return true
	}
	return false
}

// unasked tells parameters that narrow nothing: of pages, and of what is told with it.
func unasked(name string) bool {
	switch name {
	case "NextToken", "MaxResults", "MaxRecords", "MaxItems", "Marker", "Next", "Most", "Limit", "Start", "End", "DryRun", "Latest",
		"IncludeManagedResources", "IncludeDeprecated", "IncludeAllInstances", "IncludeDeletedGroups", "Include":
		return true
	}
	return false
}

// questionOf is what the parameters of a call ask for, but for those that are in the
// file's name.
func questionOf(params any, keys []string) Question {
	v := reflect.Indirect(reflect.ValueOf(params))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var q Question
	add := func(name string, values []string) {
		if len(values) == 0 {
			return
		}
		if q == nil {
			q = Question{}
		}
		values = slices.Clone(values)
		slices.Sort(values)
		q[name] = slices.Compact(values)
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || unasked(f.Name) || slices.Contains(keys, f.Name) {
			continue
		}
		field := v.Field(i)
		if strings.HasPrefix(f.Name, "Filter") && field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct {
			for k := range field.Len() {
				filter := field.Index(k)
				if name := texts(filter.FieldByName("Name")); len(name) == 1 {
					add("filter "+name[0], texts(filter.FieldByName("Values")))
				}
			}
			continue
		}
		add(f.Name, texts(field))
	}
	return q
}

// texts are the values of a parameter as text; none for one that is not set.
func texts(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*time.Time]() {
			return texts(v.Elem())
		}
	case reflect.String:
		if v.Len() > 0 {
			return []string{v.String()}
		}
	case reflect.Bool, reflect.Int32, reflect.Int64:
		if !v.IsZero() {
			return []string{fmt.Sprint(v.Interface())}
		}
	case reflect.Slice:
		var list []string
		for i := range v.Len() {
			list = append(list, texts(v.Index(i))...)
		}
		return list
	}
	return nil
}
