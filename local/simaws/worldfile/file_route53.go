package worldfile

import "rollcall/local/simaws/route53"

// Route53File is the Route 53 part of a world: the private hosted zones of VPCs by VPC, as
// `aws route53 list-hosted-zones-by-vpc` prints them, and the records of the account's own
// zones by zone, as list-resource-record-sets does.
type Route53File struct {
	HostedZones        map[string][]route53.HostedZoneSummary
	ResourceRecordSets map[string][]route53.ResourceRecordSet
}
