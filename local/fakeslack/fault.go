package fakeslack

import (
	"fmt"
	"path"
	"time"
)

// Fault makes calls fail. Exactly what happens is the sum of its fields: a
// latency may come before a status, for example.
type Fault struct {
	// Method is a method or a pattern such as "chat.*"; empty means every call.
	Method string
	// Times is how many calls it hits; zero means all while it lasts.
	Times int
	// For is how long it lasts in the stage's time; zero means until cleared.
	For time.Duration
	// Latency delays the answer, in wall time.
	Latency time.Duration
	// Status is the HTTP status, for example 500 or 503. 429 carries RetryAfter.
	Status int
	// RetryAfter is the Retry-After of a 429; it is a 429 if Status is zero.
	RetryAfter time.Duration
	// Reset closes the connection with no answer.
	Reset bool
	// Error is a Slack error code: the answer is ok:false with it.
	Error string
	// Applied means the call is carried out first and only its answer is lost.
	Applied bool
}

// fails says whether the fault changes the answer, not only its time.
func (f Fault) fails() bool {
	return f.Status != 0 || f.RetryAfter != 0 || f.Reset || f.Error != ""
}

// name is the fault in the record of calls.
func (f Fault) name() string {
	switch {
	case f.Reset:
		return "reset"
	case f.Status == 429 || f.Status == 0 && f.RetryAfter != 0:
		return "429"
	case f.Status != 0:
		return fmt.Sprint(f.Status)
	case f.Error != "":
		return f.Error
	case f.Latency != 0:
		return "latency " + f.Latency.String()
	}
	return ""
}

// armed is a fault that is waiting for calls.
type armed struct {
	Fault
	until time.Time
	left  int
}

// faults is the list of armed faults, oldest first.
type faults []*armed

// add arms f.
func (fs *faults) add(f Fault, now time.Time) error {
	if _, err := path.Match(f.Method, ""); err != nil {
		return fmt.Errorf("fakeslack: fault for %q: %w", f.Method, err)
	}
	if !f.fails() && f.Latency == 0 {
		return fmt.Errorf("fakeslack: fault for %q does nothing", f.Method)
	}
	a := &armed{Fault: f, left: f.Times}
	if f.For > 0 {
		a.until = now.Add(f.For)
	}
	*fs = append(*fs, a)
	return nil
}

// pick returns the first fault that hits method now, and counts it.
func (fs faults) pick(method string, now time.Time) (Fault, bool) {
	for _, a := range fs {
		if a.Times > 0 && a.left == 0 || !a.until.IsZero() && !now.Before(a.until) {
			continue
		}
		// The pattern was checked when the fault was armed.
		if hit, _ := path.Match(a.Method, method); a.Method != "" && !hit {
			continue
		}
		a.left--
		return a.Fault, true
	}
	return Fault{}, false
}
