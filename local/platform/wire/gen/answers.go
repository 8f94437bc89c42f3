package main

import (
	"fmt"
	"regexp"
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
