package capture

import "testing"

// No client asks again for what a capture does not hold.
func TestThrottledIsNotAskedAgain(t *testing.T) {
	for code, want := range map[string]string{
		"RequestLimitExceeded": NotCaptured, "ThrottlingException": NotCaptured, "EC2ThrottledException": NotCaptured,
		"UnauthorizedOperation": "UnauthorizedOperation", "NoSuchEntity": "NoSuchEntity",
	} {
		if got := (refusal{code: code, message: "m"}).aws(); got.Code != want {
			t.Errorf("%s is answered with %s, want %s", code, got.Code, want)
		}
	}
}
