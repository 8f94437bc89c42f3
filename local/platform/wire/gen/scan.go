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
