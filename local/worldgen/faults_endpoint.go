package worldgen

import (
	"rollcall/shared/checkid"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

func endpointFaults() []Fault {
	only := of(EndpointsOnly)
	var list []Fault
	for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts"} {
		list = append(list, Fault{Name: "no endpoint for " + service, Check: checkid.EndpointMissing, applies: only, breaks: func(w *World) {
			id := *w.vpcEndpoint(service).VpcEndpointId
			w.File.EC2.VpcEndpoints = without(w.File.EC2.VpcEndpoints, func(e ec2types.VpcEndpoint) bool { return *e.VpcEndpointId == id })
		}})
	}
	return append(list,
		Fault{Name: "no default route beside a part of the endpoints", Check: checkid.EndpointMissing, applies: both(not(inIPv6), of(Mixed)), breaks: func(w *World) {
			dropDefault(w.table(w.Tables[0]))
		}},
		Fault{Name: "endpoints closed", Check: checkid.EndpointSecurityGroup, applies: of(EndpointsOnly, Mixed), breaks: func(w *World) {
			w.securityGroup(w.endpointGroup).IpPermissions = []ec2types.IpPermission{permit("tcp", 443, 443, "10.9.0.0/16")}
		}},
		Fault{Name: "one endpoint closed", Check: checkid.EndpointSecurityGroup, applies: of(EndpointsOnly, Mixed), breaks: func(w *World) {
			id := w.id("sg")
			w.File.EC2.SecurityGroups = append(w.File.EC2.SecurityGroups, ec2types.SecurityGroup{GroupId: &id, VpcId: &w.vpc, GroupName: aws.String("shut"), IpPermissionsEgress: w.anywhere("-1", 0, 0)})
			w.vpcEndpoint("sts").Groups = []ec2types.SecurityGroupIdentifier{{GroupId: &id}}
		}},
		Fault{Name: "private DNS off", Check: checkid.EndpointPrivateDNSOff, applies: only, breaks: func(w *World) {
			w.vpcEndpoint("ec2").PrivateDnsEnabled = aws.Bool(false)
		}},
		Fault{Name: "endpoint pending", Check: checkid.EndpointNotAvailable, applies: only, breaks: func(w *World) { w.vpcEndpoint("ecr.dkr").State = "pending" }},
		Fault{Name: "endpoint failed", Check: checkid.EndpointNotAvailable, applies: only, breaks: func(w *World) { w.vpcEndpoint("ecr.api").State = "failed" }},
		Fault{Name: "S3's endpoint not in the table", Check: checkid.EndpointS3RouteMissing, applies: only, breaks: func(w *World) {
			w.vpcEndpoint("s3").RouteTableIds = nil
			w.eachTable(func(t *ec2types.RouteTable) {
				t.Routes = without(t.Routes, func(r ec2types.Route) bool { return r.DestinationPrefixListId != nil })
			})
		}},
		Fault{Name: "endpoint policy for somebody else", Check: checkid.EndpointPolicyDenies, applies: of(EndpointsOnly, Mixed), breaks: func(w *World) {
			w.vpcEndpoint("ecr.api").PolicyDocument = aws.String(`{"Statement":[{"Action":"*","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:role/deployer"},"Resource":"*"}]}`)
		}},
		Fault{Name: "endpoint policy for other buckets", Check: checkid.EndpointPolicyDenies, applies: of(EndpointsOnly, Mixed), breaks: func(w *World) {
			w.vpcEndpoint("s3").PolicyDocument = aws.String(`{"Statement":[{"Action":"s3:*","Effect":"Allow","Principal":"*","Resource":["arn:aws:s3:::our-bucket","arn:aws:s3:::our-bucket/*"]}]}`)
		}},
	)
}
