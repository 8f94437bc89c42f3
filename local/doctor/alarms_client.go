package doctor

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsjson"
)

// cloudWatch calls CloudWatch. Members and bounds are those of botocore's model
// (cloudwatch/2010-08-01), by whose protocol JSON 1.0 it is asked: of the SDK's client,
// with its forty operations, one would be used.
type cloudWatch struct{ calls *awsjson.Client }

// newCloudWatch makes a client of what all AWS clients are made of. A page has at most
// 100 alarms, of which each is some kilobytes.
func newCloudWatch(cfg aws.Config) cloudWatch {
	return cloudWatch{awsjson.New(cfg, awsjson.Service{
		ID: "CloudWatch", Name: "monitoring", Target: "GraniteServiceVersion20100801.", Version: "1.0", MostBytes: 8 << 20,
	})}
}

// Alarms are the metric alarms whose names begin so: those are given where AlarmTypes is
// left out.
func (c cloudWatch) Alarms(ctx context.Context, prefix string) ([]Alarm, error) {
	in := struct {
		AlarmNamePrefix string
		MaxRecords      int
		NextToken       string `json:",omitempty"`
	}{prefix, 100, ""}
	var list []Alarm
	for {
		var out struct {
			MetricAlarms []struct {
				AlarmName, AlarmDescription                               string
				ActionsEnabled                                            bool
				AlarmActions, InsufficientDataActions                     []string
				StateValue, StateReason                                   string
				StateUpdatedTimestamp, AlarmConfigurationUpdatedTimestamp float64 // seconds since 1970
			}
			NextToken string
		}
		if err := c.calls.Call(ctx, "DescribeAlarms", "", in, &out); err != nil {
			return nil, err
		}
		for _, a := range out.MetricAlarms {
			list = append(list, Alarm{
				Name: a.AlarmName, Description: a.AlarmDescription, Enabled: a.ActionsEnabled, Actions: a.AlarmActions, SilentActions: a.InsufficientDataActions,
				State: a.StateValue, Reason: a.StateReason, Since: seconds(a.StateUpdatedTimestamp), Configured: seconds(a.AlarmConfigurationUpdatedTimestamp),
			})
		}
		if in.NextToken = out.NextToken; in.NextToken == "" {
			return list, nil
		}
	}
}

func seconds(since float64) time.Time { return time.UnixMilli(int64(since * 1000)) }
