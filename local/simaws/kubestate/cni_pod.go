package kubestate

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// cniPod is the node's pod of aws-node among the world's objects, nil where
// the world lists none. Pods that are well are not listed by themselves.
func (k *Cluster) cniPod(node map[string]any) map[string]any {
	name := At(node, "metadata", "name")
	for _, p := range k.Objects["pods"] {
		if At(p, "spec", "nodeName") == name && At(p, "metadata", "labels", "k8s-app") == "aws-node" {
			return p
		}
	}
	return nil
}

// CNICrashes shows the node's aws-node ending again and again. What the
// container last said is in its log, not in its status.
func (k *Cluster) CNICrashes(in *ec2types.Instance, node map[string]any, now time.Time) {
	p := k.cniPod(node)
	if p == nil {
		id := aws.ToString(in.InstanceId)
		p = map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{
				"name": "aws-node-" + id[len(id)-5:], "namespace": "kube-system",
				"labels": map[string]any{"k8s-app": "aws-node"}, "creationTimestamp": Time(now),
			},
			"spec": map[string]any{"nodeName": At(node, "metadata", "name")},
		}
		k.Objects["pods"] = append(k.Objects["pods"], p)
	}
	restarts := 1
	if list, ok := At(p, "status", "containerStatuses").([]any); ok && len(list) > 0 {
		if n, ok := At(list[0], "restartCount").(int); ok {
			restarts = n + 1
		}
	}
	p["status"] = map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
		"name": "aws-node", "ready": false, "restartCount": restarts,
		"state":     map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff", "message": "back-off restarting failed container=aws-node"}},
		"lastState": map[string]any{"terminated": map[string]any{"exitCode": 1, "reason": "Error", "finishedAt": Time(now)}},
	}}}
	k.Touch(p)
}

// CNIRuns shows that the node's aws-node came up after all.
func (k *Cluster) CNIRuns(node map[string]any, now time.Time) {
	p := k.cniPod(node)
	list, ok := At(p, "status", "containerStatuses").([]any)
	if !ok || len(list) == 0 {
		return
	}
	if c, ok := list[0].(map[string]any); ok {
		c["ready"] = true
		c["state"] = map[string]any{"running": map[string]any{"startedAt": Time(now)}}
		k.Touch(p)
	}
}

// DropCNIPod takes the pod away with its node.
func (k *Cluster) DropCNIPod(node map[string]any) {
	p := k.cniPod(node)
	if p == nil {
		return
	}
	name := At(p, "metadata", "name")
	k.Objects["pods"] = slices.DeleteFunc(k.Objects["pods"], func(o map[string]any) bool {
		return At(o, "metadata", "name") == name && At(o, "metadata", "labels", "k8s-app") == "aws-node"
	})
	k.Version++
}
