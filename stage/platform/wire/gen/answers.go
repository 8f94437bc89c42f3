package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// answers follows the SDK's deserializers: XML name to Go field.
type answers struct {
	src  source
	seen map[string]structNames
}

var (
	desCase  = regexp.MustCompile(`^\t\tcase strings\.EqualFold\("([^"]+)", t\.Name\.Local\):`)
	desField = regexp.MustCompile(`\bsv\.(\w+)\b`)
	desCall  = regexp.MustCompile(`aws\w+_(deserializeDocument\w+)\(`)
	desList  = regexp.MustCompile(`(?m)^\tvar sv \[\]`)
	desType  = regexp.MustCompile(`(?m)^\tvar sv \*(?:types\.)?(\w+)$`)
)

// structure records the members of the struct that fn deserialises, and of
// all structs below it.
func (a *answers) structure(fn, name string) error {
	if _, ok := a.seen[name]; ok {
		return nil
	}
	body, ok := a.src.funcs[fn]
	if !ok {
		return fmt.Errorf("no function %s in the SDK's deserializers", fn)
	}
	a.seen[name] = structNames{name: name}
	var members []member
	var cur *member
	for _, line := range body {
		if m := desCase.FindStringSubmatch(line); m != nil {
			members = append(members, member{name: m[1]})
			cur = &members[len(members)-1]
			continue
		}
		if cur == nil {
			continue
		}
		if m := desField.FindStringSubmatch(line); m != nil && cur.field == "" {
			cur.field = m[1]
		}
		if m := desCall.FindStringSubmatch(line); m != nil {
			elem, err := a.below(m[1])
			if err != nil {
				return err
			}
			cur.list = elem
		}
	}
	for _, m := range members {
		if m.field == "" {
			return fmt.Errorf("%s: no Go field found for %q", fn, m.name)
		}
	}
	a.seen[name] = structNames{name: name, members: members}
	return nil
}

// below follows a call to a struct's or a list's deserializer and returns the
// name of the list's elements, empty for a struct.
func (a *answers) below(fn string) (string, error) {
	body, ok := a.src.funcs[fn]
	if !ok {
		return "", fmt.Errorf("no function %s in the SDK's deserializers", fn)
	}
	if strings.HasSuffix(fn, "Unwrapped") {
		return "*", nil
	}
	text := strings.Join(body, "\n")
	if !desList.MatchString(text) {
		m := desType.FindStringSubmatch(text)
		if m == nil {
			return "", fmt.Errorf("%s is neither a struct nor a list", fn)
		}
		return "", a.structure(fn, m[1])
	}
	name := ""
	for _, line := range body {
		if m := desCase.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if m := desCall.FindStringSubmatch(line); m != nil {
			elem, err := a.below(m[1])
			if err != nil {
				return "", err
			}
			if elem != "" {
				return "", fmt.Errorf("%s: a list of lists is not supported", fn)
			}
		}
	}
	if name == "" {
		return "", fmt.Errorf("%s: no element name", fn)
	}
	return name, nil
}

// requests follows the SDK's serializers: Go field to query key.
type requests struct {
	src  source
	seen map[string]structNames
}

var (
	serField = regexp.MustCompile(`^\tif (?:len\()?v\.(\w+)\b`)
	serKey   = regexp.MustCompile(`objectKey := object\.(Key|FlatKey)\("([^"]+)"\)`)
	serCall  = regexp.MustCompile(`aws\w+_(serializeDocument\w+)\(`)
	serParam = regexp.MustCompile(`value\.(?:Array|Object)\(`)
	serMap   = regexp.MustCompile(`object := value\.Map\("([^"]+)", "([^"]+)"\)`)
	serArray = regexp.MustCompile(`array := value\.Array\("([^"]+)"\)`)
)

// structure records the members of the struct that fn serialises, and of all
// structs below it.
func (r *requests) structure(fn, name string) error {
	if _, ok := r.seen[name]; ok {
		return nil
	}
	body, ok := r.src.funcs[fn]
	if !ok {
		return fmt.Errorf("no function %s in the SDK's serializers", fn)
	}
	r.seen[name] = structNames{name: name}
	var members []member
	var cur *member
	field := ""
	for _, line := range body {
		if m := serField.FindStringSubmatch(line); m != nil {
			field, cur = m[1], nil
		}
		if m := serKey.FindStringSubmatch(line); m != nil {
			if cur != nil && cur.name == m[2] {
				continue // floats write their key once for each special value
			}
			members = append(members, member{field: field, name: m[2]})
			cur = &members[len(members)-1]
			if m[1] == "FlatKey" {
				cur.list = "*"
			}
		}
		if m := serCall.FindStringSubmatch(line); m != nil {
			if cur == nil {
				return fmt.Errorf("%s: call without a key: %s", fn, strings.TrimSpace(line))
			}
			elem, err := r.below(m[1])
			if err != nil {
				return err
			}
			if cur.list == "" {
				cur.list = elem
			}
		}
	}
	r.seen[name] = structNames{name: name, members: members}
	return nil
}

// below follows a call to a struct's, a list's or a map's serializer and returns the
// name of the list's elements, empty for a struct; of a map, those of its entries' parts.
func (r *requests) below(fn string) (string, error) {
	body, ok := r.src.funcs[fn]
	if !ok {
		return "", fmt.Errorf("no function %s in the SDK's serializers", fn)
	}
	text := strings.Join(body, "\n")
	if m := serMap.FindStringSubmatch(text); m != nil {
		if c := serCall.FindStringSubmatch(text); c != nil {
			if elem, err := r.below(c[1]); err != nil || elem != "" {
				return "", fmt.Errorf("%s: a map of lists is not supported (%w)", fn, err)
			}
		}
		// The query protocol's map that is not flat: Attributes.entry.1.Name.
		return "entry:" + m[1] + ":" + m[2], nil
	}
	if !serParam.MatchString(text) {
		return "", fmt.Errorf("%s is neither a struct nor a list", fn)
	}
	m := serArray.FindStringSubmatch(text)
	if m == nil {
		return "", r.structure(fn, strings.TrimPrefix(fn, "serializeDocument"))
	}
	if c := serCall.FindStringSubmatch(text); c != nil {
		elem, err := r.below(c[1])
		if err != nil {
			return "", err
		}
		if elem != "" {
			return "", fmt.Errorf("%s: a list of lists is not supported", fn)
		}
	}
	return m[1], nil
}

// service is one query service and the operations wanted of it.
type service struct {
	name string
	ops  []string
}

// parseOperations reads operations.txt. Services keep the order in which they
// first appear; operations are sorted.
func parseOperations(list string) ([]service, error) {
	var out []service
	for n, line := range strings.Split(list, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("operations.txt line %d: service %q has no operation", n+1, fields[0])
		}
		i := slices.IndexFunc(out, func(s service) bool { return s.name == fields[0] })
		if i < 0 {
			out = append(out, service{name: fields[0]})
			i = len(out) - 1
		}
		out[i].ops = append(out[i].ops, fields[1:]...)
	}
	for i := range out {
		slices.Sort(out[i].ops)
		out[i].ops = slices.Compact(out[i].ops)
	}
	return out, nil
}

// member is one field of a struct on the wire.
type member struct {
	field, name, list string
}

// structNames is a struct with its members, in the SDK's order.
type structNames struct {
	name    string
	members []member
}

// source is the functions of one generated file, by name.
type source struct {
	funcs map[string][]string
	// prefix is the protocol part of the function names, e.g. "awsEc2query".
	prefix string
}

var funcStart = regexp.MustCompile(`^func (aws[A-Za-z0-9]+)_([A-Za-z0-9_]+)\(`)

// scan splits a generated file into functions. The SDK's generated code is
// gofmt'd, so a function ends at the first closing brace in column one.
func scan(path string) (source, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return source{}, fmt.Errorf("read SDK source: %w", err)
	}
	src := source{funcs: map[string][]string{}}
	var name string
	var body []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if m := funcStart.FindStringSubmatch(line); m != nil {
			src.prefix, name, body = m[1], m[2], nil
			continue
		}
		if name == "" {
			continue
		}
		if line == "}" {
			src.funcs[name], name = body, ""
			continue
		}
		body = append(body, line)
	}
	return src, nil
}

func (s service) write(buf *bytes.Buffer, dir string) error {
	ser, err := scan(filepath.Join(dir, "serializers.go"))
	if err != nil {
		return err
	}
	des, err := scan(filepath.Join(dir, "deserializers.go"))
	if err != nil {
		return err
	}
	in := requests{src: ser, seen: map[string]structNames{}}
	out := answers{src: des, seen: map[string]structNames{}}
	fmt.Fprintf(buf, "service %s\n", s.name)
	for _, op := range s.ops {
		if err := in.structure("serializeOpDocument"+op+"Input", op+"Input"); err != nil {
			return fmt.Errorf("%s request: %w", op, err)
		}
		// An operation without members in its answer has no such function.
		if _, ok := des.funcs["deserializeOpDocument"+op+"Output"]; ok {
			if err := out.structure("deserializeOpDocument"+op+"Output", op+"Output"); err != nil {
				return fmt.Errorf("%s answer: %w", op, err)
			}
		}
		fmt.Fprintf(buf, "op %s\n", op)
	}
	writeStructs(buf, "in", in.seen)
	writeStructs(buf, "out", out.seen)
	return nil
}

func writeStructs(buf *bytes.Buffer, kind string, structs map[string]structNames) {
	names := make([]string, 0, len(structs))
	for name := range structs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(buf, "%s %s\n", kind, name)
		for _, m := range structs[name].members {
			fmt.Fprintln(buf, strings.TrimRight(m.field+" "+m.name+" "+m.list, " "))
		}
	}
}

var restOp = regexp.MustCompile(`(?s)Name:\s+"(\w+)",\s*\}, smithy\.ShapeTypeOperation, \d+, &smithytraits\.HTTP\{Method: "(\w+)",\s*URI:\s+"([^"]+)",`)

// writeRest lists where the operations of a REST service live, out of the
// HTTP traits in the SDK's schemas.
func writeRest(buf *bytes.Buffer, name, schemas string) error {
	found := restOp.FindAllStringSubmatch(schemas, -1)
	if len(found) == 0 {
		return fmt.Errorf("no operation with an HTTP trait in the schemas")
	}
	slices.SortFunc(found, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
	fmt.Fprintf(buf, "service %s\n", name)
	for _, m := range found {
		fmt.Fprintf(buf, "rest %s %s %s\n", m[1], m[2], m[3])
	}
	return nil
}
