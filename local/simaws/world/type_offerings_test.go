package world

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/lifecycle"
)

// TestTypeOfferings holds that a zone offers what the world does not take away, that
// a region offers what any of its zones does, and that a launch where the type is not
// offered is refused as EC2 refuses it.
func TestTypeOfferings(t *testing.T) {
	w, _ := open(t, "route")
	w.State.File.EC2.NotOffered = map[string][]string{"us-west-2c": {"m5.large"}}
	list := func(by ec2types.LocationType) string {
		out, err := w.EC2().DescribeInstanceTypeOfferings(&ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: by, Filters: []ec2types.Filter{{Name: aws.String("instance-type"), Values: []string{"m5.large"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var zones []string
		for _, o := range out.InstanceTypeOfferings {
			zones = append(zones, *o.Location)
		}
		return strings.Join(zones, " ")
	}
	for by, want := range map[ec2types.LocationType]string{
		"": "us-west-2", ec2types.LocationTypeAvailabilityZone: "us-west-2a us-west-2b", ec2types.LocationTypeAvailabilityZoneId: "usw2-az1 usw2-az2",
	} {
		if got := list(by); got != want {
			t.Errorf("by %q: got %s, want %s", by, got, want)
		}
	}
	_, err := lifecycle.Launch(w.State, lifecycle.InstanceSpec{Subnet: "subnet-0b20000000000000c", InstanceType: "m5.large"})
	if code(t, err) != "Unsupported" || !strings.Contains(err.Error(), "choosing us-west-2a, us-west-2b.") {
		t.Errorf("a launch there: %v", err)
	}
}
