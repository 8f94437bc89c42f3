package activity

import (
	"encoding/json"
	"os"
	"rollcall/shared/checkid"
	"strings"
	"testing"
)

// sample is a text of the field: where it stands, and the check that it
// points to; empty for texts that tell nothing.
type sample struct {
	Text   string `json:"text"`
	Source string `json:"source"`
	Want   string `json:"want"`
}

func samples(t testing.TB) []sample {
	t.Helper()
	raw, err := os.ReadFile("testdata/samples.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []sample
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 120 {
		t.Fatalf("%d samples: too few to hold anything", len(list))
	}
	return list
}

// A text of a failed launch is the same to Classify.
func TestSamplesOfLaunchesClassify(t *testing.T) {
	for _, s := range samples(t) {
		want := checkid.ID(s.Want)
		if want.Family() != checkid.Launch {
			continue
		}
		if got := Classify(s.Text).Class; got != want {
			t.Errorf("%q is %s, want %s", s.Text, got, want)
		}
	}
}

// Every class that a text can tell has samples in several wordings.
func TestEveryClassHasSamples(t *testing.T) {
	count := map[checkid.ID]int{}
	for _, s := range samples(t) {
		count[checkid.ID(s.Want)]++
	}
	for _, r := range table() {
		if least := 3; r.class != checkid.LaunchUnclassified && r.class != checkid.LaunchSuspended && count[r.class] < least {
			t.Errorf("%s has %d samples, want %d", r.class, count[r.class], least)
		}
	}
}

// However a text is quoted, wrapped, indented or escaped, it says the same.
func TestFormDoesNotMatter(t *testing.T) {
	forms := map[string]func(string) string{
		"upper case":    strings.ToUpper,
		"wrapped":       func(s string) string { return strings.ReplaceAll(s, " ", "\n  ") },
		"quoted":        func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") },
		"terraform box": func(s string) string { return "│ " + strings.ReplaceAll(s, "\n", "\n│ ") + "\n╵" },
		"escaped JSON":  func(s string) string { raw, _ := json.Marshal(s); return string(raw) },
		"escaped twice": func(s string) string {
			raw, _ := json.Marshal(s)
			raw, _ = json.Marshal(string(raw))
			return string(raw)
		},
		"curly quotes":   func(s string) string { return strings.ReplaceAll(s, "'", "’") },
		"among noise":    func(s string) string { return strings.Repeat("a line of a log\n", 50) + s + "\nand more" },
		"markdown":       func(s string) string { return "```\n" + s + "\n```" },
		"invalid UTF-8":  func(s string) string { return "\xff\xfe" + s + "\x80" },
		"carriage lines": func(s string) string { return strings.ReplaceAll(s, " ", "\r\n") },
	}
	for name, form := range forms {
		for _, r := range table() {
			if name == "upper case" && len(r.texts) == 0 {
				continue // codes are as they are written
			}
			if got := Classify(form(r.sample)).Class; got != r.class {
				t.Errorf("%s: %q is %s, want %s", name, form(r.sample), got, r.class)
			}
		}
	}
}

// The samples in the tables are matched by their own rows, and have sources.
func TestRowsMatchTheirSamples(t *testing.T) {
	for i, r := range table() {
		got, _, ok := match(r.sample, table())
		if !ok || got.sample != r.sample {
			t.Errorf("row %d (%s): its sample %q is matched by the row of %q", i, r.class, r.sample, got.sample)
		}
		if r.source == "" {
			t.Errorf("row %d (%s) has no source", i, r.class)
		}
		for _, phrase := range r.texts {
			if phrase != normal(phrase) {
				t.Errorf("phrase %q is not in the form that texts are brought into: %q", phrase, normal(phrase))
			}
		}
	}
}

// Where two classes fit one text, the table's order decides, and each such
// pair of the field is known.
func TestClaimsOfTwoClassesAreKnown(t *testing.T) {
	known := map[[2]checkid.ID]bool{
		// A fleet that tried several ways is cured by the limit.
		{checkid.LaunchSpotLimit, checkid.LaunchUnsupportedType}: true,
		// "Client.InternalError" comes with "Server.InternalError" as code.
		{checkid.LaunchKMSKey, checkid.LaunchUnclassified}: true,
		// Fleets end with "UnfulfillableCapacity" whatever the reason was.
		{checkid.LaunchProfile, checkid.LaunchInsufficientCapacity}: true, {checkid.LaunchTemplate, checkid.LaunchInsufficientCapacity}: true,
		// Auto Scaling wraps what is wrong with a launch template.
		{checkid.LaunchProfile, checkid.LaunchTemplate}: true, {checkid.LaunchAMI, checkid.LaunchTemplate}: true,
		// A placement group or a host without room answers with a shortage's code.
		{checkid.LaunchPlacement, checkid.LaunchInsufficientCapacity}: true,
		// Fleets say "InvalidFleetConfiguration" of a type that a zone lacks too.
		{checkid.LaunchUnsupportedType, checkid.LaunchTemplate}: true,
		// A refusal has one code, whichever policy it comes from.
		{checkid.LaunchPolicyDenied, checkid.LaunchUnauthorized}: true,
		// EC2's code for an account that enforces IMDSv2.
		{checkid.LaunchIMDSEnforced, checkid.LaunchUnsupportedType}: true,
		// A Marketplace product that is not subscribed to is an opt-in too.
		{checkid.LaunchAMI, checkid.LaunchAccountValidation}: true,
	}
	for _, s := range samples(t) {
		winner := Classify(s.Text).Class
		for _, r := range table() {
			_, byCode := r.hasCode(s.Text)
			_, byText := r.hasText(normal(s.Text))
			if r.class != winner && (byCode || byText) && !known[[2]checkid.ID{winner, r.class}] {
				t.Errorf("%q is %s, and %s claims it too", s.Text, winner, r.class)
			}
		}
	}
}
