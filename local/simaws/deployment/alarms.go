package deployment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudwatch"
)

// alarmState is a state that somebody gave an alarm.
type alarmState struct {
	value, reason string
	at            time.Time
}

// Ring puts an alarm (by its name) into a state, since a time.
func (a *API) Ring(name, state, reason string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rings[name] = alarmState{state, reason, at}
}

// Mute takes the actions of an alarm (by its name) away.
func (a *API) Mute(name string) { a.set(a.mute, name) }

// DescribeAlarms lists alarms by name: CloudWatch API reference, DescribeAlarms. At most
// 100 are on a page, 50 if nothing is said.
func (a *API) DescribeAlarms(in *cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(a.template.Alarms), func(x template.Alarm) bool {
		return a.deleted[x.ARN] || !strings.HasPrefix(x.Name, aws.ToString(in.AlarmNamePrefix))
	})
	slices.SortFunc(list, func(x, y template.Alarm) int { return strings.Compare(x.Name, y.Name) })
	begin, size := 0, 50
	if in.MaxRecords != nil {
		if size = int(*in.MaxRecords); size < 1 || size > 100 {
			return nil, wire.Errorf("ValidationError", "1 validation error detected: Value '%d' at 'maxRecords' failed to satisfy constraint: Member must have value between 1 and 100", size)
		}
	}
	if in.NextToken != nil {
		var err error
		if begin, err = strconv.Atoi(*in.NextToken); err != nil || begin < 0 || begin > len(list) {
			return nil, wire.Errorf("InvalidNextToken", "The next token specified is invalid.")
		}
	}
	out := &cloudwatch.DescribeAlarmsOutput{}
	for _, x := range list[begin:min(begin+size, len(list))] {
		out.MetricAlarms = append(out.MetricAlarms, a.alarm(x))
	}
	if begin+size < len(list) {
		out.NextToken = aws.String(fmt.Sprint(begin + size))
	}
	return out, nil
}

func (a *API) alarm(x template.Alarm) cloudwatch.MetricAlarm {
	state, rings := a.rings[x.Name]
	if !rings {
		state = alarmState{cloudwatch.OK, "Threshold not crossed", a.made}
	}
	out := cloudwatch.MetricAlarm{
		AlarmName: x.Name, AlarmArn: x.ARN, AlarmDescription: x.Description, ActionsEnabled: x.Enabled && !a.disabled[x.ARN],
		AlarmActions: x.Actions, InsufficientDataActions: x.SilentActions, StateValue: state.value, StateReason: state.reason, Updated: state.at, Configured: a.made,
	}
	if a.mute[x.Name] {
		out.AlarmActions, out.InsufficientDataActions = nil, nil
	}
	return out
}
