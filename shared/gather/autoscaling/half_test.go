package autoscaling

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/shared/gather/gathertest"
)

func TestHollowAnswers(t *testing.T) {
	gathertest.Converts(t, group)
	gathertest.Converts(t, activity)
}

// TestNoVersion: a group that names none starts instances from the default.
func TestNoVersion(t *testing.T) {
	if got := group(astypes.AutoScalingGroup{LaunchTemplate: &astypes.LaunchTemplateSpecification{LaunchTemplateId: aws.String("lt-1")}}); got.Template.Version != "$Default" {
		t.Errorf("template %+v of a group that names no version", got.Template)
	}
}
