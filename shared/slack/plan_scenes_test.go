package slack

import (
	"fmt"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
)

// planScenes show a plan of each remedy as it is offered.
func planScenes(told func(incident.Reason, func(*incident.Note)) incident.Note) []scene {
	base := incidentOf(noEgress(), launches(3, report.Missed))
	var left []string
	for n := range 60 {
		left = append(left, fmt.Sprintf("eni-0aa%014x", n))
	}
	var list []scene
	for _, p := range []remedy.Plan{
		{Remedy: optin.ReplaceInstance, Replace: &replaceinstance.Plan{Instances: []replaceinstance.Replaced{
			{Instance: "i-0ef3000003a5b0000", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
			{Instance: "i-0ef3000003a5b0011", Group: "eks-workers-a1b2", Nodegroup: "workers", Zone: "us-west-2a"},
		}}},
		{Remedy: optin.OpenEndpointSecurityGroup, Open: &openendpointsecuritygroup.Plan{VPC: "vpc-0123456789abcdef0", SecurityGroup: "sg-0aaaabbbbccccdddd", Endpoints: []string{"vpce-0123456789abcdef0"}, Port: 443, From: []string{"sg-0eeeeffff00001111"}}},
		{Remedy: optin.CoverZones, Cover: &coverzones.Plan{Nodegroup: "workers", From: 2, To: 3, Max: 6, Zones: []string{"us-west-2a", "us-west-2b", "us-west-2c"}, Without: []string{"us-west-2c"}}},
		{Remedy: optin.DeleteLeakedInterfaces, Cleanup: &deleteleakedinterfaces.Plan{VPC: "vpc-0123456789abcdef0", Subnet: "subnet-0ab1c2d3e4f5a6b7c", Interfaces: left, Addresses: 420}},
		{Remedy: optin.CreateAccessEntry, Access: &createaccessentry.Plan{Principal: "arn:aws:iam::111122223333:role/eks/nodes/workers-node-role", Type: "EC2_LINUX"}},
	} {
		p.Format, p.Partition, p.Account, p.Region, p.Cluster, p.Check, p.Resource = remedy.Format, "aws", "111122223333", "us-west-2", "prod", base.Key.Check, base.Key.Resource
		of := offer(incident.Offered, func(of *incident.Offer) { of.Plan, of.Hash = p, p.Hash() })
		done := with(base, offers(offer(incident.Acted, func(of *incident.Offer) { of.Plan, of.Hash = p, p.Hash() })))
		list = append(list,
			scene{"act-plan-" + string(p.Remedy), with(base, offers(of)), []incident.Note{told(incident.IsProposed, nil)}},
			scene{"act-plan-" + string(p.Remedy) + "-done", done, []incident.Note{told(incident.RemedyDone, nil)}},
		)
	}
	return list
}
