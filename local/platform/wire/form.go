package wire

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxFormDepth bounds the segments of one parameter name. The deepest real one
// (a launch template's nested lists) has fewer than ten.
const maxFormDepth = 32

// formNode is one level of a form: `Filter.1.Name=vpc-id` is the path
// Filter, 1, Name with a value at its end.
type formNode struct {
	value    string
	hasValue bool
	children map[string]*formNode
}

func (n *formNode) child(key string) *formNode {
	if n.children == nil {
		n.children = map[string]*formNode{}
	}
	c := n.children[key]
	if c == nil {
		c = &formNode{}
		n.children[key] = c
	}
	return c
}

// formTree arranges the parameters of a form by their dotted names. Action and
// Version belong to the protocol and are left out.
func formTree(values url.Values) (*formNode, error) {
	root := &formNode{}
	for key, vals := range values {
		if key == "Action" || key == "Version" {
			continue
		}
		parts := strings.Split(key, ".")
		if len(parts) > maxFormDepth {
			return nil, Errorf("MalformedQueryString", "The query string is malformed: parameter %q is nested too deeply", key)
		}
		n := root
		for _, p := range parts {
			n = n.child(p)
		}
		n.value, n.hasValue = vals[len(vals)-1], true
	}
	return root, nil
}

// decodeForm fills an Input struct from a request form. in is a pointer to it.
func decodeForm(table *serviceNames, values url.Values, in any) error {
	root, err := formTree(values)
	if err != nil {
		return err
	}
	d := formDecoder{table: table}
	return d.structure(root, reflect.ValueOf(in).Elem(), "")
}

type formDecoder struct {
	table *serviceNames
}

// structure fills a struct; path is the parameter name so far, for errors.
func (d formDecoder) structure(n *formNode, v reflect.Value, path string) error {
	table := d.table.in[v.Type().Name()]
	for _, key := range sortedKeys(n.children) {
		m, ok := table.member(key)
		if !ok {
			return Errorf("UnknownParameter", "The parameter %s is not recognized", join(path, key))
		}
		field := v.FieldByName(m.field)
		if !field.IsValid() {
			return fmt.Errorf("wire names: %s has no field %s", v.Type(), m.field)
		}
		if err := d.value(n.children[key], field, m.list, join(path, key)); err != nil {
			return err
		}
	}
	return nil
}

func (d formDecoder) value(n *formNode, v reflect.Value, list, path string) error {
	switch {
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		return d.slice(n, v, list, path)
	case v.Kind() == reflect.Map:
		return d.entries(n, v, list, path)
	case v.Kind() == reflect.Pointer && isStruct(v.Type().Elem()):
		v.Set(reflect.New(v.Type().Elem()))
		return d.structure(n, v.Elem(), path)
	case isStruct(v.Type()):
		return d.structure(n, v, path)
	case !n.hasValue || len(n.children) > 0:
		return Errorf("InvalidParameterValue", "The parameter %s is not a structure or a list", path)
	}
	if err := setScalar(v, n.value); err != nil {
		return Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. %s", n.value, path, err)
	}
	return nil
}

// slice fills a list. A flat list (EC2) has its numbers directly below its
// name; the others have one level with the element's name in between. A name
// with an empty value is the query protocol's empty list.
func (d formDecoder) slice(n *formNode, v reflect.Value, list, path string) error {
	if n.hasValue && n.value == "" && len(n.children) == 0 {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return nil
	}
	if list != flatList {
		for key := range n.children {
			if key != list {
				return Errorf("UnknownParameter", "The parameter %s is not recognized", join(path, key))
			}
		}
		path = join(path, list)
		if n = n.children[list]; n == nil {
			return Errorf("InvalidParameterValue", "The parameter %s is a list", path)
		}
	}
	if n.hasValue {
		return Errorf("InvalidParameterValue", "The parameter %s is a list", path)
	}
	indexes := make([]int, 0, len(n.children))
	for key := range n.children {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || strconv.Itoa(i) != key {
			return Errorf("UnknownParameter", "The parameter %s is not recognized", join(path, key))
		}
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	out := reflect.MakeSlice(v.Type(), len(indexes), len(indexes))
	for i, index := range indexes {
		key := strconv.Itoa(index)
		if err := d.value(n.children[key], out.Index(i), "", join(path, key)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

// entries fills a map of structures: below the entries' name are their numbers, and below
// each the names of key and value.
func (d formDecoder) entries(n *formNode, v reflect.Value, names, path string) error {
	parts := strings.Split(names, ":")
	if len(parts) != 3 {
		return fmt.Errorf("wire names: %s is a map, and its entries have the names %q", path, names)
	}
	path = join(path, parts[0])
	below, ok := n.children[parts[0]]
	if !ok || len(n.children) != 1 {
		return Errorf("InvalidParameterValue", "The parameter %s is a map", path)
	}
	out := reflect.MakeMap(v.Type())
	for _, number := range sortedKeys(below.children) {
		entry, at := below.children[number], join(path, number)
		key, value := entry.children[parts[1]], entry.children[parts[2]]
		if _, err := strconv.Atoi(number); err != nil || key == nil || !key.hasValue || value == nil || len(entry.children) != 2 {
			return Errorf("InvalidParameterValue", "The parameter %s is no entry of a map", at)
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(value, item, "", join(at, parts[2])); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key.value), item)
	}
	v.Set(out)
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func sortedKeys(m map[string]*formNode) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]()
}
