package lambdaruntime

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	failed := Result{FunctionError: "Unhandled"}
	for _, tt := range []struct {
		name         string
		res          Result
		attempt, max int
		age          time.Duration
		want         verdict
	}{
		{"success", Result{}, 1, 2, time.Minute, succeeded},
		{"late success", Result{}, 3, 2, 7 * time.Hour, succeeded},
		{"first failure", failed, 1, 2, time.Minute, again},
		{"last failure", failed, 3, 2, time.Minute, exhausted},
		{"no retries", failed, 1, 0, time.Minute, exhausted},
		{"too old", failed, 1, 2, 7 * time.Hour, tooOld},
	} {
		if got := decide(tt.res, tt.attempt, tt.max, tt.age, 6*time.Hour); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
