package wire

import "context"

// Faults is asked before each handler. It may wait (latency), return nil (no
// fault), one of the Fault values, or an *Error of its own choosing.
type Faults interface {
	Before(ctx context.Context, call *Call) error
}

// Fault is a thing that goes wrong, which each service says in its own codes.
type Fault int

// The faults.
const (
	// Denied is the answer to a caller without the permission:
	// UnauthorizedOperation, AccessDenied or AccessDeniedException.
	Denied Fault = iota + 1
	// Throttled is RequestLimitExceeded, Throttling or ThrottlingException.
	Throttled
	// Broken is a server error with HTTP status 500.
	Broken
	// Reset cuts the connection without an answer.
	Reset
)

// Error names the fault.
func (f Fault) Error() string {
	switch f {
	case Denied:
		return "denied"
	case Throttled:
		return "throttled"
	case Broken:
		return "server error"
	case Reset:
		return "connection reset"
	}
	return "unknown fault"
}

// FaultFunc lets a function be Faults.
type FaultFunc func(ctx context.Context, call *Call) error

// Before calls the function.
func (f FaultFunc) Before(ctx context.Context, call *Call) error { return f(ctx, call) }

var _ Faults = FaultFunc(nil)

// NoFaults lets every call through.
type NoFaults struct{}

// Before returns nil.
func (NoFaults) Before(context.Context, *Call) error { return nil }

var _ Faults = NoFaults{}
