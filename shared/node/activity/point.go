package activity

import "rollcall/shared/checkid"

// Table is another table of texts, such as that of lines on a console. ok is
// false where it does not know the text.
type Table func(text string) (check checkid.ID, meaning, next string, ok bool)

// Point tells which check of the catalogue looks for what a text tells,
// whatever the text is: a status message, an error, a state reason, a health
// issue, or what else, where more tables are given, those know. ok is false
// for a text that nothing knows; then check is launch/unclassified.
func Point(text string, more ...Table) (check checkid.ID, meaning, next string, ok bool) {
	if s, found := signOf(text, foreign()); found {
		return s.class, s.meaning, s.next, true
	}
	v := Classify(text)
	if v.Class != checkid.LaunchUnclassified {
		return v.Class, v.Meaning, v.Next, true
	}
	if r, found := reasonIn(text); found {
		return r.Class, r.Meaning, r.Next, true
	}
	if i, found := issueIn(text); found {
		return i.class, i.meaning, i.next, true
	}
	if s, found := signOf(text, signs()); found {
		return s.class, s.meaning, s.next, true
	}
	for _, table := range more {
		if check, meaning, next, ok := table(text); ok {
			return check, meaning, next, true
		}
	}
	return checkid.LaunchUnclassified, v.Meaning, v.Next, false
}
