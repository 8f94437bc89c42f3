package remediate

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
)

const (
	endpointGroup = "sg-0f70000000000000e"
	clusterGroup  = "sg-0e50000000000000f"
	nodeRole      = "arn:aws:iam::111122223333:role/new_nodegroup_2"
	threeZones    = "eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"
)

func tales() []tale {
	return []tale{closedEndpoint(), uncovered(), unadmitted()}
}

// closedEndpoint admits only the older subnets.
func closedEndpoint() tale {
	return tale{
		remedy: optin.OpenEndpointSecurityGroup, check: "endpoint/security-group", world: "endpoint-security-group.yaml",
		begin: func(s *harness) {
			s.Scale(1)
			s.id = s.Instance(s.News(0)[0])
			s.Advance(20 * time.Minute)
		},
		call:   "ec2:AuthorizeSecurityGroupIngress",
		undone: func(s *harness) bool { return len(s.ingress()) == 0 },
		wrong: map[string]changed{
			"something else has the group too": {func(s *harness) {
				s.Call("ec2:CreateNetworkInterface", `{"SubnetId":"subnet-0b20000000000000a","Groups":["`+endpointGroup+`"],"Description":"ELB net/shop"}`)
			}, openendpointsecuritygroup.SharedGroup},
			"a host outside of the cluster has the nodes' group": {func(s *harness) {
				s.Call("ec2:CreateNetworkInterface", `{"SubnetId":"subnet-0b20000000000000a","Groups":["`+clusterGroup+`"],"Description":"bastion"}`)
			}, openendpointsecuritygroup.OutsideHosts},
			"somebody was faster": {func(s *harness) {
				s.Call("ec2:AuthorizeSecurityGroupIngress", `{"GroupId":"`+endpointGroup+`","IpPermissions":[{"IpProtocol":"tcp","FromPort":443,"ToPort":443,"IpRanges":[{"CidrIp":"10.42.0.0/16"}]}]}`)
			}, action.NotSo},
			"the instance is gone": {func(s *harness) {
				s.Call("ec2:TerminateInstances", `{"InstanceIds":["`+s.id+`"]}`)
				s.Advance(2 * time.Minute)
			}, openendpointsecuritygroup.NoNodes},
		},
	}
}

// uncovered is a group of three zones without a node where a volume is.
func uncovered() tale {
	return tale{
		remedy: optin.CoverZones, check: "zone/nodegroup-gap", world: "zone.yaml",
		over: `
ec2:
  Instances:
    - {InstanceId: i-0d0000000000000c3, $delete: true}
    - {InstanceId: i-0d0000000000000d4, SubnetId: subnet-0b20000000000000b, PrivateIpAddress: 10.42.140.77, LaunchTime: 2026-11-12T09:14:07Z}
autoscaling:
  AutoScalingGroups:
    - AutoScalingGroupName: ` + threeZones + `
      Instances: [{InstanceId: i-0d0000000000000c3, $delete: true}, {InstanceId: i-0d0000000000000d4}]
kubernetes:
  eks-workshop:
    joined: [i-0d0000000000000a1, i-0d0000000000000d4]
`,
		begin:  func(s *harness) { s.Advance(30 * time.Minute) },
		call:   "eks:UpdateNodegroupConfig",
		undone: func(s *harness) bool { return s.desired() == 2 },
		wrong: map[string]changed{
			"somebody is at it":   {func(s *harness) { s.size(3, 4) }, action.AnotherChange},
			"somebody was faster": {func(s *harness) { s.size(3, 4); s.Advance(10 * time.Minute) }, action.NothingToDo},
			"the maximum is two":  {func(s *harness) { s.size(2, 2); s.Advance(5 * time.Minute) }, coverzones.OverMax},
			"Launch is suspended": {func(s *harness) {
				s.Call("autoscaling:SuspendProcesses", `{"AutoScalingGroupName":"`+threeZones+`","ScalingProcesses":["Launch"]}`)
			}, action.Suspended},
		},
	}
}

// unadmitted are nodes whose role the cluster does not know.
func unadmitted() tale {
	return tale{
		remedy: optin.CreateAccessEntry, check: "iam/access-missing", world: "corpus/iam-access-missing.yaml",
		begin:  func(s *harness) { s.Advance(20 * time.Minute) },
		stuck:  "i-0a700000000000001",
		call:   "eks:CreateAccessEntry",
		undone: func(s *harness) bool { return s.entry() == "" },
		wrong: map[string]changed{
			"somebody was faster": {func(s *harness) {
				s.Call("eks:CreateAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+nodeRole+`","type":"STANDARD"}`)
			}, action.AlreadyThere},
			"the instance is gone": {func(s *harness) {
				s.Call("ec2:TerminateInstances", `{"InstanceIds":["`+s.id+`"]}`)
				s.Advance(2 * time.Minute)
			}, action.NotSo},
		},
	}
}

// Plan, approval, run, and the check that found the cause is the one that says
// that it is gone.
func TestRemedyProvesItself(t *testing.T) {
	for _, x := range tales() {
		t.Run(string(x.remedy), func(t *testing.T) {
			s := x.open(t, optin.Approve)
			p := x.propose(s)
			if !x.undone(s) || s.Calls()[x.call] != 0 {
				t.Fatal("a plan changes something")
			}
			x.press(s, p)
			d := x.act(s)
			if d.Result != action.Done || d.Hash != p.Hash || d.ApprovedBy != "U0ONCALL01" || len(d.Changed) != 1 || len(d.Requests) != 1 {
				t.Fatalf("run %+v", d)
			}
			if n := s.Calls()[x.call]; n != 1 {
				t.Errorf("%d calls of %s", n, x.call)
			}
			if n := s.wanted(); n != 1 {
				t.Errorf("%d checks wanted, want one", n)
			}
			s.Advance(10 * time.Minute)
			if x.undone(s) || !x.verified(s) {
				t.Errorf("not verified: %+v", s.inc.Offers)
			}
			s.tell(approval)
			if n := s.Calls()[x.call]; n != 0 {
				t.Errorf("%d calls of %s after a second delivery", n, x.call)
			}
		})
	}
}

// What changed between the approval and the run: nothing is done, and it is said.
func TestRemedyRefusesAChangedWorld(t *testing.T) {
	for _, x := range tales() {
		for name, wrong := range x.wrong {
			t.Run(string(x.remedy)+"/"+name, func(t *testing.T) {
				s := x.open(t, optin.Approve)
				x.press(s, x.propose(s))
				wrong.world(s)
				s.Calls() // those that made it so
				d := x.act(s)
				if d.Result != action.Refused || d.Reason != string(wrong.want) || d.Says == "" || len(d.Changed) != 0 {
					t.Errorf("run %s, %s (%s), want refused as %s", d.Result, d.Reason, d.Says, wrong.want)
				}
				if n := s.Calls()[x.call]; n != 0 {
					t.Errorf("%s was called", x.call)
				}
			})
		}
	}
}

// AWS refuses: the world is as it was, and what is said is so.
func TestRemedyDenied(t *testing.T) {
	for _, x := range tales() {
		t.Run(string(x.remedy), func(t *testing.T) {
			s := x.open(t, optin.Approve, simaws.FaultRule{Call: x.call, Deny: true})
			x.press(s, x.propose(s))
			d := x.act(s)
			if d.Result != action.Failed || !strings.HasPrefix(d.Says, "Nothing was changed") || d.Reason == "" || len(d.Changed) != 0 {
				t.Errorf("run %+v", d)
			}
			for range 3 {
				s.tell(approval)
			}
			if n := s.Calls()[x.call]; !x.undone(s) || n != 1 || s.wanted() != 0 {
				t.Errorf("%d calls, %d checks wanted", n, s.wanted())
			}
		})
	}
}

// ingress are the rules of the endpoints' group that name a security group.
func (s *harness) ingress() (groups []string) {
	s.t.Helper()
	out, err := s.World.EC2().DescribeSecurityGroups(&ec2.DescribeSecurityGroupsInput{GroupIds: []string{endpointGroup}})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range out.SecurityGroups[0].IpPermissions {
		for _, g := range p.UserIdGroupPairs {
			groups = append(groups, aws.ToString(g.GroupId))
		}
	}
	return groups
}

func (s *harness) desired() int {
	s.t.Helper()
	out, err := s.World.AutoScaling().DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{threeZones}})
	if err != nil {
		s.t.Fatal(err)
	}
	return int(aws.ToInt32(out.AutoScalingGroups[0].DesiredCapacity))
}

// size is somebody's hand at the nodegroup.
func (s *harness) size(desired, most int) {
	s.t.Helper()
	s.Call("eks:UpdateNodegroupConfig", `{"clusterName":"`+stagetest.Cluster+`","nodegroupName":"default","scalingConfig":{"minSize":2,"maxSize":`+itoa(most)+`,"desiredSize":`+itoa(desired)+`}}`)
}

func itoa(n int) string { return string(rune('0' + n)) }

// entry is the type of the role's access entry.
func (s *harness) entry() string {
	s.t.Helper()
	out, err := s.World.EKS().DescribeAccessEntry(&eks.DescribeAccessEntryInput{ClusterName: aws.String(stagetest.Cluster), PrincipalArn: aws.String(nodeRole)})
	if err != nil {
		return ""
	}
	return aws.ToString(out.AccessEntry.Type)
}
