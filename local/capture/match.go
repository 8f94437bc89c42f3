package capture

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/table"
)

// choice is one Describe call of EC2 on a list that the capture holds in full.
type choice[T any] struct {
	list []T
	// ids are those asked for, id the field that holds one, and missing the
	// code with which EC2 refuses a call for an id that it does not have.
	ids         []string
	id, missing string
	filters     []ec2types.Filter
	// also are filters whose name is not that of a field.
	also map[string]string
}

// run is what EC2 would answer.
func (c choice[T]) run() ([]T, error) {
	list := c.list
	if len(c.ids) > 0 {
		for _, id := range c.ids {
			if !slices.ContainsFunc(list, func(v T) bool { return text(reflect.ValueOf(v), c.id) == id }) {
				return nil, wire.Errorf(c.missing, "The ID '%s' does not exist", id)
			}
		}
		list = items(list, func(v T) bool { return slices.Contains(c.ids, text(reflect.ValueOf(v), c.id)) })
	}
	for _, f := range c.filters {
		name := aws.ToString(f.Name)
		path := name
		if other, ok := c.also[name]; ok {
			path = other
		}
		if !filterable(reflect.TypeFor[T](), path) {
			return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
		list = items(list, func(v T) bool { return table.Admits(values(reflect.ValueOf(v), path), f.Values) })
	}
	return list, nil
}

// A filter's name follows the fields: "attachment.vpc-id" is VpcId in each of
// Attachments.

// filterable tells whether a type has what a filter looks at.
func filterable(t reflect.Type, path string) bool {
	if path == "tag-key" || strings.HasPrefix(path, "tag:") {
		_, ok := tagField(t)
		return ok
	}
	for name := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return false
		}
		f, ok := fieldOf(t, name)
		if !ok {
			return false
		}
		t = f.Type
	}
	return true
}

// values are what a filter looks at in one resource.
func values(v reflect.Value, path string) []string {
	if key, ok := strings.CutPrefix(path, "tag:"); ok || path == "tag-key" {
		var out []string
		for _, t := range tagsOf(v) {
			switch {
			case !ok:
				out = append(out, aws.ToString(t.Key))
			case aws.ToString(t.Key) == key:
				out = append(out, aws.ToString(t.Value))
			}
		}
		return out
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return values(v.Elem(), path)
	case reflect.Slice:
		var out []string
		for i := range v.Len() {
			out = append(out, values(v.Index(i), path)...)
		}
		return out
	}
	if path == "" {
		return []string{fmt.Sprint(v.Interface())}
	}
	name, rest, _ := strings.Cut(path, ".")
	if v.Kind() != reflect.Struct {
		return nil
	}
	f, ok := fieldOf(v.Type(), name)
	if !ok {
		return nil
	}
	field := v.FieldByIndex(f.Index)
	if rest == "" && field.Kind() == reflect.Pointer && field.IsNil() && field.Type().Elem().Kind() == reflect.Bool {
		return []string{"false"} // EC2 leaves switches out that are off
	}
	return values(field, rest)
}

// fieldOf finds the field of a filter's name: "vpc-id" is VpcId, and a list's
// name may be in the plural.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	name = strings.ReplaceAll(name, "-", "")
	for _, ending := range []string{"", "s", "set"} {
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && strings.EqualFold(f.Name, name+ending) {
				return f, true
			}
		}
	}
	return reflect.StructField{}, false
}

func tagsOf(v reflect.Value) []ec2types.Tag {
	name, ok := tagField(v.Type())
	if !ok {
		return nil
	}
	list, _ := v.FieldByName(name).Interface().([]ec2types.Tag)
	return list
}

// tagField is the field that holds a type's tags: network interfaces have
// another than the rest.
func tagField(t reflect.Type) (string, bool) {
	for _, name := range []string{"Tags", "TagSet"} {
		if f, ok := t.FieldByName(name); ok && f.Type == reflect.TypeFor[[]ec2types.Tag]() {
			return name, true
		}
	}
	return "", false
}
