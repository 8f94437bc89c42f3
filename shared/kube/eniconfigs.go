package kube

import "context"

// ENIConfig is what is read of a crd.k8s.amazonaws.com/v1alpha1 ENIConfig.
type ENIConfig struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Subnet         string   `json:"subnet"`
		SecurityGroups []string `json:"securityGroups"`
	} `json:"spec"`
}

// ENIConfigs lists the objects of the VPC CNI's custom networking; none where
// the cluster does not know the kind.
func (c *Client) ENIConfigs(ctx context.Context) ([]ENIConfig, error) {
	return installed(list[ENIConfig](ctx, c, "eniconfigs", "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs", nil, 0))
}
