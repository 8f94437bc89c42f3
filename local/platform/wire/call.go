package wire

import (
	"slices"
	"sync"
	"time"
)

// Principal is who signed a request.
type Principal struct {
	// Name is the function or role name, as a stage shows it.
	Name string
	// ARN is what STS GetCallerIdentity answers and what denials name.
	ARN string
	// Account is the twelve-digit account id.
	Account string
}

// Call is the record of one request.
type Call struct {
	// Service is the SDK's package name, e.g. "ec2" or "eventbridge".
	Service string
	// Operation is the API's name of the operation; empty if it had none.
	Operation string
	Region    string
	// Caller is the name of the principal that signed the request.
	Caller      string
	Principal   Principal
	AccessKeyID string
	RequestID   string
	Time        time.Time
	Duration    time.Duration
	// Code is the error code of the answer, empty for a success, and Status
	// the HTTP status. A connection that was reset has status 0.
	Code   string
	Status int
	// Misfit is what in the request does not fit AWS's model of it, empty where
	// it fits.
	Misfit string
}

// Action is the operation as IAM policies write it, e.g.
// "ec2:DescribeRouteTables".
func (c Call) Action() string {
	switch c.Service {
	case "eventbridge":
		return "events:" + c.Operation
	case "cloudwatchlogs":
		return "logs:" + c.Operation
	case "arczonalshift":
		return "arc-zonal-shift:" + c.Operation
	case "lambda":
		if c.Operation == "Invoke" {
			return "lambda:InvokeFunction"
		}
	}
	return c.Service + ":" + c.Operation
}

// maxCalls bounds the record of a stage that is left running. The largest
// planned run, 10,000 launches and all reads and writes for them, is far below.
const maxCalls = 1_000_000

// callLog keeps the newest calls in the order in which they ended.
type callLog struct {
	mu    sync.Mutex
	calls []Call
}

func (l *callLog) add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == maxCalls {
		l.calls = slices.Delete(l.calls, 0, maxCalls/10)
	}
	l.calls = append(l.calls, c)
}

func (l *callLog) all() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}
