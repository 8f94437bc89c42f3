// Package gathertest is for the tests of what reads AWS and Kubernetes.
package gathertest

import (
	"net/netip"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// hollow fills a value as an answer could be that says as little as possible:
// each list holds one such item, each pointer to a struct leads to one, and
// each plain field is nil or empty.
func hollow(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hollow(v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		hollow(v.Index(0), depth-1)
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct && v.Type().Elem().PkgPath() != "time" {
			v.Set(reflect.New(v.Type().Elem()))
			hollow(v.Elem(), depth-1)
		}
	}
}

// Converts holds that a conversion takes an empty answer, and answers whose
// parts are empty at each depth.
func Converts[A, B any](t *testing.T, convert func(A) B) {
	t.Helper()
	for depth := range 7 {
		var a A
		hollow(reflect.ValueOf(&a).Elem(), depth)
		convert(a) // must not panic
	}
}

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
