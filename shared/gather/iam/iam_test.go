package iam

import (
	"testing"

	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/gather/gathertest"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, profile)
	gathertest.Converts(t, func(r iamtypes.Role) string { text, _ := document(r.AssumeRolePolicyDocument); return text })
}

// TestDocument holds that a policy's text is what was written: a plus sign is
// no space, and a percent sign no escape of its own.
func TestDocument(t *testing.T) {
	for _, test := range []struct {
		text, want string
		fails      bool
	}{
		{"%7B%22a%22%3A%22b+c%25%22%7D", `{"a":"b+c%"}`, false},
		{"{}", "{}", false},
		{"", "", false},
		{"%zz", "", true},
	} {
		got, err := document(&test.text)
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("document(%q) = %q, %v; want %q", test.text, got, err, test.want)
		}
	}
	if got, err := document(nil); got != "" || err != nil {
		t.Errorf("document(nil) = %q, %v", got, err)
	}
}
