package gather

import (
	"context"
	"errors"
	"strings"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// errNoEndpoint: a cluster that is being made has no endpoint yet.
var errNoEndpoint = errors.New("the cluster has no endpoint")

func (r *Reader) readNodes(ctx context.Context, c snapshot.Cluster) ([]snapshot.Node, error) {
	if c.Endpoint == "" {
		return nil, errNoEndpoint
	}
	token, err := kube.Token(ctx, r.presigner, c.Name)
	if err != nil {
		return nil, err
	}
	client, err := kube.New(c.Endpoint, c.CA, token)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	nodes, err := client.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return each(nodes, node), nil
}

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"

func node(n kube.Node) snapshot.Node {
	out := snapshot.Node{
		Name:     n.Metadata.Name,
		Instance: instanceOf(n.Spec.ProviderID),
		Created:  n.Metadata.CreationTimestamp,
		Kubelet:  n.Status.NodeInfo.KubeletVersion,
		Labels:   n.Metadata.Labels,
	}
	for _, t := range n.Spec.Taints {
		if t.Key == uninitialized {
			out.Uninitialized = true
		}
	}
	for _, c := range n.Status.Conditions {
		if c.Type == "Ready" {
			out.Ready = snapshot.Condition{Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime}
		}
	}
	return out
}

// instanceOf takes the instance id from "aws:///us-west-2a/i-0ef3c1b2a4d5968f1".
// Fargate and hybrid nodes have other forms and no instance.
func instanceOf(providerID string) string {
	if !strings.HasPrefix(providerID, "aws://") {
		return ""
	}
	id := providerID[strings.LastIndex(providerID, "/")+1:]
	if !strings.HasPrefix(id, "i-") {
		return ""
	}
	return id
}
