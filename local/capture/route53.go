package capture

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/route53"
)

// ListHostedZonesByVPC answers with the private hosted zones of a VPC.
func (a API) ListHostedZonesByVPC(in *route53.Input) (wire.XML, error) {
	out, err := plain[route53.ListHostedZonesByVPCOutput](a.c, "route53-list-hosted-zones-by-vpc", aws.ToString(in.VPCId))
	return route53.Written("ListHostedZonesByVPC", out, err)
}

// ListResourceRecordSets answers with the records of a zone.
func (a API) ListResourceRecordSets(in *route53.Input) (wire.XML, error) {
	out, err := plain[route53.ListResourceRecordSetsOutput](a.c, "route53-list-resource-record-sets", aws.ToString(in.HostedZoneId))
	return route53.Written("ListResourceRecordSets", out, err)
}
