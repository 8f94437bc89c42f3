package pattern_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"quamina.net/go/quamina"

	"rollcall/local/platform/pattern"
)

// The cross-check against quamina covers what both know (facts: exact values,
// prefix, equals-ignore-case, wildcard, anything-but with a list of strings,
// exists alone). Numbers are small integers, which quamina compares by text.
// Names differ from level to level, because quamina takes {"k":[{"k":"x"}]}
// for a match of {"k":["x"]}: it reads the members of an object in an array
// as if they stood beside the array. And one pattern has exists true or exists
// false, never both: quamina does not find {"a":1} with
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
		case 1:
			out = append(out, map[string]any{"equals-ignore-case": "abC"})
		case 2:
			out = append(out, map[string]any{"wildcard": []string{"a*", "*b", "*b*", "a*c", "ab"}[r.IntN(5)]})
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
