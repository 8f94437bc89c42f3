//go:build kube

package kubetest

import (
	"encoding/json"
	"fmt"
	"time"

	"rollcall/shared/kube"
)

// manyNodes is more than two pages of the reader's 500.
const manyNodes = 1200

// sample is a node as it is created, and as the reader must read it. The time
// of creation is the server's.
type sample struct {
	object string
	want   func(*kube.Node)
}

// samples are nodes of the forms that are met in clusters. The names of the
// many sort among them.
func samples() []sample {
	out := []sample{
		{
			// An ordinary EC2 node. The reader leaves out the most of it.
			object: `{"metadata":{"name":"ip-10-42-0-9.us-west-2.compute.internal","labels":{"eks.amazonaws.com/nodegroup":"workers","special":""},"annotations":{"node.alpha.kubernetes.io/ttl":"0"}},
				"spec":{"providerID":"aws:///us-west-2a/i-0ef3c1b2a4d5968f1","podCIDR":"10.42.0.0/24"},
				"status":{"capacity":{"cpu":"2","memory":"7934Mi","pods":"29"},"addresses":[{"type":"InternalIP","address":"10.42.0.9"}],"nodeInfo":{"kubeletVersion":"v1.33.1-eks-1","osImage":"Amazon Linux 2023"},
				"conditions":[{"type":"MemoryPressure","status":"False","reason":"KubeletHasSufficientMemory","message":"kubelet has sufficient memory available","lastHeartbeatTime":"2026-11-20T15:05:00Z","lastTransitionTime":"2026-11-20T15:00:40Z"},
					{"type":"Ready","status":"True","reason":"KubeletReady","message":"kubelet is posting ready status","lastHeartbeatTime":"2026-11-20T15:05:00Z","lastTransitionTime":"2026-11-20T15:00:58Z"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "ip-10-42-0-9.us-west-2.compute.internal"
				n.Metadata.Labels = map[string]string{"eks.amazonaws.com/nodegroup": "workers", "special": ""}
				n.Metadata.Annotations = map[string]string{"node.alpha.kubernetes.io/ttl": "0"}
				n.Spec.ProviderID = "aws:///us-west-2a/i-0ef3c1b2a4d5968f1"
				n.Status.NodeInfo.KubeletVersion = "v1.33.1-eks-1"
				n.Status.Addresses = []kube.Address{{Type: "InternalIP", Address: "10.42.0.9"}}
				n.Status.Capacity.Pods = "29"
				n.Status.Conditions = []kube.Condition{
					{Type: "MemoryPressure", Status: "False", Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available", LastTransitionTime: at("15:00:40")},
					{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "kubelet is posting ready status", LastTransitionTime: at("15:00:58")},
				}
			},
		},
		{
			// One that has just registered.
			object: `{"metadata":{"name":"ip-10-42-0-10.us-west-2.compute.internal"},"spec":{"providerID":"aws:///us-west-2b/i-0aa3c1b2a4d5968f2",
				"taints":[{"key":"node.cloudprovider.kubernetes.io/uninitialized","value":"true","effect":"NoSchedule"},{"key":"node.kubernetes.io/not-ready","effect":"NoExecute","timeAdded":"2026-11-20T15:00:41Z"}]},
				"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady","message":"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: \"cni <plugin> & config\" – uninitialized","lastTransitionTime":"2026-11-20T15:00:40Z"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "ip-10-42-0-10.us-west-2.compute.internal"
				n.Spec.ProviderID = "aws:///us-west-2b/i-0aa3c1b2a4d5968f2"
				n.Spec.Taints = []kube.Taint{
					{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: "NoSchedule"},
					{Key: "node.kubernetes.io/not-ready", Effect: "NoExecute"},
				}
				n.Status.Conditions = []kube.Condition{{Type: "Ready", Status: "False", Reason: "KubeletNotReady",
					Message:            `container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: "cni <plugin> & config" – uninitialized`,
					LastTransitionTime: at("15:00:40")}}
			},
		},
		{
			// One of Fargate: no instance is behind it.
			object: `{"metadata":{"name":"fargate-ip-10-42-96-7.us-west-2.compute.internal","labels":{"eks.amazonaws.com/compute-type":"fargate"}},
				"spec":{"providerID":"aws:///us-west-2c/5cf7a1c2d3-9d1f3f6c0ab84b7d/fargate-ip-10-42-96-7.us-west-2.compute.internal","taints":[{"key":"eks.amazonaws.com/compute-type","value":"fargate","effect":"NoSchedule"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "fargate-ip-10-42-96-7.us-west-2.compute.internal"
				n.Metadata.Labels = map[string]string{"eks.amazonaws.com/compute-type": "fargate"}
				n.Spec.ProviderID = "aws:///us-west-2c/5cf7a1c2d3-9d1f3f6c0ab84b7d/fargate-ip-10-42-96-7.us-west-2.compute.internal"
				n.Spec.Taints = []kube.Taint{{Key: "eks.amazonaws.com/compute-type", Value: "fargate", Effect: "NoSchedule"}}
			},
		},
		{
			// A hybrid node that is lost.
			object: `{"metadata":{"name":"mi-0123456789abcdef0"},"spec":{"providerID":"eks-hybrid:///us-west-2/prod/mi-0123456789abcdef0"},
				"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status.","lastTransitionTime":"2026-11-20T15:00:40Z"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "mi-0123456789abcdef0"
				n.Spec.ProviderID = "eks-hybrid:///us-west-2/prod/mi-0123456789abcdef0"
				n.Status.Conditions = []kube.Condition{{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status.", LastTransitionTime: at("15:00:40")}}
			},
		},
		{
			// One with next to nothing: the API writes a time that is not set as null.
			object: `{"metadata":{"name":"bare"},"spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}`,
			want: func(n *kube.Node) {
				n.Metadata.Name = "bare"
				n.Spec.Unschedulable = true
				n.Status.Conditions = []kube.Condition{{Type: "Ready", Status: "Unknown"}}
			},
		},
	}
	for i := range manyNodes {
		name, zone, id := fmt.Sprintf("ip-10-42-%d-%d.many", i/250, i%250), "us-west-2"+string("abc"[i%3]), fmt.Sprintf("aws:///us-west-2a/i-%017x", i)
		out = append(out, sample{
			object: fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"topology.kubernetes.io/zone":%q,"i":"%d"}},"spec":{"providerID":%q}}`, name, zone, i, id),
			want: func(n *kube.Node) {
				n.Metadata.Name, n.Spec.ProviderID = name, id
				n.Metadata.Labels = map[string]string{"topology.kubernetes.io/zone": zone, "i": fmt.Sprint(i)}
			},
		})
	}
	return out
}

func (s sample) node() kube.Node {
	var n kube.Node
	s.want(&n)
	return n
}

func (s sample) json() json.RawMessage { return json.RawMessage(s.object) }

// at is a time of the day of the samples.
func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
	if err != nil {
		panic(err) // a mistake in the literals above
	}
	return t
}
