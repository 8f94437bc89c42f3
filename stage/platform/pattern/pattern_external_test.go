package pattern_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"quamina.net/go/quamina"

	"rollcall/stage/platform/pattern"
)

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`{"a":["x",1,null,{"prefix":"p"}]}`,
		`{"a":[{"anything-but":[0,5]}],"$or":[{"b":[{"prefix":"10."}]},{"c":[{"exists":false}]}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		p, err := pattern.Compile(source)
		if err != nil {
			var e *pattern.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %T, want *pattern.Error", err)
			}
			return
		}
		if !json.Valid(source) {
			t.Fatalf("compiled %q, which is not JSON", source)
		}
		// Nothing is required of an event without fields but "exists": false.
		if _, err := p.Matches([]byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzMatches(f *testing.F) {
	f.Add([]byte(`{"a":["x"]}`), []byte(`{"a":[["x"],{"b":1}]}`))
	f.Add([]byte(`{"a":{"b":[{"prefix":"x"}],"c":[1e0]}}`), []byte(`{"a":[{"b":"xax","c":1},{"c":2}]}`))
	f.Fuzz(func(t *testing.T, source, event []byte) {
		if len(source)+len(event) > 4096 {
			return
		}
		p, err := pattern.Compile(source)
		if err != nil {
			return
		}
		got, err := p.Matches(event)
		if err != nil {
			return
		}
		again, err := p.Matches(event)
		if err != nil || got != again {
			t.Fatalf("second answer %v, %v differs from the first, %v", again, err, got)
		}
	})
}

// rulerEvent is the sample event of the event-ruler README.
const rulerEvent = `{
  "version": "0",
  "id": "ddddd4-aaaa-7777-4444-345dd43cc333",
  "detail-type": "EC2 Instance State-change Notification",
  "source": "aws.ec2",
  "account": "012345679012",
  "time": "2017-10-02T16:24:49Z",
  "region": "us-east-1",
  "resources": ["arn:aws:ec2:us-east-1:123456789012:instance/i-000000aaaaaa00000"],
  "detail": {
    "c-count": 5, "d-count": 3, "x-limit": 301.8,
    "source-ip": "10.0.0.33", "v6": "2001:db8::1",
    "instance-id": "i-000000aaaaaa00000", "state": "running",
    "nothing": null, "flag": true, "empty": [], "big": 123456789012
  }
}`

const arraysEvent = `{
  "names": ["Ann", "Bob"],
  "mixed": [1, "x", null, {"k": "v"}],
  "nested": [[1, 2], [3]],
  "employees": [
    {"first": "Zoe", "last": "Hill", "tags": ["a", "b"]},
    {"first": "Ann", "last": "Stone", "tags": ["c"], "boss": true}
  ],
  "pairs": [[{"a": 1, "b": 1}, {"a": 2, "b": 2}], [{"a": 3, "b": 4}]]
}`

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		name, pattern, event string
		want                 bool
	}{
		{"readme simple", `{"detail-type":["EC2 Instance State-change Notification"],"resources":["arn:aws:ec2:us-east-1:123456789012:instance/i-000000aaaaaa00000"],"detail":{"state":["initializing","running"]}}`, rulerEvent, true},
		{"readme prefix", `{"time":[{"prefix":"2017-10-02"}]}`, rulerEvent, true},
		{"readme anything-but string", `{"detail":{"state":[{"anything-but":"initializing"}]}}`, rulerEvent, true},
		{"readme anything-but number", `{"detail":{"x-limit":[{"anything-but":123}]}}`, rulerEvent, true},
		{"readme anything-but strings", `{"detail":{"state":[{"anything-but":["stopped","overloaded"]}]}}`, rulerEvent, true},
		{"readme anything-but numbers", `{"detail":{"x-limit":[{"anything-but":[100,200,300]}]}}`, rulerEvent, true},
		{"readme exists", `{"detail":{"c-count":[{"exists":true}]}}`, rulerEvent, true},
		{"readme not exists", `{"detail":{"c-count":[{"exists":false}]}}`, rulerEvent, false},
		{"readme complex", `{"time":[{"prefix":"2017-10-02"}],"detail":{"state":[{"anything-but":"initializing"}],"x-limit":[{"anything-but":[100,200,300]}]}}`, rulerEvent, true},

		{"value differs", `{"source":["aws.eks"]}`, rulerEvent, false},
		{"and of fields", `{"source":["aws.ec2"],"region":["eu-west-1"]}`, rulerEvent, false},
		{"missing field", `{"detail":{"absent":["x"]}}`, rulerEvent, false},
		{"dotted path is the nested one", `{"detail.state":["running"]}`, rulerEvent, true},
		{"case matters", `{"source":["AWS.EC2"]}`, rulerEvent, false},
		{"null", `{"detail":{"nothing":[null]}}`, rulerEvent, true},
		{"null is not absent", `{"detail":{"absent":[null]}}`, rulerEvent, false},
		{"null is not the string", `{"detail":{"nothing":["null"]}}`, rulerEvent, false},
		{"null exists", `{"detail":{"nothing":[{"exists":true}]}}`, rulerEvent, true},
		{"true", `{"detail":{"flag":[true]}}`, rulerEvent, true},
		{"true is not the string", `{"detail":{"flag":["true"]}}`, rulerEvent, false},
		{"number by value", `{"detail":{"x-limit":[3.018e2]}}`, rulerEvent, true},
		{"number is not its string", `{"detail":{"c-count":["5"]}}`, rulerEvent, false},
		{"number out of range by text", `{"detail":{"big":[123456789012]}}`, rulerEvent, true},
		{"number out of range, other text", `{"detail":{"big":[1.23456789012e11]}}`, rulerEvent, false},

		{"prefix misses", `{"source":[{"prefix":"ec2"}]}`, rulerEvent, false},
		{"empty prefix matches any string", `{"source":[{"prefix":""}]}`, rulerEvent, true},
		{"prefix only on strings", `{"detail":{"c-count":[{"prefix":""}]}}`, rulerEvent, false},

		{"anything-but needs the field", `{"detail":{"absent":[{"anything-but":"x"}]}}`, rulerEvent, false},
		{"anything-but hit", `{"detail":{"state":[{"anything-but":"running"}]}}`, rulerEvent, false},
		{"anything-but list hit", `{"detail":{"state":[{"anything-but":["stopped","running"]}]}}`, rulerEvent, false},
		{"anything-but number by value", `{"detail":{"x-limit":[{"anything-but":3.018e2}]}}`, rulerEvent, false},
		{"anything-but string lets a number pass", `{"detail":{"c-count":[{"anything-but":"5"}]}}`, rulerEvent, true},
		{"anything-but number lets a string pass", `{"detail":{"state":[{"anything-but":5}]}}`, rulerEvent, true},
		{"anything-but lets null pass", `{"detail":{"nothing":[{"anything-but":"x"}]}}`, rulerEvent, true},

		{"exists false on absent", `{"detail":{"absent":[{"exists":false}]}}`, rulerEvent, true},
		{"exists is for leaves only", `{"detail":[{"exists":true}]}`, rulerEvent, false},
		{"exists false on an inner node", `{"detail":[{"exists":false}]}`, rulerEvent, true},
		{"an empty array is no leaf", `{"detail":{"empty":[{"exists":false}]}}`, rulerEvent, true},
		{"absent or value: absent", `{"detail":{"absent":[{"exists":false},"x"]}}`, rulerEvent, true},
		{"absent or value: value", `{"detail":{"state":[{"exists":false},"running"]}}`, rulerEvent, true},
		{"absent or value: other value", `{"detail":{"state":[{"exists":false},"x"]}}`, rulerEvent, false},

		{"or with sibling", `{"source":["aws.ec2"],"$or":[{"region":["eu-west-1"]},{"detail":{"state":["running"]}}]}`, rulerEvent, true},
		{"or, sibling fails", `{"source":["aws.eks"],"$or":[{"region":["us-east-1"]},{"detail":{"state":["running"]}}]}`, rulerEvent, false},
		{"or, none", `{"$or":[{"region":["eu-west-1"]},{"detail":{"state":["stopped"]}}]}`, rulerEvent, false},
		{"or inside detail", `{"detail":{"$or":[{"c-count":[9]},{"d-count":[3]}]}}`, rulerEvent, true},
		{"two ors", `{"$or":[{"source":["x"]},{"region":["us-east-1"]}],"detail":{"$or":[{"state":["running"]},{"c-count":[0]}]}}`, rulerEvent, true},
		{"or with and inside", `{"$or":[{"source":["aws.ec2"],"region":["x"]},{"account":["y"]}]}`, rulerEvent, false},
		{"nested or", `{"$or":[{"source":["x"]},{"region":["us-east-1"],"$or":[{"version":["1"]},{"version":["0"]}]}]}`, rulerEvent, true},

		{"one element of an array", `{"names":["Bob"]}`, arraysEvent, true},
		{"no element", `{"names":["Eve"]}`, arraysEvent, false},
		{"anything-but on an array: one other is enough", `{"names":[{"anything-but":"Ann"}]}`, arraysEvent, true},
		{"anything-but on an array: none other", `{"names":[{"anything-but":["Ann","Bob"]}]}`, arraysEvent, false},
		{"mixed array, value", `{"mixed":[null]}`, arraysEvent, true},
		{"mixed array, object", `{"mixed":{"k":["v"]}}`, arraysEvent, true},
		{"arrays in arrays", `{"nested":[3]}`, arraysEvent, true},
		{"same element", `{"employees":{"first":["Ann"],"last":["Stone"]}}`, arraysEvent, true},
		{"two elements do not add up", `{"employees":{"first":["Zoe"],"last":["Stone"]}}`, arraysEvent, false},
		{"element and its inner array", `{"employees":{"first":["Zoe"],"tags":["b"]}}`, arraysEvent, true},
		{"other element's inner array", `{"employees":{"first":["Zoe"],"tags":["c"]}}`, arraysEvent, false},
		{"absent means absent everywhere", `{"employees":{"first":["Zoe"],"boss":[{"exists":false}]}}`, arraysEvent, false},
		{"array in array of objects, same", `{"pairs":{"a":[3],"b":[4]}}`, arraysEvent, true},
		{"array in array of objects, different", `{"pairs":{"a":[1],"b":[2]}}`, arraysEvent, false},
		{"different arrays are free", `{"employees":{"first":["Zoe"]},"pairs":{"a":[2]}}`, arraysEvent, true},
		{"duplicate members both count", `{"a":["x"]}`, `{"a":"y","a":"x"}`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := pattern.Compile([]byte(tt.pattern))
			if err != nil {
				t.Fatalf("Compile(%s): %v", tt.pattern, err)
			}
			got, err := p.Matches([]byte(tt.event))
			if err != nil {
				t.Fatalf("Matches: %v", err)
			}
			if got != tt.want {
				t.Errorf("pattern %s: got %v, want %v", tt.pattern, got, tt.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, tt := range []struct{ name, pattern, path, reason string }{
		{"no JSON", `{`, "", "not valid JSON"},
		{"two values", `{} {}`, "", "not valid JSON"},
		{"array", `[]`, "", "must be a JSON object"},
		{"empty", `{}`, "", "empty objects"},
		{"empty inner", `{"detail":{}}`, "detail", "empty objects"},
		{"plain string", `{"source":"aws.ec2"}`, "source", "object or an array"},
		{"empty array", `{"source":[]}`, "source", "empty arrays"},
		{"array in array", `{"source":[["a"]]}`, "source[0]", "match value"},
		{"duplicate field", `{"a":[1],"a":[2]}`, "a", "duplicate"},
		{"same path written twice", `{"a":{"b":[1]},"a.b":[2]}`, "a.b", "constrained twice"},
		{"unknown operator", `{"a":[{"regex":"x"}]}`, "a[0]", `unknown operator "regex"`},
		{"exactly is not for rules", `{"a":[{"exactly":"x"}]}`, "a[0]", `unknown operator "exactly"`},
		{"an operator that no rule uses", `{"a":[{"wildcard":"x*"}]}`, "a[0]", `unknown operator "wildcard"`},
		{"anything-but with an operator", `{"a":[{"anything-but":{"prefix":"x"}}]}`, "a[0].anything-but", "string, a number"},
		{"two operators", `{"a":[{"prefix":"x","suffix":"y"}]}`, "a[0]", "exactly one operator"},
		{"no operator", `{"a":["x",{}]}`, "a[1]", "exactly one operator"},
		{"prefix of number", `{"a":[{"prefix":1}]}`, "a[0].prefix", "must be a string"},
		{"prefix of an object", `{"a":[{"prefix":{"equals-ignore-case":"x"}}]}`, "a[0].prefix", "must be a string"},
		{"anything-but mixed", `{"a":[{"anything-but":["x",1]}]}`, "a[0].anything-but", "mixed"},
		{"anything-but empty", `{"a":[{"anything-but":[]}]}`, "a[0].anything-but", "empty list"},
		{"anything-but null", `{"a":[{"anything-but":null}]}`, "a[0].anything-but", "string, a number"},
		{"anything-but big", `{"a":[{"anything-but":6e9}]}`, "a[0].anything-but", "out of range"},
		{"exists text", `{"a":[{"exists":"true"}]}`, "a[0].exists", "true or false"},
		{"or no array", `{"$or":{"a":["x"]}}`, "$or", "array of objects"},
		{"or of one", `{"$or":[{"a":["x"]}]}`, "$or", "at least 2"},
		{"or of strings", `{"$or":["a","b"]}`, "$or[0]", "must be an object"},
		{"or with keyword", `{"$or":[{"numeric":[1]},{"prefix":["abc"]}]}`, "numeric", "reserved keyword"},
		{"or beside the same field", `{"a":["x"],"$or":[{"a":["y"]},{"b":["z"]}]}`, "a", "constrained twice"},
		{"too many combinations", `{` + manyOrs(10) + `}`, "f9.$or", "more than 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pattern.Compile([]byte(tt.pattern))
			var e *pattern.Error
			if !errors.As(err, &e) {
				t.Fatalf("Compile(%s): got %v, want *pattern.Error", tt.pattern, err)
			}
			if e.Path != tt.path || !strings.Contains(e.Reason, tt.reason) {
				t.Errorf("got path %q reason %q, want path %q reason with %q", e.Path, e.Reason, tt.path, tt.reason)
			}
		})
	}
}

// manyOrs returns n fields with two alternatives each: 2^n combinations.
func manyOrs(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = `"f` + string(rune('0'+i)) + `":{"$or":[{"a":[1]},{"b":[1]}]}`
	}
	return strings.Join(parts, ",")
}

func TestMatchesRefusesWhatIsNoEvent(t *testing.T) {
	p, err := pattern.Compile([]byte(`{"a":[1]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{``, `[]`, `"a"`, `{`, `{"a":1}{"a":1}`} {
		if got, err := p.Matches([]byte(event)); err == nil {
			t.Errorf("Matches(%q): got %v, want an error", event, got)
		}
	}
}

// The cross-check against quamina covers what both know (facts: exact values, prefix, anything-but
// with a list of strings, exists alone). Numbers are small integers, which quamina compares by text.
// Names differ from level to level, because quamina takes {"k":[{"k":"x"}]} for a match of
// {"k":["x"]}: it reads the members of an object in an array as if they stood beside the array. And
// one pattern has exists true or exists false, never both: quamina does not find {"a":1} with
// {"a":[{"exists":true}],"b":[{"exists":false}]}.

var words = []string{"a", "ab", "abc", "b", "Ab", "ABC", "", "ba"}

func keys(depth int) []string {
	return [][]string{{"k", "l", "m"}, {"n", "o", "p"}, {"q", "r", "s"}}[depth]
}

func randomLeaf(r *rand.Rand) any {
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return r.IntN(3)
	default:
		return words[r.IntN(len(words))]
	}
}

func randomEvent(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for _, k := range keys(depth) {
		switch {
		case r.IntN(5) == 0:
		case depth > 0 && r.IntN(3) == 0:
			out[k] = randomEvent(r, depth-1)
		case r.IntN(3) == 0:
			items := []any{}
			for range r.IntN(3) {
				if depth > 0 && r.IntN(2) == 0 {
					items = append(items, randomEvent(r, depth-1))
				} else {
					items = append(items, randomLeaf(r))
				}
			}
			out[k] = items
		default:
			out[k] = randomLeaf(r)
		}
	}
	return out
}

func randomAlternatives(r *rand.Rand, exists bool) []any {
	word := func() string { return words[r.IntN(len(words))] }
	if r.IntN(6) == 0 {
		return []any{map[string]any{"exists": exists}}
	}
	if r.IntN(5) == 0 {
		return []any{map[string]any{"anything-but": []string{word(), word()}}}
	}
	var out []any
	for range 1 + r.IntN(2) {
		switch r.IntN(6) {
		case 0:
			out = append(out, map[string]any{"prefix": "a"})
		default:
			out = append(out, randomLeaf(r))
		}
	}
	return out
}

func randomPattern(r *rand.Rand, depth int, exists bool) map[string]any {
	out := map[string]any{}
	for len(out) == 0 {
		for _, k := range keys(depth) {
			switch {
			case r.IntN(2) == 0:
			case depth > 0 && r.IntN(3) == 0:
				out[k] = randomPattern(r, depth-1, exists)
			default:
				out[k] = randomAlternatives(r, exists)
			}
		}
	}
	return out
}

func TestAgreesWithQuamina(t *testing.T) {
	r := rand.New(rand.NewPCG(20261121, 7))
	matched := 0
	const patterns, events = 600, 40
	for range patterns {
		source, err := json.Marshal(randomPattern(r, 2, r.IntN(2) == 0))
		if err != nil {
			t.Fatal(err)
		}
		p, err := pattern.Compile(source)
		if err != nil {
			t.Fatalf("Compile(%s): %v", source, err)
		}
		q, err := quamina.New()
		if err != nil {
			t.Fatal(err)
		}
		if err := q.AddPattern("p", string(source)); err != nil {
			t.Fatalf("quamina refuses %s: %v", source, err)
		}
		for range events {
			event, err := json.Marshal(randomEvent(r, 2))
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Matches(event)
			if err != nil {
				t.Fatal(err)
			}
			found, err := q.MatchesForEvent(event)
			if err != nil {
				t.Fatalf("quamina on %s: %v", event, err)
			}
			if want := len(found) > 0; got != want {
				t.Errorf("pattern %s event %s: got %v, quamina says %v", source, event, got, want)
			}
			if got {
				matched++
			}
		}
	}
	// The check is worth something only if both answers occur often.
	if matched < 1000 || matched > patterns*events-1000 {
		t.Errorf("got %d matches of %d, want a mix of both answers", matched, patterns*events)
	}
}
