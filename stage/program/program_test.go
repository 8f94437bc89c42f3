package program

import (
	"bytes"
	"path/filepath"
	"testing"

	"rollcall/command"
)

// What is mistyped is said before anything begins. That the stories are played by the
// program alone is shown where that is built (cmd/rollcall).
func TestDemoMistyped(t *testing.T) {
	file := filepath.Join("program_test.go", "x", "log")
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"demo", "zoen"}, "rollcall: there is no story zoen; did you mean zone?\n"},
		{[]string{"demo", "rout"}, "rollcall: there is no story rout; did you mean route?\n"},
		{[]string{"demo", "organisation"}, "rollcall: there is no story organisation; did you mean organization?\n"},
		{[]string{"demo", "x"}, "rollcall: there is no story x, only route, spot, ips, zone, karpenter, organization and all\n"},
		{[]string{"demo", "zone", "ips"}, "rollcall: one story at a time: unexpected argument \"ips\"\n"},
		{[]string{"demo", "--rate", "-1"}, "rollcall: --rate -1: want more than 0\n"},
		{[]string{"demo", "zone", "--logs", file}, "rollcall: --logs: mkdir program_test.go: not a directory\n"},
	} {
		var out, errs bytes.Buffer
		if status := command.Run(t.Context(), Root("rollcall"), tt.args, &out, &errs); status != 64 || errs.String() != tt.says || out.Len() > 0 {
			t.Errorf("%q: status %d, %q, %q, want %q", tt.args, status, out.String(), errs.String(), tt.says)
		}
	}
}
