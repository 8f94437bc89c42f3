// Package cloudwatch is the wire form of CloudWatch's DescribeAlarms (JSON 1.0, target
// GraniteServiceVersion20100801), as plain data: the service's own Go package is not
// among the dependencies. Members and values are those of botocore's model
// (cloudwatch/2010-08-01).
package cloudwatch

import (
	"encoding/json"
	"time"
)

// The states of an alarm (StateValue).
const (
	OK               = "OK"
	Alarm            = "ALARM"
	InsufficientData = "INSUFFICIENT_DATA"
)

// DescribeAlarmsInput asks for alarms. All fields may be left out.
type DescribeAlarmsInput struct {
	AlarmNamePrefix *string
	MaxRecords      *int32 // 1 to 100, 50 if it is left out
	NextToken       *string
}

// DescribeAlarmsOutput is a page of them.
type DescribeAlarmsOutput struct {
	MetricAlarms []MetricAlarm
	NextToken    *string
}

// MetricAlarm is an alarm.
type MetricAlarm struct {
	AlarmName, AlarmArn, AlarmDescription string
	ActionsEnabled                        bool
	AlarmActions, InsufficientDataActions []string
	StateValue, StateReason               string
	// Updated is when the state was, Configured when the alarm was.
	Updated, Configured time.Time
}

// MarshalJSON writes the answer as CloudWatch does: times are seconds since 1970.
func (o DescribeAlarmsOutput) MarshalJSON() ([]byte, error) {
	type alarm struct {
		AlarmName                          string
		AlarmArn                           string
		AlarmDescription                   string
		AlarmConfigurationUpdatedTimestamp float64
		ActionsEnabled                     bool
		OKActions                          []string
		AlarmActions                       []string
		InsufficientDataActions            []string
		StateValue                         string
		StateReason                        string
		StateUpdatedTimestamp              float64
	}
	out := struct {
		MetricAlarms    []alarm
		CompositeAlarms []alarm
		NextToken       *string `json:",omitempty"`
	}{MetricAlarms: []alarm{}, CompositeAlarms: []alarm{}, NextToken: o.NextToken}
	for _, a := range o.MetricAlarms {
		out.MetricAlarms = append(out.MetricAlarms, alarm{
			AlarmName: a.AlarmName, AlarmArn: a.AlarmArn, AlarmDescription: a.AlarmDescription, AlarmConfigurationUpdatedTimestamp: seconds(a.Configured), ActionsEnabled: a.ActionsEnabled,
			OKActions: []string{}, AlarmActions: append([]string{}, a.AlarmActions...), InsufficientDataActions: append([]string{}, a.InsufficientDataActions...),
			StateValue: a.StateValue, StateReason: a.StateReason, StateUpdatedTimestamp: seconds(a.Updated),
		})
	}
	return json.Marshal(out)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
