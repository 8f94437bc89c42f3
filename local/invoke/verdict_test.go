package main

import (
	"testing"
	"time"

	"rollcall/local/platform/lambdaruntime"
)

func TestVerdict(t *testing.T) {
	tests := map[string]struct {
		result lambdaruntime.Result
		ok     bool
		want   string
	}{
		"well":             {lambdaruntime.Result{Payload: []byte(`{"batchItemFailures":[]}`), Duration: 41 * time.Millisecond, Init: 7 * time.Millisecond, MaxMemoryMB: 29}, true, "Result: succeeded in 41ms (start 7ms), 29 of 256 MB"},
		"another answer":   {lambdaruntime.Result{Payload: []byte(`"done"`), MaxMemoryMB: -1}, true, "Result: succeeded in 0s (start 0s)"},
		"no answer":        {lambdaruntime.Result{MaxMemoryMB: -1}, true, "Result: succeeded in 0s (start 0s)"},
		"messages go back": {lambdaruntime.Result{Payload: []byte(`{"batchItemFailures":[{"itemIdentifier":"by-hand"}]}`), MaxMemoryMB: -1}, false, "Result: GAVE BACK 1 of its messages in 0s (start 0s)"},
		"fails":            {lambdaruntime.Result{FunctionError: "Unhandled", Payload: []byte(`{"errorMessage":"no"}`), MaxMemoryMB: 300}, false, "Result: FAILED (Unhandled) in 0s (start 0s), 300 of 256 MB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := succeeded(tt.result); got != tt.ok {
				t.Errorf("got succeeded %t, want %t", got, tt.ok)
			}
			if got := verdict(tt.result, 256); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
