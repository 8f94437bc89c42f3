package authorization

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// denied is the error as EC2 has it (aws/karpenter-provider-aws#7370,
// kubernetes-sigs/karpenter#2813), with an encoded message that STS decodes from
// then on. It is another one for each request, and the same for the same.
func denied(w *state.State, r request, why reason) error {
	var encoded strings.Builder
	for i := range 8 {
		sum := sha256.Sum256(fmt.Append(nil, i, r, why.text))
		encoded.WriteString(base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	known := func(m worldfile.AuthorizationMessage) bool { return m.Encoded == encoded.String() }
	if !slices.ContainsFunc(w.File.STS.AuthorizationMessages, known) {
		text, err := decoded(r, why)
		if err != nil {
			return err
		}
		w.File.STS.AuthorizationMessages = append(w.File.STS.AuthorizationMessages, worldfile.AuthorizationMessage{Encoded: encoded.String(), Decoded: text})
	}
	e := wire.Errorf("UnauthorizedOperation", "You are not authorized to perform this operation. User: %s is not authorized to perform: %s on resource: %s %s. "+
		"Encoded authorization failure message: %s",
		r.caller, r.action, r.resource, why.text, encoded.String())
	e.Status = 403
	return e
}

// items is a list as STS writes it.
type items[T any] struct {
	Items []T `json:"items"`
}

type value struct {
	Value string `json:"value"`
}

type conditionKey struct {
	Key    string       `json:"key"`
	Values items[value] `json:"values"`
}

type matchedStatement struct {
	StatementID     string              `json:"statementId"`
	Effect          string              `json:"effect"`
	Principals      items[value]        `json:"principals"`
	PrincipalGroups items[value]        `json:"principalGroups"`
	Actions         items[value]        `json:"actions"`
	Resources       items[value]        `json:"resources"`
	Conditions      items[conditionKey] `json:"conditions"`
}

// decoded is what STS says of it (AWS CLI reference, sts decode-authorization-message;
// aws/karpenter-provider-aws#3176). A statement's conditions have no operator there.
func decoded(r request, why reason) (string, error) {
	_, session, _ := strings.Cut(r.caller, ":assumed-role/")
	role, session, _ := strings.Cut(session, "/")
	id := "AROA" + strings.ToUpper(ids.SHA256(role)[:17]) + ":" + session
	matched := items[matchedStatement]{Items: []matchedStatement{}}
	for _, s := range why.statements {
		m := matchedStatement{
			StatementID: s.SID, Effect: "DENY", Principals: valuesOf(strings.SplitN(id, ":", 2)[:1]), PrincipalGroups: valuesOf(nil),
			Actions: valuesOf(s.Actions), Resources: valuesOf(s.Resources), Conditions: items[conditionKey]{Items: []conditionKey{}},
		}
		for _, operator := range slices.Sorted(maps.Keys(s.Conditions)) {
			m.Conditions.Items = append(m.Conditions.Items, keysIn(s.Conditions[operator])...)
		}
		matched.Items = append(matched.Items, m)
	}
	text, err := json.Marshal(map[string]any{
		"allowed": false, "explicitDeny": len(why.statements) > 0, "matchedStatements": matched, "failures": items[value]{Items: []value{}},
		"context": map[string]any{
			"principal": map[string]any{"id": id, "arn": r.caller}, "action": r.action, "resource": r.resource, "conditions": items[conditionKey]{Items: keysIn(r.keys)},
		},
	})
	if err != nil {
		return "", fmt.Errorf("write an authorization message: %w", err)
	}
	return string(text), nil
}

func keysIn(keys map[string][]string) []conditionKey {
	list := []conditionKey{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		list = append(list, conditionKey{Key: key, Values: valuesOf(keys[key])})
	}
	return list
}

func valuesOf(list []string) items[value] {
	out := items[value]{Items: []value{}}
	for _, v := range list {
		out.Items = append(out.Items, value{v})
	}
	return out
}
