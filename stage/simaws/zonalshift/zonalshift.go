// Package zonalshift is the wire form of the calls of ARC zonal shift that list what is
// shifted away from a zone (REST and JSON), as plain data with the members of botocore's
// model (arc-zonal-shift/2022-10-30): the service's own Go package is not among the
// dependencies.
package zonalshift

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Input asks for a page of a list. A member that a call does not have is not sent.
type Input struct {
	ResourceIdentifier, Status *string
	MaxResults                 *int32
	NextToken                  *string
}

// ZonalShift is what list-zonal-shifts prints of one.
type ZonalShift struct {
	ZonalShiftId, ResourceIdentifier, AwayFrom, Status, Comment, ShiftType, PracticeRunOutcome string
	StartTime, ExpiryTime                                                                      time.Time
}

// Autoshift is what list-autoshifts prints of one.
type Autoshift struct {
	AwayFrom, Status   string
	StartTime, EndTime time.Time
}

// ManagedResource is what list-managed-resources prints of one.
type ManagedResource struct {
	Arn, Name, ZonalAutoshiftStatus, PracticeRunStatus string
	AvailabilityZones                                  []string
	AppliedWeights                                     map[string]float64
	Autoshifts                                         []AppliedShift
	ZonalShifts                                        []AppliedShift
}

// AppliedShift is a shift of a resource, and whether it is the one in effect.
type AppliedShift struct {
	AppliedStatus, AwayFrom, ZonalShiftId, ResourceIdentifier, Comment, ShiftType, PracticeRunOutcome string
	StartTime, ExpiryTime                                                                             time.Time
}

// The outputs.
type (
	// ListZonalShiftsOutput is a page of zonal shifts.
	ListZonalShiftsOutput struct{ Items []ZonalShift }
	// ListAutoshiftsOutput is a page of autoshifts.
	ListAutoshiftsOutput struct{ Items []Autoshift }
	// ListManagedResourcesOutput is a page of resources.
	ListManagedResourcesOutput struct{ Items []ManagedResource }
)

// Fitting are the zonal shifts that a request asks for.
func (o ListZonalShiftsOutput) Fitting(in *Input) ListZonalShiftsOutput {
	return ListZonalShiftsOutput{slices.DeleteFunc(slices.Clone(o.Items), func(z ZonalShift) bool {
		return in.Status != nil && z.Status != *in.Status || in.ResourceIdentifier != nil && z.ResourceIdentifier != *in.ResourceIdentifier
	})}
}

// Fitting are the autoshifts that a request asks for: "By default, the call returns only
// ACTIVE autoshifts" (ARC zonal shift API reference, ListAutoshifts).
func (o ListAutoshiftsOutput) Fitting(in *Input) ListAutoshiftsOutput {
	status := "ACTIVE"
	if in.Status != nil {
		status = *in.Status
	}
	return ListAutoshiftsOutput{slices.DeleteFunc(slices.Clone(o.Items), func(a Autoshift) bool { return a.Status != status })}
}

// Written is an output as the service writes it: members begin in lower case, and times
// are seconds since 1970 (the default of Smithy's restJson1).
func Written(out any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return nil, err
	}
	return json.Marshal(written(tree))
}

func written(tree any) any {
	switch v := tree.(type) {
	case []any:
		for i := range v {
			v[i] = written(v[i])
		}
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if value == nil {
				value = []any{}
			}
			if text, is := value.(string); is && strings.HasSuffix(key, "Time") {
				at, err := time.Parse(time.RFC3339, text)
				if err != nil || at.IsZero() {
					continue
				}
				value = at.Unix()
			}
			if value != "" || key == "Comment" {
				out[strings.ToLower(key[:1])+key[1:]] = written(value)
			}
		}
		return out
	}
	return tree
}
