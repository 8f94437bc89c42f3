package call

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is not asked of AWS is sure to have changed nothing, and has no request.
func TestNotAsked(t *testing.T) {
	want := Answer{Outcome: Refused, Code: "NotARaise", Message: "because"}
	if diff := cmp.Diff(want, NotAsked("NotARaise", "because")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
