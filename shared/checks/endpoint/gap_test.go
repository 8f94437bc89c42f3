package endpoint

import (
	"strings"
	"testing"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func nameOff(e *snapshot.Endpoint) { e.PrivateDNS = false }

func zonesOff(s *snapshot.Snapshot) { s.VPCAttributes[0].DNSHostnames = false }

func TestEndpointPrivateDNSOff(t *testing.T) {
	checktest.RunCases(t, PrivateDNSOff(), endpointPrivateDNSOffCases())
}

func endpointPrivateDNSOffCases() []checktest.Case {
	return []checktest.Case{
		{"on", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"off: a zone of one's own may stand in for it", checktest.Change(lacking(), endpointWith("vpce-0ec2", nameOff)), []string{
			"fail (likely) vpce-0ec2 [subnet-0private] [i-0node] vpce-0ec2 for EC2 has private DNS off",
		}},
		{"off, and no zone can work", checktest.Change(lacking(), endpointWith("vpce-0ec2", nameOff), zonesOff), []string{
			"fail vpce-0ec2 [subnet-0private] [i-0node] vpce-0ec2 for EC2 has private DNS off",
		}},
		{"two of them", checktest.Change(lacking(), endpointWith("vpce-0sts", nameOff), endpointWith("vpce-0ecr.api", nameOff), zonesOff), []string{
			"fail vpce-0ecr.api [subnet-0private] [i-0node] 2 endpoints for ECR (api) and STS have private DNS off",
		}},
		{"off, and a NAT gateway leads to the service", checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
			s.Endpoints[0].PrivateDNS = false
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(lacking(), checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestEndpointNotAvailable(t *testing.T) {
	checktest.RunCases(t, NotAvailable(), endpointNotAvailableCases())
}

func endpointNotAvailableCases() []checktest.Case {
	state := func(id, state string) func(*snapshot.Snapshot) {
		return endpointWith(id, func(e *snapshot.Endpoint) { e.State = state })
	}
	return []checktest.Case{
		{"available", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"pending", checktest.Change(lacking(), state("vpce-0ec2", "pending")), []string{"fail vpce-0ec2 [subnet-0private] [i-0node] vpce-0ec2 for EC2 is not available"}},
		{"rejected and failed", checktest.Change(lacking(), state("vpce-0ec2", "Rejected"), state("vpce-0sts", "failed")), []string{
			"fail vpce-0ec2 [subnet-0private] [i-0node] 2 endpoints for EC2 and STS are not available",
		}},
		{"the gateway endpoint", checktest.Change(lacking(), state("vpce-0s3", "deleting")), []string{"fail vpce-0s3 [subnet-0private] [i-0node] vpce-0s3 for S3 is not available"}},
		{"a state that is not known", checktest.Change(lacking(), state("vpce-0ec2", "")), []string{"fail vpce-0ec2 [subnet-0private] [i-0node] vpce-0ec2 for EC2 is not available"}},
		{"beside one that is", checktest.Change(lacking(), func(s *snapshot.Snapshot) {
			s.Endpoints = append(s.Endpoints, snapshot.Endpoint{ID: "vpce-0old", VPC: snapshottest.VPC, Service: "com.amazonaws.us-west-2.ec2", Kind: "Interface", State: "deleted", PrivateDNS: true})
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(lacking(), checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestEndpointS3RouteMissing(t *testing.T) {
	checktest.RunCases(t, S3RouteMissing(), endpointS3RouteMissingCases())
}

func endpointS3RouteMissingCases() []checktest.Case {
	const fail = "fail vpce-0s3 [subnet-0private] [i-0node] rtb-0private does not lead to vpce-0s3 for S3"
	return []checktest.Case{
		{"in the table", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"not in the table", checktest.Change(lacking(), noS3Row), []string{fail}},
		{"nor is there private DNS for the VPC on the interface endpoint beside it", checktest.Change(lacking(), noS3Row, func(s *snapshot.Snapshot) {
			s.Endpoints = append(s.Endpoints, snapshot.Endpoint{ID: "vpce-0s3z", VPC: snapshottest.VPC, Service: "com.amazonaws.us-west-2.s3", Kind: "Interface", State: "available"})
		}), []string{fail}},
		{"associated, and there is no row", checktest.Change(lacking(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local())), []string{
			strings.Replace(fail, "fail", "fail (likely)", 1),
		}},
		{"no endpoint for S3 at all is another matter", checktest.Change(lacking("vpce-0s3"), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local())), []string{"pass rtb-0private [subnet-0private]"}},
		{"a NAT gateway leads to S3", checktest.Change(checktest.Unjoined(snapshottest.PrivateWithNAT()), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[4:]
			s.Endpoints[0].RouteTables = nil
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(lacking(), checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestGapFixes(t *testing.T) {
	const modify = "aws ec2 modify-vpc-endpoint --region us-west-2 --vpc-endpoint-id "
	tests := []struct {
		name    string
		check   check.Check
		world   *snapshot.Snapshot
		command string
		why     string
	}{
		{"private DNS off", PrivateDNSOff(), checktest.Change(lacking(), endpointWith("vpce-0ec2", nameOff)), modify + "vpce-0ec2 --private-dns-enabled", "vpce-0ec2 has private DNS off"},
		{"not in the table", S3RouteMissing(), checktest.Change(lacking(), noS3Row), modify + "vpce-0s3 --add-route-table-ids rtb-0private", "vpce-0s3 is not in rtb-0private"},
		{"pending: wait", NotAvailable(), checktest.Change(lacking(), endpointWith("vpce-0ec2", func(e *snapshot.Endpoint) { e.State = "pending" })), "", "vpce-0ec2 is pending"},
		{"failed", NotAvailable(), checktest.Change(lacking(), endpointWith("vpce-0ec2", func(e *snapshot.Endpoint) { e.State = "failed" })),
			"aws ec2 describe-vpc-endpoints --region us-west-2 --vpc-endpoint-ids vpce-0ec2 --query 'VpcEndpoints[].[VpcEndpointId,State,LastError]'", "vpce-0ec2 is failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := checktest.Failed(t, tt.check, tt.world)
			if got.Fix.Command != tt.command {
				t.Errorf("Command = %q, want %q", got.Fix.Command, tt.command)
			}
			if !strings.Contains(got.Why, tt.why) {
				t.Errorf("Why = %q, want %q in it", got.Why, tt.why)
			}
		})
	}
}
