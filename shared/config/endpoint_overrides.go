package config

import (
	"encoding/json"
	"errors"

	"rollcall/shared/spec"
)

// StageEndpoints tells a function where the stage has a cluster's Kubernetes API,
// while EKS tells the endpoint that the real cluster had: what the checks
// compare must be the real one. A deployment never sets it; a test over the
// template holds that.
const StageEndpoints spec.Variable = "ROLLCALL_STAGE_DOORS"

// EndpointOverrides are the addresses of clusters' Kubernetes APIs by the cluster's name.
type EndpointOverrides map[string]EndpointOverride

// EndpointOverride is the address of a Kubernetes API and its authority, in PEM.
type EndpointOverride struct {
	Endpoint string `json:"endpoint"`
	CA       []byte `json:"ca"`
}

// Of is the endpoint of a cluster, if it has one.
func (d EndpointOverrides) Of(cluster string) (endpoint string, ca []byte, ok bool) {
	override, ok := d[cluster]
	return override.Endpoint, override.CA, ok
}

var errEndpointOverrides = errors.New("is not what the stage sets")

func parseEndpointOverrides(text string) (EndpointOverrides, error) {
	if text == "" {
		return nil, nil
	}
	var d EndpointOverrides
	if json.Unmarshal([]byte(text), &d) != nil {
		return nil, errEndpointOverrides
	}
	return d, nil
}
