package table

import (
	"testing"
)

func TestWildcard(t *testing.T) {
	tests := []struct {
		pattern, text string
		want          bool
	}{
		{"aws-K8S-*", "aws-K8S-i-1", true},
		{"aws-K8S-*", "aws-k8s-i-1", false},
		{"*", "", true},
		{"*a*b", "xxaxxb", true},
		{"*a*b", "xxaxx", false},
		{"i-?", "i-1", true},
		{"i-?", "i-12", false},
		{`a\*`, "a*", true},
		{`a\*`, "ab", false},
		{"", "x", false},
	}
	for _, tt := range tests {
		if got := wildcard(tt.pattern, tt.text); got != tt.want {
			t.Errorf("wildcard(%q, %q): got %t, want %t", tt.pattern, tt.text, got, tt.want)
		}
	}
}

func FuzzWildcard(f *testing.F) {
	f.Add("a*b?c", "aXbYc")
	f.Add(`\*`, "*")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if !wildcard("*", text) {
			t.Errorf("* does not match %q", text)
		}
		_ = wildcard(pattern, text) // must not panic
	})
}
