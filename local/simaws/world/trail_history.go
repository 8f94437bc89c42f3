package world

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/local/simaws/worldfile"
)

// enterHistory remembers what was done before the start.
func (w *World) enterHistory(list []worldfile.TrailEntry) error {
	var errs []error
	for i, e := range list {
		service, name, _ := strings.Cut(e.Call, ":")
		switch {
		case service == "" || name == "":
			errs = append(errs, fmt.Errorf("trail.history[%d]: %q is no call such as ec2:CreateRouteTable", i, e.Call))
			continue
		case e.At.IsZero() || e.At.After(w.start):
			errs = append(errs, fmt.Errorf("trail.history[%d] %s: want a time before the start", i, e.Call))
			continue
		}
		r := w.trailRecord(APICall{Operation: e.Call, CallerARN: e.By, InvokedBy: e.Via})
		r.EventTime, r.ErrorCode = e.At.UTC().Format(time.RFC3339), e.Error
		if e.With != nil {
			r.RequestParameters = e.With
		}
		if e.Result != nil {
			r.ResponseElements = e.Result
		}
		w.remember(r, e.Resources)
	}
	return errors.Join(errs...)
}
