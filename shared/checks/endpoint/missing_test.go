package endpoint

import (
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// lacking is a private VPC without the endpoints whose ids are given.
func lacking(ids ...string) *snapshot.Snapshot {
	s := snapshottest.EndpointsOnly()
	s.Endpoints = slices.DeleteFunc(s.Endpoints, func(e snapshot.Endpoint) bool { return slices.Contains(ids, e.ID) })
	snapshottest.Unjoin(s, snapshottest.Node)
	return s
}

// endpointWith changes one endpoint.
func endpointWith(id string, f func(*snapshot.Endpoint)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := slices.IndexFunc(s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == id })
		f(&s.Endpoints[i])
	}
}

func noS3Row(s *snapshot.Snapshot) {
	snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
	endpointWith("vpce-0s3", func(e *snapshot.Endpoint) { e.RouteTables = nil })(s)
}

// bootstraps gives the node a script of its own for user data.
func bootstraps(script string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.UserData = []snapshot.UserData{{Data: []byte("#!/bin/bash\n" + script + "\n"), From: snapshottest.Node, Instances: []string{snapshottest.Node}}}
	}
}

func TestEndpointMissing(t *testing.T) {
	checktest.RunCases(t, Missing(), endpointMissingCases())
}

func endpointMissingCases() []checktest.Case {
	onlyS3 := func(s *snapshot.Snapshot) {
		s.Endpoints = slices.DeleteFunc(snapshottest.EndpointsOnly().Endpoints, func(e snapshot.Endpoint) bool { return e.Kind == "Interface" })
	}
	return []checktest.Case{
		{"all endpoints", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"NAT gateway and no endpoints", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"no endpoints at all is route/no-egress", checktest.Isolated(), []string{"pass rtb-0private [subnet-0private]"}},
		{"without sts", lacking("vpce-0sts"), []string{"fail vpc-0a [subnet-0private] [i-0node] vpc-0a has no endpoint for STS"}},
		{"without ec2 and both of ecr", lacking("vpce-0ec2", "vpce-0ecr.api", "vpce-0ecr.dkr"), []string{
			"fail vpc-0a [subnet-0private] [i-0node] vpc-0a has no endpoint for EC2 and ECR",
		}},
		{"what is there and cannot be used is the matter of other checks", checktest.Change(lacking(), noS3Row, endpointWith("vpce-0ec2", func(e *snapshot.Endpoint) { e.PrivateDNS = false }), endpointWith("vpce-0sts", func(e *snapshot.Endpoint) { e.State = "pending" })), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"states in capitals", checktest.Change(snapshottest.EndpointsOnly(), endpointWith("vpce-0ec2", func(e *snapshot.Endpoint) { e.State = "Available" })), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"only a gateway endpoint, and no default route", checktest.Change(checktest.Isolated(), onlyS3), []string{
			"fail vpc-0a [subnet-0private] [i-0node] vpc-0a has no endpoint for EC2, ECR and STS",
		}},
		{"the cluster's private access is off", checktest.Change(lacking(), func(s *snapshot.Snapshot) {
			s.Cluster.EndpointPublic, s.Cluster.EndpointPrivate = true, false
		}), []string{"fail vpc-0a [subnet-0private] [i-0node] private access to the cluster API is off, with no internet route"}},
		{"the rest goes by a NAT gateway that is gone: not this check", checktest.Change(checktest.DeletedNAT(), onlyS3), []string{"pass rtb-0private [subnet-0private]"}},
		{"through a transit gateway", checktest.Change(lacking("vpce-0sts"), checktest.Routes(snapshottest.PrivateRTB, snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"a middlebox in front of an endpoint", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("10.42.192.0/20", snapshot.ToEndpoint, "vpce-0fw"))
		}), []string{"unknown vpce-0fw [subnet-0private] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read"}},
		{"the bootstrap asks EKS", checktest.Change(lacking(), bootstraps("/etc/eks/bootstrap.sh prod")), []string{
			"fail vpc-0a [subnet-0private] [i-0node] vpc-0a has no endpoint for EKS",
		}},
		{"the bootstrap is told all that it needs", checktest.Change(lacking(), bootstraps("/etc/eks/bootstrap.sh prod --b64-cluster-ca abc --apiserver-endpoint https://x")), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"the bootstrap may not ask", checktest.Change(lacking(), bootstraps("if false; then /etc/eks/bootstrap.sh prod; fi")), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"the bootstrap asks EKS through a NAT gateway", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, bootstraps("/etc/eks/bootstrap.sh prod")), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"endpoints unread", checktest.Change(lacking("vpce-0sts"), checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestEndpointMissingFix(t *testing.T) {
	create := "aws ec2 create-vpc-endpoint --region us-west-2 --vpc-id vpc-0a --vpc-endpoint-type "
	tests := []struct {
		name    string
		world   *snapshot.Snapshot
		command string
		remedy  string
	}{
		{"interface endpoint", lacking("vpce-0sts"),
			create + "Interface --service-name com.amazonaws.us-west-2.sts --private-dns-enabled --subnet-ids subnet-0private --security-group-ids sg-0cluster", ""},
		{"gateway endpoint", checktest.Change(lacking("vpce-0s3"), func(s *snapshot.Snapshot) {
			snapshottest.Table(s, snapshottest.PrivateRTB).Routes = []snapshot.Route{snapshottest.Local()}
		}), create + "Gateway --service-name com.amazonaws.us-west-2.s3 --route-table-ids rtb-0private", ""},
		{"private access off", checktest.Change(lacking(), func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = false }),
			"aws eks update-cluster-config --region us-west-2 --name prod --resources-vpc-config endpointPrivateAccess=true", ""},
		{"a gateway endpoint and a NAT gateway that works: the route was forgotten", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[4:]
		}), "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a", "add-nat-route"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := checktest.Failed(t, Missing(), tt.world).Fix
			if got.Command != tt.command || got.Remedy != tt.remedy {
				t.Errorf("Command = %q, Remedy = %q, want %q, %q", got.Command, got.Remedy, tt.command, tt.remedy)
			}
		})
	}
}

func TestEndpointMissingWords(t *testing.T) {
	got := checktest.Failed(t, Missing(), checktest.Change(lacking("vpce-0sts"), noS3Row))
	for _, want := range []string{
		"Nodes in subnet-0private cannot reach STS", "vpc-0a has endpoints for EC2, ECR and S3.",
	} {
		if !strings.Contains(got.Why, want) {
			t.Errorf("Why = %q, want %q in it", got.Why, want)
		}
	}
}
