package slacktext

import (
	"slices"
	"testing"
	"time"
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

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "instance", "0 instances"}, {1, "instance", "1 instance"}, {12, "instance", "12 instances"},
		{1200, "instance", "1,200 instances"}, {1234567, "more line", "1,234,567 more lines"}, {1, "more line", "1 more line"},
		{-1200, "instance", "-1,200 instances"}, {-120, "instance", "-120 instances"},
	} {
		if got := Count(tt.n, tt.noun); got != tt.want {
			t.Errorf("count(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:                         "0 s",
		58 * time.Second:                     "58 s",
		119*time.Second + 400e6:              "119 s",
		119*time.Second + 600e6:              "2 min",
		14*time.Minute + time.Second:         "14 min",
		2 * time.Hour:                        "2 h",
		2*time.Hour + 5*time.Minute:          "2 h 5 min",
		47*time.Hour + 29*time.Minute + 59e9: "47 h 30 min",
		48 * time.Hour:                       "2 d",
		76 * time.Hour:                       "3 d 4 h",
	} {
		if got := Span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th"} {
		if got := Ordinal(n); got != want {
			t.Errorf("ordinal(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFew(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a and b"}, {[]string{"a", "b", "c"}, "a, b and 1 more"},
		{[]string{"a-very-long-name"}, "a-very-lo…"},
	} {
		if got := Few(tt.names, 2, 10); got != tt.want {
			t.Errorf("few(%q) = %q, want %q", tt.names, got, tt.want)
		}
	}
}
