package kube

import "context"

// DaemonSet is what is read of an apps/v1 DaemonSet.
type DaemonSet struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []Container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		DesiredNumberScheduled int `json:"desiredNumberScheduled"`
		NumberReady            int `json:"numberReady"`
	} `json:"status"`
}

// Container is a container of a pod's template.
type Container struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Env   []EnvVar `json:"env"`
}

// EnvVar is a variable of a container's environment. Its value is empty where
// it comes from elsewhere, such as a field of the pod.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ServiceAccount is what is read of a v1 ServiceAccount.
type ServiceAccount struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// CNIDaemonSet gets the DaemonSet of the VPC CNI; nil where there is none.
func (c *Client) CNIDaemonSet(ctx context.Context) (*DaemonSet, error) {
	return object[DaemonSet](ctx, c, "daemonset aws-node", "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node")
}

// CNIServiceAccount gets the service account of the VPC CNI; nil where there
// is none.
func (c *Client) CNIServiceAccount(ctx context.Context) (*ServiceAccount, error) {
	return object[ServiceAccount](ctx, c, "serviceaccount aws-node", "/api/v1/namespaces/kube-system/serviceaccounts/aws-node")
}
