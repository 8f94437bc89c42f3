package endpoint

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/route"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.EndpointPrivateDNSOff: {
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
		},
		checkid.EndpointNotAvailable:   endpointNotAvailableCases(),
		checkid.EndpointS3RouteMissing: endpointS3RouteMissingCases(),
		checkid.EndpointMissing:        endpointMissingCases(),
		checkid.EndpointPolicyDenies:   endpointPolicyDeniesCases(),
		checkid.EndpointSecurityGroup:  endpointSecurityGroupCases(),
	})
}

// hub is a healthy VPC that is served by what cannot be seen: its rows lead to
// private networks only, and its node is Ready.
func hub() *snapshot.Snapshot {
	return checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a")))
}

// young makes the instance one that was launched a minute ago and may yet join.
func young(id string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, id)
		for i := range s.Launches {
			if s.Launches[i].Instance == id {
				s.Launches[i].Started = s.Time.Add(-time.Minute)
				s.Launches[i].Due = s.Time.Add(4 * time.Minute)
			}
		}
	}
}

// ownZone has private DNS off on its endpoints: a hosted zone of one's own may
// lead to them.
func ownZone() *snapshot.Snapshot {
	s := snapshottest.EndpointsOnly()
	for i := range s.Endpoints {
		s.Endpoints[i].PrivateDNS = false
	}
	return s
}

func inAnotherVPC(s *snapshot.Snapshot) {
	for i := range s.Subnets {
		s.Subnets[i].ARN = "arn:aws:ec2:us-west-2:999999999999:subnet/" + s.Subnets[i].ID
	}
}

// A healthy VPC that is served by what cannot be seen is never accused, and a
// sick one is, as likely, once a launch is overdue.
func TestDoubt(t *testing.T) {
	const unknown = "unknown rtb-0private [subnet-0private] route tables: not read: rtb-0private: "
	replaced := func(s *snapshot.Snapshot) {
		checktest.Late(s)
		snapshottest.Launch(s, "i-0next", snapshottest.Private, 2*time.Minute)
		snapshottest.Join(s, "i-0next")
	}
	brokenSince := func(s *snapshot.Snapshot) {
		snapshottest.Launch(s, "i-0next", snapshottest.Private, 6*time.Minute)
	}
	tests := []struct {
		name  string
		check check.Check
		world *snapshot.Snapshot
		want  []string
	}{
		{"hub, its launch joined", checktest.One(route.Checks(), checkid.RouteNoEgress), hub(), []string{"pass rtb-0private [subnet-0private]"}},
		{"hub, its launch may yet join", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(hub(), young(snapshottest.Node)), []string{unknown + "a proxy or shared endpoints may be behind tgw-0a"}},
		{"hub, at launch: nodes are not read", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(hub(), checktest.Late, checktest.Unread(snapshot.Nodes)), []string{unknown + "a proxy or shared endpoints may be behind tgw-0a"}},
		{"hub, its launch is overdue", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(hub(), checktest.Late), []string{"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"hub, a later launch joined", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(hub(), replaced), []string{"pass rtb-0private [subnet-0private]"}},
		{"hub, broken since its node joined", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(hub(), brokenSince), []string{"fail (likely) rtb-0private [subnet-0private] [i-0next] subnet-0private has no route to the internet"}},
		{"hosted zone of one's own, joined", checkOf(checkid.EndpointPrivateDNSOff), ownZone(), []string{"pass rtb-0private [subnet-0private]"}},
		{"hosted zone of one's own, may yet join", checkOf(checkid.EndpointPrivateDNSOff), checktest.Change(ownZone(), young(snapshottest.Node)), []string{unknown + "a hosted zone of your own may resolve to vpce-0ec2, vpce-0ecr.api and 2 more"}},
		{"hosted zone of one's own, overdue", checkOf(checkid.EndpointPrivateDNSOff), checktest.Change(ownZone(), checktest.Late), []string{
			"fail (likely) vpce-0ec2 [subnet-0private] [i-0node] 4 endpoints for EC2, ECR and STS have private DNS off",
		}},
		{"shared VPC: its owner's endpoints cannot be seen", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(checktest.Isolated(), inAnotherVPC, young(snapshottest.Node)), []string{
			unknown + "vpc-0a is another account's, whose endpoints cannot be seen from this one",
		}},
		{"shared VPC, overdue", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(checktest.Isolated(), inAnotherVPC), []string{"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"our own account's subnets", checktest.One(route.Checks(), checkid.RouteNoEgress), checktest.Change(checktest.Isolated(), young(snapshottest.Node), func(s *snapshot.Snapshot) {
			s.Subnets[0].ARN = "arn:aws:ec2:us-west-2:" + s.Account + ":subnet/" + s.Subnets[0].ID
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, fmt.Sprint(tt.check.ID), checktest.Lines(checktest.EvalOne(t, tt.check, tt.world)), tt.want)
		})
	}
}

func nameOff(e *snapshot.Endpoint) { e.PrivateDNS = false }

func zonesOff(s *snapshot.Snapshot) { s.VPCAttributes[0].DNSHostnames = false }

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

func endpointS3RouteMissingCases() []checktest.Case {
	const fail = "fail vpce-0s3 [subnet-0private] [i-0node] rtb-0private does not point to vpce-0s3 for S3"
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
		{"private DNS off", checkOf(checkid.EndpointPrivateDNSOff), checktest.Change(lacking(), endpointWith("vpce-0ec2", nameOff)), modify + "vpce-0ec2 --private-dns-enabled", "vpce-0ec2 has private DNS off"},
		{"not in the table", checkOf(checkid.EndpointS3RouteMissing), checktest.Change(lacking(), noS3Row), modify + "vpce-0s3 --add-route-table-ids rtb-0private", "vpce-0s3 is not in rtb-0private"},
		{"pending: wait", checkOf(checkid.EndpointNotAvailable), checktest.Change(lacking(), endpointWith("vpce-0ec2", func(e *snapshot.Endpoint) { e.State = "pending" })), "", "vpce-0ec2 is pending"},
		{"failed", checkOf(checkid.EndpointNotAvailable), checktest.Change(lacking(), endpointWith("vpce-0ec2", func(e *snapshot.Endpoint) { e.State = "failed" })),
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
		{"the bootstrap is given all that it needs", checktest.Change(lacking(), bootstraps("/etc/eks/bootstrap.sh prod --b64-cluster-ca abc --apiserver-endpoint https://x")), []string{
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
			got := checktest.Failed(t, checkOf(checkid.EndpointMissing), tt.world).Fix
			if got.Command != tt.command || got.Remedy != tt.remedy {
				t.Errorf("Command = %q, Remedy = %q, want %q, %q", got.Command, got.Remedy, tt.command, tt.remedy)
			}
		})
	}
}

func TestEndpointMissingWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.EndpointMissing), checktest.Change(lacking("vpce-0sts"), noS3Row))
	for _, want := range []string{
		"Nodes in subnet-0private cannot reach STS", "vpc-0a has endpoints for EC2, ECR and S3.",
	} {
		if !strings.Contains(got.Why, want) {
			t.Errorf("Why = %q, want %q in it", got.Why, want)
		}
	}
}

func policyOf(id, document string) func(*snapshot.Snapshot) {
	return endpointWith(id, func(e *snapshot.Endpoint) { e.Policy = document })
}

func endpointPolicyDeniesCases() []checktest.Case {
	world := func(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
		return checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), changes...)
	}
	allow := func(principal, actions, resource string) string {
		return `{"Statement":[{"Effect":"Allow","Principal":` + principal + `,"Action":` + actions + `,"Resource":"` + resource + `"}]}`
	}
	const nodeRole = `{"AWS":"` + snapshottest.NodeRole + `"}`
	return []checktest.Case{
		{"all allowed", world(), []string{"pass prod [i-0node]"}},
		{"no endpoints", checktest.Unjoined(snapshottest.PrivateWithNAT()), []string{"pass prod [i-0node]"}},
		{"for the node role", world(policyOf("vpce-0ec2", allow(nodeRole, `"ec2:Describe*"`, "*"))), []string{"pass prod [i-0node]"}},
		{"for another role", world(policyOf("vpce-0ec2", allow(`{"AWS":"arn:aws:iam::123456789012:role/ci"}`, `"*"`, "*"))), []string{
			"fail vpce-0ec2 [i-0node] [i-0node] vpce-0ec2 for EC2 denies ec2:DescribeInstances",
		}},
		{"other actions", world(policyOf("vpce-0ecr.api", allow(`"*"`, `["ecr:DescribeImages"]`, "*"))), []string{
			"fail vpce-0ecr.api [i-0node] [i-0node] vpce-0ecr.api for ECR (api) denies ecr:GetAuthorizationToken",
		}},
		{"S3 for buckets of one's own", world(policyOf("vpce-0s3", allow(`"*"`, `"s3:*"`, "arn:aws:s3:::our-bucket/*"))), []string{
			"fail vpce-0s3 [i-0node] [i-0node] vpce-0s3 for S3 denies s3:GetObject",
		}},
		{"S3 for ECR's bucket", world(policyOf("vpce-0s3", allow(`"*"`, `"s3:GetObject"`, "arn:aws:s3:::prod-us-west-2-starport-layer-bucket/*"))), []string{"pass prod [i-0node]"}},
		{"a condition that is met", world(policyOf("vpce-0ec2", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:SourceVpc":"vpc-0a"}}}}`)), []string{"pass prod [i-0node]"}},
		{"a condition that cannot be known", world(policyOf("vpce-0ec2", `{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*","Condition":{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}}}`)), []string{
			"unknown prod [i-0node] vpc endpoints: not read: whether vpce-0ec2 allows ec2:DescribeInstances depends on condition StringEquals aws:PrincipalOrgID",
		}},
		{"STS, and the network plugin has the node's role", world(policyOf("vpce-0sts", allow(`"*"`, `"sts:GetCallerIdentity"`, "*"))), []string{"pass prod [i-0node]"}},
		{"STS, and the network plugin has a role of its own", world(policyOf("vpce-0sts", allow(`"*"`, `"sts:GetCallerIdentity"`, "*")), func(s *snapshot.Snapshot) {
			s.CNI.Role = "arn:aws:iam::123456789012:role/cni"
		}), []string{"fail vpce-0sts [i-0node] [i-0node] vpce-0sts for STS denies sts:AssumeRoleWithWebIdentity"}},
		{"a Ready node is not accused", checktest.Change(snapshottest.EndpointsOnly(), policyOf("vpce-0ec2", allow(nodeRole, `"s3:*"`, "*"))), []string{"pass prod [i-0node]"}},
		{"no policy", world(policyOf("vpce-0ec2", "")), []string{"unknown prod [i-0node] vpc endpoints: not read: EC2 gives no policy of vpce-0ec2"}},
		{"unread", world(checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestEndpointPolicyThatIsNoneIsUnknown(t *testing.T) {
	for _, document := range []string{"{", "[]", `{"Statement":[]}`, strings.Repeat("x", 1<<17)} {
		s := checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), policyOf("vpce-0ec2", document))
		for _, r := range checktest.EvalOne(t, checkOf(checkid.EndpointPolicyDenies), s) {
			if r.Outcome != check.Unknown || !strings.HasPrefix(r.Blocked[0].Message, "the policy of vpce-0ec2 cannot be parsed") {
				t.Errorf("%.20q: %s, want unknown", document, checktest.Lines([]check.Result{r}))
			}
		}
	}
}

func TestEndpointPolicyWords(t *testing.T) {
	s := checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), policyOf("vpce-0ec2", `{"Statement":[{"Sid":"NoDescribe","Effect":"Deny","Principal":"*","Action":"ec2:Describe*","Resource":"*"}]}`))
	got := checktest.Failed(t, checkOf(checkid.EndpointPolicyDenies), s)
	if want := "ec2:DescribeInstances (denied: NoDescribe)"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
}

// captured is the usual VPC with an added endpoint for EC2 with
// private DNS: it takes the name, and its security group admits no node.
func captured(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := checktest.Unjoined(snapshottest.PrivateWithNAT())
	s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
	admitsFrom("10.99.0.0/16")(s)
	return checktest.Change(s, changes...)
}

// admitsFrom makes a range the only one that the endpoints' group admits.
func admitsFrom(cidr string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range s.SecurityGroups {
			if s.SecurityGroups[i].ID == snapshottest.EndpointGroup {
				s.SecurityGroups[i].Ingress = []snapshot.Rule{{Protocol: "tcp", From: 443, To: 443, CIDRs: []netip.Prefix{netip.MustParsePrefix(cidr)}}}
			}
		}
	}
}

func endpointSecurityGroupCases() []checktest.Case {
	const shut = "fail vpce-0ec2 [i-0node] [i-0node] vpce-0ec2 for EC2 does not allow the nodes"
	return []checktest.Case{
		{"admits the VPC", checktest.Unjoined(snapshottest.EndpointsOnly()), []string{"pass prod [i-0node]"}},
		{"no endpoint", checktest.Unjoined(snapshottest.PrivateWithNAT()), []string{"pass prod [i-0node]"}},
		{"does not admit the node, although a NAT gateway is there", captured(), []string{shut}},
		{"the endpoint is in another subnet", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].Subnets = []string{snapshottest.Public} }), []string{shut}},
		{"a Ready node is not accused", checktest.Change(captured(), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), []string{"pass prod [i-0node]"}},
		{"a Ready node that came later speaks against it", captured(func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0later", snapshottest.Private, time.Minute)
			snapshottest.Join(s, "i-0later")
		}), []string{"pass prod [i-0later]", strings.Replace(shut, "fail", "fail (likely)", 1)}},
		{"private DNS off: it does not win", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].PrivateDNS = false }), []string{"pass prod [i-0node]"}},
		{"admits the node's group", captured(func(s *snapshot.Snapshot) {
			s.SecurityGroups[1].Ingress = checktest.RuleSet(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
		}), []string{"pass prod [i-0node]"}},
		{"admits the node's address", captured(admitsFrom("10.42.192.10/32")), []string{"pass prod [i-0node]"}},
		{"admits another address of its subnet", captured(admitsFrom("10.42.192.11/32")), []string{shut}},
		{"one of two nodes", captured(admitsFrom("10.42.192.11/32"), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, 10*time.Minute)
			snapshottest.Instance(s, "i-0second").PrivateIP = netip.MustParseAddr("10.42.192.11")
		}), []string{"pass prod [i-0second]", shut}},
		{"all endpoints with one group are one finding", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), admitsFrom("10.99.0.0/16")), []string{
			"fail vpce-0ec2 [i-0node] [i-0node] 4 endpoints for EC2, ECR and STS do not allow the nodes",
		}},
		{"a group of another account, or not read", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].Groups = []string{"sg-0abroad"} }), []string{
			"unknown prod [i-0node] security groups: not read: sg-0abroad is not among the security groups that EC2 lists",
		}},
		{"no groups named", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].Groups = nil }), []string{
			"unknown prod [i-0node] security groups: not read: its security groups are not known",
		}},
		{"a middlebox in front of it", captured(func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("10.42.192.0/20", snapshot.ToEndpoint, "vpce-0fw"))
		}), []string{"unknown prod [i-0node] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read"}},
		{"unread", captured(checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

func TestEndpointSecurityGroupWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.EndpointSecurityGroup), captured())
	want := "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0endpoints --protocol tcp --port 443 --source-group sg-0cluster"
	if got.Fix.Command != want || got.Fix.Remedy != "open-endpoint-security-group" {
		t.Errorf("Fix = %+v, want the command %q and its remedy", got.Fix, want)
	}
	if !strings.Contains(got.Why, "route to the internet does not help") {
		t.Errorf("Why = %q, want it to say that the NAT gateway does not help", got.Why)
	}
	if rules := checktest.Value(t, got, "Inbound rules of sg-0endpoints"); rules != "sg-0endpoints ingress tcp 443 ← 10.99.0.0/16" {
		t.Errorf("rules = %q", rules)
	}
	if !slices.Equal(got.Resources, []string{"vpce-0ec2", "sg-0endpoints", "sg-0cluster"}) {
		t.Errorf("Resources = %v", got.Resources)
	}
}
