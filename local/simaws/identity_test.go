package simaws

import (
	"slices"
	"testing"
)

func TestIdentitiesAreStable(t *testing.T) {
	a, b := RoleIdentity(testAccount, "a"), RoleIdentity(testAccount, "b")
	if a != RoleIdentity(testAccount, "a") || a.AccessKeyID == b.AccessKeyID || a.SecretAccessKey == b.SecretAccessKey {
		t.Errorf("identities %+v and %+v, want stable and different keys", a, b)
	}
	if len(a.AccessKeyID) != 20 || len(a.SecretAccessKey) != 40 || !slices.Contains([]string{"AKIA"}, a.AccessKeyID[:4]) {
		t.Errorf("keys %q %q do not have AWS's form", a.AccessKeyID, a.SecretAccessKey)
	}
}
