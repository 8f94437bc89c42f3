package table

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// Filters says, for one kind of resource, which values a filter looks at.
type Filters[T any] map[string]func(*T) []string

// matcher tells whether every filter admits a resource. A filter does if any of
// its values matches any of the resource's; "*" stands for any text and "?" for
// one character. tags is nil for untagged kinds.
func matcher[T any](want []ec2types.Filter, known Filters[T], tags func(*T) []ec2types.Tag) (func(*T) bool, error) {
	values := make([]func(*T) []string, len(want))
	for i, f := range want {
		var err error
		if values[i], err = filterValues(aws.ToString(f.Name), known, tags); err != nil {
			return nil, err
		}
		if len(f.Values) == 0 {
			return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' has no values", aws.ToString(f.Name))
		}
	}
	return func(v *T) bool {
		for i, f := range want {
			if !Admits(values[i](v), f.Values) {
				return false
			}
		}
		return true
	}, nil
}

func filterValues[T any](name string, known Filters[T], tags func(*T) []ec2types.Tag) (func(*T) []string, error) {
	if values, ok := known[name]; ok {
		return values, nil
	}
	if tags != nil {
		if key, ok := strings.CutPrefix(name, "tag:"); ok {
			return func(v *T) []string {
				var out []string
				for _, t := range tags(v) {
					if aws.ToString(t.Key) == key {
						out = append(out, aws.ToString(t.Value))
					}
				}
				return out
			}, nil
		}
		if name == "tag-key" {
			return func(v *T) []string {
				var out []string
				for _, t := range tags(v) {
					out = append(out, aws.ToString(t.Key))
				}
				return out
			}, nil
		}
	}
	return nil, wire.Errorf("InvalidParameterValue", "The filter '%s' is invalid", name)
}

// Admits tells whether a filter with the values want admits a resource that has
// the values have: "*" stands for any text and "?" for one character.
func Admits(have, want []string) bool {
	for _, w := range want {
		for _, h := range have {
			if wildcard(w, h) {
				return true
			}
		}
	}
	return false
}

// wildcard matches text with a pattern of EC2's filters; a backslash takes the
// next character as it is. It goes back to the last star only, so its time
// is bounded by the product of both lengths.
func wildcard(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p+1 < len(pattern) && pattern[p] == '\\' && pattern[p+1] == text[t]:
			p, t = p+2, t+1
		case p < len(pattern) && pattern[p] != '\\' && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// One is the values of a field that has one, none where it is not set.
func One(s *string) []string {
	if s == nil {
		return nil
	}
	return []string{*s}
}

// YesNo is the value of a switch.
func YesNo(b *bool) []string {
	if aws.ToBool(b) {
		return []string{"true"}
	}
	return []string{"false"}
}

// Each collects a value from every item of a list.
func Each[T any](list []T, value func(T) *string) []string {
	var out []string
	for _, v := range list {
		if s := value(v); s != nil {
			out = append(out, *s)
		}
	}
	return out
}
