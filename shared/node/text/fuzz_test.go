package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTell holds that no text makes the decoder or the tables fail, that what
// they look at is bounded, and that what is told is whole.
func FuzzTell(f *testing.F) {
	for _, s := range slices.Concat(read(f, "known.json"), read(f, "heldout.json")) {
		f.Add(s.Text)
	}
	for _, s := range []string{
		"", "\x00", "{", `{"a":{"a":{"a":{"a":1}}}}`, strings.Repeat("[", 200), strings.Repeat(`"`, 200), strings.Repeat(`\`, 300), strings.Repeat(`{"a":`, 100), "[1.5] kubelet[1]: [2.5] kubelet[2]: x",
		`"\"\\\"a\\\"\""`, "> > > │ │ a", "&quot;&amp;quot;", "…", "\xff\xfe\x00", "E0101 00:00:00.0 1 a.go:1] E0101 00:00:00.0 1 a.go:1] x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, joined := decode(text)
		if len(list) > 2*maxMessages || len(joined.words) > 2*maxText {
			t.Errorf("%d messages and %d bytes come of %d bytes", len(list), len(joined.words), len(text))
		}
		for _, m := range list {
			if !utf8.ValidString(m.words) || strings.ContainsAny(m.words, "\n\x00\"") {
				t.Errorf("%q is not plain", m.words)
			}
		}
		told := Tell(text)
		if told.Kind == "" || told.Meaning == "" || told.Next == "" {
			t.Errorf("Tell(%q) = %+v", text, told)
		}
		if told.Symptom && (told.Check == "" || len(told.Look) == 0) {
			t.Errorf("Tell(%q) is a symptom without a place to look: %+v", text, told)
		}
	})
}

// BenchmarkTell is of a text twice as large as what is looked at, in which no
// line tells anything: every row is asked of every line.
func BenchmarkTell(b *testing.B) {
	for name, line := range map[string]string{
		"lines": "2026-11-22T10:00:00Z kubelet[1]: I1122 10:00:00.1 1 a.go:1] all is well with eni, subnet and node\n",
		"JSON":  `{"level":"info","msg":"all is well","object":{"a":{"b":[1,2,{"c":"d"}]}}}` + "\n",
		"one":   "all is well ", "quotes": `\"`, "braces": "{",
	} {
		text := strings.Repeat(line, 2*maxText/len(line))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Tell(text)
			}
		})
	}
}
