package main

import (
	"fmt"
	"regexp"
	"strings"
)

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
