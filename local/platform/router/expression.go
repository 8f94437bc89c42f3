package router

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// expression is a schedule expression: rate(…), cron(…) or at(…).
type expression interface {
	// next returns the first time after t at which the schedule fires; began
	// is when it was created. False means never again.
	next(t, began time.Time) (time.Time, bool)
}

var (
	_ expression = every(0)
	_ expression = once{}
	_ expression = cron{}
)

// parseExpression reads an expression. Only EventBridge Scheduler knows at()
// and time zones; for rules the location is UTC.
func parseExpression(source string, where *time.Location, scheduler bool) (expression, error) {
	kind, rest, ok := strings.Cut(source, "(")
	body, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("schedule %q is not understood", source)
	}
	switch {
	case kind == "rate":
		return parseRate(body)
	case kind == "cron":
		return parseCron(body, where)
	case kind == "at" && scheduler:
		t, err := time.ParseInLocation("2006-01-02T15:04:05", body, where)
		if err != nil {
			return nil, fmt.Errorf("schedule %q: %w", source, err)
		}
		return once{t}, nil
	}
	return nil, fmt.Errorf("schedule %q is not understood", source)
}

// every fires at even distances from its creation.
type every time.Duration

func (e every) next(t, began time.Time) (time.Time, bool) {
	n := t.Sub(began)/time.Duration(e) + 1
	if t.Before(began) {
		n = 1
	}
	return began.Add(n * time.Duration(e)), true
}

var rateForm = regexp.MustCompile(`^([0-9]{1,9}) (minute|minutes|hour|hours|day|days)$`)

func parseRate(body string) (expression, error) {
	m := rateForm.FindStringSubmatch(body)
	if m == nil {
		return nil, fmt.Errorf("rate(%s) is not understood", body)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n < 1 {
		return nil, fmt.Errorf("rate(%s): the value must be at least 1", body)
	}
	// EventBridge refuses "1 minutes" and "5 minute".
	if plural := strings.HasSuffix(m[2], "s"); plural == (n == 1) {
		return nil, fmt.Errorf("rate(%s): the unit must be singular for 1 and plural for more", body)
	}
	unit := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[strings.TrimSuffix(m[2], "s")]
	if n > int(1<<62/unit) {
		return nil, fmt.Errorf("rate(%s): too long", body)
	}
	return every(time.Duration(n) * unit), nil
}

// once fires at one time.
type once struct{ at time.Time }

func (o once) next(t, _ time.Time) (time.Time, bool) { return o.at, o.at.After(t) }
