package autolog

import (
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzRead: whatever a log group holds, what is taken of it can be shown.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", `{"level":"ERROR","message":"gpu-a","error":"no"}`, "2026-11-20T15:07:02Z ERROR gpu-a failed", `{"message":"{\"level\":\"warn\",\"message\":\"gpu-a\"}"}`, "\xff gpu-a ERROR"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		r, is := Read(Compute, time.Unix(0, 0), message, []string{"gpu-a"})
		if is && (!utf8.ValidString(r.Text) || utf8.RuneCountInString(r.Text) > 500 || r.Text == "" || r.Level != "ERROR" && r.Level != "WARN" || len(r.Names) != 1) {
			t.Errorf("%q is read as %+v", message, r)
		}
	})
}
