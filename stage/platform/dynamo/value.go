package dynamo

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// value is an attribute: text or a whole number. Rollcall writes no others.
type value struct {
	kind string // "S" or "N"
	text string
	n    int64 // of an N
}

// UnmarshalJSON reads {"S": "text"} or {"N": "1"}.
func (v *value) UnmarshalJSON(data []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	if len(m) != 1 {
		return unknown("an attribute of %d types", len(m))
	}
	for kind, raw := range m {
		if kind != "S" && kind != "N" {
			return unknown("attributes of type %s", kind)
		}
		v.kind = kind
		if err := json.Unmarshal(raw, &v.text); err != nil {
			return err
		}
		if kind == "S" {
			continue
		}
		var err error
		// DynamoDB gives 1.0 and 1e0 back as 1; what is written one way only need
		// not be made one.
		if v.n, err = strconv.ParseInt(v.text, 10, 64); err != nil || strconv.FormatInt(v.n, 10) != v.text {
			return unknown("the number %q", v.text)
		}
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (v value) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]string{v.kind: v.text}) }

// compare is negative, zero or positive as v is less than, equal to or greater than
// w; ok is false for values of two types, which DynamoDB does not compare.
func (v value) compare(w value) (order int, ok bool) {
	switch {
	case v.kind != w.kind:
		return 0, false
	case v.kind == "S": // by the bytes of UTF-8, as Go compares
		return strings.Compare(v.text, w.text), true
	case v.n < w.n:
		return -1, true
	case v.n > w.n:
		return 1, true
	}
	return 0, true
}

// item is a record by its attributes' names. It is never changed once it is kept.
type item map[string]value

// size is what an item counts, in bytes: the names and values of its attributes
// (Developer Guide, "DynamoDB item sizes and formats"). A number takes a byte for
// two digits, rounded up, and one more.
func (it item) size() int {
	n := 0
	for name, v := range it {
		n += len(name)
		if v.kind == "S" {
			n += len(v.text)
			continue
		}
		digits := strings.TrimRight(strings.TrimPrefix(v.text, "-"), "0")
		n += 1 + (len(digits)+1)/2
		if strings.HasPrefix(v.text, "-") {
			n++
		}
	}
	return n
}

// only are some of an item's attributes.
func (it item) only(names ...string) item {
	out := item{}
	for _, name := range names {
		if v, ok := it[name]; ok {
			out[name] = v
		}
	}
	return out
}

// sameKey reports whether two items have the same values of some attributes.
func sameKey(a, b item, names []string) bool {
	return maps.Equal(a.only(names...), b.only(names...))
}

// refusal is an error of the service.
type refusal struct{ code, message string }

func (e *refusal) Error() string { return e.code + ": " + e.message }

func invalid(format string, args ...any) error {
	return &refusal{"ValidationException", fmt.Sprintf(format, args...)}
}

// unknown refuses what this table does not do, though DynamoDB may. The code is
// none of DynamoDB's: no test may take it for one.
func unknown(format string, args ...any) error {
	return &refusal{"NotSimulated", "stage/platform/dynamo does not know " + fmt.Sprintf(format, args...)}
}

// sorted are the names of a map, for messages.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
