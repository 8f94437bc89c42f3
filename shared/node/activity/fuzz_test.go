package activity

import (
	"rollcall/shared/checkid"
	"testing"
	"unicode/utf8"
)

// FuzzClassify holds that no text makes the tables fail, that what is shown is
// valid and bounded, and that what is said always has words.
func FuzzClassify(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.Text, s.Source)
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		v := Classify(text)
		if v.Class.Family() != checkid.Launch || v.Meaning == "" || v.Next == "" {
			t.Errorf("Classify(%q) = %+v", text, v)
		}
		if !utf8.ValidString(v.Text) || utf8.RuneCountInString(v.Text) > maxShown {
			t.Errorf("Classify(%q) shows %q", text, v.Text)
		}
		if r := ClassifyReason(other, text); r.Class == "" || r.Meaning == "" || r.Next == "" || r.Class == checkid.LaunchUnclassified {
			t.Errorf("ClassifyReason(%q, %q) = %+v", other, text, r)
		}
		Launching(other, text)
		StatusOf(other, text)
	})
}
