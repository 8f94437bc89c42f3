package gathertest

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var Addresses = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
	cmpopts.EquateEmpty(),
}

// Same compares what was read with what is wanted of it.
func Same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, Addresses); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
