package kube

import "context"

// ConfigMap is what is read of a v1 ConfigMap.
type ConfigMap struct {
	Data map[string]string `json:"data"`
}

// AWSAuth gets the ConfigMap aws-auth; nil where there is none.
func (c *Client) AWSAuth(ctx context.Context) (*ConfigMap, error) {
	return object[ConfigMap](ctx, c, "configmap aws-auth", "/api/v1/namespaces/kube-system/configmaps/aws-auth")
}
