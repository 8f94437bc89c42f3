// Package sample has a place for each operator, and tests that notice some of
// what is changed there.
package sample

import "errors"

var errNone = errors.New("none")

// names are looked at by one test, which asks for the first.
var names = []string{"a", "b"}

// limit is asked far from its bound: whether it belongs to it is not noticed.
func limit(n int) bool {
	if n < 10 {
		return true
	}
	return false
}

// both is asked with the first operand true only: that it is asked is not noticed.
func both(a, b bool) bool { return a && b }

func sum(list []int) (int, error) {
	if len(list) == 0 {
		return 0, errNone
	}
	total := 0
	for _, n := range list {
		if n < 0 {
			continue
		}
		total += n
	}
	return total + 1, nil
}

// down never ends where it goes up.
func down(n int) int {
	steps := 0
	for n != 0 {
		n--
		steps++
	}
	return steps
}

func kind(word string) (out int) {
	switch word {
	case "one":
		out = 1
	case "two":
		out = 2
	}
	return out
}

// nobody is called by no test.
func nobody(n int) int { return 2 * n }

// room is kept for four; a test cannot tell.
func room() int {
	list := make([]int, 0, 4)
	list = append(list, 7)
	return len(list)
}
