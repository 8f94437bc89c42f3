package userdata

import (
	"reflect"
	"strings"
)

// mostDecoded bounds how often Essential decodes: user data has 16 KiB, of which a few
// lines are read.
const mostDecoded = 2000

// Essential returns user data, without base64 around it, in which the lines are empty that
// make no difference to what Decode returns. Line numbers stay. User data that cannot be
// decoded is returned whole.
func Essential(text string) string {
	want, err := Decode([]byte(text))
	if err != nil {
		return text
	}
	lines := strings.Split(text, "\n")
	left := mostDecoded
	var reduce func(from, to int)
	reduce = func(from, to int) {
		if left--; left < 0 {
			return
		}
		kept := append([]string(nil), lines[from:to]...)
		clear(lines[from:to])
		if got, err := Decode([]byte(strings.Join(lines, "\n"))); err == nil && reflect.DeepEqual(got, want) {
			return
		}
		copy(lines[from:to], kept)
		if middle := (from + to) / 2; middle > from {
			reduce(from, middle)
			reduce(middle, to)
		}
	}
	reduce(0, len(lines))
	return strings.Join(lines, "\n")
}
