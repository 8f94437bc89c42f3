package release

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Lost lists what one JSON document says and another does not: paths, with what
// is there instead. What the other says beside that is no loss. Times are equal
// if they are the same moment.
func Lost(written, read json.RawMessage) []string {
	var a, b any
	if err := json.Unmarshal(written, &a); err != nil {
		return []string{fmt.Sprintf("$: not JSON: %v", err)}
	}
	if err := json.Unmarshal(read, &b); err != nil {
		return []string{fmt.Sprintf("$: read as no JSON: %v", err)}
	}
	out := lostAt("$", a, b)
	slices.Sort(out)
	return out
}

func lostAt(path string, a, b any) (out []string) {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		for key, value := range a {
			there, ok := other[key]
			if !ok && empty(value) {
				continue // left out, as "omitempty" does
			}
			out = append(out, lostAt(path+"."+key, value, there)...)
		}
		return out
	case []any:
		other, _ := b.([]any)
		if len(a) != len(other) {
			return []string{fmt.Sprintf("%s: %d elements, read %d", path, len(a), len(other))}
		}
		for i := range a {
			out = append(out, lostAt(fmt.Sprintf("%s[%d]", path, i), a[i], other[i])...)
		}
		return out
	}
	if reflect.DeepEqual(a, b) || sameMoment(a, b) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v, read %v", path, a, b)}
}

// zeroTime is a time that was never set, as encoding/json writes it.
const zeroTime = "0001-01-01T00:00:00Z"

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == "" || v == zeroTime
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, value := range v {
			if !empty(value) {
				return false
			}
		}
		return true
	}
	return false
}

func sameMoment(a, b any) bool {
	x, ok := a.(string)
	y, also := b.(string)
	if !ok || !also {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, x)
	other, otherErr := time.Parse(time.RFC3339Nano, y)
	return err == nil && otherErr == nil && at.Equal(other)
}
