package slacktext

import (
	"slices"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 5, ""}, {"short", 5, "short"}, {"longer", 5, "long…"}, {"日本語", 3, "日本語"}, {"日本語です", 3, "日本…"},
		{"🔥🔥", 4, "🔥🔥"}, {"🔥🔥🔥", 4, "🔥…"}, {"a b c", 4, "a b…"}, {"ab  cd", 5, "ab…"},
	} {
		if got := Clip(tt.s, tt.n); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x00b\u202ec\xff", 5)
	f.Add("🔥 日本語", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(1, n%4000)
		got := Clip(Clean(s), n)
		if Length(got) > n || !utf8.ValidString(got) || slices.ContainsFunc([]rune(got), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("clip(clean(%q), %d) = %q", s, n, got)
		}
	})
}
