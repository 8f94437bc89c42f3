package path

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

func TestNeeds(t *testing.T) {
	nat, own := "internet: reaches", "name of its own: leaves view"
	toHub := func(s *snapshot.Snapshot) {
		t := w.Table(s, w.PrivateRTB)
		t.Routes = append(t.Routes, w.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"))
	}
	zone := func(domain string, names ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			z := snapshot.PrivateZone{ID: "Z0A1", VPC: w.VPC, Domain: domain, Records: []snapshot.ZoneRecord{{Name: domain, Type: "SOA"}}}
			for _, name := range names {
				z.Records = append(z.Records, snapshot.ZoneRecord{Name: name, Type: "A"})
			}
			s.PrivateZones = append(s.PrivateZones, z)
		}
	}
	profile := func(endpoint string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.DNSProfiles = []snapshot.DNSProfile{{ID: "rp-01", VPC: w.VPC, Resources: []snapshot.DNSProfileResource{{ARN: "arn:aws:ec2:us-west-2:111122223333:vpc-endpoint/" + endpoint}}}}
		}
	}
	tests := []struct {
		name  string
		world *snapshot.Snapshot
		want  map[Service]string
	}{
		{"NAT gateway", w.PrivateWithNAT(), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"private API endpoint wins over NAT", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }),
			map[Service]string{API: "private endpoint of the cluster: reaches", EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"interface endpoint wins over NAT by name, gateway endpoint by prefix list", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			all := w.EndpointsOnly().Endpoints
			s.Endpoints = []snapshot.Endpoint{all[0], all[4]}
		}), map[Service]string{API: nat, EC2: "interface endpoint: reaches", ECRAPI: nat, ECRDKR: nat, S3: "gateway endpoint: reaches", STS: nat}},
		{"without private DNS an interface endpoint does not win", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[:1]
			s.Endpoints[0].PrivateDNS = false
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a gateway endpoint of another table does not win", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[4:]
			s.Endpoints[0].RouteTables = []string{w.PublicRTB}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a row for S3's prefix list that leads to no gateway endpoint", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			t := w.Table(s, w.PrivateRTB)
			t.Routes = append(t.Routes, snapshot.Route{PrefixList: "pl-0s3", State: "active", Target: snapshot.Target{Kind: snapshot.ToEndpoint, ID: "vpce-0fw"}})
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: "internet: leaves view", STS: nat}},
		{"the local row leads to a middlebox", change(w.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := w.Table(s, w.PrivateRTB)
			t.Routes[0] = w.To("10.42.0.0/16", snapshot.ToEndpoint, "vpce-0fw")
		}), map[Service]string{
			API: "private endpoint of the cluster: leaves view", EC2: "interface endpoint: leaves view", ECRAPI: "interface endpoint: leaves view",
			ECRDKR: "interface endpoint: leaves view", S3: "gateway endpoint: reaches", STS: "interface endpoint: leaves view",
		}},
		{"a zone names the endpoints of another network", change(w.PrivateWithNAT(), toHub, zone("us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com", "*.ecr.us-west-2.amazonaws.com")),
			map[Service]string{API: nat, EC2: own, ECRAPI: own, ECRDKR: own, S3: nat, STS: nat}},
		{"a zone, and the registry is not known", change(w.PrivateWithNAT(), toHub, zone("us-west-2.amazonaws.com", "*.ecr.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) { s.CNI = nil }),
			map[Service]string{API: nat, EC2: nat, ECRAPI: own, ECRDKR: own, S3: nat, STS: nat}},
		{"a zone, and no way to another network", change(w.PrivateWithNAT(), zone("us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com")),
			map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a zone of another VPC", change(w.PrivateWithNAT(), toHub, zone("ec2.us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) { s.PrivateZones[0].VPC = "vpc-0other" }),
			map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a zone names an endpoint of the VPC that has private DNS off", change(w.PrivateWithNAT(), zone("ec2.us-west-2.amazonaws.com", "ec2.us-west-2.amazonaws.com"), func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[:1]
			s.Endpoints[0].PrivateDNS = false
		}), map[Service]string{API: nat, EC2: own, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"the VPC's own endpoint with private DNS wins over a Profile's", change(w.EndpointsOnly(), toHub, profile("vpce-0hub")), map[Service]string{
			API: "private endpoint of the cluster: reaches", EC2: "interface endpoint: reaches", ECRAPI: "interface endpoint: reaches",
			ECRDKR: "interface endpoint: reaches", S3: "gateway endpoint: reaches", STS: "interface endpoint: reaches",
		}},
		{"a Profile's endpoint, of which nobody says what it is for", change(w.PrivateWithNAT(), toHub, profile("vpce-0hub")),
			map[Service]string{API: nat, EC2: own, ECRAPI: own, ECRDKR: own, S3: own, STS: own}},
		{"a Profile's endpoint that is read", change(w.PrivateWithNAT(), toHub, profile("vpce-0hub"), func(s *snapshot.Snapshot) {
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0hub", VPC: "vpc-0hub", Service: "com.amazonaws.us-west-2.sts", Kind: "Interface", State: "available"}}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: own}},
		{"a rule forwards a name", change(w.PrivateWithNAT(), toHub, func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-1", VPC: w.VPC, Domain: "sts.us-west-2.amazonaws.com", Forward: true}}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: own}},
		{"a rule forwards all that there is, as many networks do", change(w.PrivateWithNAT(), toHub, func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-1", VPC: w.VPC, Forward: true}}
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a cluster in another VPC, private only", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = "vpc-0other", true, false
		}), map[Service]string{API: "private endpoint of the cluster: leaves view", EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
		{"a cluster in another VPC, public too", change(w.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate = "vpc-0other", true
		}), map[Service]string{API: nat, EC2: nat, ECRAPI: nat, ECRDKR: nat, S3: nat, STS: nat}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			paths, ok := New(tt.world).Needs(w.Private)
			if !ok {
				t.Fatal("Needs does not know the table")
			}
			got := map[Service]string{}
			for _, p := range paths {
				got[p.Service] = fmt.Sprintf("%s: %s", p.Means, p.Verdict)
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("Needs (-got +want):\n%s", diff)
			}
		})
	}
}

func TestNamesJoinECR(t *testing.T) {
	tests := []struct{ got, want []string }{
		{Names(Needed()), []string{"the cluster API", "EC2", "ECR", "S3", "STS"}},
		{Names([]Service{ECRDKR, STS}), []string{"ECR (dkr)", "STS"}},
		{Names([]Service{ECRAPI}), []string{"ECR (api)"}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.got, tt.want); diff != "" {
			t.Errorf("Names (-got +want):\n%s", diff)
		}
	}
}

func change(s *snapshot.Snapshot, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	for _, f := range changes {
		f(s)
	}
	return s
}
