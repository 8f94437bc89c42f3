package table

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec/spectest"
)

// The actions that are granted are the calls of the interfaces.
func TestActions(t *testing.T) {
	for name, x := range map[string]struct{ granted, called []string }{
		"Querier": {Queries(), spectest.Actions[Querier]("dynamodb")},
		"Getter":  {Gets(), spectest.Actions[Getter]("dynamodb")},
		"Reader":  {Reads(), spectest.Actions[Reader]("dynamodb")},
		"Writer":  {writes(), spectest.Actions[Writer]("dynamodb")},
	} {
		if diff := cmp.Diff(x.called, x.granted); diff != "" {
			t.Errorf("%s (-called +granted):\n%s", name, diff)
		}
	}
}
