package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"rollcall/local/fakeslack"
)

func TestProof(t *testing.T) {
	section := func(words string) string {
		return `{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"` + words + `"}]}]}`
	}
	m := fakeslack.Message{Text: "🔴 the first line", Blocks: json.RawMessage("[" + strings.Join([]string{
		section("the first line"), section("Why"), section("Ruled out"), section("Spot took them back: none of the 21"), section("Change"), section("One pool does not work: take it out"),
		`{"type":"image","slack_file":{"id":"F1"},"alt_text":"x"}`,
	}, ",") + "]")}
	tests := []struct {
		name string
		want proof
		fits bool
	}{
		{"said and ruled out", proof{says: []string{"first line"}, ruledOut: []string{"Spot took them back: none of the 21"}}, true},
		{"not said", proof{says: []string{"something else"}}, false},
		{"said, but not ruled out", proof{ruledOut: []string{"One pool does not work"}}, false},
	}
	for _, tt := range tests {
		if err := tt.want.hold(m); (err == nil) != tt.fits {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
