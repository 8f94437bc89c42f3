package world

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/route53"
	"rollcall/local/simaws/state"
)

// route53API is the world's Route 53: it has what the world's file has.
type route53API struct{ w *state.State }

// ListHostedZonesByVPC lists the private hosted zones that are associated with a VPC, and not
// those that a Profile brings: it "does not reflect the hosted zone associations to VPCs via
// Route 53 Profiles" (Route 53 API reference).
func (s route53API) ListHostedZonesByVPC(in *route53.Input) (wire.XML, error) {
	defer s.w.Enter()()
	if in.VPCId == nil || s.w.Vpcs.Get(*in.VPCId) == nil {
		return nil, wire.Errorf("InvalidInput", "The VPC %s in region %s that you provided is not authorized to make the association.", aws.ToString(in.VPCId), aws.ToString(in.VPCRegion))
	}
	out := route53.ListHostedZonesByVPCOutput{HostedZoneSummaries: s.w.File.Route53.HostedZones[*in.VPCId], MaxItems: cmp.Or(aws.ToString(in.MaxItems), "100")}
	return route53.Written("ListHostedZonesByVPC", out, nil)
}

// ListResourceRecordSets lists the records of a zone of the account.
func (s route53API) ListResourceRecordSets(in *route53.Input) (wire.XML, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.HostedZoneId)
	list, there := s.w.File.Route53.ResourceRecordSets[id]
	if !there {
		return nil, &wire.Error{Code: "AccessDenied", Status: 403, Message: "User is not authorized to access this resource: hostedzone/" + id}
	}
	out := route53.ListResourceRecordSetsOutput{ResourceRecordSets: list, MaxItems: cmp.Or(aws.ToString(in.MaxItems), "300")}
	return route53.Written("ListResourceRecordSets", out, nil)
}
