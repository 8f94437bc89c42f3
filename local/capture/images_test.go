package capture

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/local/platform/wire"
)

// TestImagesOfAnOwner: a capture holds the images that something names: that it has no
// other of an owner proves nothing.
func TestImagesOfAnOwner(t *testing.T) {
	a := opened(t, map[string]string{"ec2-describe-images.json": `{"Images": [{"ImageId": "ami-1", "OwnerId": "111122223333"}]}`}).API()
	var refused *wire.Error
	if _, err := a.DescribeImages(&ec2.DescribeImagesInput{Owners: []string{"self"}}); !errors.As(err, &refused) || refused.Code != NotCaptured {
		t.Errorf("those of an owner: %v", err)
	}
	if out, err := a.DescribeImages(&ec2.DescribeImagesInput{}); err != nil || len(out.Images) != 1 {
		t.Errorf("all: %+v, %v", out, err)
	}
}
