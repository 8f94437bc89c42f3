package remediate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

const (
	leakyDead   = "i-0dead000000000001" // EC2 does not know it
	leakySubnet = "subnet-0b20000000000000b"
)

// leave makes an interface that a dead node left behind, of a cluster.
func (s *harness) leave(cluster string) string {
	s.t.Helper()
	tag := func(k, v string) ec2types.Tag { return ec2types.Tag{Key: aws.String(k), Value: aws.String(v)} }
	out, err := s.World.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{
		SubnetId: aws.String(leakySubnet), Description: aws.String("aws-K8S-" + leakyDead), SecondaryPrivateIpAddressCount: aws.Int32(30),
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: []ec2types.Tag{
			tag(leak.TagInstance, leakyDead), tag(leak.TagCluster, cluster), tag(leak.TagCreated, s.Now().Add(-3*time.Hour).UTC().Format(time.RFC3339)),
		}}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

// seen writes down that an earlier run of eni-cleanup saw them so.
func (s *harness) seen(ids ...string) {
	s.t.Helper()
	list, failed := gather.New(s.AsAdmin()).InterfacesByID(s.t.Context(), ids)
	if failed != nil {
		s.t.Fatal(failed)
	}
	for _, i := range list {
		if _, err := s.Store.At(s.Now).SaveSighting(s.t.Context(), vpc, leak.Sighting{Interface: i.ID, First: s.Now().Add(-time.Hour), Print: leak.Print(i)}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// The plan names what this cluster left behind and was seen twice, and nothing
// else; it is eni-cleanup that is woken to delete, by report, once.
func TestLeakedInterfacesArePlannedOnly(t *testing.T) {
	var twice, once, theirs string
	x := tale{
		remedy: optin.DeleteLeakedInterfaces, check: "ip/leaked-interfaces",
		begin: func(s *harness) {
			twice, theirs = s.leave(stagetest.Cluster), s.leave("payments")
			s.seen(twice, theirs)
			once = s.leave(stagetest.Cluster)
		},
	}
	for _, policy := range []optin.Policy{optin.Approve, optin.Auto} {
		s := bench(t, "", stagetest.Options{Settings: settingsOf(fmt.Sprintf("%s/%s=%s", stagetest.Cluster, x.remedy, policy))})
		x.begin(s)
		s.save(incident.Incident{
			Key: report.Key{Cluster: stagetest.Cluster, Check: x.check, Resource: leakySubnet}, Format: report.Format,
			Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws", State: incident.Open, Number: 1, Events: 1,
			Began: s.Now().Add(-time.Hour), Opened: s.Now().Add(-time.Hour), Covers: []string{leakySubnet},
		})
		s.inc.Cause.Fix.Remedy, s.inc.Cause.Covers = string(x.remedy), []string{leakySubnet}
		s.save(s.inc)
		p := s.offered()
		if p.Policy != policy || p.Plan.Cleanup == nil || !slices.Equal(p.Plan.Cleanup.Interfaces, []string{twice}) {
			t.Fatalf("%s: proposal %+v of %+v; %s was seen once, %s is payments's", policy, p, p.Plan.Cleanup, once, theirs)
		}
		d := response.Propose(s.inc, p, s.Now())
		s.save(d.Incident)
		if policy == optin.Approve {
			x.press(s, p)
		}
		n := 0
		for _, e := range s.inc.PendingEvents {
			if e.Kind == incident.EventApproved && e.Offer != nil && e.Offer.Hash == p.Hash {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: eni-cleanup is woken %d times by report", policy, n)
		}
		for range 2 {
			s.tell(approval)
			s.tell("Rollcall Incident Changed")
		}
		if list, runs := s.said(); len(list) != 0 || len(runs) != 0 || s.conform() != 0 {
			t.Errorf("%s: said %+v, %+v; %d events of its own", policy, list, runs, s.conform())
		}
		if calls := s.Calls(); calls["ec2:DeleteNetworkInterface"] != 0 {
			t.Errorf("%s: calls %v", policy, calls)
		}
	}
}
