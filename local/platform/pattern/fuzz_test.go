package pattern_test

import (
	"encoding/json"
	"errors"
	"testing"

	"rollcall/local/platform/pattern"
)

func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`{"a":["x",1,null,{"prefix":"p"}]}`,
		`{"a":[{"numeric":[">",0,"<=",5]}],"$or":[{"b":[{"cidr":"10.0.0.0/8"}]},{"c":[{"exists":false}]}]}`,
		`{"a":[{"anything-but":{"wildcard":["a*b","\\*"]}}]}`,
		`{"a":[{"suffix":{"equals-ignore-case":"\u212A"}}]}`,
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
	f.Add([]byte(`{"a":{"b":[{"wildcard":"*a*"}],"c":[1e0]}}`), []byte(`{"a":[{"b":"xax","c":1},{"c":2}]}`))
	f.Add([]byte(`{"a":[{"prefix":{"equals-ignore-case":"k"}}]}`), []byte("{\"a\":\"\xe2\x84\xaa\"}"))
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
