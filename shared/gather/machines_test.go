package gather

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// machineView is a view of instances of a scope, with all sources read that
// narrow it.
func machineView(list ...snapshot.Instance) source.View {
	s := &snapshot.Snapshot{Time: time.Unix(1000, 0), Instances: list, Read: map[snapshot.Source]bool{snapshot.Nodes: true}}
	for _, in := range list {
		s.Scope.Instances = append(s.Scope.Instances, in.ID)
		s.Launches = append(s.Launches, snapshot.ExpectedJoin{Instance: in.ID, Due: time.Unix(999, 0)})
	}
	return source.View{Snapshot: s}
}

func of(group, template, version string, ids ...string) []snapshot.Instance {
	var list []snapshot.Instance
	for _, id := range ids {
		list = append(list, snapshot.Instance{ID: id, State: "running", Tags: map[string]string{gatherec2.GroupTag: group}, Template: snapshot.TemplateRef{ID: template, Version: version}})
	}
	return list
}

// TestUserDataOncePerOrigin holds that instances of one origin share one read,
// which another of them answers where the first is gone.
func TestUserDataOncePerOrigin(t *testing.T) {
	var asked []string
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeInstanceAttribute", answer(func(in *ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
			asked = append(asked, *in.InstanceId)
			switch *in.InstanceId {
			case "i-1":
				return nil, wire.Errorf("IncorrectInstanceState", "terminated")
			case "i-4":
				return &ec2.DescribeInstanceAttributeOutput{UserData: &types.AttributeValue{}}, nil // started with none
			case "i-5":
				return &ec2.DescribeInstanceAttributeOutput{UserData: &types.AttributeValue{Value: aws.String("?")}}, nil
			}
			return &ec2.DescribeInstanceAttributeOutput{UserData: &types.AttributeValue{Value: aws.String(base64.StdEncoding.EncodeToString([]byte("of " + *in.InstanceId)))}}, nil
		}))
	})
	v := machineView(slices.Concat(of("a", "lt-1", "1", "i-1", "i-2", "i-3", "i-ready"), of("a", "lt-1", "2", "i-4"), of("b", "lt-1", "2", "i-5"), of("", "", "", "i-6", "i-7"))...)
	v.Snapshot.Nodes = []snapshot.Node{{Instance: "i-ready", Ready: snapshot.Condition{Status: "True"}}}
	store, err := sourceOf(r, snapshot.UserDataOf).ReadFrom(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	store(v.Snapshot)
	gathertest.Same(t, "asked", asked, []string{"i-1", "i-2", "i-4", "i-5", "i-6", "i-7"})
	gathertest.Same(t, "user data", v.Snapshot.UserData, []snapshot.UserData{
		{Instances: []string{"i-1", "i-2", "i-3", "i-ready"}, From: "i-2", Data: []byte("of i-2")},
		{Instances: []string{"i-4"}, From: "i-4"},
		{Instances: []string{"i-6"}, From: "i-6", Data: []byte("of i-6")},
		{Instances: []string{"i-7"}, From: "i-7", Data: []byte("of i-7")},
	})
	if f, lacks := v.Snapshot.Lacks(snapshot.UserDataOf, "i-5"); !lacks || f.Reason != snapshot.Broken || f.Call != "ec2:DescribeInstanceAttribute" {
		t.Errorf("user data that cannot be decoded: %+v", f)
	}
}

// TestUserDataOfTheEnded: an empty answer of an instance that has ended says
// nothing. Another of its origin is asked; where all have ended it is not known
// whether there was any.
func TestUserDataOfTheEnded(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeInstanceAttribute", answer(func(in *ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
			out := &ec2.DescribeInstanceAttributeOutput{UserData: &types.AttributeValue{}}
			if *in.InstanceId == "i-3" || *in.InstanceId == "i-6" {
				out.UserData.Value = aws.String(base64.StdEncoding.EncodeToString([]byte("of " + *in.InstanceId)))
			}
			return out, nil
		}))
	})
	list := slices.Concat(of("a", "lt-1", "1", "i-1", "i-2", "i-3"), of("a", "lt-2", "1", "i-4"), of("a", "lt-3", "1", "i-5"), of("a", "lt-4", "1", "i-6"), of("a", "lt-5", "1", "i-7"))
	for i, state := range []string{"terminated", "shutting-down", "running", "terminated", "running", "terminated", "stopped"} {
		list[i].State = state
	}
	v := machineView(list...)
	store, err := sourceOf(r, snapshot.UserDataOf).ReadFrom(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	store(v.Snapshot)
	gathertest.Same(t, "user data", v.Snapshot.UserData, []snapshot.UserData{
		{Instances: []string{"i-1", "i-2", "i-3"}, From: "i-3", Data: []byte("of i-3")},
		{Instances: []string{"i-5"}, From: "i-5"},                         // started with none
		{Instances: []string{"i-6"}, From: "i-6", Data: []byte("of i-6")}, // told all the same
		{Instances: []string{"i-7"}, From: "i-7"},                         // one that is stopped keeps its own
	})
	gathertest.Same(t, "not known", v.Snapshot.Missing[snapshot.UserDataOf], map[string]snapshot.Failure{"i-4": {
		Source: snapshot.UserDataOf, Reason: snapshot.NotRead, Call: "ec2:DescribeInstanceAttribute",
		Message: "EC2 tells no user data of i-4, which has ended: whether it had any cannot be told",
	}})
}

// TestManyOrigins holds that a look reads no more than so many, and says of
// whom it did not.
func TestManyOrigins(t *testing.T) {
	n := 0
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeInstanceAttribute", answer(func(*ec2.DescribeInstanceAttributeInput) (*ec2.DescribeInstanceAttributeOutput, error) {
			n++
			return &ec2.DescribeInstanceAttributeOutput{}, nil
		}))
	})
	var list []snapshot.Instance
	for i := range 13 {
		list = append(list, of("g", "lt-1", fmt.Sprint(i), fmt.Sprintf("i-%02d", i))...)
	}
	v := machineView(list...)
	store, err := sourceOf(r, snapshot.UserDataOf).ReadFrom(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	store(v.Snapshot)
	if n != gatherec2.MaxUserData || len(v.Snapshot.UserData) != gatherec2.MaxUserData {
		t.Errorf("%d calls, %d user data; want %d", n, len(v.Snapshot.UserData), gatherec2.MaxUserData)
	}
	gathertest.Same(t, "not read", slices.Sorted(maps.Keys(v.Snapshot.Missing[snapshot.UserDataOf])), []string{"i-10", "i-11", "i-12"})
	if f := v.Snapshot.Missing[snapshot.UserDataOf]["i-10"]; f.Reason != snapshot.NotRead || f.Message == "" {
		t.Errorf("failure %+v, want not read and why", f)
	}
}

// TestConsolesAreSampled holds whose consoles are read: of instances that are
// alike two, of those only that are overdue or have ended.
func TestConsolesAreSampled(t *testing.T) {
	var asked []string
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "GetConsoleOutput", answer(func(in *ec2.GetConsoleOutputInput) (*ec2.GetConsoleOutputOutput, error) {
			asked = append(asked, fmt.Sprint(*in.InstanceId, " ", aws.ToBool(in.Latest)))
			switch *in.InstanceId {
			case "i-2":
				return &ec2.GetConsoleOutputOutput{Timestamp: aws.Time(time.Unix(500, 0))}, nil // nothing yet
			case "i-xen":
				if aws.ToBool(in.Latest) {
					return nil, wire.Errorf("UnsupportedOperation", "This instance type does not support retrieving the latest console logs.")
				}
			case "i-ended":
				if aws.ToBool(in.Latest) {
					return &ec2.GetConsoleOutputOutput{}, nil
				}
			case "i-stopped":
				if !aws.ToBool(in.Latest) {
					return &ec2.GetConsoleOutputOutput{}, nil
				}
				return nil, wire.Errorf("UnsupportedOperation", "This instance type does not support retrieving the latest console logs.")
			case "i-late":
				if aws.ToBool(in.Latest) {
					return nil, wire.Errorf("IncorrectInstanceState", "The instance is not in a state that has a console.")
				}
			case "i-odd":
				return nil, wire.Errorf("InternalError", "no")
			}
			return &ec2.GetConsoleOutputOutput{Output: aws.String(base64.StdEncoding.EncodeToString([]byte("caf\xc3 of " + *in.InstanceId)))}, nil
		}))
	})
	ended := of("e", "lt-1", "1", "i-ended")
	ended = append(ended, of("f", "lt-1", "1", "i-stopped")...)
	ended[0].State, ended[1].State = "terminated", "stopped"
	v := machineView(slices.Concat(ended, of("l", "lt-1", "1", "i-late"), of("a", "lt-1", "1", "i-1", "i-2", "i-3"), of("a", "lt-1", "2", "i-xen"), of("b", "lt-1", "2", "i-early", "i-odd", "i-ready"))...)
	for i, launch := range v.Snapshot.Launches {
		if launch.Instance == "i-early" || launch.Instance == "i-ended" || launch.Instance == "i-stopped" {
			v.Snapshot.Launches[i].Due = time.Unix(2000, 0)
		}
	}
	v.Snapshot.Nodes = []snapshot.Node{{Instance: "i-ready", Ready: snapshot.Condition{Status: "True"}}}
	store, err := sourceOf(r, snapshot.Consoles).ReadFrom(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	store(v.Snapshot)
	gathertest.Same(t, "asked", asked, []string{"i-1 true", "i-2 true", "i-2 false", "i-late true", "i-late false", "i-odd true", "i-xen true", "i-xen false", "i-ended false", "i-stopped false", "i-stopped true"})
	gathertest.Same(t, "consoles", v.Snapshot.Consoles, []snapshot.Console{
		{Instance: "i-1", Text: "caf\uFFFD of i-1"}, {Instance: "i-2", At: time.Unix(500, 0).UTC()}, {Instance: "i-ended", Text: "caf\uFFFD of i-ended"},
		{Instance: "i-late", Text: "caf\uFFFD of i-late"}, {Instance: "i-stopped"}, {Instance: "i-xen", Text: "caf\uFFFD of i-xen"},
	})
	gathertest.Same(t, "missing", slices.Collect(maps.Keys(v.Snapshot.Missing[snapshot.Consoles])), []string{"i-odd"})
}

// TestStatusOfOneForgotten holds that an instance that EC2 has forgotten does
// not keep the others' status from being read.
func TestStatusOfOneForgotten(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeInstanceStatus", answer(func(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
			if slices.Contains(in.InstanceIds, "i-gone") {
				return nil, wire.Errorf("InvalidInstanceID.NotFound", "The instance ID 'i-gone' does not exist")
			}
			if !aws.ToBool(in.IncludeAllInstances) {
				t.Error("asked for running instances only")
			}
			var out ec2.DescribeInstanceStatusOutput
			for _, id := range in.InstanceIds {
				out.InstanceStatuses = append(out.InstanceStatuses, types.InstanceStatus{InstanceId: aws.String(id),
					InstanceStatus: &types.InstanceStatusSummary{Status: types.SummaryStatusImpaired},
					Events:         []types.InstanceStatusEvent{{Code: types.EventCodeInstanceRetirement, Description: aws.String("[Completed] x"), NotBefore: aws.Time(time.Unix(7, 0))}}})
			}
			return &out, nil
		}))
	})
	gone := snapshot.Instance{ID: "i-gone", State: "terminated"}
	v := machineView(append(of("a", "", "", "i-1"), gone)...)
	store, err := sourceOf(r, snapshot.Statuses).ReadFrom(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	store(v.Snapshot)
	gathertest.Same(t, "statuses", v.Snapshot.Statuses, []snapshot.InstanceStatus{{Instance: "i-1", OS: "impaired", Events: []snapshot.ScheduledEvent{{Code: "instance-retirement", Description: "[Completed] x", NotBefore: time.Unix(7, 0).UTC()}}}})
	if _, lacks := v.Snapshot.Lacks(snapshot.Statuses, "i-gone"); !lacks {
		t.Error("nothing is said of the instance that is gone")
	}
}

// TestTemplatesThatAreGone holds how a template and a version that were
// deleted are noted, and that the others are read.
func TestTemplatesThatAreGone(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeLaunchTemplateVersions", answer(func(in *ec2.DescribeLaunchTemplateVersionsInput) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
			switch {
			case aws.ToString(in.LaunchTemplateId) == "lt-gone":
				return nil, wire.Errorf("InvalidLaunchTemplateId.NotFound", "no such template")
			case in.Versions[0] == "9":
				return nil, wire.Errorf("InvalidLaunchTemplateId.VersionNotFound", "no such version")
			}
			return &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: []types.LaunchTemplateVersion{{
				LaunchTemplateId: aws.String("lt-1"), LaunchTemplateName: aws.String("workers"), VersionNumber: aws.Int64(4), DefaultVersion: aws.Bool(true),
				LaunchTemplateData: &types.ResponseLaunchTemplateData{
					UserData: aws.String("aGk="), SecurityGroupIds: []string{"sg-2"},
					NetworkInterfaces:     []types.LaunchTemplateInstanceNetworkInterfaceSpecification{{SubnetId: aws.String("subnet-1"), Groups: []string{"sg-1"}, DeleteOnTermination: aws.Bool(false), AssociatePublicIpAddress: aws.Bool(false)}, {DeviceIndex: aws.Int32(1)}, {NetworkCardIndex: aws.Int32(1), InterfaceType: aws.String("efa-only"), Groups: []string{"sg-3", "sg-1"}}, {NetworkCardIndex: aws.Int32(2), InterfaceType: aws.String("interface"), Groups: []string{"sg-1"}}},
					BlockDeviceMappings:   []types.LaunchTemplateBlockDeviceMapping{{}, {Ebs: &types.LaunchTemplateEbsBlockDevice{KmsKeyId: aws.String("key")}}},
					MetadataOptions:       &types.LaunchTemplateInstanceMetadataOptions{HttpEndpoint: "enabled", HttpPutResponseHopLimit: aws.Int32(1), HttpTokens: "required"},
					InstanceMarketOptions: &types.LaunchTemplateInstanceMarketOptions{MarketType: types.MarketTypeSpot},
					IamInstanceProfile:    &types.LaunchTemplateIamInstanceProfileSpecification{Name: aws.String("nodes")},
					CapacityReservationSpecification: &types.LaunchTemplateCapacityReservationSpecificationResponse{
						CapacityReservationTarget: &types.CapacityReservationTargetResponse{CapacityReservationId: aws.String("cr-0a")},
					},
				},
			}}}, nil
		}))
	})
	v := machineView(slices.Concat(of("a", "lt-1", "4", "i-1"), of("a", "lt-1", "9", "i-2"), of("a", "lt-gone", "1", "i-3"))...)
	v.Snapshot.Groups = []snapshot.Group{{Template: snapshot.TemplateRef{Name: "workers", ID: "lt-1", Version: "$Latest"}}}
	store, err := sourceOf(r, snapshot.LaunchTemplates).ReadFrom(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	store(v.Snapshot)
	gathertest.Same(t, "templates", v.Snapshot.LaunchTemplates, []snapshot.LaunchTemplate{{
		ID: "lt-1", Name: "workers", Version: "4", Default: true, Latest: true, Groups: []string{"sg-1", "sg-2", "sg-3"}, EFAs: []snapshot.EFA{{Groups: []string{"sg-1", "sg-3"}}}, UserData: []byte("hi"),
		Metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}, Profile: "nodes", KeepsInterface: true, PublicIP: "false", KMSKeys: []string{"key"}, Subnet: "subnet-1", Spot: true, GroupsTwice: true, Reservation: "cr-0a",
	}})
	if diff := cmp.Diff([]string{"lt-1 version 9", "lt-gone", "lt-gone version 1"}, slices.Sorted(maps.Keys(v.Snapshot.Missing[snapshot.LaunchTemplates]))); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}
