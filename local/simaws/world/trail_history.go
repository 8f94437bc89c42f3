package world

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rollcall/local/simaws/cloudtrail"
)

// TrailEntry is a call of before the world's start, in CloudTrail's words.
type TrailEntry struct {
	At time.Time
	// Call is an operation such as "ec2:CreateRouteTable".
	Call string
	// By is who made it: the ARN of a user or of a role's session, or a service's
	// principal such as autoscaling.amazonaws.com. Empty is a person.
	By string
	// Via is the service that called in that name, such as
	// cloudformation.amazonaws.com.
	Via string
	// With and Result are requestParameters and responseElements.
	With   map[string]any
	Result map[string]any
	// Error is the code of a call that was refused.
	Error string
	// Resources are those that CloudTrail lists, where they are not those that
	// With and Result name.
	Resources []cloudtrail.Resource
}

// enterHistory remembers what was done before the start.
func (w *World) enterHistory(list []TrailEntry) error {
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
