package event

import (
	"encoding/json"
	"errors"
	"strings"
)

// The detail-types of what Rollcall tells its own bus.
const (
	incident       = "Rollcall Incident "
	remedyApproved = "Rollcall Remedy Approved"
	checkWanted    = "Rollcall Check Wanted"
	statusChange   = "EKS Nodegroup Status Change"
)

// ownDetail is what all of them say of whom they are about. What else they
// say, is in the table too, and what is acted on is read from there: anybody
// who may put events could say anything here.
type ownDetail struct {
	Cluster   string `json:"cluster"`
	Nodegroup string `json:"nodegroup"`
	Check     string `json:"check"`
	Resource  string `json:"resource"`
}

func readOwnEvent(t *Trigger, raw json.RawMessage) error {
	d, err := detail[ownDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" {
		return &Malformed{What: t.Type, Err: errors.New("the cluster is missing")}
	}
	t.Cluster, t.Nodegroup = d.Cluster, d.Nodegroup
	if t.Type == statusChange {
		t.Kind = StatusChanged
		return nil
	}
	if d.Check == "" || d.Resource == "" {
		return &Malformed{What: t.Type, Err: errors.New("check or resource is missing")}
	}
	t.Kind, t.Check, t.Resource = IncidentTold, d.Check, d.Resource
	switch t.Type {
	case checkWanted:
		t.Kind = CheckWanted
	case remedyApproved:
		t.Told = "Approved"
	default:
		t.Told = strings.TrimPrefix(t.Type, incident)
	}
	return nil
}
