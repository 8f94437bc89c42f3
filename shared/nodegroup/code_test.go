package nodegroup

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// Every code that the SDK knows is explained, and no other. A new version of
// the SDK that brings a new code fails here.
func TestEveryCodeIsExplained(t *testing.T) {
	issues, updates := issueCodes(), updateCodes()
	for _, code := range types.NodegroupIssueCode("").Values() {
		whole(t, string(code), OfIssue(string(code)))
		delete(issues, string(code))
	}
	for _, code := range types.ErrorCode("").Values() {
		whole(t, string(code), OfUpdate(string(code)))
		delete(updates, string(code))
	}
	if len(issues)+len(updates) > 0 {
		t.Errorf("EKS has no such codes: %v %v", issues, updates)
	}
	if n, m := len(issueCodes()), len(updateCodes()); n != 36 || m != 17 {
		t.Errorf("%d and %d codes, want 36 and 17", n, m)
	}
}

func whole(t *testing.T, name string, c Code) {
	t.Helper()
	switch {
	case !c.Known:
		t.Errorf("%s is not known", name)
	case c.Class == "" || c.Meaning == "" || c.Next == "":
		t.Errorf("%s lacks a class, a meaning or a next step: %+v", name, c)
	case strings.HasSuffix(c.Meaning, ".") || !strings.HasSuffix(c.Next, "."):
		t.Errorf("%s: the meaning ends a sentence of others, the next step is one: %+v", name, c)
	case c.Symptom && c.Class != Join && c.Class != Launch:
		t.Errorf("%s is a symptom of class %s", name, c.Class)
	}
}

func TestUnknownCodes(t *testing.T) {
	for code, want := range map[string]string{"Gremlins": "Gremlins", "": "none is given"} {
		c := OfIssue(code)
		if c.Known || c.Class != Other || !strings.Contains(c.Meaning, want) || c.Next == "" || c.Symptom || c.Disproved {
			t.Errorf("OfIssue(%q) = %+v", code, c)
		}
		if c := OfUpdate(code); c.Known || !strings.Contains(c.Meaning, want) {
			t.Errorf("OfUpdate(%q) = %+v", code, c)
		}
	}
}
