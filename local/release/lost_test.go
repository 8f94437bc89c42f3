package release

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLost: what is not lost is the same value, the same moment, or nothing at
// all; all else is.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		written, read string
		want          []string
	}{
		{`{"a":1}`, `{"a":1,"b":2}`, nil},
		{`{"a":"2026-11-20T15:00:00Z"}`, `{"a":"2026-11-20T16:00:00+01:00"}`, nil},
		{`{"a":"","b":0,"c":false,"d":[],"e":{"f":""},"g":"0001-01-01T00:00:00Z"}`, `{}`, nil},
		{`{"a":1}`, `{}`, []string{"$.a: 1, read <nil>"}},
		{`{"a":{"b":"x"}}`, `{"a":{}}`, []string{"$.a.b: x, read <nil>"}},
		{`{"a":[1,2]}`, `{"a":[1]}`, []string{"$.a: 2 elements, read 1"}},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, []string{"$.a[0].b: 1, read 2"}},
		{`{"a":false}`, `{"a":true}`, []string{"$.a: false, read true"}},
		{`{"a":"2026-11-20T15:00:00Z"}`, `{"a":"2026-11-20T15:00:01Z"}`, []string{"$.a: 2026-11-20T15:00:00Z, read 2026-11-20T15:00:01Z"}},
	} {
		if diff := cmp.Diff(c.want, Lost(json.RawMessage(c.written), json.RawMessage(c.read))); diff != "" {
			t.Errorf("written %s, read %s (-want +got):\n%s", c.written, c.read, diff)
		}
	}
}
