package testfull

import "testing"

func TestOf(t *testing.T) {
	t.Setenv(Variable, "")
	if n := Count(40, 8); n != 8 {
		t.Errorf("%d, want the smaller number", n)
	}
	t.Setenv(Variable, "1")
	if n := Count(40, 8); n != 40 {
		t.Errorf("%d, want the full number", n)
	}
}
