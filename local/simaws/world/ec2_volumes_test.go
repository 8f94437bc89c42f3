package world

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/worldfile"
)

func TestDescribeVolumesByFilter(t *testing.T) {
	w, _ := open(t, "zone")
	tests := map[string]struct {
		name, value string
		want        []string
	}{
		"the driver's tag": {"tag:ebs.csi.aws.com/cluster", "true", []string{"0de", "aaa", "001", "003"}},
		"a cluster's":      {"tag:kubernetes.io/cluster/eks-workshop", "owned", []string{"0de", "aaa", "003"}},
		"a tag's key":      {"tag-key", "kubernetes.io/created-for/pvc/name", []string{"0de", "aaa", "001", "003"}},
		"a zone":           {"availability-zone", "us-west-2d", []string{"002"}},
		"not attached":     {"status", "available", []string{"001", "002", "003"}},
		"attached":         {"attachment.instance-id", "i-0d0000000000000c3", []string{"0de"}},
		"an id":            {"volume-id", redisVolume, []string{"0de"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{Filters: []ec2types.Filter{{Name: aws.String(tt.name), Values: []string{tt.value}}}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range out.Volumes {
				got = append(got, (*v.VolumeId)[len(*v.VolumeId)-3:])
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
	out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{MaxResults: aws.Int32(5)})
	if err != nil || len(out.Volumes) != 5 || out.NextToken != nil {
		t.Errorf("a page of five: %d, %v", len(out.Volumes), err)
	}
}

func TestVolumesAttachInTheirZone(t *testing.T) {
	w, _ := open(t, "zone")
	attach := func(volume, instance string) string {
		_, err := w.EC2().AttachVolume(&ec2.AttachVolumeInput{VolumeId: aws.String(volume), InstanceId: aws.String(instance), Device: aws.String("/dev/xvdf")})
		return code(t, err)
	}
	got := []string{
		attach("vol-0c5000000000ff003", "i-0d0000000000000a1"), attach(redisVolume, "i-0d0000000000000c3"), attach("vol-0123456789abcdef0", "i-0d0000000000000c3"),
		attach("vol-0c5000000000ff003", "i-0123456789abcdef0"), attach("vol-0c5000000000ff003", "i-0d0000000000000c3"),
	}
	if diff := cmp.Diff(got, []string{"InvalidVolume.ZoneMismatch", "VolumeInUse", "InvalidVolume.NotFound", "InvalidInstanceID.NotFound", ""}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if _, err := w.EC2().DetachVolume(&ec2.DetachVolumeInput{VolumeId: aws.String("vol-0c5000000000ff003")}); err != nil {
		t.Error(err)
	}
	if _, err := w.EC2().DetachVolume(&ec2.DetachVolumeInput{VolumeId: aws.String("vol-0c5000000000ff003")}); code(t, err) != "IncorrectState" {
		t.Errorf("detached twice: %v", err)
	}
	f, err := worldfile.Load("../../worlds/zone.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f.EC2.Volumes[0].Attachments = []ec2types.VolumeAttachment{{InstanceId: aws.String("i-0d0000000000000a1")}}
	if _, err := New(f, Options{}); err == nil {
		t.Error("a world with a volume attached in another zone was taken")
	}
}

func TestZoneFaults(t *testing.T) {
	w, _ := openWith(t, "zone", func(f *worldfile.File) {
		f.EC2.ZoneFaults = []worldfile.ZoneFault{{Zone: "us-west-2c", State: "impaired", Messages: []string{"We are investigating increased error rates."}, Launches: "InsufficientInstanceCapacity", From: time.Minute, For: time.Hour}}
	})
	states := func() []string {
		out, err := w.EC2().DescribeAvailabilityZones(&ec2.DescribeAvailabilityZonesInput{})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, z := range out.AvailabilityZones {
			text := *z.ZoneName + " " + *z.ZoneId + " " + string(z.State)
			for _, m := range z.Messages {
				text += ": " + *m.Message
			}
			list = append(list, text)
		}
		slices.Sort(list)
		return list
	}
	well := []string{"us-west-2a usw2-az1 available", "us-west-2b usw2-az2 available", "us-west-2c usw2-az3 available", "us-west-2d usw2-az4 available"}
	if diff := cmp.Diff(states(), well); diff != "" {
		t.Errorf("before (-got +want):\n%s", diff)
	}
	w.Advance(w.Start().Add(2 * time.Minute))
	if got := states()[2]; got != "us-west-2c usw2-az3 impaired: We are investigating increased error rates." {
		t.Errorf("got %s", got)
	}
	_, err := lifecycle.Launch(w.State, lifecycle.InstanceSpec{Subnet: "subnet-0b20000000000000c", InstanceType: "m5.large"})
	if code(t, err) != "InsufficientInstanceCapacity" {
		t.Errorf("a launch there: %v", err)
	}
	w.Advance(w.Start().Add(2 * time.Hour))
	if diff := cmp.Diff(states(), well); diff != "" {
		t.Errorf("after (-got +want):\n%s", diff)
	}
}
