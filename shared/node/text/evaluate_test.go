package text

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checkid"
)

// sample is a text that somebody pasted in public.
type sample struct {
	File   string       `json:"file"`
	Text   string       `json:"text"`
	Source string       `json:"source"` // the thread or page
	Kind   string       `json:"kind"`
	Want   []checkid.ID `json:"want"` // any of them is right; none: nothing may be told
	Why    string       `json:"why,omitempty"`
	Filed  string       `json:"filed,omitempty"` // what the file says where Want differs
}

// group is whose threads they are: one repository's, or one page.
func (s sample) group() string {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(s.Source, "https://"), "github.com/"), "/")
	return strings.Join(parts[:min(len(parts), 2)], "/")
}

func read(t testing.TB, file string) []sample {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var list []sample
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// grade is how a text was placed.
type grade int

const (
	right   grade = iota // an id that is right, or nothing where nothing is there
	symptom              // a symptom's id, and the right one is among what it lists
	untold               // nothing was told
	wrong                // something else was told
)

func gradeOf(s sample, told Told) grade {
	switch {
	case slices.Contains(s.Want, told.Check), len(s.Want) == 0 && told.Check == "":
		return right
	case told.Check == "":
		return untold
	case told.Symptom && slices.ContainsFunc(s.Want, func(w checkid.ID) bool { return slices.Contains(told.Look, w) }):
		return symptom
	}
	return wrong
}

type counts [4]int

// table counts texts by what is in a column.
func table(t *testing.T, title string, list []sample, by func(sample) string, tell func(sample) Told) counts {
	t.Helper()
	rows, total := map[string]*counts{}, counts{}
	var order []string
	for _, s := range list {
		key := by(s)
		if rows[key] == nil {
			rows[key] = &counts{}
			order = append(order, key)
		}
		g := gradeOf(s, tell(s))
		rows[key][g]++
		total[g]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %-34s %5s %7s %7s %5s\n", title, "", "right", "symptom", "unknown", "wrong")
	for _, key := range order {
		fmt.Fprintf(&b, "  %-34s %5d %7d %7d %5d\n", key, rows[key][right], rows[key][symptom], rows[key][untold], rows[key][wrong])
	}
	fmt.Fprintf(&b, "  %-34s %5d %7d %7d %5d\n", "all", total[right], total[symptom], total[untold], total[wrong])
	t.Log(b.String())
	return total
}

// without is the vocabulary that is left when one group's texts had never been
// seen: a phrase without a document counts only where another group's text, or
// nobody's, holds it.
type without struct {
	group string
	// strict lets no document stand for a text: the least that is left.
	strict bool
	taught map[string]map[string]bool // phrase: the groups whose texts hold it
}

func (w without) knows(phrase, source string) bool {
	groups := w.taught[phrase]
	return source != "" && !w.strict || len(groups) != 1 || !groups[w.group]
}

func (w without) knowsRow(name string) bool {
	groups := w.taught[name]
	return len(groups) != 1 || !groups[w.group]
}

// learn notes which phrases and rows each text uses.
type learn struct {
	group  string
	taught map[string]map[string]bool
}

func (l learn) note(what string) bool {
	if l.taught[what] == nil {
		l.taught[what] = map[string]bool{}
	}
	l.taught[what][l.group] = true
	return true
}

func (l learn) knows(phrase, _ string) bool { return l.note(phrase) }
func (l learn) knowsRow(name string) bool   { return l.note(name) }

// TestTexts prints how the texts of the two files are placed, and with each
// source's own vocabulary taken away.
func TestTexts(t *testing.T) {
	list := read(t, "known.json")
	told := func(s sample) Told { return Tell(s.Text) }
	byKind := func(s sample) string { return s.File + " " + s.Kind }
	total := table(t, "texts of both files", list, byKind, told)
	taught := map[string]map[string]bool{}
	all := slices.Concat(list, read(t, "heldout.json"), read(t, "heldout-2.json"), read(t, "heldout-3.json"), read(t, "heldout-4.json"))
	for _, s := range append(slices.Clone(all), activitySamples(t)...) {
		tell(s.Text, learn{s.group(), taught})
	}
	left := table(t, "each source's own vocabulary left out", list, byKind, func(s sample) Told { return tell(s.Text, without{s.group(), false, taught}) })
	byFile := func(s sample) string {
		if s.File == "" {
			return "held out"
		}
		return s.File
	}
	table(t, "each source left out, and no document stands for it", all, byFile, func(s sample) Told { return tell(s.Text, without{s.group(), true, taught}) })
	for _, s := range list {
		if got := tell(s.Text, without{s.group(), false, taught}); gradeOf(s, got) == wrong {
			t.Logf("left out: %s\n  %.160q\n  told %q symptom %t, want %q", s.Source, s.Text, got.Check, got.Symptom, s.Want)
		}
		if got := Tell(s.Text); gradeOf(s, got) >= untold {
			t.Logf("%s\n  %.160q\n  told %q symptom %t, want %q; kind %s", s.Source, s.Text, got.Check, got.Symptom, s.Want, got.Kind)
		}
	}
	if total[wrong] > 0 || total[right]+total[symptom] < 113 {
		t.Errorf("%v are right, symptoms, unknown and wrong: want none wrong and 113 placed", total)
	}
	if left[wrong] > 1 || left[right]+left[symptom] < 109 {
		t.Errorf("%v are right, symptoms, unknown and wrong with each source left out: want one wrong at most and 109 placed", left)
	}
}

// TestThreads: what people met in public threads of 2024 to 2026 is placed exactly.
func TestThreads(t *testing.T) {
	for _, s := range read(t, "threads.json") {
		if told := Tell(s.Text); !slices.Contains(s.Want, told.Check) {
			t.Errorf("%s\n  %.160q\n  told %q, want %q", s.Source, s.Text, told.Check, s.Want)
		}
	}
}

// TestHeldOut prints how texts are placed that were labelled before they were
// run, from threads that nothing had been learned from. At their first run the
// 93 of the first file were 67 right, 2 symptoms, 16 unknown and 8 wrong; then
// the rules were widened, and the 43 of the second file were 32, 0, 6 and 5.
// What was wrong there widened them again, and the 18 of the third were 16, 0,
// 2 and 0, the 15 of the fourth 12, 0, 3 and 0. All have taught since, so now
// they only hold what is known.
func TestHeldOut(t *testing.T) {
	for file, least := range map[string]int{"heldout.json": 91, "heldout-2.json": 42, "heldout-3.json": 18, "heldout-4.json": 15} {
		list := read(t, file)
		total := table(t, file, list, func(s sample) string { return s.Kind }, func(s sample) Told { return Tell(s.Text) })
		for _, s := range list {
			if got := Tell(s.Text); gradeOf(s, got) >= untold {
				t.Logf("%s\n  %.200q\n  told %q symptom %t, want %q; kind %s", s.Source, s.Text, got.Check, got.Symptom, s.Want, got.Kind)
			}
		}
		if total[wrong] > 0 || total[right]+total[symptom] < least {
			t.Errorf("%s: %v are right, symptoms, unknown and wrong: want none wrong and %d placed", file, total, least)
		}
	}
}

// activitySamples are the texts of package activity's tests.
func activitySamples(t testing.TB) []sample {
	t.Helper()
	raw, err := os.ReadFile("../activity/testdata/samples.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Text, Source string
		Want         checkid.ID
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var samples []sample
	for _, s := range list {
		one := sample{Text: s.Text, Source: s.Source, Kind: "activity's samples"}
		if s.Want != "" {
			one.Want = []checkid.ID{s.Want}
		}
		samples = append(samples, one)
	}
	return samples
}

// TestActivitySamples holds that what package activity is tested with tells the
// same here, but where the whole text shows more, or less, than its words.
func TestActivitySamples(t *testing.T) {
	list := activitySamples(t)
	others := map[string]checkid.ID{
		"terraform-aws-modules/terraform-aws-eks/issues/3346": "instance/forbidden-node-label", // more exact than instance/user-data
		"terraform-aws-modules/terraform-aws-eks/issues/831":  "instance/forbidden-node-label",
		"aws/karpenter-provider-aws/pull/5740":                "instance/console-error", // a time-out does not tell which path
		"awsdocs/amazon-eks-user-guide/issues/110":            "iam/role-policies",      // ECR was reached
		"aws/karpenter-provider-aws/issues/7370":              "launch/policy-denied",   // more exact than launch/unauthorized
		"cloudcaptainsh/cloudcaptain/issues/204":              "instance/ended-early",   // a fault inside EC2 ended it
	}
	table(t, "activity's samples", list, func(s sample) string { return s.Kind }, func(s sample) Told { return Tell(s.Text) })
	for _, s := range list {
		got := Tell(s.Text)
		if want := others[strings.TrimPrefix(s.Source, "https://github.com/")]; gradeOf(s, got) > symptom && got.Check != want {
			t.Errorf("%s\n  %.200q\n  told %q symptom %t, want %q; kind %s", s.Source, s.Text, got.Check, got.Symptom, s.Want, got.Kind)
		}
	}
}
