package trail

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// LoadHistory remembers what was done before the start.
func LoadHistory(w *state.State, list []worldfile.TrailEntry) error {
	var errs []error
	for i, e := range list {
		service, name, _ := strings.Cut(e.Call, ":")
		switch {
		case service == "" || name == "":
			errs = append(errs, fmt.Errorf("trail.history[%d]: %q is no call such as ec2:CreateRouteTable", i, e.Call))
			continue
		case e.At.IsZero() || e.At.After(w.Start):
			errs = append(errs, fmt.Errorf("trail.history[%d] %s: want a time before the start", i, e.Call))
			continue
		}
		r := trailRecord(w, Call{Operation: e.Call, CallerARN: e.By, InvokedBy: e.Via})
		r.EventTime, r.ErrorCode = e.At.UTC().Format(time.RFC3339), e.Error
		if e.With != nil {
			r.RequestParameters = e.With
		}
		if e.Result != nil {
			r.ResponseElements = e.Result
		}
		remember(w, r, e.Resources)
	}
	return errors.Join(errs...)
}
