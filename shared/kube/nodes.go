package kube

import (
	"context"
	"time"
)

// Node is what is read of a v1 Node.
type Node struct {
	Metadata struct {
		Name              string            `json:"name"`
		CreationTimestamp time.Time         `json:"creationTimestamp"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		ProviderID    string  `json:"providerID"`
		Unschedulable bool    `json:"unschedulable"`
		Taints        []Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions"`
		Addresses  []Address   `json:"addresses"`
		Capacity   struct {
			Pods     string `json:"pods"`
			Branches string `json:"vpc.amazonaws.com/pod-eni"` // branch interfaces
		} `json:"capacity"`
		NodeInfo struct {
			KubeletVersion string `json:"kubeletVersion"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// Address is an address of a node.
type Address struct {
	Type    string `json:"type"` // InternalIP, Hostname, …
	Address string `json:"address"`
}

// Condition is a condition of a node.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// Nodes lists all nodes.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	return list[Node](ctx, c, "nodes", "/api/v1/nodes", nil, 0)
}
