package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// stranger is a world with an instance in a database's subnet, which has no route to
// the internet, beside the cluster's own node, which is Ready.
func stranger(tags map[string]string, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	const id, subnet, table = "i-0stranger", "subnet-0db", "rtb-0db"
	s := snapshottest.PrivateWithNAT()
	other := *snapshottest.Subnet(s, snapshottest.Private)
	other.ID = subnet
	s.Subnets = append(s.Subnets, other)
	s.RouteTables = append(s.RouteTables, snapshot.RouteTable{ID: table, VPC: snapshottest.VPC, Subnets: []string{subnet},
		Routes: []snapshot.Route{snapshottest.To("10.42.0.0/16", snapshot.ToLocal, "local")}})
	snapshottest.Launch(s, id, subnet, 20*time.Minute)
	snapshottest.Instance(s, id).Tags = tags
	for i := range s.Groups {
		s.Groups[i].Instances = slices.DeleteFunc(s.Groups[i].Instances, func(m snapshot.GroupInstance) bool { return m.ID == id })
	}
	for _, change := range changes {
		change(s)
	}
	return s
}

// What anybody can set proves nothing: without proof that the cluster launched the
// instance a finding is possible at most and has no command.
func TestJudgeByProvenance(t *testing.T) {
	tagged := map[string]string{"kubernetes.io/cluster/prod": "owned", "eks:cluster-name": "prod", "eks:nodegroup-name": "workers"}
	pooled := map[string]string{"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default"}
	grouped := map[string]string{"kubernetes.io/cluster/prod": "owned", "aws:autoscaling:groupName": "own"}
	group := func(tags map[string]string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Groups = append(s.Groups, snapshot.Group{Name: "own", Tags: tags, Instances: []snapshot.GroupInstance{{ID: "i-0stranger"}}})
		}
	}
	claimed := func(s *snapshot.Snapshot) {
		s.NodeClaims = append(s.NodeClaims, snapshot.NodeClaim{Name: "default-x7k2p", Instance: "i-0stranger"})
	}
	unread := func(s *snapshot.Snapshot) { snapshottest.Without(s, snapshot.NodeClaimsOf) }
	ended := func(s *snapshot.Snapshot) { snapshottest.Instance(s, "i-0stranger").State = "terminated" }
	for _, test := range []struct {
		name  string
		world *snapshot.Snapshot
		want  string
	}{
		{"the cluster's tag alone", stranger(tagged), "instance/unowned possible"},
		{"no tag", stranger(nil), "instance/unowned possible"},
		{"the tags of a NodePool, and no NodeClaim", stranger(pooled), "instance/unowned possible"},
		{"the tags of a NodePool, NodeClaims not read", stranger(pooled, unread), "route/no-egress possible"},
		{"a group of another cluster", stranger(grouped, group(map[string]string{"kubernetes.io/cluster/dev": "owned"})), "route/no-egress possible"},
		{"it ended, in a subnet into which nothing launches", stranger(pooled, ended), "route/no-egress possible; instance/ended-early possible"},

		{"a group of the cluster", stranger(grouped, group(map[string]string{"kubernetes.io/cluster/prod": "owned"})), "route/no-egress certain+"},
		{"a group of no cluster", stranger(grouped, group(nil)), "route/no-egress certain+"},
		{"a group that was not read", stranger(grouped), "route/no-egress certain+"},
		{"a nodegroup's group", stranger(grouped, group(nil), func(s *snapshot.Snapshot) {
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "own", Cluster: "prod", Groups: []string{"own"}})
		}), "route/no-egress certain+"},
		{"a NodeClaim", stranger(pooled, claimed), "route/no-egress certain+"},
		{"a NodeClaim that was seen", stranger(pooled, func(s *snapshot.Snapshot) {
			s.Launches[len(s.Launches)-1].Claim = &snapshot.NodeClaim{Name: "default-x7k2p"}
		}), "route/no-egress certain+"},
		{"EKS Auto Mode", stranger(nil, func(s *snapshot.Snapshot) { snapshottest.Instance(s, "i-0stranger").Operator = "eks.amazonaws.com" }), "route/no-egress certain+"},
		{"a NodePool that launches there, NodeClaims not read", stranger(pooled, unread, func(s *snapshot.Snapshot) {
			s.NodePools = []snapshot.NodePool{{Name: "default", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "default"}}}
			s.EC2NodeClasses = []snapshot.NodeClass{{Name: "default", Selected: []snapshot.ZonedSubnet{{ID: "subnet-0db", Zone: "us-west-2a"}}}}
		}), "route/no-egress certain+"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range Judge(checks.OfLaunches(), test.world).Causes {
				if c.Confidence == finding.Advice {
					continue
				}
				line := fmt.Sprintf("%s %s", c.Check, c.Confidence)
				if strings.Contains(c.Fix.Command, "create-route") || c.Fix.Remedy != "" {
					line += "+" // widens a network
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A finding on an instance that is not proved to be the cluster's says what became of the
// NodeClaims: launch-watch, which has no access to clusters, does not request them.
func TestUnprovedNamesNodeClaims(t *testing.T) {
	pooled := map[string]string{"kubernetes.io/cluster/prod": "owned", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default"}
	for _, test := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		want   string
	}{
		{"denied", func(s *snapshot.Snapshot) { snapshottest.Without(s, snapshot.NodeClaimsOf) }, "has it, and its NodeClaims could not be read (test:Read nodeclaims: denied)."},
		{"no call", func(s *snapshot.Snapshot) {
			snapshottest.Without(s, snapshot.NodeClaimsOf)
			s.Failures[snapshot.NodeClaimsOf] = snapshot.Failure{Source: snapshot.NodeClaimsOf, Reason: snapshot.Unreachable}
		}, "has it, and its NodeClaims could not be read (unreachable)."},
		{"not requested", func(s *snapshot.Snapshot) { delete(s.Read, snapshot.NodeClaimsOf) }, "has it, and NodeClaims, which could prove it, are not read at launch."},
		{"read", func(s *snapshot.Snapshot) { snapshottest.Instance(s, "i-0stranger").State = "terminated" }, "has it, and no NodeClaim names it."},
	} {
		t.Run(test.name, func(t *testing.T) {
			list := Judge(checks.OfLaunches(), stranger(pooled, test.change)).Causes
			i := slices.IndexFunc(list, func(c diagnosis.Cause) bool { return c.Check == "route/no-egress" })
			if i < 0 || !strings.HasSuffix(list[i].Why, test.want) {
				t.Errorf("%+v, want a cause that ends with %q", list, test.want)
			}
		})
	}
}

// Many instances that nothing launched are one cause, with what is possible for them;
// the cluster's own are judged as ever.
func TestManyUnownedAreOneCause(t *testing.T) {
	s := stranger(map[string]string{"kubernetes.io/cluster/prod": "owned"})
	for n := range 60 {
		id := fmt.Sprintf("i-0stranger%02d", n)
		snapshottest.Launch(s, id, "subnet-0db", 20*time.Minute)
		snapshottest.Instance(s, id).Tags = map[string]string{"kubernetes.io/cluster/prod": "owned", "eks:nodegroup-name": "workers"}
	}
	for i := range s.Groups {
		s.Groups[i].Instances = slices.DeleteFunc(s.Groups[i].Instances, func(m snapshot.GroupInstance) bool { return strings.HasPrefix(m.ID, "i-0stranger") })
	}
	var causes []diagnosis.Cause
	for _, c := range Judge(checks.OfLaunches(), s).Causes {
		if c.Confidence != finding.Advice {
			causes = append(causes, c)
		}
	}
	if len(causes) != 1 || len(causes[0].Instances) != 61 || causes[0].Title != "61 instances tagged for prod, but nothing in it launched them" || causes[0].Nodegroups != nil {
		t.Fatalf("causes %+v", causes)
	}
	if e := causes[0].Evidence[0]; !strings.HasPrefix(e.What, "Possible cause of i-0stranger") || e.Value != "route/no-egress: subnet-0db has no route to the internet" {
		t.Errorf("evidence %+v", e)
	}
}
