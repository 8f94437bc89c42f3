package simaws

import (
	"context"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/route53"
)

// HostedZones is Route 53, of a world that has it.
type HostedZones interface {
	ListHostedZonesByVPC(*route53.Input) (wire.XML, error)
	ListResourceRecordSets(*route53.Input) (wire.XML, error)
}

// HandleHostedZones serves Route 53, and returns its operations.
func HandleHostedZones(s *wire.Server, z HostedZones) []string {
	get := func(operation, path string, answer func(*route53.Input) (wire.XML, error)) {
		wire.HandleXML(s, "route53", operation, path, func(_ context.Context, _ *wire.Call, in *route53.Input) (wire.XML, error) {
			return answer(in)
		})
	}
	get("ListHostedZonesByVPC", "/2013-04-01/hostedzonesbyvpc", z.ListHostedZonesByVPC)
	get("ListResourceRecordSets", "/2013-04-01/hostedzone/{HostedZoneId}/rrset", z.ListResourceRecordSets)
	return []string{"ListHostedZonesByVPC", "ListResourceRecordSets"}
}
