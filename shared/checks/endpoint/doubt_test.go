package endpoint

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/route"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

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

func abroad(s *snapshot.Snapshot) {
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
		{"hub, its launch joined", route.NoEgress(), hub(), []string{"pass rtb-0private [subnet-0private]"}},
		{"hub, its launch may yet join", route.NoEgress(), checktest.Change(hub(), young(snapshottest.Node)), []string{unknown + "a proxy or shared endpoints may be behind tgw-0a"}},
		{"hub, at launch: nodes are not read", route.NoEgress(), checktest.Change(hub(), checktest.Late, checktest.Unread(snapshot.Nodes)), []string{unknown + "a proxy or shared endpoints may be behind tgw-0a"}},
		{"hub, its launch is overdue", route.NoEgress(), checktest.Change(hub(), checktest.Late), []string{"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"hub, a later launch joined", route.NoEgress(), checktest.Change(hub(), replaced), []string{"pass rtb-0private [subnet-0private]"}},
		{"hub, broken since its node joined", route.NoEgress(), checktest.Change(hub(), brokenSince), []string{"fail (likely) rtb-0private [subnet-0private] [i-0next] subnet-0private has no route to the internet"}},
		{"hosted zone of one's own, joined", PrivateDNSOff(), ownZone(), []string{"pass rtb-0private [subnet-0private]"}},
		{"hosted zone of one's own, may yet join", PrivateDNSOff(), checktest.Change(ownZone(), young(snapshottest.Node)), []string{unknown + "a hosted zone of your own may lead to vpce-0ec2, vpce-0ecr.api and 2 more"}},
		{"hosted zone of one's own, overdue", PrivateDNSOff(), checktest.Change(ownZone(), checktest.Late), []string{
			"fail (likely) vpce-0ec2 [subnet-0private] [i-0node] 4 endpoints for EC2, ECR and STS have private DNS off",
		}},
		{"shared VPC: its owner's endpoints cannot be seen", route.NoEgress(), checktest.Change(checktest.Isolated(), abroad, young(snapshottest.Node)), []string{
			unknown + "vpc-0a is another account's, whose endpoints cannot be seen from this one",
		}},
		{"shared VPC, overdue", route.NoEgress(), checktest.Change(checktest.Isolated(), abroad), []string{"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"our own account's subnets", route.NoEgress(), checktest.Change(checktest.Isolated(), young(snapshottest.Node), func(s *snapshot.Snapshot) {
			s.Subnets[0].ARN = "arn:aws:ec2:us-west-2:" + s.Account + ":subnet/" + s.Subnets[0].ID
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(checktest.Lines(checktest.EvalOne(t, tt.check, tt.world)), tt.want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", tt.check.ID, diff)
			}
		})
	}
}
