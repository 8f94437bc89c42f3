// Package trail says what was changed before an incident: which write calls in
// CloudTrail's records are about the resources of its cause, between the last
// launch that joined and the first that did not. It is pure: who reads
// CloudTrail hands it the records.
package trail

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Record is what is kept of a CloudTrail record. The request's parameters are
// kept as far as they are names: they may hold secrets, and are only compared,
// never shown.
type Record struct {
	ID     string
	At     time.Time
	Source string // ec2.amazonaws.com
	Call   string // DeleteRoute
	// ReadOnly tells that it changes nothing.
	ReadOnly bool
	// Error is the code of a call that was refused.
	Error string
	Actor Actor
	// Asked and Answered are the short texts of the request and of the answer.
	Asked, Answered []Text
}

// Text is a text in a record, and the name of the field that it stands in.
type Text struct{ Field, Value string }

// has tells whether one of the fields, or any field where none is given, has
// the value.
func has(list []Text, value string, fields ...string) bool {
	return slices.ContainsFunc(list, func(t Text) bool {
		return t.Value == value && (len(fields) == 0 || slices.Contains(fields, t.Field))
	})
}

var errNoEvent = errors.New("it has no id, time, source or name")

// Decode reads a record as CloudTrail writes it.
func Decode(text []byte) (Record, error) {
	var r struct {
		ID       string          `json:"eventID"`
		Time     time.Time       `json:"eventTime"`
		Source   string          `json:"eventSource"`
		Name     string          `json:"eventName"`
		ReadOnly bool            `json:"readOnly"`
		Error    string          `json:"errorCode"`
		Address  string          `json:"sourceIPAddress"`
		Identity identity        `json:"userIdentity"`
		Request  json.RawMessage `json:"requestParameters"`
		Answer   json.RawMessage `json:"responseElements"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return Record{}, fmt.Errorf("decode a CloudTrail record: %w", err)
	}
	if r.ID == "" || r.Time.IsZero() || r.Source == "" || r.Name == "" {
		return Record{}, fmt.Errorf("decode a CloudTrail record: %w", errNoEvent)
	}
	// EC2's codes begin with the side that is at fault: "Client.DryRunOperation".
	code := r.Error
	for _, side := range []string{"Client.", "Server."} {
		code = strings.TrimPrefix(code, side)
	}
	return Record{
		ID: r.ID, At: r.Time.UTC(), Source: r.Source, Call: r.Name, ReadOnly: r.ReadOnly, Error: code,
		Actor: r.Identity.actor(r.Address), Asked: texts(r.Request), Answered: texts(r.Answer),
	}, nil
}

const (
	// longest is of a name: the ARN of a role, which has the longest of those that
	// we look for, has a path of 512 characters and a name of 64 (IAM's quotas).
	// Policies and user data are longer.
	longest = 640
	// deepest and mostTexts bound a record that is not what it should be.
	deepest   = 20
	mostTexts = 2000
)

// texts are the short texts of a JSON value. EC2 nests some parameters under
// the name of the request, and lists under "items" or "content": a text has the
// name of the nearest field that says what it is.
func texts(raw json.RawMessage) []Text {
	if len(raw) == 0 {
		return nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	var list []Text
	var walk func(field string, v any, depth int)
	walk = func(field string, v any, depth int) {
		if depth > deepest || len(list) >= mostTexts {
			return
		}
		switch v := v.(type) {
		case string:
			if v != "" && len(v) <= longest {
				list = append(list, Text{field, v})
			}
		case []any:
			for _, item := range v {
				walk(field, item, depth+1)
			}
		case map[string]any:
			names := make([]string, 0, len(v))
			for name := range v {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				under := lowered(name)
				if under == "ipPermissions" {
					continue // the rules of a group name others
				}
				if under == "items" || under == "content" || under == "member" {
					under = field
				}
				walk(under, v[name], depth+1)
			}
		}
	}
	walk("", v, 0)
	return list
}

// lowered is a field's name in lower camel case: newer calls of EC2 write theirs
// with a capital.
func lowered(name string) string {
	if name == "" {
		return name
	}
	return strings.ToLower(name[:1]) + name[1:]
}
