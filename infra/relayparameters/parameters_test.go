package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

// The same program is the same archive, and another one has another key.
func TestPacked(t *testing.T) {
	a, key, err := packed([]byte("one"))
	again, same, err2 := packed([]byte("one"))
	_, other, err3 := packed([]byte("two"))
	expect.OK(t, errors.Join(err, err2, err3))
	if !bytes.Equal(a, again) || key != same || key == other || !strings.HasPrefix(key, "rollcall/relay-") {
		t.Errorf("keys %s, %s, %s", key, same, other)
	}
}
