package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rollcall/shared/spec"
)

// Alarms is what it takes of CloudWatch.
type Alarms interface {
	// Alarms are the metric alarms whose names begin so.
	Alarms(ctx context.Context, prefix string) ([]Alarm, error)
}

// Alarm is an alarm, with the members of CloudWatch's MetricAlarm.
type Alarm struct {
	Name, Description string
	Enabled           bool     // its actions
	Actions           []string // in ALARM
	SilentActions     []string // in INSUFFICIENT_DATA
	State, Reason     string
	// Since is how long it is in its state, Configured when it was changed last.
	Since, Configured time.Time
}

// alarmIDs are the logical ids with which the stack's alarms begin (infra/alarms.go).
func alarmIDs(there []functionOf) []string {
	ids := []string{"FunctionsFail", "DeadLetters", "QueuesLate"}
	for _, f := range there {
		if f.spec.Queue != nil && f.spec.Queue.Resource == spec.JoinQueue {
			ids = append(ids, "Silent")
		}
		for _, a := range f.spec.Alarms {
			ids = append(ids, camel(f.spec.Name)+a.Metric)
		}
	}
	for i := range ids {
		ids[i] += "Alarm"
	}
	return ids
}

// alarms looks at the stack's alarms. CloudFormation makes their names of the stack's and
// the logical id.
func (c Clients) alarms(ctx context.Context, d Deployment, stack string, there []functionOf) []Finding {
	found, err := c.Alarms.Alarms(ctx, stack+"-")
	if err != nil {
		return []Finding{unseen("alarm", stack, "cloudwatch:DescribeAlarms", err)}
	}
	var list []Finding
	for _, id := range alarmIDs(there) {
		gone := true
		for _, a := range found {
			if strings.HasPrefix(a.Name, stack+"-"+id) {
				gone = false
				list = append(list, alarmState(a, d.Now))
			}
		}
		if gone {
			list = append(list, redeploy(Finding{Part: "alarm", Name: id, Says: "is not there: nobody is told when it should ring"}))
		}
	}
	return list
}

// firstFigures is how long an alarm may be without figures after it was made: three
// periods of five minutes, as infra makes it.
const firstFigures = 15 * time.Minute

// alarmState is how an alarm is: who would not be told is worse than that it rings.
func alarmState(a Alarm, now time.Time) Finding {
	f := Finding{Part: "alarm", Name: a.Name, State: Well, Says: "is quiet"}
	silent := len(a.SilentActions) > 0
	switch {
	case !a.Enabled:
		f.State, f.Says = Wrong, "its actions are disabled: nobody is told when it rings"
		f.Do, f.Command = "Enable them.", "aws cloudwatch enable-alarm-actions --alarm-names '"+a.Name+"'"
	case len(a.Actions) == 0 && !silent:
		return redeploy(Finding{Part: f.Part, Name: a.Name, Says: "has no actions: nobody is told when it rings"})
	case a.State == "ALARM", a.State == "INSUFFICIENT_DATA" && silent && now.Sub(a.Configured) >= firstFigures:
		// The one that watches for silence never comes into ALARM.
		f.State, f.Says = Wrong, fmt.Sprintf("rings since %s: %s", a.Since.UTC().Format("2006-01-02 15:04 UTC"), a.Reason)
		f.Do = "Do what its description says."
		if _, do, told := strings.Cut(a.Description, " Do: "); told {
			f.Do = strings.ToUpper(do[:1]) + do[1:]
		}
		f.Command = "aws cloudwatch describe-alarm-history --alarm-name '" + a.Name + "' --history-item-type StateUpdate"
	case a.State == "INSUFFICIENT_DATA" && silent:
		f.State, f.Says, f.Do = Unknown, "was made a moment ago, and has no figures yet", "Look again in a quarter of an hour."
	}
	return f
}
