// Package testfull says how much tests play that play many of something: all of it
// in make test-full, which .ci/run runs, and a part in make test, which a person
// waits for.
package testfull

import "os"

// Variable is set by make test-full.
const Variable = "ROLLCALL_TEST_FULL"

// Asked reports whether tests are to play all that they have.
func Asked() bool { return os.Getenv(Variable) != "" }

// Count is the full number where that is asked for, and the smaller one else. Each use
// says in a comment what the smaller number still shows.
func Count(full, smaller int) int {
	if Asked() {
		return full
	}
	return smaller
}
