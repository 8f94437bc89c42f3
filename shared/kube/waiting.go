package kube

import (
	"context"
	"net/url"
	"time"
)

// mostWaiting is how many pending pods are read: of more no one would read the
// list, and a page of them is a few megabytes.
const mostWaiting = 5000

// WaitingPod is what is read of a v1 Pod that no node has taken.
type WaitingPod struct {
	Metadata struct {
		Name              string    `json:"name"`
		Namespace         string    `json:"namespace"`
		CreationTimestamp time.Time `json:"creationTimestamp"`
		// DeletionTimestamp is set on a pod that is being deleted.
		DeletionTimestamp time.Time `json:"deletionTimestamp"`
		// Annotations has what a pod is told of its own branch interface.
		Annotations     map[string]string `json:"annotations"`
		OwnerReferences []struct {
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName     string            `json:"nodeName"`
		HostNetwork  bool              `json:"hostNetwork"`
		NodeSelector map[string]string `json:"nodeSelector"`
		Affinity     struct {
			NodeAffinity struct {
				Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution"`
			} `json:"nodeAffinity"`
		} `json:"affinity"`
		Tolerations []struct {
			Key      string `json:"key"`
			Operator string `json:"operator"`
			Value    string `json:"value"`
			Effect   string `json:"effect"`
		} `json:"tolerations"`
		Containers []struct {
			Resources struct {
				Requests map[string]Quantity `json:"requests"`
			} `json:"resources"`
		} `json:"containers"`
		SchedulingGates []struct {
			Name string `json:"name"`
		} `json:"schedulingGates"`
		Volumes []struct {
			Name                  string `json:"name"`
			PersistentVolumeClaim *struct {
				ClaimName string `json:"claimName"`
			} `json:"persistentVolumeClaim"`
			// Ephemeral volumes have a claim that is named after the pod.
			Ephemeral *struct{} `json:"ephemeral"`
		} `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Phase                 string            `json:"phase"`
		Conditions            []Condition       `json:"conditions"`
		InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
		ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
	} `json:"status"`
}

// WaitingPods lists the pods of all namespaces whose phase is Pending. Those
// whose images are being pulled are among them: they have a node.
func (c *Client) WaitingPods(ctx context.Context) ([]WaitingPod, error) {
	return list[WaitingPod](ctx, c, "pods", "/api/v1/pods", url.Values{"fieldSelector": {"status.phase=Pending"}}, mostWaiting)
}
