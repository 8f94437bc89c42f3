package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// The largest document that AWS keeps is an endpoint's, 20,480 characters
// (VPC quotas); URL encoding makes at most three of each.
const maxDocument = 3 * 20_480

// Parse reads a policy document as IAM gives it (URL-encoded) or as EC2 does
// (not encoded). What is no policy is an error.
func Parse(document string) (Document, error) {
	if len(document) > maxDocument {
		return Document{}, fmt.Errorf("parse a policy: %d bytes, and AWS keeps none over %d", len(document), maxDocument)
	}
	text := strings.TrimSpace(document)
	if strings.HasPrefix(text, "%") {
		plain, err := url.PathUnescape(text)
		if err != nil {
			return Document{}, fmt.Errorf("decode a policy: %w", err)
		}
		text = plain
	}
	var raw struct{ Statement many[rawStatement] }
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return Document{}, fmt.Errorf("parse a policy: %w", err)
	}
	if len(raw.Statement) == 0 {
		return Document{}, errors.New("parse a policy: it has no statement")
	}
	var d Document
	for i, r := range raw.Statement {
		s, err := r.statement(i + 1)
		if err != nil {
			return Document{}, fmt.Errorf("parse statement %d of a policy: %w", i+1, err)
		}
		d.Statements = append(d.Statements, s)
	}
	return d, nil
}

// rawStatement is a statement as it is written.
type rawStatement struct {
	Sid                     string
	Effect                  string
	Action, NotAction       many[string]
	Resource, NotResource   many[string]
	Principal, NotPrincipal principals
	Condition               map[string]map[string]many[scalar]
}

func (r rawStatement) statement(place int) (Statement, error) {
	s := Statement{Sid: r.Sid, Place: place}
	switch strings.ToLower(r.Effect) {
	case "allow":
	case "deny":
		s.Deny = true
	default:
		return Statement{}, fmt.Errorf("the effect is %q", r.Effect)
	}
	if (len(r.Action) == 0) == (len(r.NotAction) == 0) {
		return Statement{}, errors.New("it needs one of Action and NotAction")
	}
	if len(r.Resource) > 0 && len(r.NotResource) > 0 {
		return Statement{}, errors.New("it has both Resource and NotResource")
	}
	if len(r.Principal) > 0 && len(r.NotPrincipal) > 0 {
		return Statement{}, errors.New("it has both Principal and NotPrincipal")
	}
	s.Actions, s.ExceptActions = either(r.Action, r.NotAction)
	s.Resources, s.ExceptResources = either(r.Resource, r.NotResource)
	s.Principals, s.ExceptPrincipals = either(r.Principal, r.NotPrincipal)
	for operator, keys := range r.Condition {
		for key, values := range keys {
			c := Condition{Operator: operator, Key: key}
			for _, v := range values {
				c.Values = append(c.Values, string(v))
			}
			s.Conditions = append(s.Conditions, c)
		}
	}
	slices.SortFunc(s.Conditions, func(a, b Condition) int { return strings.Compare(a.String(), b.String()) })
	return s, nil
}

// either is the one of two lists that is set, and whether it is the second.
func either[T any](list, not []T) ([]T, bool) {
	if len(not) > 0 {
		return not, true
	}
	return list, false
}

// many is one value or a list of them.
type many[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (m *many[T]) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]T)(m))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	if string(data) != "null" {
		*m = many[T]{one}
	}
	return nil
}

// scalar is a string, or a number or a boolean as it is written.
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '"':
		return json.Unmarshal(data, (*string)(s))
	case len(data) > 0 && (data[0] == '{' || data[0] == '[') || string(data) == "null":
		return fmt.Errorf("%.20q is no value of a condition", data)
	}
	*s = scalar(data)
	return nil
}

// principals is "*", or lists by kind.
type principals []Principal

// UnmarshalJSON implements json.Unmarshaler.
func (p *principals) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var all string
		if err := json.Unmarshal(data, &all); err != nil {
			return err
		}
		if all != "*" {
			return fmt.Errorf("the principal is %q", all)
		}
		*p = principals{{Kind: "*", Value: "*"}}
		return nil
	}
	var kinds map[string]many[string]
	if err := json.Unmarshal(data, &kinds); err != nil {
		return err
	}
	for kind, values := range kinds {
		for _, v := range values {
			*p = append(*p, Principal{Kind: kind, Value: v})
		}
	}
	if len(*p) == 0 {
		return errors.New("the principal is nobody")
	}
	slices.SortFunc(*p, func(a, b Principal) int { return strings.Compare(a.Kind+" "+a.Value, b.Kind+" "+b.Value) })
	return nil
}
