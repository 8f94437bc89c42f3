package take

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
)

// mostVPCs bounds the VPCs that are taken beside the clusters' own: a transit gateway may
// join hundreds.
const mostVPCs = 20

// scope are the VPCs whose network is taken: those of the clusters and their nodes, and
// those that they are connected to.
func (t *taker) scope(found *region) []string {
	own := sorted(slices.Concat(found.vpcs, picksOf(found.nodes, "Reservations[].Instances[].VpcId")))
	if len(own) > ec2api.MaxFilterValues {
		t.note("the clusters have more than %d VPCs: what is in all VPCs of the region is taken", ec2api.MaxFilterValues)
		return nil
	}
	if len(own) == 0 {
		return nil
	}
	var others []string
	for _, vpc := range connected(own, found.peerings, found.attachments) {
		if !slices.Contains(own, vpc) {
			others = append(others, vpc)
		}
	}
	most := min(mostVPCs, ec2api.MaxFilterValues-len(own))
	for _, vpc := range others[min(most, len(others)):] {
		t.leave("ec2-describe-vpcs", "%s, which is connected to the clusters' VPCs, and what is in it: more than %d are", vpc, most)
	}
	return sorted(slices.Concat(own, others[:min(most, len(others))]))
}

// connected are the VPCs that a peering or a transit gateway joins to some of own.
func connected(own []string, peerings, attachments map[string]any) []string {
	var out []string
	for _, p := range nodesOf(peerings, "VpcPeeringConnections[]") {
		ends := []string{text(p, "RequesterVpcInfo.VpcId"), text(p, "AccepterVpcInfo.VpcId")}
		if slices.ContainsFunc(ends, func(end string) bool { return slices.Contains(own, end) }) {
			out = append(out, ends...)
		}
	}
	all := nodesOf(attachments, "TransitGatewayAttachments[]")
	var gateways []string
	for _, a := range all {
		if slices.Contains(own, text(a, "ResourceId")) {
			gateways = append(gateways, text(a, "TransitGatewayId"))
		}
	}
	for _, a := range all {
		if text(a, "ResourceType") == "vpc" && slices.Contains(gateways, text(a, "TransitGatewayId")) {
			out = append(out, text(a, "ResourceId"))
		}
	}
	return present(out)
}

// nodes asks for the instances that say by their tags that they are the clusters', in
// whichever VPC they are.
func (t *taker) nodes(ctx context.Context, clusters []string) map[string]any {
	if len(clusters) == 0 {
		return nil
	}
	var keys []string
	for _, name := range clusters {
		keys = append(keys, "kubernetes.io/cluster/"+name, "k8s.io/cluster/"+name)
	}
	var all map[string]any
	for part := range slices.Chunk(keys, ec2api.MaxFilterValues) {
		// What is refused is told of the list of instances, which has the same permission.
		tree, err := asks(t, "ec2", t.ec2.DescribeInstances, &ec2.DescribeInstancesInput{Filters: ec2api.AnyOf("tag-key", part), MaxResults: pageSize()})(ctx)
		if err != nil {
			return nil
		}
		all = joined(all, tree)
	}
	return all
}

// allInstances takes the instances of VPCs, and those nodes that are elsewhere.
func (t *taker) allInstances(ctx context.Context, in []types.Filter, nodes map[string]any) map[string]any {
	return t.take(ctx, "ec2-describe-instances", func(ctx context.Context) (map[string]any, error) {
		tree, err := asks(t, "ec2", t.ec2.DescribeInstances, &ec2.DescribeInstancesInput{Filters: in, MaxResults: pageSize()})(ctx)
		if err != nil {
			return nil, err
		}
		seen := picks(tree, "Reservations[].Instances[].InstanceId")
		for _, r := range nodesOf(nodes, "Reservations[]") {
			if ids := picks(r, "Instances[].InstanceId"); !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(seen, id) }) {
				list, _ := tree["Reservations"].([]any)
				tree["Reservations"] = append(list, r)
			}
		}
		return tree, nil
	})
}
