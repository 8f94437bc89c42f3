package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	slackactions "rollcall/functions/slack-actions/spec"
	"rollcall/infra/specs"
)

// TestWhoMayWriteTheProofOfAPress: slack-actions alone. What a record of a press
// says, report takes for Slack's word.
func TestWhoMayWriteTheProofOfAPress(t *testing.T) {
	const pressed = "press#0123456789abcdef"
	reads := []string{"dynamodb:Query", "dynamodb:BatchGetItem"}
	tpl := theTemplate(t)
	got := map[string][]string{}
	for _, spec := range specs.All() {
		for _, s := range statementsOf(t, tpl, spec) {
			writes := slices.ContainsFunc(s.Actions, func(a string) bool {
				return !slices.Contains(reads, a) && (strings.HasPrefix(strings.ToLower(a), "dynamodb:") || strings.HasPrefix(a, "*"))
			})
			if !writes {
				continue
			}
			if diff := cmp.Diff([]string{"dynamodb:PutItem"}, s.Actions); diff != "" {
				t.Errorf("%s, %s writes in another way, whose keys IAM may not see (-want +got):\n%s", spec.Name, s.Sid, diff)
			}
			keys := flats(get(s.Conditions, "ForAllValues:StringLike", "dynamodb:LeadingKeys"))
			if len(keys) == 0 {
				t.Errorf("%s, %s may write records of any kind", spec.Name, s.Sid)
			}
			for _, pattern := range keys {
				prefix, isPrefix := strings.CutSuffix(pattern, "*")
				if !isPrefix || prefix == "" || strings.ContainsAny(prefix, "*?$") {
					t.Errorf("%s, %s: %q is not one kind of record", spec.Name, s.Sid, pattern)
				}
				if strings.HasPrefix(pressed, prefix) {
					got[spec.Name] = append(got[spec.Name], s.Sid)
				}
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{slackactions.Name: {"RecordPresses"}}, got); diff != "" {
		t.Errorf("who may write %s (-want +got):\n%s", pressed, diff)
	}
}
