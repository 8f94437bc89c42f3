package kube

import (
	"context"
	"net/url"
	"time"
)

// Pod is what is read of a v1 Pod.
type Pod struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		NodeName    string `json:"nodeName"`
		HostNetwork bool   `json:"hostNetwork"`
		Containers  []struct {
			Name string `json:"name"`
			// Env are the variables that have a value of their own.
			Env []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"env"`
		} `json:"containers"`
		Volumes []struct {
			Name string `json:"name"`
		} `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Phase                 string            `json:"phase"`
		Message               string            `json:"message"`
		InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
		ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
	} `json:"status"`
}

// ContainerStatus is how a container of a pod is.
type ContainerStatus struct {
	Name         string         `json:"name"`
	Ready        bool           `json:"ready"`
	RestartCount int            `json:"restartCount"`
	State        ContainerState `json:"state"`
	LastState    ContainerState `json:"lastState"`
}

// ContainerState has one of its members.
type ContainerState struct {
	Waiting    *ContainerReason `json:"waiting"`
	Running    *struct{}        `json:"running"`
	Terminated *ContainerReason `json:"terminated"`
}

// ContainerReason is why a container waits or has ended.
type ContainerReason struct {
	Reason     string    `json:"reason"`
	Message    string    `json:"message"`
	ExitCode   int       `json:"exitCode"`
	FinishedAt time.Time `json:"finishedAt"`
}

// PodsOn lists the pods of all namespaces that a node took.
func (c *Client) PodsOn(ctx context.Context, node string) ([]Pod, error) {
	return list[Pod](ctx, c, "pods of "+node, "/api/v1/pods", url.Values{"fieldSelector": {"spec.nodeName=" + node}}, 0)
}

// CNIPods lists the pods of the VPC CNI, one on each node.
func (c *Client) CNIPods(ctx context.Context) ([]Pod, error) {
	return list[Pod](ctx, c, "pods in kube-system", "/api/v1/namespaces/kube-system/pods", url.Values{"labelSelector": {"k8s-app=aws-node"}}, 0)
}
