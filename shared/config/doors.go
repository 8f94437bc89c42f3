package config

import (
	"encoding/json"
	"errors"

	"rollcall/shared/spec"
)

// StageDoors tells a function where the stage has a cluster's Kubernetes API,
// while EKS tells the endpoint that the real cluster had: what the checks
// compare must be the real one. A deployment never sets it; a test over the
// template holds that.
const StageDoors spec.Variable = "ROLLCALL_STAGE_DOORS"

// Doors are the addresses of clusters' Kubernetes APIs by the cluster's name.
type Doors map[string]Door

// Door is the address of a Kubernetes API and its authority, in PEM.
type Door struct {
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"ca"`
}

// Of is the door of a cluster, if it has one.
func (d Doors) Of(cluster string) (endpoint string, ca []byte, ok bool) {
	door, ok := d[cluster]
	return door.Endpoint, door.CA, ok
}

var errDoors = errors.New("is not what the stage sets")

func parseDoors(text string) (Doors, error) {
	if text == "" {
		return nil, nil
	}
	var d Doors
	if json.Unmarshal([]byte(text), &d) != nil {
		return nil, errDoors
	}
	return d, nil
}
