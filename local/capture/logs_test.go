package capture

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudwatchlogs"
)

// TestLogs: the files are what `aws logs` prints.
func TestLogs(t *testing.T) {
	c := opened(t, map[string]string{
		"logs-describe-delivery-sources.json":                        `{"deliverySources": [{"name": "s", "resourceArns": ["cluster"], "logType": "AUTO_MODE_COMPUTE_LOGS", "tags": {}}]}`,
		"logs-describe-deliveries.json":                              `{"deliveries": [{"id": "1", "deliverySourceName": "s", "deliveryDestinationArn": "d", "deliveryDestinationType": "CWL"}]}`,
		"logs-describe-delivery-destinations.json":                   `{"deliveryDestinations": [{"arn": "d", "deliveryDestinationConfiguration": {"destinationResourceArn": "g"}}]}`,
		"logs-filter-log-events.__aws__vendedlogs__eks__v1%2E2.json": `{"events": [{"timestamp": 5, "message": "gpu-a 5"}, {"timestamp": 7, "message": "gpu-b 7"}, {"timestamp": 8, "message": "gpu-a 8"}, {"timestamp": 9, "message": "gpu-a 9"}], "searchedLogStreams": []}`,
	})
	const group = "/aws/vendedlogs/eks/v1.2"
	if diff := cmp.Diff([]string{group}, c.LogGroups()); diff != "" {
		t.Errorf("log groups (-want +got):\n%s", diff)
	}
	a := c.API()
	sources, err := a.DescribeDeliverySources(&cloudwatchlogs.ListInput{})
	want := cloudwatchlogs.DescribeDeliverySourcesOutput{DeliverySources: []cloudwatchlogs.DeliverySource{{Name: "s", ResourceArns: []string{"cluster"}, LogType: "AUTO_MODE_COMPUTE_LOGS"}}}
	if diff := cmp.Diff(want, sources); diff != "" || err != nil {
		t.Errorf("sources, %v (-want +got):\n%s", err, diff)
	}
	deliveries, err := a.DescribeDeliveries(&cloudwatchlogs.ListInput{})
	if err != nil || len(deliveries.Deliveries) != 1 || deliveries.Deliveries[0].DeliveryDestinationArn != "d" {
		t.Errorf("deliveries %+v, %v", deliveries, err)
	}
	destinations, err := a.DescribeDeliveryDestinations(&cloudwatchlogs.ListInput{})
	if err != nil || len(destinations.DeliveryDestinations) != 1 || destinations.DeliveryDestinations[0].DeliveryDestinationConfiguration.DestinationResourceArn != "g" {
		t.Errorf("destinations %+v, %v", destinations, err)
	}
	events, err := a.FilterLogEvents(&cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String(group), FilterPattern: aws.String(`?"gpu-a"`), StartTime: aws.Int64(6), EndTime: aws.Int64(8)})
	if diff := cmp.Diff([]cloudwatchlogs.LogEvent{{Timestamp: 8, Message: "gpu-a 8"}}, events.Events); diff != "" || err != nil {
		t.Errorf("events, %v (-want +got):\n%s", err, diff)
	}
	var refused *wire.Error
	if _, err := a.FilterLogEvents(&cloudwatchlogs.FilterLogEventsInput{LogGroupName: aws.String("other")}); !errors.As(err, &refused) || refused.Code != NotCaptured {
		t.Errorf("a group that nobody read: %v", err)
	}
	if _, err := opened(t, map[string]string{"eks-list-clusters.json": `{"clusters": ["prod"]}`}).API().DescribeDeliveries(&cloudwatchlogs.ListInput{}); !errors.As(err, &refused) || refused.Code != NotCaptured {
		t.Errorf("deliveries that nobody took along: %v", err)
	}
}
