package worldgen

import (
	"time"

	"rollcall/shared/checkid"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

const pluginDown = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"

// notReady makes the young nodes NotReady with a message, and the network
// plugin on them wait for a reason, if there is one.
func (w *World) notReady(message, waiting string) {
	since := w.now().Add(-Age + time.Minute).UTC().Format(time.RFC3339)
	w.nodes(func(node, pod map[string]any) {
		node["status"].(map[string]any)["conditions"] = []any{condition("Ready", "False", "KubeletNotReady", message, since)}
		node["spec"].(map[string]any)["taints"] = []any{map[string]any{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}}
		if pod == nil || waiting == "" {
			return
		}
		pod["status"] = map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
			"name": "aws-node", "ready": false, "restartCount": 6, "state": map[string]any{"waiting": map[string]any{"reason": waiting, "message": "back-off"}},
			"lastState": map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error", "message": "ipamd exited"}},
		}}}
	})
}

func nodeFaults() []Fault {
	return []Fault{
		{Name: "the network plugin crashes", Check: checkid.NodeCNINotReady, reach: lets, applies: linux, breaks: func(w *World) { w.notReady(pluginDown, "CrashLoopBackOff") }},
		{Name: "the kubelet is not well", Check: checkid.NodeNotReady, reach: lets, applies: always, breaks: func(w *World) { w.notReady("PLEG is not healthy: pleg was last seen active 4m2s ago", "") }},
		{Name: "nobody initialised the node", Check: checkid.NodeUninitialized, reach: lets, applies: always, breaks: func(w *World) {
			w.nodes(func(node, _ map[string]any) {
				node["spec"].(map[string]any)["taints"] = []any{map[string]any{"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}}
			})
		}},
		{Name: "no reason that can be seen", Check: checkid.NodeNotRegistered, applies: always, breaks: func(*World) {}},
		{Name: "no address is left", Check: checkid.IPSubnetExhausted, reach: lets, applies: both(linux, not(inIPv6)), breaks: func(w *World) {
			for _, id := range w.Subnets {
				w.subnet(id).AvailableIpAddressCount = aws.Int32(0)
			}
			w.notReady(pluginDown, "")
		}},
		{Name: "the add-on vpc-cni is degraded", Check: checkid.AddonDegraded, reach: lets, applies: linux, breaks: func(w *World) {
			a := w.addon("vpc-cni")
			a.Status = ekstypes.AddonStatusDegraded
			a.Health = &ekstypes.AddonHealth{Issues: []ekstypes.AddonIssue{{Code: ekstypes.AddonIssueCodeConfigurationConflict, Message: aws.String("Conflicts found when trying to apply.")}}}
			w.notReady(pluginDown, "")
		}},
		{Name: "the cluster has lost its subnets", Check: checkid.ClusterHealth, reach: noLaunch, applies: always, breaks: func(w *World) {
			w.eks().Health = &ekstypes.ClusterHealth{Issues: []ekstypes.ClusterIssue{{Code: ekstypes.ClusterIssueCodeEc2SubnetNotFound, Message: aws.String("subnets do not exist"), ResourceIds: []string{"subnet-0gone"}}}}
		}},
		{Name: "the cluster is being deleted", Check: checkid.ClusterHealth, reach: noLaunch, applies: always, breaks: func(w *World) { w.eks().Status = ekstypes.ClusterStatusDeleting }},
	}
}
