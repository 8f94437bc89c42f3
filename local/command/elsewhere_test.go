package command

import (
	"errors"
	"strings"
	"testing"

	"rollcall/local/caller"
	"rollcall/local/callertest"
	"rollcall/local/diagnose"
	"rollcall/local/doctor"
	"rollcall/shared/spoke"
)

// By which credentials the account of a spoke is looked at, and what is said where there are
// none, or others than were meant.
func TestElsewhere(t *testing.T) {
	s, _ := callertest.Serve(t, "../worlds/healthy-nat.yaml", diagnose.Settled)
	callertest.LogIn(t, s)
	by, err := callerOf(t.Context(), caller.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, other := spoke.ID{Account: by.Account, Region: "eu-west-1"}, spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for name, tt := range map[string]struct {
		e    elsewhere
		of   spoke.ID
		says string
	}{
		"another region of the own account": {elsewhere{}, own, ""},
		"nobody said how":                   {elsewhere{}, other, doctor.ErrNoWay.Error()},
		"a profile of the account":          {elsewhere{profiles: map[string]string{own.Account: "stage"}}, own, ""},
		"a profile of another account":      {elsewhere{profiles: map[string]string{other.Account: "stage"}}, other, "the profile stage is of account " + own.Account + ", and --spoke-profile names it for " + other.Account},
		"a profile that is not there":       {elsewhere{profiles: map[string]string{other.Account: "nobody"}}, other, "the profile nobody: "},
		"a role that does not let in":       {elsewhere{role: "Auditor"}, other, "the role Auditor of account 222233334444: "},
	} {
		_, err := tt.e.opened(by, caller.Options{})(t.Context(), tt.of)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
		if no := errors.Is(err, doctor.ErrNoWay); no != (name == "nobody said how") {
			t.Errorf("%s: %v is ErrNoWay: %t", name, err, no)
		}
	}
}
