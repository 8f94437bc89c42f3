package sample

import (
	"errors"
	"testing"
)

func TestLimit(t *testing.T) {
	if !limit(1) || limit(100) {
		t.Error("limit")
	}
}

func TestBoth(t *testing.T) {
	if !both(true, true) || both(true, false) {
		t.Error("both")
	}
}

func TestSum(t *testing.T) {
	if n, err := sum([]int{1, -5, 3}); n != 5 || err != nil {
		t.Error("sum", n, err)
	}
	if _, err := sum(nil); !errors.Is(err, errNone) {
		t.Error("sum of nothing", err)
	}
}

func TestDown(t *testing.T) {
	if down(3) != 3 {
		t.Error("down")
	}
}

func TestKind(t *testing.T) {
	if kind("one") != 1 {
		t.Error("kind")
	}
}

func TestNames(t *testing.T) {
	if names[0] != "a" || room() != 1 {
		t.Error("names")
	}
}
