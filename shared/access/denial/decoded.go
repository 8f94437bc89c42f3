package denial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rollcall/shared/snapshot"
)

// decoded is the message that STS gives, as JSON in a string (AWS CLI reference, sts
// decode-authorization-message, example; aws/karpenter-provider-aws#3176).
type decoded struct {
	Allowed           bool `json:"allowed"`
	ExplicitDeny      bool `json:"explicitDeny"`
	MatchedStatements struct {
		Items []struct {
			ID         string `json:"statementId"`
			Effect     string `json:"effect"`
			Conditions keys   `json:"conditions"`
		} `json:"items"`
	} `json:"matchedStatements"`
	Context struct {
		Principal struct {
			ARN string `json:"arn"`
		} `json:"principal"`
		Action     string `json:"action"`
		Resource   string `json:"resource"`
		Conditions keys   `json:"conditions"`
	} `json:"context"`
}

// keys are condition keys with their values.
type keys struct {
	Items []struct {
		Key    string `json:"key"`
		Values struct {
			Items []struct {
				Value string `json:"value"`
			} `json:"items"`
		} `json:"values"`
	} `json:"items"`
}

// Bounds of what is kept of a decoded message. The request's context, with all that
// the caller sent, is not kept: only what the statements ask for.
const (
	mostStatements = 5
	mostConditions = 8
	mostValues     = 5
	mostBytes      = 256 << 10 // of the decoded message
)

// errUnlike is a decoded message that is not as AWS's are.
var errUnlike = errors.New("the decoded message is not in the form that is known")

// Decoded reads what sts:DecodeAuthorizationMessage answers. It says nothing of the
// kind of the policy.
func Decoded(text string) (snapshot.Denial, error) {
	if len(text) > mostBytes {
		return snapshot.Denial{}, fmt.Errorf("%d bytes: %w", len(text), errUnlike)
	}
	var m decoded
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return snapshot.Denial{}, fmt.Errorf("%w: %w", errUnlike, err)
	}
	if m.Allowed || m.Context.Action == "" {
		return snapshot.Denial{}, errUnlike
	}
	d := snapshot.Denial{Who: who(m.Context.Principal.ARN), Action: action(m.Context.Action, m.Context.Resource), Resource: shown(m.Context.Resource), Explicit: m.ExplicitDeny}
	has := map[string][]string{}
	for _, c := range m.Context.Conditions.Items {
		has[strings.ToLower(c.Key)] = values(c.Values.Items)
	}
	for _, item := range m.MatchedStatements.Items {
		if !strings.EqualFold(item.Effect, "DENY") || len(d.Statements) == mostStatements {
			continue
		}
		s := snapshot.DeniedStatement{ID: shown(item.ID)}
		for _, c := range item.Conditions.Items[:min(len(item.Conditions.Items), mostConditions)] {
			s.Conditions = append(s.Conditions, snapshot.DeniedCondition{Key: shown(c.Key), Names: values(c.Values.Items), Has: has[strings.ToLower(c.Key)]})
		}
		d.Statements = append(d.Statements, s)
	}
	return d, nil
}

// action is the action with its service: EC2 writes its own without.
func action(name, resource string) string {
	if part := strings.Split(resource, ":"); !strings.Contains(name, ":") && len(part) > 2 {
		name = part[2] + ":" + name
	}
	return shown(name)
}

func values(items []struct {
	Value string `json:"value"`
}) []string {
	var list []string
	for _, v := range items[:min(len(items), mostValues)] {
		list = append(list, shown(v.Value))
	}
	return list
}

// Merge is what two tellings of one denial say together: the sentence has the kind of
// the policy, the decoded message its statements.
func Merge(told, decoded snapshot.Denial) snapshot.Denial {
	decoded.Kind, decoded.Policy = told.Kind, told.Policy
	decoded.Explicit = decoded.Explicit || told.Explicit
	if decoded.Who == "" {
		decoded.Who = told.Who
	}
	return decoded
}

// MissingTags are the tags that the request did not have and that a statement which
// denied it asks for.
func MissingTags(d snapshot.Denial) []string {
	var list []string
	for _, s := range d.Statements {
		for _, c := range s.Conditions {
			// Condition keys are written in any case, tags are not (IAM user guide,
			// "AWS global condition context keys", aws:RequestTag/tag-key).
			const prefix = "aws:requesttag/"
			if len(c.Has) == 0 && len(c.Key) > len(prefix) && strings.EqualFold(c.Key[:len(prefix)], prefix) {
				list = append(list, c.Key[len(prefix):])
			}
		}
	}
	return list
}
