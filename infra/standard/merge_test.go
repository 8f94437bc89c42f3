package standard

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// three choices: all made, then each left out by itself.
func three() *merger {
	return &merger{names: []string{"A", "B", "C"}, used: map[string][]literal{}, of: []assignment{
		{true, true, true}, {false, true, true}, {true, false, true}, {true, true, false},
	}}
}

func TestMerge(t *testing.T) {
	for _, test := range []struct {
		name string
		of   [4]string
		want string
	}{
		{"the same", [4]string{`{"a":1}`, `{"a":1}`, `{"a":1}`, `{"a":1}`}, `{"a":1}`},
		{"a property", [4]string{`{"a":1,"b":2}`, `{"a":1}`, `{"a":1,"b":2}`, `{"a":1,"b":2}`}, `{"a":1,"b":{"Fn::If":["A",2,{"Ref":"AWS::NoValue"}]}}`},
		{"a property of two choices", [4]string{`{"b":2}`, `{}`, `{}`, `{"b":2}`}, `{"b":{"Fn::If":["AAndB",2,{"Ref":"AWS::NoValue"}]}}`},
		{"only without a choice", [4]string{`{}`, `{}`, `{}`, `{"b":2}`}, `{"b":{"Fn::If":["NotC",2,{"Ref":"AWS::NoValue"}]}}`},
		{"an item in its place", [4]string{`["a","b","c"]`, `["a","c"]`, `["a","b","c"]`, `["a","b","c"]`}, `["a",{"Fn::If":["A","b",{"Ref":"AWS::NoValue"}]},"c"]`},
		{"an item that differs inside", [4]string{`[{"Sid":"X","b":[1,2]}]`, `[{"Sid":"X","b":[1]}]`, `[{"Sid":"X","b":[1,2]}]`, `[{"Sid":"X","b":[1,2]}]`},
			`[{"Sid":"X","b":[1,{"Fn::If":["A",2,{"Ref":"AWS::NoValue"}]}]}]`},
		{"another text", [4]string{`"x"`, `"y"`, `"x"`, `"x"`}, `{"Fn::If":["A","x","y"]}`},
		{"a reference or a text", [4]string{`{"Ref":"R"}`, `{"Ref":"R"}`, `""`, `{"Ref":"R"}`}, `{"Fn::If":["NotB","",{"Ref":"R"}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			of := values{}
			for n, text := range test.of {
				of[n] = value(t, text)
			}
			got, err := three().merge(of)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(value(t, test.want), value(t, canonical(got))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What hangs on one choice or another is no condition of this kind.
func TestMergeRefuses(t *testing.T) {
	m := three()
	m.of = append(m.of, assignment{false, false, true})
	of := values{}
	for n, text := range []string{`{"b":2}`, `{"b":2}`, `{"b":2}`, `{"b":2}`, `{}`} {
		of[n] = value(t, text)
	}
	if got, err := m.merge(of); err == nil || !strings.Contains(err.Error(), "no condition tells the templates [0 1 2 3] from 4") {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := three().merge(values{0: value(t, `["a","a"]`), 1: value(t, `["a"]`)}); err == nil || !strings.Contains(err.Error(), "stands twice") {
		t.Errorf("an item twice: %v", err)
	}
}

func TestExpression(t *testing.T) {
	want := map[string]any{textHead: "SUM([", textList: []any{"FILL(a,0)", "FILL(b,0)/600"}, textTail: "])"}
	if diff := cmp.Diff(any(want), expression("SUM([FILL(a,0),FILL(b,0)/600])")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := expression("m1"); got != "m1" {
		t.Errorf("%v", got)
	}
}

// No stand-in holds another one, and no two lists have an item in common.
func TestStandIns(t *testing.T) {
	b := newBuilder()
	for _, l := range lists() {
		for n, item := range l.items() {
			parts := b.parts("a " + item + " b")
			if diff := cmp.Diff([]any{"a ", l.selected(n + 1), " b"}, parts); diff != "" {
				t.Errorf("%s (-want +got):\n%s", item, diff)
			}
		}
	}
	for text, expr := range fixed() {
		if diff := cmp.Diff([]any{expr}, b.parts(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
