package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/eks"
)

// What is empty is not there: a time that was not set, a cluster without a
// name.
func TestEmptyIsAbsent(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"autoscaling-describe-scaling-activities.json": `{"Activities": [{"ActivityId": "a", "StartTime": "2026-11-20T14:58:10Z", "EndTime": ""}]}`,
		"eks-list-clusters.json":                       `{"clusters": ["", "prod"]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.API().DescribeScalingActivities(&autoscaling.DescribeScalingActivitiesInput{})
	if err != nil || len(out.Activities) != 1 || out.Activities[0].EndTime != nil || out.Activities[0].StartTime == nil {
		t.Errorf("activities %+v, %v; want one that has begun and not ended", out, err)
	}
	list, err := c.API().ListClusters(&eks.ListClustersInput{})
	if err != nil || len(list.Clusters) != 1 || list.Clusters[0] != "prod" {
		t.Errorf("clusters %+v, %v; want prod alone", list, err)
	}
}
