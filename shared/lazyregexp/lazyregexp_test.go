package lazyregexp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each method says what the expression's own does.
func TestAsRegexp(t *testing.T) {
	const text, s = `(a)(\d)`, "a1 b2 a3"
	lazy, own := New(text), regexp.MustCompile(text)
	got := []any{
		lazy.FindAllString(s, -1), lazy.FindAllStringSubmatch(s, 1), lazy.FindAllStringSubmatchIndex(s, -1), lazy.FindString(s), lazy.FindStringIndex(s), lazy.FindStringSubmatch(s), lazy.FindStringSubmatchIndex(s), lazy.MatchString(s), lazy.MatchString("b"),
		lazy.ReplaceAllString(s, "$2"), lazy.ReplaceAllStringFunc(s, strings.ToUpper),
	}
	want := []any{
		own.FindAllString(s, -1), own.FindAllStringSubmatch(s, 1), own.FindAllStringSubmatchIndex(s, -1), own.FindString(s), own.FindStringIndex(s), own.FindStringSubmatch(s), own.FindStringSubmatchIndex(s), own.MatchString(s), own.MatchString("b"),
		own.ReplaceAllString(s, "$2"), own.ReplaceAllStringFunc(s, strings.ToUpper),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-regexp +lazy):\n%s", diff)
	}
}

// What is no expression is found when it is used, not before.
func TestCompiledOnUse(t *testing.T) {
	r := New("(")
	defer func() {
		if recover() == nil {
			t.Error("what is no expression was used")
		}
	}()
	r.MatchString("x")
}
