// Package kubernetes is what runs in the account's clusters: Node objects, the
// VPC CNI with its interfaces and addresses, the pods of workloads and sets, the
// scheduler and the volumes. EKS Auto Mode's nodes have their own network.
package kubernetes

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
)

// CNIMissing is the kubelet's message while there is no CNI configuration.
const CNIMissing = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// PutNode keeps the Node object of an instance.
func PutNode(w *state.State, k *kubestate.Cluster, in *ec2types.Instance, node map[string]any) {
	k.Nodes.Put(aws.ToString(in.InstanceId), &node)
	k.Touch(node)
}

// RemoveNode takes the Node object of an ended instance away, as the cloud
// controller does.
func RemoveNode(w *state.State, id string) {
	if k, n := w.NodeOf(id); n != nil {
		k.DropCNIPod(*n)
		dropPods(w, k, *n)
		dropSetPods(w, k, *n)
		k.Nodes.Remove(id)
		k.Version++
		// kubernetes/kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go.
		if meta, ok := (*n)["metadata"].(map[string]any); ok {
			k.Tell(*n, "node-controller", "RemovingNode", fmt.Sprintf("Node %v event: Removing Node %[1]v from Controller", meta["name"]), w.Now)
		}
		Schedule(w, k)
	}
}
