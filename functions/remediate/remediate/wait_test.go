package remediate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
)

const due = "Rollcall Incident Changed"

// full is the route harness whose limit of one was used up a moment ago by another
// run, and what the function sent then.
func full(t *testing.T, policy string) (*harness, time.Time) {
	t.Helper()
	s := start(t, policy, stagetest.Options{Settings: settingsOf(policy, "ROLLCALL_REMEDY_LIMIT", "1")})
	used := remedy.Run{ID: "before", Plan: remedy.Plan{Remedy: optin.AddNATRoute, Cluster: stagetest.Cluster}, Began: s.Now()}
	if room, err := s.Store.CountRun(t.Context(), used, 1); err != nil || !room.IsZero() {
		t.Fatal(room, err)
	}
	room, err := s.Store.RoomForRuns(t.Context(), stagetest.Cluster, optin.AddNATRoute, 1, 1, s.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s, room
}

// take has report take in what was sent.
func (s *harness) take() (proposals []report.Proposal, runs []remedy.Run) {
	s.t.Helper()
	for _, m := range s.Results() {
		var d incident.Decision
		switch {
		case m.Proposal != nil:
			proposals = append(proposals, *m.Proposal)
			d = response.Propose(s.inc, *m.Proposal, s.Now())
		case m.RemedyResult != nil:
			runs = append(runs, m.RemedyResult.Run)
			d = response.ApplyRemedyResult(s.inc, *m.RemedyResult, s.Now())
		}
		if d.Changed {
			s.save(d.Incident)
		}
	}
	return proposals, runs
}

func (s *harness) made() int { return s.Calls()["ec2:CreateRoute"] }

// deferred is the wait that stands in the incident.
func (s *harness) deferred() incident.Offer {
	s.t.Helper()
	if o := latest(s.inc, optin.AddNATRoute, incident.Deferred); o != nil {
		return *o
	}
	s.t.Fatalf("nothing waits: %+v\n%s", s.inc.Offers, s.Logs())
	return incident.Offer{}
}

// The limit is full: nothing is done, it is reported when there is room, once; and at
// that time it is done, once, however often it is woken.
func TestLimitIsWaitedFor(t *testing.T) {
	s, room := full(t, byItself)
	for range 3 {
		s.tell(opened)
		s.take()
	}
	if w := s.deferred(); !w.After.Equal(room) || w.Reason != report.LimitReached || w.Policy != optin.Auto || len(s.inc.Offers) != 1 || s.made() != 0 {
		t.Fatalf("%+v, room at %s, %d routes made", s.inc.Offers, room, s.made())
	}
	s.Advance(30 * time.Minute)
	s.tell(due)
	if list, runs := s.take(); len(list)+len(runs) != 0 || s.made() != 0 {
		t.Errorf("before its time: %+v, %+v", list, runs)
	}
	s.Advance(room.Sub(s.Now()) + time.Second)
	s.tell(due)
	s.tell(due)
	_, runs := s.take()
	s.tell(due)
	if s.made() != 1 || len(runs) == 0 || runs[0].Result != remedy.Done || runs[0].Policy != optin.Auto {
		t.Errorf("%d routes made, runs %+v", s.made(), runs)
	}
}

// The limit is full again when the time has come: another time, and no run.
func TestLimitIsStillFull(t *testing.T) {
	s, room := full(t, byItself)
	s.tell(opened)
	s.take()
	s.Advance(room.Sub(s.Now()) + time.Second)
	other := remedy.Run{ID: "between", Plan: remedy.Plan{Remedy: optin.AddNATRoute, Cluster: stagetest.Cluster}, Began: s.Now()}
	if room, err := s.Store.CountRun(t.Context(), other, 1); err != nil || !room.IsZero() {
		t.Fatal(room, err)
	}
	s.tell(due)
	s.take()
	if w := s.deferred(); !w.After.After(s.Now().Add(time.Hour)) || s.made() != 0 || len(s.inc.Offers) != 1 {
		t.Errorf("%+v, %d routes made", s.inc.Offers, s.made())
	}
}

// What has changed by the time that it is tried again: nothing is done.
func TestWaitedForInVain(t *testing.T) {
	for name, change := range map[string]func(*harness){
		"somebody was faster": func(s *harness) {
			s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","GatewayId":"igw-0d40000000000000e"}`)
		},
		"the gateway is being deleted": func(s *harness) { s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`) },
		"the incident is closed":       func(s *harness) { s.inc.State, s.inc.Resolved = incident.Closed, s.Now(); s.save(s.inc) },
		"the cause is gone":            func(s *harness) { s.inc.State, s.inc.Cleared = incident.Cleared, s.Now(); s.save(s.inc) },
		"the policy asks a person now": func(s *harness) { s.h.policy = func(string, optin.Remedy) optin.Policy { return optin.Approve } },
		"the policy is withdrawn": func(s *harness) {
			s.h.policy = func(_ string, r optin.Remedy) optin.Policy {
				if r == optin.AddNATRoute {
					return optin.Off
				}
				return optin.Approve
			}
		},
		"all policies are withdrawn": func(s *harness) { s.h.policy = func(string, optin.Remedy) optin.Policy { return optin.Off } },
		"the VPC is withdrawn":       func(s *harness) { s.h.vpcs = nil },
	} {
		s, room := full(t, byItself)
		s.tell(opened)
		s.take()
		s.deferred()
		s.Advance(room.Sub(s.Now()) + time.Second)
		change(s)
		before := s.made()
		s.tell(due)
		list, runs := s.take()
		if s.made() != before || len(runs) != 0 || slices.ContainsFunc(list, func(p report.Proposal) bool { return p.Policy == optin.Auto && p.Hash != "" }) {
			t.Errorf("%s: %d routes made, %+v, %+v", name, s.made()-before, list, runs)
		}
	}
}

// Another gateway is there by then: the plan is made anew from what there is.
func TestWaitedForIsPlannedAnew(t *testing.T) {
	s, room := full(t, byItself)
	s.tell(opened)
	s.take()
	stale := s.inc
	stale.Offers[0].Plan.Route = &remedy.AddNATRoute{VPC: vpc, Table: "rtb-0a700000000000001", Destination: "0.0.0.0/0", NAT: nat}
	stale.Offers[0].Hash = stale.Offers[0].Plan.Hash()
	s.save(stale)
	s.Advance(room.Sub(s.Now()) + time.Second)
	s.tell(due)
	if _, runs := s.take(); len(runs) != 1 || runs[0].Plan.Route.Table != stagetest.Table || runs[0].Changed[0] != stagetest.Table {
		t.Errorf("runs %+v", runs)
	}
}

// A person's approval that the limit refuses is used up: nothing is done later
// without them. When there is room the plan is offered again, and their new yes
// counts.
func TestRefusedApprovalIsOfferedAgain(t *testing.T) {
	s, room := full(t, byPerson)
	s.approve(s.offered())
	s.tell(approval)
	before := s.inc
	_, runs := s.take()
	if len(runs) != 1 || runs[0].Result != remedy.Refused || runs[0].Next == nil || !runs[0].Next.At.Equal(room) || !strings.Contains(runs[0].Says, "offered again at "+clock(room)) {
		t.Fatalf("runs %+v", runs)
	}
	if w := s.deferred(); w.Policy != optin.Approve || !w.After.Equal(room) {
		t.Fatalf("%+v", w)
	}
	s.tell(due)
	if list, _ := s.take(); len(list) != 0 {
		t.Errorf("offered before there is room: %+v", list)
	}
	s.Advance(room.Sub(s.Now()) + time.Second)
	// report lags behind, and the approval is delivered again: it is used up.
	now := s.inc
	before.Version = now.Version
	before.Offers[0].Expires = s.Now().Add(time.Hour)
	s.save(before)
	s.tell(approval)
	if s.made() != 0 {
		t.Fatal("it acted on an approval that was refused")
	}
	s.said()
	now.Version = s.inc.Version
	s.save(now)
	s.tell(due)
	list, _ := s.take()
	if len(list) != 1 || list[0].Policy != optin.Approve || list[0].Hash == "" || !strings.Contains(list[0].Says, "approve it again") || s.made() != 0 {
		t.Fatalf("proposals %+v\n%s", list, s.Logs())
	}
	inc := s.inc
	i := slices.IndexFunc(inc.Offers, func(o incident.Offer) bool { return o.State == incident.Offered })
	inc.Offers[i].State, inc.Offers[i].By, inc.Offers[i].Decided = incident.Approved, report.User{ID: "U0ONCALL01"}, s.Now()
	s.save(inc)
	s.tell(approval)
	if _, runs := s.take(); s.made() != 1 || len(runs) != 1 || runs[0].Result != remedy.Done {
		t.Errorf("%d routes made, runs %+v", s.made(), runs)
	}
}

// A look that fails is tried again after 5, 10, 20, 40 minutes, then each hour;
// other events in between make it neither sooner nor later.
func TestFailedLookBacksOff(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []simaws.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	for n, wait := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour, time.Hour} {
		began := s.Now()
		s.tell(due)
		s.tell(due)
		s.take()
		w := s.deferred()
		if off := w.After.Sub(began) - wait; off < 0 || off > 10*time.Second || w.Tried != n+1 || w.Reason != string(remedy.CouldNotLook) {
			t.Fatalf("try %d: %+v, %s after it, want %s", n, w, w.After.Sub(began), wait)
		}
		s.Advance(w.After.Sub(s.Now()) / 2)
		s.tell(due)
		if list, _ := s.take(); len(list) != 0 {
			t.Errorf("try %d: in between %+v", n, list)
		}
		s.Advance(w.After.Sub(s.Now()) + time.Second)
	}
	s.untouched()
}

// A look that was throttled for a while is made up for.
func TestLookSucceedsLater(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself)})
	wait := report.Proposal{Remedy: optin.AddNATRoute, Policy: optin.Auto, Reason: string(remedy.CouldNotLook), Says: "x", After: s.Now().Add(5 * time.Minute), Tried: 1}
	if err := s.h.wait(t.Context(), s.inc, wait); err != nil {
		t.Fatal(err)
	}
	s.take()
	s.Advance(5*time.Minute + time.Second)
	s.tell(due)
	if _, runs := s.take(); len(runs) != 1 || runs[0].Result != remedy.Done || s.made() != 1 {
		t.Errorf("runs %+v", runs)
	}
}

// An instance that waits for the limit, and by then has joined, is gone, or is of a
// time after the cause: it is not ended. One that is still stuck is, once.
func TestWaitedForInstance(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*harness)
		ended  int
	}{
		"still stuck": {func(*harness) {}, 1},
		"it joined":   {func(s *harness) { s.inc.Launches[0].Status = report.Joined; s.save(s.inc) }, 0},
		"it is gone":  {func(s *harness) { s.inc.Launches[0].Status = report.Gone; s.save(s.inc) }, 0},
		"launched later": {func(s *harness) {
			s.inc.Launches[0].Started = s.Now()
			s.save(s.inc)
		}, 0},
		"the cause is back": {func(s *harness) {
			s.Call("ec2:DeleteRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0"}`)
		}, 0},
		"the incident is over": {func(s *harness) { s.inc.State, s.inc.Resolved = incident.Closed, s.Now(); s.save(s.inc) }, 0},
	} {
		s := healed(t, "auto", stagetest.Options{})
		s.Advance(replaceinstance.Settle + time.Second)
		used := remedy.Run{ID: "before", Plan: remedy.Plan{Remedy: optin.ReplaceInstance, Cluster: stagetest.Cluster, Replace: &remedy.ReplaceInstance{Instances: make([]remedy.Replaced, 3)}}, Began: s.Now()}
		if room, err := s.Store.CountRun(t.Context(), used, 3); err != nil || !room.IsZero() {
			t.Fatal(room, err)
		}
		s.tell(due)
		s.take()
		w := latest(s.inc, optin.ReplaceInstance, incident.Deferred)
		if w == nil {
			t.Fatalf("%s: nothing waits: %+v", name, s.inc.Offers)
		}
		s.Advance(w.After.Sub(s.Now()) + time.Second)
		test.change(s)
		for range 3 {
			s.tell(due)
			s.take()
		}
		if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != test.ended {
			t.Errorf("%s: %d instances were ended, want %d: %+v", name, n, test.ended, s.inc.Offers)
		}
		if latest(s.inc, optin.ReplaceInstance, incident.Deferred) != nil && s.inc.State == incident.Cleared {
			t.Errorf("%s: it waits still", name)
		}
	}
}

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
			s.id = s.Instance(s.LaunchEvents(0)[0])
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
			}, remedy.NotSo},
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
			"somebody is at it":   {func(s *harness) { s.size(3, 4) }, remedy.AnotherChange},
			"somebody was faster": {func(s *harness) { s.size(3, 4); s.Advance(10 * time.Minute) }, remedy.NothingToDo},
			"the maximum is two":  {func(s *harness) { s.size(2, 2); s.Advance(5 * time.Minute) }, coverzones.OverMax},
			"Launch is suspended": {func(s *harness) {
				s.Call("autoscaling:SuspendProcesses", `{"AutoScalingGroupName":"`+threeZones+`","ScalingProcesses":["Launch"]}`)
			}, remedy.Suspended},
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
			}, remedy.AlreadyThere},
			"the instance is gone": {func(s *harness) {
				s.Call("ec2:TerminateInstances", `{"InstanceIds":["`+s.id+`"]}`)
				s.Advance(2 * time.Minute)
			}, remedy.NotSo},
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
			if d.Result != remedy.Done || d.Hash != p.Hash || d.ApprovedBy != "U0ONCALL01" || len(d.Changed) != 1 || len(d.Requests) != 1 {
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
				if d.Result != remedy.Refused || d.Reason != string(wrong.want) || d.Says == "" || len(d.Changed) != 0 {
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
			if d.Result != remedy.Failed || !strings.HasPrefix(d.Says, "Nothing was changed") || d.Reason == "" || len(d.Changed) != 0 {
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

// size changes the size of the nodegroup by hand.
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

// brittle is a table one of whose writes fails once: before it is written, or
// with its answer lost.
type brittle struct {
	Memory
	write string
	lost  bool
	used  bool
}

var errTable = errors.New("the table does not answer")

func (b *brittle) fails(write string, lost bool) bool {
	if b.used || b.write != write || b.lost != lost {
		return false
	}
	b.used = true
	return true
}

func (b *brittle) ClaimRun(ctx context.Context, d remedy.Run) (remedy.Run, bool, error) {
	if b.fails("claim", false) {
		return remedy.Run{}, false, errTable
	}
	there, claimed, err := b.Memory.ClaimRun(ctx, d)
	if b.fails("claim", true) {
		return remedy.Run{}, false, errTable
	}
	return there, claimed, err
}

func (b *brittle) SaveRun(ctx context.Context, d remedy.Run) (remedy.Run, error) {
	if b.fails("record", false) {
		return remedy.Run{}, errTable
	}
	saved, err := b.Memory.SaveRun(ctx, d)
	if b.fails("record", true) {
		return remedy.Run{}, errTable
	}
	return saved, err
}

func (b *brittle) CountRun(ctx context.Context, d remedy.Run, most int) (room time.Time, err error) {
	if b.fails("count", false) {
		return time.Time{}, errTable
	}
	room, err = b.Memory.CountRun(ctx, d, most)
	if b.fails("count", true) {
		return time.Time{}, errTable
	}
	return room, err
}

// Whichever write of an approval's way fails, before or after it is written:
// once the queue delivers again, the run is done once at most, and what is
// recorded and told of it is what the world says.
func TestEveryWriteMayFail(t *testing.T) {
	for _, test := range []struct {
		write string
		lost  bool
		calls int
		want  remedy.Status
	}{
		{"count", false, 1, remedy.Done},
		{"count", true, 1, remedy.Done}, // counted once, by its id
		{"claim", false, 1, remedy.Done},
		{"claim", true, 0, remedy.Uncertain}, // it may have been done, for all that is known
		{"record", false, 1, remedy.Done},
		{"record", true, 1, remedy.Done},
	} {
		name := test.write
		if test.lost {
			name += ", its answer lost"
		}
		s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson, "ROLLCALL_REMEDY_LIMIT", "1")})
		s.approve(s.offered())
		b := &brittle{Memory: s.h.memory, write: test.write, lost: test.lost}
		s.h.memory = b
		if n := s.tell(approval); n != 1 || !b.used {
			t.Errorf("%s: %d messages came back, failed %v", name, n, b.used)
		}
		s.Advance(lease + time.Second)
		for range 2 {
			if n := s.tell(approval); n != 0 {
				t.Errorf("%s: %d messages came back: %s", name, n, s.Logs())
			}
		}
		_, runs := s.said()
		if len(runs) == 0 {
			t.Errorf("%s: nothing is told", name)
		}
		for _, d := range runs {
			if d.Result != test.want || d.ID != runs[0].ID {
				t.Errorf("%s: told %+v, want %s", name, d, test.want)
			}
		}
		kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
		if err != nil || len(kept) != 1 || kept[0].Result != test.want || kept[0].Ended.IsZero() {
			t.Errorf("%s: audit %+v, %v", name, kept, err)
		}
		if n := s.Calls()["ec2:CreateRoute"]; n != test.calls || (len(s.routes()) == 2) != (test.calls == 1) {
			t.Errorf("%s: %d calls, routes %v", name, n, s.routes())
		}
	}
}
