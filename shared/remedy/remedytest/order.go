package remedytest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/remedy/action"
)

// SameInAnyOrder holds that the same world, read again, in whatever order AWS
// lists it and Go its maps, is the same plan: an approval is bound to its hash, or
// no approval would hold. The world is one in which there is a choice to be made.
func SameInAnyOrder[P, C any](t *testing.T, r action.Remedy[P, C], rich World, list []checks.Check) {
	t.Helper()
	s, of := rich()
	first, no := Make(r, s, of, list)
	if no != nil {
		t.Fatalf("refused as %s: %s", no.Reason, no.Says)
	}
	for seed := range uint64(60) {
		s, of := rich()
		random := rand.New(rand.NewPCG(seed, 1))
		shuffle(reflect.ValueOf(s), random)
		shuffle(reflect.ValueOf(&of), random)
		again, no := Make(r, s, of, list)
		if no != nil {
			t.Fatalf("seed %d: refused as %s: %s", seed, no.Reason, no.Says)
		}
		if text(t, again) != text(t, first) {
			t.Fatalf("seed %d: another plan:\n%+v\n%+v", seed, first, again)
		}
	}
}

// shuffle puts every list below a value into another order, as AWS's answers
// come in any. Bytes are no list.
func shuffle(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			shuffle(v.Elem(), r)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				shuffle(v.Field(i), r)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			shuffle(v.Index(i), r)
		}
		r.Shuffle(v.Len(), reflect.Swapper(v.Interface()))
	}
}
