package ec2

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// reserving has some reservations, and refuses a request for any other as EC2 does.
type reserving struct {
	ids   []string
	code  string
	calls int
}

func (r *reserving) DescribeCapacityReservations(_ context.Context, in *ec2.DescribeCapacityReservationsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error) {
	r.calls++
	out := &ec2.DescribeCapacityReservationsOutput{}
	for _, id := range in.CapacityReservationIds {
		if !slices.Contains(r.ids, id) {
			return nil, &smithy.GenericAPIError{Code: r.code}
		}
		out.CapacityReservations = append(out.CapacityReservations, types.CapacityReservation{CapacityReservationId: &id})
	}
	return out, nil
}

// One that is gone hides no other, and is itself not there; any other refusal is reported.
func TestReservationsThatAreGone(t *testing.T) {
	const gone = "InvalidCapacityReservationId.NotFound"
	for name, tt := range map[string]struct {
		of    []string
		code  string
		want  []string
		calls int
		fails bool
	}{
		"none is named": {[]string{"", "{{resolve:ssm:/cr}}"}, gone, nil, 0, false},
		"all there":     {[]string{"cr-1", "cr-2", "cr-1"}, gone, []string{"cr-1", "cr-2"}, 1, false},
		"one is gone":   {[]string{"cr-1", "cr-9", "cr-2"}, gone, []string{"cr-1", "cr-2"}, 4, false},
		"it is alone":   {[]string{"cr-9"}, gone, nil, 2, false},
		"denied":        {[]string{"cr-9"}, "UnauthorizedOperation", nil, 1, true},
	} {
		api := &reserving{ids: []string{"cr-1", "cr-2"}, code: tt.code}
		var templates []snapshot.LaunchTemplate
		for _, id := range tt.of {
			templates = append(templates, snapshot.LaunchTemplate{Reservation: id})
		}
		store, err := readReservations(t.Context(), api, templates)
		if (err != nil) != tt.fails || api.calls != tt.calls {
			t.Errorf("%s: %v, %d calls", name, err, api.calls)
		}
		if err != nil {
			continue
		}
		var s snapshot.Snapshot
		store(&s)
		var got []string
		for _, r := range s.CapacityReservations {
			got = append(got, r.ID)
		}
		expect.Same(t, name, got, tt.want)
	}
}

// TestWhatTypesAreChosenBy: the numbers are those of EC2's own answers for the types.
func TestWhatTypesAreChosenBy(t *testing.T) {
	for name, tt := range map[string]struct {
		info types.InstanceTypeInfo
		want snapshot.InstanceType
	}{
		"g5.xlarge": {types.InstanceTypeInfo{
			InstanceType: "g5.xlarge", MemoryInfo: &types.MemoryInfo{SizeInMiB: aws.Int64(16384)}, ProcessorInfo: &types.ProcessorInfo{Manufacturer: aws.String("AMD")},
			NetworkInfo:         &types.NetworkInfo{EncryptionInTransitSupported: aws.Bool(true)},
			InstanceStorageInfo: &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(250), NvmeSupport: types.EphemeralNvmeSupportRequired},
			EbsInfo:             &types.EbsInfo{EbsOptimizedSupport: types.EbsOptimizedSupportDefault, EbsOptimizedInfo: &types.EbsOptimizedInfo{MaximumBandwidthInMbps: aws.Int32(3500)}},
			GpuInfo:             &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Name: aws.String("A10G"), Manufacturer: aws.String("NVIDIA"), Count: aws.Int32(1), MemoryInfo: &types.GpuDeviceMemoryInfo{SizeInMiB: aws.Int32(24576)}}}},
		}, snapshot.InstanceType{MemoryMiB: 16384, CPUMaker: "AMD", LocalNVMeGB: 250, EBSMbps: 3500, EncryptsInTransit: true, GPU: snapshot.Device{Name: "A10G", Maker: "NVIDIA", Count: 1, MemoryMiB: 24576}}},
		"inf2.xlarge": {types.InstanceTypeInfo{
			InstanceType:             "inf2.xlarge",
			InferenceAcceleratorInfo: &types.InferenceAcceleratorInfo{Accelerators: []types.InferenceDeviceInfo{{Name: aws.String("Inferentia2"), Manufacturer: aws.String("AWS"), Count: aws.Int32(1)}}},
			EbsInfo:                  &types.EbsInfo{EbsOptimizedSupport: types.EbsOptimizedSupportSupported, EbsOptimizedInfo: &types.EbsOptimizedInfo{MaximumBandwidthInMbps: aws.Int32(1)}},
			InstanceStorageInfo:      &types.InstanceStorageInfo{TotalSizeInGB: aws.Int64(80), NvmeSupport: types.EphemeralNvmeSupportUnsupported},
		}, snapshot.InstanceType{Accelerator: snapshot.Device{Name: "Inferentia2", Maker: "AWS", Count: 1}}},
		"two kinds of GPUs": {types.InstanceTypeInfo{GpuInfo: &types.GpuInfo{Gpus: []types.GpuDeviceInfo{{Count: aws.Int32(1)}, {Count: aws.Int32(2)}}}}, snapshot.InstanceType{}},
	} {
		var got snapshot.InstanceType
		choices(tt.info, &got)
		expect.Same(t, name, got, tt.want)
	}
}

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, instance)
	gathertest.Converts(t, instanceType)
	gathertest.Converts(t, instanceStatus)
	gathertest.Converts(t, image)
	gathertest.Converts(t, launchTemplate)
}

// TestInstanceOfParts holds what an instance's interfaces and options tell.
func TestInstanceOfParts(t *testing.T) {
	nic := func(id string, card, device int32, ipv6 string) types.InstanceNetworkInterface {
		return types.InstanceNetworkInterface{NetworkInterfaceId: new(id), Attachment: &types.InstanceNetworkInterfaceAttachment{NetworkCardIndex: new(card), DeviceIndex: new(device)},
			Ipv6Addresses: []types.InstanceIpv6Address{{Ipv6Address: new(ipv6)}}}
	}
	adapter := func(n types.InstanceNetworkInterface, kind string, groups ...string) types.InstanceNetworkInterface {
		n.InterfaceType = new(kind)
		for _, id := range groups {
			n.Groups = append(n.Groups, types.GroupIdentifier{GroupId: new(id)})
		}
		return n
	}
	got := instance(types.Instance{
		NetworkInterfaces: []types.InstanceNetworkInterface{adapter(nic("eni-3", 1, 1, ""), "efa-only", "sg-2", "sg-1"), nic("eni-2", 0, 1, "2001:db8::2"), adapter(nic("eni-1", 0, 0, "2001:db8::1"), "efa", "sg-1"), adapter(nic("eni-4", 2, 1, ""), "interface", "sg-1")},
		Ipv6Address:       new("2001:db8::1"), SourceDestCheck: new(true), Platform: "windows", StateTransitionReason: new("Server.InternalError"),
		MetadataOptions: &types.InstanceMetadataOptionsResponse{HttpEndpoint: "disabled", HttpPutResponseHopLimit: new(int32(2)), HttpTokens: "required"},
		Tags:            []types.Tag{{Key: new("aws:ec2launchtemplate:id"), Value: new("lt-1")}, {Key: new("aws:ec2launchtemplate:version"), Value: new("7")}},
	})
	gathertest.Same(t, "interfaces", got.Interfaces, []string{"eni-1", "eni-2", "eni-3", "eni-4"})
	gathertest.Same(t, "adapters", got.EFAs, []snapshot.EFA{{ID: "eni-1", Groups: []string{"sg-1"}}, {ID: "eni-3", Groups: []string{"sg-1", "sg-2"}}})
	gathertest.Same(t, "template", got.Template, snapshot.TemplateRef{ID: "lt-1", Version: "7"})
	gathertest.Same(t, "metadata", got.Metadata, snapshot.Metadata{Endpoint: "disabled", HopLimit: 2, Tokens: "required"})
	if len(got.IPv6) != 2 || !got.Windows || !got.SourceCheck || got.Transition != "Server.InternalError" {
		t.Errorf("instance %+v", got)
	}
	if card := instanceType(types.InstanceTypeInfo{NetworkInfo: &types.NetworkInfo{MaximumNetworkInterfaces: new(int32(60)), DefaultNetworkCardIndex: new(int32(0)),
		NetworkCards: []types.NetworkCardInfo{{NetworkCardIndex: new(int32(0)), MaximumNetworkInterfaces: new(int32(15))}, {NetworkCardIndex: new(int32(1)), MaximumNetworkInterfaces: new(int32(45))}}}}); card.Interfaces != 15 {
		t.Errorf("%d interfaces, want the 15 of the default card", card.Interfaces)
	}
}

// An instance whose type EC2 left out does not keep the others' from being read.
func TestTypesOfHalfAnInstance(t *testing.T) {
	got := typesOf([]snapshot.Instance{{ID: "i-1"}, {ID: "i-2", Type: "m5.large"}, {ID: "i-3", Type: "m5.large"}}, []snapshot.Group{{Types: []string{"c5.large"}}})
	if len(got) != 1 || got[0] != "m5.large" {
		t.Errorf("types are %q, want m5.large alone", got)
	}
	if got := typesOf(nil, []snapshot.Group{{Types: []string{"m5.large", "c5.large"}}, {Types: []string{"c5.large"}}}); len(got) != 2 {
		t.Errorf("types are %q, want the two of the groups", got)
	}
}

// imagesAPI answers each question with one image, named by its first filter.
type imagesAPI struct{ asked []string }

var errAsked = errors.New("asked enough")

func (a *imagesAPI) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	text := strings.Join(in.Owners, "+")
	for _, f := range in.Filters {
		text += " " + aws.ToString(f.Name) + "=" + strings.Join(f.Values, "|")
	}
	if a.asked = append(a.asked, text); len(a.asked) > 4 {
		return nil, errAsked
	}
	return &ec2.DescribeImagesOutput{Images: []types.Image{{ImageId: aws.String("ami-" + in.Filters[0].Values[0])}}}, nil
}

// TestSelectImages: a term by name or tags is one question, with Karpenter's own owners.
func TestSelectImages(t *testing.T) {
	terms := []snapshot.SelectorTerm{
		{ID: "ami-0a"}, {Alias: "al2023@latest"}, {SSMParameter: "/golden"}, {Name: "mine-*"}, {Name: "theirs", Owner: "222233334444"},
		{Tags: map[string]string{"team": "web", "any": "*"}}, {Name: "both", Tags: map[string]string{"team": "web"}},
	}
	a := &imagesAPI{}
	selected, list, err := selectImages(t.Context(), a, terms)
	expect.OK(t, err)
	asked := []string{"self+amazon name=mine-*", "222233334444 name=theirs", "self+amazon tag-key=any tag:team=web", "self+amazon name=both tag:team=web"}
	expect.Same(t, "asked", a.asked, asked)
	want := []snapshot.SelectedImages{{Term: terms[3], Images: []string{"ami-mine-*"}}, {Term: terms[4], Images: []string{"ami-theirs"}}, {Term: terms[5], Images: []string{"ami-any"}}, {Term: terms[6], Images: []string{"ami-both"}}}
	if diff := cmp.Diff(want, selected); diff != "" || len(list) != 4 {
		t.Errorf("%d images, selected (-want +got):\n%s", len(list), diff)
	}
	if selected, list, err := selectImages(t.Context(), a, terms); !errors.Is(err, errAsked) || selected != nil || list != nil {
		t.Errorf("a failed question gives %v, %v, %v", selected, list, err)
	}
}
