package doctor

import (
	"slices"
	"strings"
	"testing"

	"rollcall/local/simaws"
)

// TestEvidenceUnseen: a bucket that may not be looked at is unknown by the permission, and
// where nothing is kept none is looked for.
func TestEvidenceUnseen(t *testing.T) {
	for state, tt := range map[State]struct {
		p    deployed
		says string
	}{
		Unknown: {deployed{refused: []simaws.FaultRule{{Call: "s3:ListObjectsV2", Deny: true}}}, "s3:ListBucket was refused"},
		Off:     {deployed{settings: map[string]string{"ROLLCALL_EVIDENCE": "off"}}, "none is kept"},
	} {
		list := deploy(t, &tt.p).examined(false)
		if !slices.ContainsFunc(of(list, state), func(s string) bool { return strings.HasPrefix(s, "evidence ") && strings.Contains(s, tt.says) }) {
			t.Errorf("%s: %q, want %q", state, of(list, state), tt.says)
		}
	}
}
