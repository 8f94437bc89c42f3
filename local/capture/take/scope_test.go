package take

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func peering(a, b string) any {
	return map[string]any{"RequesterVpcInfo": map[string]any{"VpcId": a}, "AccepterVpcInfo": map[string]any{"VpcId": b}}
}

func attachment(gateway, kind, id string) any {
	return map[string]any{"TransitGatewayId": gateway, "ResourceType": kind, "ResourceId": id}
}

// TestConnected: the VPCs at the other end of a peering of one's own, and on the same
// transit gateways; not those that only these lead to.
func TestConnected(t *testing.T) {
	peerings := map[string]any{"VpcPeeringConnections": []any{peering("vpc-own", "vpc-a"), peering("vpc-b", "vpc-own"), peering("vpc-a", "vpc-far")}}
	attachments := map[string]any{"TransitGatewayAttachments": []any{
		attachment("tgw-1", "vpc", "vpc-own"), attachment("tgw-1", "vpc", "vpc-hub"), attachment("tgw-1", "vpn", "vpn-1"), attachment("tgw-2", "vpc", "vpc-stranger"),
	}}
	if diff := cmp.Diff([]string{"vpc-a", "vpc-b", "vpc-hub", "vpc-own"}, connected([]string{"vpc-own"}, peerings, attachments)); diff != "" {
		t.Errorf("connected VPCs (-want +got):\n%s", diff)
	}
}

// TestScope: VPCs of clusters and nodes are all taken; of those beside them as many as
// there is room for, and the rest is told.
func TestScope(t *testing.T) {
	k := faked(t, nil)
	var attachments []any
	for i := range 30 {
		attachments = append(attachments, attachment("tgw-1", "vpc", fmt.Sprintf("vpc-%02d", i)))
	}
	found := region{cluster: cluster{vpcs: []string{"vpc-own"}}}
	found.nodes = map[string]any{"Reservations": []any{map[string]any{"Instances": []any{map[string]any{"VpcId": "vpc-nodes"}}}}}
	found.attachments = map[string]any{"TransitGatewayAttachments": append(attachments, attachment("tgw-1", "vpc", "vpc-nodes"))}
	got := k.scope(&found)
	if len(got) != mostVPCs+2 || got[0] != "vpc-00" || got[len(got)-2] != "vpc-nodes" || got[len(got)-1] != "vpc-own" {
		t.Errorf("scope %s", got)
	}
	if len(k.leftOut) != 10 || k.leftOut[0].File != "ec2-describe-vpcs" {
		t.Errorf("left out: %+v, want 10 VPCs", k.leftOut)
	}
	if got := k.scope(&region{}); got != nil {
		t.Errorf("of no cluster: %s, want all", got)
	}
	if got := k.nodes(context.Background(), nil); got != nil {
		t.Errorf("nodes of no cluster: %v", got)
	}
}
