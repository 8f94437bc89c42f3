package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
)

// steps tells what came in which order.
type steps []string

// Begin notes the event.
func (s *steps) Begin(event json.RawMessage) { *s = append(*s, "begin "+string(event)) }

// Flush notes the end.
func (s *steps) Flush(context.Context) { *s = append(*s, "flush") }

// TestAround: who is registered hears of each invocation before and after its work, and
// an invocation that fails fails as before.
func TestAround(t *testing.T) {
	var heard steps
	down := errors.New("down")
	f := New("test", nil, func(_ context.Context, e Env) (Handler, error) {
		e.Register(&heard)
		return func(_ context.Context, raw json.RawMessage) (any, error) {
			heard = append(heard, "work")
			if string(raw) == `2` {
				return nil, down
			}
			return "done", nil
		}, nil
	}, func(string) string { return "" }, io.Discard)
	for raw, want := range map[string]error{`1`: nil, `2`: down} {
		heard = nil
		if _, err := f.Invoke(t.Context(), json.RawMessage(raw)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", raw, err, want)
		}
		if want := []string{"begin " + raw, "work", "flush"}; !slices.Equal(heard, want) {
			t.Errorf("%q, want %q", heard, want)
		}
	}
}
