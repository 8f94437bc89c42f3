package event

import (
	"encoding/json"
	"errors"
	"strings"
)

// resourceStatus is the detail of "CloudFormation Resource Status Change", as
// far as it is used.
type resourceStatus struct {
	ResourceType string `json:"resource-type"`
	// PhysicalID of a nodegroup is "cluster/nodegroup"; it is empty as long as
	// there is none.
	PhysicalID string `json:"physical-resource-id"`
	Status     struct {
		Status string `json:"status"`
		Reason string `json:"status-reason"`
	} `json:"status-details"`
}

const nodegroupResource = "AWS::EKS::Nodegroup"

func cloudformation(t *Trigger, raw json.RawMessage) error {
	if t.Type != "CloudFormation Resource Status Change" {
		foreign(t, "not the status of a resource")
		return nil
	}
	d, err := detail[resourceStatus](t, raw)
	if err != nil {
		return err
	}
	t.State, t.Message = d.Status.Status, d.Status.Reason
	cluster, name, named := strings.Cut(d.PhysicalID, "/")
	switch {
	case d.ResourceType != nodegroupResource:
		foreign(t, "a resource that is no nodegroup")
	case d.PhysicalID == "":
		foreign(t, "the nodegroup is not made yet")
	case !named || cluster == "" || name == "":
		return &Malformed{What: t.Type, Err: errors.New("physical-resource-id is not a cluster and a nodegroup: " + d.PhysicalID)}
	default:
		t.Kind, t.Cluster, t.Nodegroup, t.Call = NodegroupCalled, cluster, name, t.Type
	}
	return nil
}
