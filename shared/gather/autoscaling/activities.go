package autoscaling

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Activities describes scaling activities.
type Activities interface {
	DescribeScalingActivities(context.Context, *autoscaling.DescribeScalingActivitiesInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeScalingActivitiesOutput, error)
}

// activities are the newest scaling activities of the groups.
func activities(api Activities) source.Source {
	return source.Source{
		Name:  snapshot.Activities,
		Calls: []source.Call{{Action: "autoscaling:DescribeScalingActivities"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Activity, error) {
			return readActivities(ctx, api, namesOf(v.Snapshot.Groups))
		}, nil, func(s *snapshot.Snapshot) *[]snapshot.Activity { return &s.Activities }),
	}
}

func readActivities(ctx context.Context, api Activities, groups []string) ([]snapshot.Activity, error) {
	var all []snapshot.Activity
	for _, name := range groups {
		out, err := api.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
			AutoScalingGroupName: aws.String(name), MaxRecords: aws.Int32(newest),
		})
		if err != nil {
			return nil, fmt.Errorf("describe the scaling activities of %s: %w", name, err)
		}
		all = append(all, source.Each(out.Activities, activity)...)
	}
	return all, nil
}

// instanceIn finds the id in "Launching a new EC2 instance: i-0ef3c1b2a4d5968f1":
// an activity names its instance nowhere else.
var instanceIn = regexp.MustCompile(`\bi-[0-9a-f]{8,17}\b`)

func activity(a types.Activity) snapshot.Activity {
	out := snapshot.Activity{
		ID:       aws.ToString(a.ActivityId),
		Group:    aws.ToString(a.AutoScalingGroupName),
		Status:   string(a.StatusCode),
		Message:  aws.ToString(a.StatusMessage),
		Cause:    aws.ToString(a.Cause),
		About:    aws.ToString(a.Description),
		Started:  aws.ToTime(a.StartTime),
		Ended:    aws.ToTime(a.EndTime),
		Instance: instanceIn.FindString(aws.ToString(a.Description)),
	}
	// Details is JSON in a string, with members that are no strings.
	var details map[string]json.RawMessage
	if json.Unmarshal([]byte(aws.ToString(a.Details)), &details) == nil {
		_ = json.Unmarshal(details["Subnet ID"], &out.Subnet)
		_ = json.Unmarshal(details["Availability Zone"], &out.Zone)
	}
	return out
}

func namesOf(list []snapshot.Group) []string {
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}
