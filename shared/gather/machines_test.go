package gather

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/check"
	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/gather/gathertest"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/expect"
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

func launchedBy(group, template, version string, ids ...string) []snapshot.Instance {
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
	v := machineView(slices.Concat(launchedBy("a", "lt-1", "1", "i-1", "i-2", "i-3", "i-ready"), launchedBy("a", "lt-1", "2", "i-4"), launchedBy("b", "lt-1", "2", "i-5"), launchedBy("", "", "", "i-6", "i-7"))...)
	v.Snapshot.Nodes = []snapshot.Node{{Instance: "i-ready", Ready: snapshot.Condition{Status: "True"}}}
	store, err := sourceOf(r, snapshot.UserDataOf).ReadFrom(t.Context(), v)
	expect.OK(t, err)
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
	list := slices.Concat(launchedBy("a", "lt-1", "1", "i-1", "i-2", "i-3"), launchedBy("a", "lt-2", "1", "i-4"), launchedBy("a", "lt-3", "1", "i-5"), launchedBy("a", "lt-4", "1", "i-6"), launchedBy("a", "lt-5", "1", "i-7"))
	for i, state := range []string{"terminated", "shutting-down", "running", "terminated", "running", "terminated", "stopped"} {
		list[i].State = state
	}
	v := machineView(list...)
	store, err := sourceOf(r, snapshot.UserDataOf).ReadFrom(t.Context(), v)
	expect.OK(t, err)
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
		list = append(list, launchedBy("g", "lt-1", fmt.Sprint(i), fmt.Sprintf("i-%02d", i))...)
	}
	v := machineView(list...)
	store, err := sourceOf(r, snapshot.UserDataOf).ReadFrom(t.Context(), v)
	expect.OK(t, err)
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
	ended := launchedBy("e", "lt-1", "1", "i-ended")
	ended = append(ended, launchedBy("f", "lt-1", "1", "i-stopped")...)
	ended[0].State, ended[1].State = "terminated", "stopped"
	v := machineView(slices.Concat(ended, launchedBy("l", "lt-1", "1", "i-late"), launchedBy("a", "lt-1", "1", "i-1", "i-2", "i-3"), launchedBy("a", "lt-1", "2", "i-xen"), launchedBy("b", "lt-1", "2", "i-early", "i-odd", "i-ready"))...)
	for i, launch := range v.Snapshot.Launches {
		if launch.Instance == "i-early" || launch.Instance == "i-ended" || launch.Instance == "i-stopped" {
			v.Snapshot.Launches[i].Due = time.Unix(2000, 0)
		}
	}
	v.Snapshot.Nodes = []snapshot.Node{{Instance: "i-ready", Ready: snapshot.Condition{Status: "True"}}}
	store, err := sourceOf(r, snapshot.Consoles).ReadFrom(t.Context(), v)
	expect.OK(t, err)
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
	v := machineView(append(launchedBy("a", "", "", "i-1"), gone)...)
	store, err := sourceOf(r, snapshot.Statuses).ReadFrom(t.Context(), v)
	expect.OK(t, err)
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
	v := machineView(slices.Concat(launchedBy("a", "lt-1", "4", "i-1"), launchedBy("a", "lt-1", "9", "i-2"), launchedBy("a", "lt-gone", "1", "i-3"))...)
	v.Snapshot.Groups = []snapshot.Group{{Template: snapshot.TemplateRef{Name: "workers", ID: "lt-1", Version: "$Latest"}}}
	store, err := sourceOf(r, snapshot.LaunchTemplates).ReadFrom(t.Context(), v)
	expect.OK(t, err)
	store(v.Snapshot)
	gathertest.Same(t, "templates", v.Snapshot.LaunchTemplates, []snapshot.LaunchTemplate{{
		ID: "lt-1", Name: "workers", Version: "4", Default: true, Latest: true, Groups: []string{"sg-1", "sg-2", "sg-3"}, EFAs: []snapshot.EFA{{Groups: []string{"sg-1", "sg-3"}}}, UserData: []byte("hi"),
		Metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 1, Tokens: "required"}, Profile: "nodes", KeepsInterface: true, PublicIP: "false", KMSKeys: []string{"key"}, Subnet: "subnet-1", Spot: true, GroupsTwice: true, Reservation: "cr-0a",
	}})
	expect.Same(t, "missing", slices.Sorted(maps.Keys(v.Snapshot.Missing[snapshot.LaunchTemplates])), []string{"lt-1 version 9", "lt-gone", "lt-gone version 1"})
}

func TestInterfacesByID(t *testing.T) {
	r, s := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeNetworkInterfaces", answer(func(in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
			if len(in.NetworkInterfaceIds) > 0 || *in.Filters[0].Name != "network-interface-id" || len(in.Filters[0].Values) > 200 {
				t.Errorf("asked for %+v", in)
			}
			out := &ec2.DescribeNetworkInterfacesOutput{}
			for _, id := range in.Filters[0].Values {
				if id != "eni-007" { // gone: the others are there all the same
					out.NetworkInterfaces = append(out.NetworkInterfaces, types.NetworkInterface{NetworkInterfaceId: aws.String(id), Status: types.NetworkInterfaceStatusAvailable})
				}
			}
			return out, nil
		}))
	})
	var ids []string
	for i := range 250 {
		ids = append(ids, fmt.Sprintf("eni-%03d", 249-i))
	}
	got, failed := r.InterfacesByID(context.Background(), ids)
	if failed != nil || len(got) != 249 || got[0].ID != "eni-000" || len(s.Calls()) != 2 {
		t.Errorf("%d interfaces in %d calls, %+v", len(got), len(s.Calls()), failed)
	}
	if got, failed := r.InterfacesByID(context.Background(), nil); failed != nil || len(got) > 0 {
		t.Errorf("none asked for: %v, %+v", got, failed)
	}
}

func TestInterfacesByIDRefused(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeNetworkInterfaces", answer(func(*ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
			return nil, &wire.Error{Code: "UnauthorizedOperation", Message: "no", Status: 403}
		}))
	})
	got, failed := r.InterfacesByID(context.Background(), []string{"eni-1"})
	if got != nil || failed == nil || failed.Reason != snapshot.Denied || failed.Call != "ec2:DescribeNetworkInterfaces" {
		t.Errorf("%v, %+v", got, failed)
	}
}

// TestLaunchedImages holds when the images of instances are read, and that an id without a
// name is no knowledge of an image: instance/ami would pass it.
func TestLaunchedImages(t *testing.T) {
	const gone = "ec2: {Instances: [{InstanceId: " + stranded + ", ImageId: ami-0dead000000000001}]"
	for name, tt := range map[string]struct {
		change string
		denied denying
		want   []string
		calls  int
		failed string
	}{
		"listed":             {change: ""},
		"gone, and unnamed":  {change: gone + "}\n", calls: 1},
		"gone":               {change: gone + ", Images: [{ImageId: ami-0dead000000000001, Name: amazon-eks-node-1.32-v20251120, State: deregistered}]}\n", want: []string{"ami-0dead000000000001 amazon-eks-node-1.32-v20251120"}, calls: 1},
		"gone, and refused":  {change: gone + "}\n", denied: "DescribeInstanceImageMetadata", calls: 1, failed: "ec2:DescribeInstanceImageMetadata"},
		"images are refused": {change: gone + "}\n", denied: "DescribeImages"},
	} {
		t.Run(name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.LaunchedImagesOf, snapshot.Images}
			s, err := p.Read(t.Context(), q)
			expect.OK(t, err)
			gathertest.Same(t, "images", names(s.LaunchedImages, func(i snapshot.Image) string { return i.ID + " " + i.Name }), tt.want)
			gathertest.Same(t, "calls", countOf(p, "DescribeInstanceImageMetadata"), tt.calls)
			if f := s.Failures[snapshot.LaunchedImagesOf]; f.Call != tt.failed {
				t.Errorf("failure %+v, want %q", f, tt.failed)
			}
		})
	}
}

// TestPrivateZones holds which private hosted zones are read, and by how many calls: records
// only of an account's zone that covers a name of AWS.
func TestPrivateZones(t *testing.T) {
	const vpc = "vpc-0a1b2c3d4e5f60718"
	records := func(zones ...string) string {
		var list []string
		for _, z := range zones {
			id, domain, _ := strings.Cut(z, " ")
			list = append(list, fmt.Sprintf(`%s: [{Name: %s., Type: SOA}, {Name: '\052.%s.', Type: A}]`, id, domain, domain))
		}
		return "ResourceRecordSets: {" + strings.Join(list, ", ") + "}"
	}
	zone := func(id, domain, owner string) string {
		return fmt.Sprintf("{HostedZoneId: %s, Name: %s., Owner: {%s}}", id, domain, owner)
	}
	const own, service = `OwningAccount: "111122223333"`, "OwningService: vpce.amazonaws.com"
	world := func(of, records string, zones ...string) string {
		return "route53: {HostedZones: {" + of + ": [" + strings.Join(zones, ", ") + "]}, " + records + "}\n"
	}
	const region = "us-west-2.amazonaws.com"
	profile := `route53Profiles: {ProfileAssociations: [{ProfileId: rp-01, ResourceId: ` + vpc + `, Status: COMPLETE}], ProfileResourceAssociations: {rp-01: [{ResourceArn: "arn:aws:route53:::hostedzone/Z1", Status: COMPLETE}]}}` + "\n"
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf(`{ResourceArn: "arn:aws:route53:::hostedzone/Z%d", Status: COMPLETE}`, i))
	}
	for _, tt := range []struct {
		name, change string
		denied       denying
		want         []string
		calls        int
		failed       string
	}{
		{name: "none", calls: 1},
		{name: "of one's own domain", change: world(vpc, records(), zone("Z1", "corp.example.com", own)), calls: 1},
		{name: "of another VPC", change: world("vpc-0e9", records("Z1 "+region), zone("Z1", region, own)), calls: 1},
		{name: "of AWS", change: world(vpc, records("Z1 "+region), zone("Z1", region, own)), want: []string{"Z1 " + region + " [SOA " + region + " A *." + region + "]"}, calls: 2},
		{name: "of one service", change: world(vpc, records("Z1 sts."+region), zone("Z1", "sts."+region, own)), want: []string{"Z1 sts." + region + " [SOA sts." + region + " A *.sts." + region + "]"}, calls: 2},
		{name: "above AWS", change: world(vpc, records("Z1 com"), zone("Z1", "com", own)), want: []string{"Z1 com [SOA com A *.com]"}, calls: 2},
		{name: "another Region's", change: world(vpc, records(), zone("Z1", "eu-west-1.amazonaws.com", own)), calls: 1},
		{name: "of a service of AWS", change: world(vpc, records(), zone("Z1", "sts."+region, service)), want: []string{"Z1 sts." + region + " vpce.amazonaws.com []"}, calls: 1},
		{name: "of another account", change: world(vpc, "ResourceRecordSets: {}", zone("Z1", region, `OwningAccount: "444455556666"`)), calls: 2, failed: "route53:ListResourceRecordSets"},
		{name: "of another account, beside one of the account", change: world(vpc, records("Z2 sts."+region), zone("Z1", region, `OwningAccount: "444455556666"`), zone("Z2", "sts."+region, own)), want: []string{"Z1 " + region + " [] unread: denied, route53:ListResourceRecordSets", "Z2 sts." + region + " [SOA sts." + region + " A *.sts." + region + "]"}, calls: 3},
		{name: "of a Profile", change: world(vpc, records("Z1 "+region)) + profile, want: []string{"Z1 " + region + " rp-01 [SOA " + region + " A *." + region + "]"}, calls: 2},
		{name: "of a Profile, for another domain", change: world(vpc, records("Z1 corp.example.com")) + profile, calls: 2},
		{name: "of AWS, without a record", change: world(vpc, "ResourceRecordSets: {Z1: []}", zone("Z1", region, own)), want: []string{"Z1 " + region + " [] unread: broken, route53:ListResourceRecordSets"}, calls: 2},
		{name: "of a Profile, without an SOA record", change: world(vpc, "ResourceRecordSets: {Z1: [{Name: a.example.com., Type: A}]}") + profile, want: []string{"Z1  rp-01 [A a.example.com] unread: broken, route53:ListResourceRecordSets"}, calls: 2},
		{name: "of a Profile, of another account", change: profile, calls: 2, failed: "route53:ListResourceRecordSets"},
		{name: "of a Profile with many", change: world(vpc, records("Z0 a.example.com", "Z1 b.example.com", "Z2 c.example.com", "Z3 d.example.com", "Z4 e.example.com", "Z5 f.example.com", "Z6 g.example.com", "Z7 h.example.com", "Z8 i.example.com", "Z9 j.example.com")) +
			strings.Replace(profile, `{ResourceArn: "arn:aws:route53:::hostedzone/Z1", Status: COMPLETE}`, strings.Join(many, ", "), 1),
			want: []string{"Z10  rp-01 [] unread: not read, route53:ListResourceRecordSets"}, calls: 11},
		{name: "refused", denied: "ListHostedZonesByVPC", calls: 1, failed: "route53:ListHostedZonesByVPC"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.PrivateZonesOf}
			s, err := p.Read(t.Context(), q)
			expect.OK(t, err)
			gathertest.Same(t, "zones", names(s.PrivateZones, func(z snapshot.PrivateZone) string {
				line := z.ID + " " + z.Domain
				for _, more := range []string{z.Service, z.Profile} {
					if more != "" {
						line += " " + more
					}
				}
				line += " ["
				for i, r := range z.Records {
					if i > 0 {
						line += " "
					}
					line += r.Type + " " + r.Name
				}
				line += "]"
				if z.Unread != nil {
					line += " unread: " + string(z.Unread.Reason) + ", " + z.Unread.Call
				}
				return line
			}), tt.want)
			gathertest.Same(t, "calls", countOf(p, "ListHostedZonesByVPC")+countOf(p, "ListResourceRecordSets"), tt.calls)
			if f := s.Failures[snapshot.PrivateZonesOf]; f.Call != tt.failed || f.Call != "" && f.Reason != snapshot.Denied {
				t.Errorf("failure %+v, want %q", f, tt.failed)
			}
		})
	}
}

// TestDNSProfiles holds which Route 53 Profiles are read, by how many calls, and that a
// refusal is one of the Profiles: what is associated with the VPC itself is read all the same.
func TestDNSProfiles(t *testing.T) {
	const (
		rule    = "route53Resolver: {ResolverRules: [{Id: rslvr-rr-01, DomainName: corp.example.com., RuleType: FORWARD}], ResolverRuleAssociations: [{ResolverRuleId: rslvr-rr-01, VPCId: vpc-0a1b2c3d4e5f60718, Status: COMPLETE}]}\n"
		profile = "{ProfileId: rp-01, ResourceId: vpc-0a1b2c3d4e5f60718, Status: COMPLETE}"
		brings  = `{ResourceArn: "arn:aws:route53resolver:us-west-2:111122223333:resolver-rule/rslvr-rr-01", Name: shared, Status: COMPLETE}`
		zone    = `{ResourceArn: "arn:aws:route53:::hostedzone/Z01", Name: zone, Status: COMPLETE}`
		garbled = `{ResourceArn: "arn:aws:route53resolver:us-west-2:111122223333:firewall-rule-group/rslvr-frg-01", ResourceProperties: "priority 5", Status: COMPLETE}`
	)
	world := func(associations, resources string) string {
		return "route53Profiles: {ProfileAssociations: [" + associations + "], ProfileResourceAssociations: {rp-01: [" + resources + "]}}\n"
	}
	own, shared := "rslvr-rr-01 corp.example.com ", "rslvr-rr-01 corp.example.com rp-01"
	for _, tt := range []struct {
		name, change string
		denied       denying
		want         []string
		calls        int
		failed       string
		reason       snapshot.Reason
	}{
		{name: "none", change: rule, want: []string{own}, calls: 1},
		{name: "of another VPC", change: rule + world("{ProfileId: rp-01, ResourceId: vpc-0e9, Status: COMPLETE}", brings), want: []string{own}, calls: 1},
		{name: "being deleted", change: rule + world("{ProfileId: rp-01, ResourceId: vpc-0a1b2c3d4e5f60718, Status: DELETING}", brings), want: []string{own}, calls: 1},
		{name: "a rule", change: rule + world(profile, brings), want: []string{own, shared}, calls: 2},
		{name: "a zone", change: rule + world(profile, zone), want: []string{own}, calls: 2},
		{name: "refused", change: rule + world(profile, brings), denied: "ListProfileAssociations", want: []string{own}, calls: 1, failed: "route53profiles:ListProfileAssociations", reason: snapshot.Denied},
		{name: "resources refused", change: rule + world(profile, brings), denied: "ListProfileResourceAssociations", want: []string{own}, calls: 2, failed: "route53profiles:ListProfileResourceAssociations", reason: snapshot.Denied},
		{name: "properties that are no JSON", change: rule + world(profile, garbled), want: []string{own}, calls: 2, failed: "route53profiles:ListProfileAssociations", reason: snapshot.Broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := openFaulty(t, tt.change, tt.denied, "")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.ResolverRulesOf, snapshot.DNSFirewall}
			s, err := p.Read(t.Context(), q)
			expect.OK(t, err)
			gathertest.Same(t, "resolver rules", names(s.ResolverRules, func(r snapshot.ResolverRule) string { return fmt.Sprint(r.ID, " ", r.Domain, " ", r.Profile) }), tt.want)
			gathertest.Same(t, "calls", countOf(p, "ListProfileAssociations")+countOf(p, "ListProfileResourceAssociations"), tt.calls)
			if f := s.Failures[snapshot.DNSProfilesOf]; f.Call != tt.failed || f.Reason != tt.reason {
				t.Errorf("failure %+v, want %q, %q", f, tt.failed, tt.reason)
			}
		})
	}
}

// refuse denies one action.
func refuse(action string) wire.Faults {
	return wire.FaultFunc(func(_ context.Context, c *wire.Call) error {
		if c.Action() == action {
			return wire.Denied
		}
		return nil
	})
}

// updateNodegroup makes an update: a nodegroup without any needs no permission
// to describe one.
func updateNodegroup(t *testing.T, p *place) {
	t.Helper()
	if _, err := p.world.Call("eks:UpdateNodegroupConfig", []byte(`{"clusterName":"eks-workshop","nodegroupName":"default","labels":{"addOrUpdateLabels":{"a":"b"}}}`)); err != nil {
		t.Fatal(err)
	}
}

// TestEveryRefusalIsNamed holds for each permission that a refusal fails the
// source that took it, by its name, and no other; where others are named by
// what was refused, they are not said to be refused themselves.
func TestEveryRefusalIsNamed(t *testing.T) {
	file := load(t, crowded)
	refuseLaunches(file)
	for _, action := range actions() {
		var of []snapshot.Source
		for _, s := range snapshot.All() {
			if slices.Contains(Permissions(s), action) {
				of = append(of, s)
			}
		}
		// What was read before the look stays; a cluster without a warm pool
		// and without instances in it needs no permission for them.
		if slices.Contains([]string{"ec2:DescribeInstances", "autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeWarmPool", "eks:DescribeCluster"}, action) {
			continue
		}
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			p := start(t, file, refuse(action), "")
			updateNodegroup(t, p)
			s, _ := whole(t, p)
			for source, f := range s.Failures {
				switch {
				case slices.Contains(of, source):
					if f.Reason != snapshot.Denied || f.Call != action {
						t.Errorf("%s: %+v, want denied and %s", source, f, action)
					}
				case f.Reason != snapshot.NotRead || f.Message == "":
					t.Errorf("%s failed too: %+v", source, f)
				}
				if s.Has(source) {
					t.Errorf("%s counts as read", source)
				}
			}
			for _, source := range of {
				if _, failed := s.Failures[source]; !failed {
					t.Errorf("%s was not failed by a refused %s", source, action)
				}
			}
		})
	}
}

// TestEveryKubernetesRefusalIsNamed holds the same for the rights in the
// cluster: each fails its own source, with the right that is missing.
func TestEveryKubernetesRefusalIsNamed(t *testing.T) {
	file := load(t, crowded)
	for _, r := range KubeRules(snapshot.All()...) {
		resource := r.Resources[0]
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			s, _ := whole(t, start(t, file, wire.NoFaults{}, resource))
			if f, failed := s.Failures[snapshot.ENIConfigsOf]; failed && resource != "eniconfigs" && f.Reason == snapshot.NotRead {
				delete(s.Failures, snapshot.ENIConfigsOf) // aws-node says whether there is anything to ask for
			}
			for source, named := range map[snapshot.Source]string{snapshot.PodEventsOf: "pods", snapshot.PodsOnNodes: "nodes"} {
				if f, failed := s.Failures[source]; failed && resource == named && f.Reason == snapshot.NotRead {
					delete(s.Failures, source) // what to ask for is in those
				}
			}
			want := map[string]int{
				"pods":        2, // those of aws-node, and those that wait
				"events":      3, // of nodes, of pods, and of what Karpenter launches
				"nodepools":   6, // they name the rest
				"nodeclasses": 2, // and whose roles are refused
			}[resource]
			want = max(want, 1)
			if len(s.Failures) != want {
				t.Fatalf("failures %+v, want %d", s.Failures, want)
			}
			for source, f := range s.Failures {
				if f.Reason == snapshot.NotRead && source == snapshot.ClassAccess {
					continue
				}
				if f.Reason == snapshot.NotRead && ofKarpenter(source) {
					// Whether anything hangs on them the checks tell.
					if first := source == snapshot.NodePoolsOf || resource != "nodepools"; first != (f.Code == "Forbidden" && strings.Contains(f.Message, "deploy/clusterrole.yaml")) {
						t.Errorf("%s: %+v", source, f)
					}
					continue
				}
				if (source == snapshot.CSRs || source == snapshot.ENIConfigsOf) && f.Reason == snapshot.NotRead && strings.Contains(f.Message, "deploy/clusterrole.yaml") {
					continue // nothing certain hangs on them, and no access policy gives them
				}
				singular := strings.TrimSuffix(resource, "s")
				if !known(source).OfKubernetes() || f.Reason != snapshot.Denied || f.Code != "Forbidden" || !strings.Contains(f.Call, " "+singular) {
					t.Errorf("%s: %+v, want it refused for %s", source, f, resource)
				}
			}
		})
	}
}

func ofKarpenter(source snapshot.Source) bool {
	return slices.Contains([]snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.PoolEventsOf}, source)
}

// TestKarpenterIsAskedForOnce holds that a cluster without Karpenter is asked one
// question, and that its answer is "none"; and that of the classes only those
// are read that a NodePool names.
func TestKarpenterIsAskedForOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		pools string
		want  []string
	}{
		"no such kind": {"", []string{"list nodepools"}},
		"no pool":      {"NodePools: []", []string{"list nodepools"}},
		"Karpenter":    {"NodePools: [{metadata: {name: a}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}}}]", []string{"list ec2nodeclasses", "list nodeclaims", "list nodepools"}},
		"Auto Mode":    {"NodePools: [{metadata: {name: a}, spec: {template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}}}}}]", []string{"list nodeclaims", "list nodeclasses", "list nodepools"}},
		"another's":    {"NodePools: [{metadata: {name: a}, spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}}}}}]", []string{"list nodeclaims", "list nodepools"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, "name: plain\nkubernetes: {eks-workshop: {"+tt.pools+"}}\n")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf}
			s, err := p.Read(t.Context(), q)
			expect.OK(t, err)
			asked := slices.DeleteFunc(slices.Sorted(slices.Values(p.asked)), func(a string) bool { return !strings.Contains(a, "node") || strings.HasSuffix(a, " nodes") })
			expect.Same(t, "asked", asked, tt.want)
			for _, source := range append(q.Sources, snapshot.NodePoolsOf) {
				if !s.Has(source) {
					t.Errorf("%s: %+v", source, s.Failures[source])
				}
			}
		})
	}
}

// TestHalfAnAnswerIsNone holds that a list whose second page fails is not
// taken for the whole.
func TestHalfAnAnswerIsNone(t *testing.T) {
	calls := map[string]int{}
	r, _ := faulty(t, wholeVPC, wire.FaultFunc(func(_ context.Context, c *wire.Call) error {
		if calls[c.Action()]++; c.Action() == "ec2:DescribeSubnets" && calls[c.Action()] == 2 {
			return &wire.Error{Code: "InternalError", Status: 500, Message: "page 2"}
		}
		return nil
	}))
	s, err := r.Read(t.Context(), query(snapshot.Subnets))
	expect.OK(t, err)
	if s.Has(snapshot.Subnets) || len(s.Subnets) != 0 || s.Failures[snapshot.Subnets].Reason != snapshot.Broken {
		t.Errorf("subnets %+v, failure %+v; want none and why", s.Subnets, s.Failures[snapshot.Subnets])
	}
}

// TestNothingLeadsThere holds that what no route and no rule names is read
// without a call: there is none of it.
func TestNothingLeadsThere(t *testing.T) {
	p := open(t, "name: plain\nkubernetes: {eks-workshop: {DaemonSets: [], ServiceAccounts: []}}\n")
	s, _ := whole(t, p)
	for _, source := range []snapshot.Source{snapshot.TransitGateways, snapshot.Peerings, snapshot.PrefixListEntries, snapshot.AWSNode, snapshot.AWSAuthMap} {
		if !s.Has(source) {
			t.Errorf("%s: %+v", source, s.Failures[source])
		}
	}
	if s.CNI != nil || s.AWSAuth != nil {
		t.Errorf("CNI %+v, aws-auth %+v of a cluster that has neither", s.CNI, s.AWSAuth)
	}
	for _, c := range p.aws.Calls() {
		for _, part := range []string{"TransitGateway", "Peering", "PrefixList"} {
			if strings.Contains(c.Operation, part) {
				t.Errorf("called %s", c.Operation)
			}
		}
	}
}

// TestWhatNamesIsMissing holds that a source whose things are named by another
// that could not be read is not read, and says so.
func TestWhatNamesIsMissing(t *testing.T) {
	s, _ := whole(t, openFaulty(t, crowded, refuse("ec2:DescribeRouteTables"), ""))
	got := map[snapshot.Source]snapshot.Reason{}
	for source, f := range s.Failures {
		got[source] = f.Reason
	}
	want := map[snapshot.Source]snapshot.Reason{snapshot.RouteTables: snapshot.Denied, snapshot.TransitGateways: snapshot.NotRead, snapshot.Peerings: snapshot.NotRead}
	expect.Same(t, "failures", got, want)
	if len(s.PrefixLists) != 1 {
		t.Errorf("prefix lists %+v, want the one of the security group", s.PrefixLists)
	}
}

// TestConfigMapMode holds that a cluster without access entries has none, and
// that this is no failure.
func TestConfigMapMode(t *testing.T) {
	s, _ := whole(t, open(t, "eks: {clusters: [{name: eks-workshop, accessConfig: {authenticationMode: CONFIG_MAP}}]}\n"))
	if !s.Has(snapshot.Access) || len(s.Principals)+len(s.AccessEntries) != 0 || s.Cluster.AuthMode != "CONFIG_MAP" {
		t.Errorf("access read %t: %q, mode %q", s.Has(snapshot.Access), s.Principals, s.Cluster.AuthMode)
	}
}

// TestNoDHCPOptions holds that a VPC without DHCP options is not taken for one
// with Amazon's name server.
func TestNoDHCPOptions(t *testing.T) {
	s, _ := whole(t, open(t, "ec2: {Vpcs: [{VpcId: "+workshopVPC+", DhcpOptionsId: default}]}\n"))
	if diff := cmp.Diff([]snapshot.DHCPOptions{{ID: "default"}}, s.DHCPOptions); diff != "" || !s.Has(snapshot.DHCP) {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	s, _ = whole(t, open(t, "ec2: {Vpcs: [{VpcId: "+workshopVPC+", DhcpOptionsId: dopt-gone}]}\n"))
	if got := slices.Collect(maps.Keys(s.Missing[snapshot.DHCP])); !slices.Equal(got, []string{"dopt-gone"}) {
		t.Errorf("missing options %q, want dopt-gone", got)
	}
}

// TestTransitGatewayOfAnotherAccount holds that its route table is not asked
// for, and its owner.
func TestTransitGatewayOfAnotherAccount(t *testing.T) {
	change := strings.Replace(crowded, "TransitGatewayAttachmentId: tgw-attach-01, TransitGatewayId: tgw-01,",
		`TransitGatewayAttachmentId: tgw-attach-01, TransitGatewayId: tgw-01, TransitGatewayOwnerId: "999900001111",`, 1)
	s, _ := whole(t, open(t, change))
	f, lacks := s.Lacks(snapshot.TransitGateways, "tgw-rtb-01")
	if !lacks || !strings.Contains(f.Message, "999900001111") || len(s.TransitRoutes) != 0 || !s.Has(snapshot.TransitGateways) {
		t.Errorf("lacks %t %+v, routes %+v", lacks, f, s.TransitRoutes)
	}
}

// reader is the real reader with real SDK clients, against handlers that
// answer over the real wire protocols.
func reader(t *testing.T, register func(*wire.Server)) (*Reader, *wire.Server) {
	t.Helper()
	return faulty(t, register, wire.NoFaults{})
}

// faulty is a reader whose calls meet faults.
func faulty(t *testing.T, register func(*wire.Server), faults wire.Faults) (*Reader, *wire.Server) {
	t.Helper()
	// The clients here try once; on a busy machine a millisecond is too short.
	s, err := wire.New(wire.Config{AnyIDs: true, MinLatency: 5 * time.Millisecond, Faults: faults})
	expect.OK(t, err)
	register(s)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return New(aws.Config{
		Region:       "us-west-2",
		BaseEndpoint: aws.String(h.URL),
		Credentials:  credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		Retryer:      func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 1) },
	}), s
}

// answer makes a handler of a function of the input alone.
func answer[I, O any](f func(*I) (*O, error)) func(context.Context, *wire.Call, *I) (*O, error) {
	return func(_ context.Context, _ *wire.Call, in *I) (*O, error) { return f(in) }
}

// sourceOf is the reader's source of that name.
func sourceOf(r *Reader, name snapshot.Source) source.Source {
	list := r.sources(nil)
	return list[slices.IndexFunc(list, func(s source.Source) bool { return s.Name == name })]
}

// refusedWorld is an account with settings that refuse launches, and a group whose launch
// ended with a status.
func refusedWorld(status string) string {
	return `
ec2:
  AllowedImagesSettings: {State: enabled, ManagedBy: declarative-policy, ImageCriteria: [{ImageProviders: [amazon]}]}
  InstanceMetadataDefaults: {HttpTokens: optional, HttpTokensEnforced: enabled, ManagedBy: account, ManagedExceptionMessage: ask}
autoscaling:
  Activities:
    - {ActivityId: a-1, AutoScalingGroupName: eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f, StatusCode: ` + status + `, Description: "Launching a new EC2 instance.  Status Reason: x. Launching EC2 instance failed.", StatusMessage: "x. Launching EC2 instance failed.", Cause: c, StartTime: 2026-11-20T14:58:00Z, Details: "{}"}
`
}

// TestSettingsOfRefusedLaunches holds that the settings are read where a launch was refused,
// and that they take no call elsewhere.
func TestSettingsOfRefusedLaunches(t *testing.T) {
	for status, calls := range map[string]int{"Failed": 2, "Successful": 0} {
		p := open(t, refusedWorld(status))
		groups, failed := p.Groups(t.Context(), []string{"eks-default-2ac4941f-d51b-87e0-30e3-fe83f3d78e7f"})
		if failed != nil {
			t.Fatal(failed)
		}
		before := len(p.aws.Calls())
		s, err := p.Read(t.Context(), Query{Account: "111122223333", Region: "us-west-2", Time: p.world.Now(), Cluster: "eks-workshop", Groups: groups, Sources: []snapshot.Source{
			snapshot.Activities, snapshot.AllowedImagesOf, snapshot.MetadataDefaultsOf,
		}})
		if err != nil || !s.Has(snapshot.AllowedImagesOf) || !s.Has(snapshot.MetadataDefaultsOf) {
			t.Fatal(err, s.Failures)
		}
		n := 0
		for _, c := range p.aws.Calls()[before:] {
			if c.Action() == "ec2:GetAllowedImagesSettings" || c.Action() == "ec2:GetInstanceMetadataDefaults" {
				n++
			}
		}
		gathertest.Same(t, "calls after a launch that "+status, n, calls)
		if calls == 0 {
			gathertest.Same(t, "settings", s.AllowedImages, (*snapshot.AllowedImages)(nil))
			continue
		}
		gathertest.Same(t, "allowed images", s.AllowedImages, &snapshot.AllowedImages{State: "enabled", ManagedBy: "declarative-policy", Providers: []string{"amazon"}})
		gathertest.Same(t, "metadata defaults", s.MetadataDefaults, &snapshot.MetadataDefaults{Metadata: snapshot.Metadata{Tokens: "optional"}, Enforced: true, ManagedBy: "account", Message: "ask"})
	}
}

// one is the source of that name, without its client.
func one(name snapshot.Source) source.Source { return oneOf(catalogue(), name) }

func oneOf(list []source.Source, name snapshot.Source) source.Source {
	return list[slices.IndexFunc(list, func(s source.Source) bool { return s.Name == name })]
}

// actions are the calls of all sources.
func actions() []string {
	var all []string
	for _, s := range catalogue() {
		all = append(all, s.Actions()...)
	}
	return source.Distinct(all)
}

// TestSourcesAreWhole holds what every source must have: a name of its own,
// which snapshot knows; calls or rights in the cluster, and not both; names of
// sources that there are; and a way to be read, but for what a query brings.
func TestSourcesAreWhole(t *testing.T) {
	names := source.Each(catalogue(), func(s source.Source) snapshot.Source { return s.Name })
	if diff := cmp.Diff(slices.Sorted(slices.Values(snapshot.All())), slices.Sorted(slices.Values(names))); diff != "" {
		t.Errorf("sources (-package snapshot +here):\n%s", diff)
	}
	brought := []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.Instances}
	for _, s := range catalogue() {
		if (len(s.Calls) > 0) == (len(s.Kube) > 0) {
			t.Errorf("%s has %d calls and %d rights in the cluster, want either", s.Name, len(s.Calls), len(s.Kube))
		}
		for _, other := range slices.Concat(s.Needs, s.After) {
			if !slices.Contains(snapshot.All(), other) || other == s.Name {
				t.Errorf("%s comes after %q, which is none", s.Name, other)
			}
		}
		if (s.Read == nil) != slices.Contains(brought, s.Name) {
			t.Errorf("%s can be read: %t", s.Name, s.Read != nil)
		}
	}
}

// TestCallsThatAreMade holds that what a source says it calls is what it calls:
// in a world in which there is one of everything, a look at it, at what it
// needs and at what tells it more takes those calls and rights, and no others.
func TestCallsThatAreMade(t *testing.T) {
	file := load(t, crowded)
	refuseLaunches(file)
	for _, s := range catalogue() {
		if s.Read == nil {
			continue
		}
		t.Run(string(s.Name), func(t *testing.T) {
			p := start(t, file, wire.NoFaults{}, "")
			updateNodegroup(t, p)
			list := closure(s)
			var want []string
			for _, o := range list {
				if o.Read != nil {
					want = append(append(want, o.Actions()...), source.Each(o.Kube, requested)...)
				}
			}
			// The query says that all nodegroups are meant.
			if slices.Contains(want, "eks:DescribeNodegroup") {
				want = append(want, ListNodegroups().Actions...)
			}
			q := broughtBy(t, p)
			q.Sources = source.Each(list, func(o source.Source) snapshot.Source { return o.Name })
			before := len(p.aws.Calls())
			if _, err := p.Read(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(p.asked)
			for _, c := range p.aws.Calls()[before:] {
				if c.Action() != "eks:DescribeCluster" {
					got = append(got, c.Action())
				}
			}
			if diff := cmp.Diff(source.Distinct(want), source.Distinct(got)); diff != "" {
				t.Errorf("calls (-said +made):\n%s", diff)
			}
		})
	}
}

// refuseLaunches has a launch of each group refused: settings are read where one was.
func refuseLaunches(file *worldfile.File) {
	for _, g := range file.AutoScaling.AutoScalingGroups {
		file.AutoScaling.Activities = append(file.AutoScaling.Activities, astypes.Activity{
			AutoScalingGroupName: g.AutoScalingGroupName, StatusCode: astypes.ScalingActivityStatusCodeFailed, StartTime: aws.Time(time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)),
			ActivityId: aws.String("a-" + *g.AutoScalingGroupName), Cause: aws.String("c"), Details: aws.String("{}"), Description: aws.String("Launching a new EC2 instance.  Status Reason: x"), StatusMessage: aws.String("x"),
		})
	}
}

// requested is a right as the simulated API records the request: "get
// configmaps/aws-auth".
func requested(r spec.KubeRule) string { return r.Verbs[0] + " " + r.Resources[0] }

// closure is a source with all that is read before it.
func closure(s source.Source) []source.Source {
	list := []source.Source{s}
	for i := 0; i < len(list); i++ {
		for _, name := range slices.Concat(list[i].Needs, list[i].After) {
			if !slices.ContainsFunc(list, func(o source.Source) bool { return o.Name == name }) {
				list = append(list, one(name))
			}
		}
	}
	return list
}

// TestRequestsAreAsBefore holds how a refused request to Kubernetes is named in
// messages.
func TestRequestsAreAsBefore(t *testing.T) {
	want := []string{
		"kubernetes: get configmap aws-auth in kube-system", "kubernetes: get daemonset aws-node in kube-system", "kubernetes: get serviceaccount aws-node in kube-system",
		"kubernetes: list certificatesigningrequests", "kubernetes: list ec2nodeclasses", "kubernetes: list eniconfigs", "kubernetes: list events", "kubernetes: list events in default",
		"kubernetes: list nodeclaims", "kubernetes: list nodeclasses", "kubernetes: list nodepools", "kubernetes: list nodes",
		"kubernetes: list persistentvolumeclaims", "kubernetes: list persistentvolumes", "kubernetes: list pods", "kubernetes: list pods in kube-system",
	}
	var got []string
	for _, r := range KubeRules(snapshot.All()...) {
		got = append(got, source.Request(r))
	}
	slices.Sort(got)
	expect.Same(t, "requests", got, want)
}

// TestOneActionIsNarrowedOneWay: a call that several sources make has the same
// resources for each.
func TestOneActionIsNarrowedOneWay(t *testing.T) {
	narrowed := map[string][]string{}
	for _, s := range catalogue() {
		for _, c := range s.Calls {
			if other, seen := narrowed[c.Action]; seen && !slices.Equal(other, c.Resources) {
				t.Errorf("%s is narrowed to %q and to %q", c.Action, other, c.Resources)
			}
			narrowed[c.Action] = c.Resources
		}
	}
}

// TestReadsAreNarrow holds that what can be narrowed to a resource is.
func TestReadsAreNarrow(t *testing.T) {
	const here = ":${Region}:${Account}:"
	want := []spec.Read{
		{Resources: []string{"arn:${Partition}:ec2" + here + "instance/*"}, Actions: []string{"ec2:DescribeInstanceAttribute", "ec2:GetConsoleOutput"}},
		{Resources: []string{"arn:${Partition}:ec2" + here + "transit-gateway-route-table/*"}, Actions: []string{"ec2:SearchTransitGatewayRoutes"}},
		{Resources: []string{"arn:${Partition}:ec2:${Region}:*:prefix-list/*"}, Actions: []string{"ec2:GetManagedPrefixListEntries"}},
		{Resources: []string{"arn:${Partition}:ec2:${Region}:*:vpc/*"}, Actions: []string{"ec2:DescribeVpcAttribute"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "access-entry/*/*/*/*/*"}, Actions: []string{"eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "addon/*/*/*"}, Actions: []string{"eks:DescribeAddon"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "cluster/*"}, Actions: []string{"eks:DescribeCluster", "eks:ListAccessEntries", "eks:ListAddons", "eks:ListPodIdentityAssociations"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "cluster/*", "arn:${Partition}:eks" + here + "nodegroup/*/*/*"}, Actions: []string{"eks:DescribeUpdate", "eks:ListUpdates"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "nodegroup/*/*/*"}, Actions: []string{"eks:DescribeNodegroup"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "podidentityassociation/*/*"}, Actions: []string{"eks:DescribePodIdentityAssociation"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}, Actions: []string{"iam:GetInstanceProfile"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:policy/*", "arn:${Partition}:iam::aws:policy/*"}, Actions: []string{"iam:GetPolicy", "iam:GetPolicyVersion"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}, Actions: []string{"iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"}},
		{Actions: []string{"route53:ListResourceRecordSets"}, Resources: []string{"arn:${Partition}:route53:::hostedzone/*"}},
		{Actions: []string{"route53resolver:ListFirewallDomains"}, Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-domain-list/*"}},
		{Actions: []string{"route53resolver:ListFirewallRules"}, Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-rule-group/*"}},
	}
	reads := Reads(snapshot.All()...)
	if len(reads) == 0 || !slices.Equal(reads[0].Resources, []string{"*"}) {
		t.Fatalf("the first is %+v, want what takes no resource", reads)
	}
	settings := []string{"ec2:GetSubnetCidrReservations", "ec2:GetAllowedImagesSettings", "ec2:GetInstanceMetadataDefaults"}
	for _, action := range reads[0].Actions {
		if !strings.HasPrefix(action, "ec2:Describe") && !slices.Contains(settings, action) && !strings.HasPrefix(action, "autoscaling:Describe") && !strings.HasPrefix(action, "route53resolver:List") && !strings.HasPrefix(action, "route53profiles:List") && action != "route53:ListHostedZonesByVPC" && !strings.HasPrefix(action, "arc-zonal-shift:List") {
			t.Errorf("%s is allowed of anything", action)
		}
	}
	expect.Same(t, "narrowed reads", reads[1:], want)
	for _, r := range append(reads, ListNodegroups(), ListClusters()) {
		for _, action := range r.Actions {
			if _, name, _ := strings.Cut(action, ":"); !strings.HasPrefix(name, "Describe") && !strings.HasPrefix(name, "List") && !strings.HasPrefix(name, "Get") && !strings.HasPrefix(name, "Search") {
				t.Errorf("%s does not look like a read", action)
			}
		}
	}
}

// TestSourcesBringWhatTheyNeed holds that a check that needs a source gets
// those, and their permissions, without which it cannot be read.
func TestSourcesBringWhatTheyNeed(t *testing.T) {
	got := JoinSources([]check.Check{{Needs: []snapshot.Source{snapshot.DHCP, snapshot.Roles}}})
	for _, want := range []snapshot.Source{snapshot.DHCP, snapshot.VPCs, snapshot.Roles, snapshot.Profiles, snapshot.Nodes} {
		if !slices.Contains(got, want) {
			t.Errorf("sources %q lack %q", got, want)
		}
	}
	// What another source would only add to is left to those who ask for it:
	// a function may have no rights in the cluster.
	if got := LaunchSources([]check.Check{{Needs: []snapshot.Source{snapshot.UserDataOf, snapshot.Consoles}}}); slices.ContainsFunc(got, func(s snapshot.Source) bool { return known(s).OfKubernetes() }) {
		t.Errorf("sources %q read Kubernetes, which nobody asked for", got)
	}
}

// TestOrder: nothing is read before what it needs, or what tells it more; and a
// look at everything has as many waves of calls as before there was an order to
// compute: five, and one without calls, for what was counted is reported.
func TestOrder(t *testing.T) {
	waves := source.Waves(catalogue())
	at := map[snapshot.Source]int{}
	for i, wave := range waves {
		for _, s := range wave {
			at[s.Name] = i
		}
	}
	for _, s := range catalogue() {
		for _, before := range slices.Concat(s.Needs, s.After) {
			if at[before] >= at[s.Name] {
				t.Errorf("%s is read no later than %s", s.Name, before)
			}
		}
	}
	if len(waves) > 6 || at[snapshot.Unattached] != at[snapshot.Usage]+1 || at[snapshot.CreatorsOf] != at[snapshot.Unattached]+1 {
		t.Errorf("%d waves: %v", len(waves), at)
	}
}

// TestWholeKubernetesAPI: what fails for all of an API is reported with the call by which the
// nodes are listed.
func TestWholeKubernetesAPI(t *testing.T) {
	expect.Equal(t, "the nodes are listed by", known(snapshot.Nodes).Call(), snapshot.WholeKubernetesAPI)
}
