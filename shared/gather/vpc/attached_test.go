package vpc

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A gateway that lists the VPC is off it only where EC2 says so.
func TestInternetGatewayAttached(t *testing.T) {
	for state, want := range map[types.AttachmentStatus]int{
		"available": 1, "attached": 1, "": 1, "newer": 1, "attaching": 0, "detaching": 0, "detached": 0,
	} {
		got := internetGateway(types.InternetGateway{Attachments: []types.InternetGatewayAttachment{{State: state, VpcId: aws.String("vpc-1")}}})
		if len(got.Attached) != want {
			t.Errorf("state %q: attached to %q, want %d", state, got.Attached, want)
		}
	}
}
