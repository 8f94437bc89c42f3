package template

import (
	"encoding/json"
	"time"
)

// target is a target as rules and schedules write it.
type target struct {
	Arn, Id, Input, InputPath, RoleArn string
	InputTransformer                   *struct {
		InputPathsMap map[string]string
		InputTemplate string
	}
	DeadLetterConfig struct{ Arn string }
	RetryPolicy      struct{ MaximumRetryAttempts, MaximumEventAgeInSeconds *whole }
	SqsParameters    struct{ MessageGroupId string }
	// EventBridgeParameters is for schedules only.
	EventBridgeParameters struct{ DetailType, Source string }
}

func (x target) read() Target {
	out := Target{
		ID: x.Id, ARN: x.Arn, Input: x.Input, InputPath: x.InputPath, RoleARN: x.RoleArn,
		DeadLetterARN: x.DeadLetterConfig.Arn, MessageGroupID: x.SqsParameters.MessageGroupId,
		MaxAttempts: number(x.RetryPolicy.MaximumRetryAttempts, -1), MaxAge: seconds(x.RetryPolicy.MaximumEventAgeInSeconds, 0),
		DetailType: x.EventBridgeParameters.DetailType, Source: x.EventBridgeParameters.Source,
	}
	if x.InputTransformer != nil {
		out.InputTransformer = &InputTransformer{Paths: x.InputTransformer.InputPathsMap, Template: x.InputTransformer.InputTemplate}
	}
	return out
}

func (t *Template) addRule(id string, n named, properties map[string]any) error {
	var p struct {
		Name, Description, EventBusName, ScheduleExpression, State, RoleArn string
		EventPattern                                                        json.RawMessage
		Targets                                                             []target
		Tags                                                                inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	rule := Rule{LogicalID: id, Name: n.name, ARN: n.arn, Bus: "default", Pattern: p.EventPattern, Schedule: p.ScheduleExpression}
	if p.EventBusName != "" {
		rule.Bus = busName(p.EventBusName)
	}
	switch p.State {
	case "", "ENABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS":
		rule.Enabled = true
	case "DISABLED":
	default:
		return place{id, "Properties.State"}.refuse("%q is not understood", p.State)
	}
	if len(p.EventPattern) == 0 && p.ScheduleExpression == "" {
		return place{id, "Properties"}.refuse("a rule needs an EventPattern or a ScheduleExpression")
	}
	if p.ScheduleExpression != "" && rule.Bus != "default" {
		return place{id, "Properties.ScheduleExpression"}.refuse("schedules are for the default bus only")
	}
	if len(p.Targets) > 5 {
		return place{id, "Properties.Targets"}.refuse("%d targets; a rule may have 5", len(p.Targets))
	}
	for _, x := range p.Targets {
		rule.Targets = append(rule.Targets, x.read())
	}
	t.Rules = append(t.Rules, rule)
	return nil
}

func (t *Template) addSchedule(id string, n named, properties map[string]any) error {
	var p struct {
		Name, Description, GroupName, ScheduleExpression, ScheduleExpressionTimezone, State, StartDate, EndDate, KmsKeyArn string

		FlexibleTimeWindow inert
		Target             target
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	s := Schedule{
		LogicalID: id, Name: n.name, ARN: n.arn, Group: "default", Expression: p.ScheduleExpression,
		Timezone: p.ScheduleExpressionTimezone, Enabled: p.State != "DISABLED", Target: p.Target.read(),
	}
	if p.GroupName != "" {
		s.Group = p.GroupName
	}
	for _, d := range []struct {
		name, text string
		into       *time.Time
	}{{"StartDate", p.StartDate, &s.Start}, {"EndDate", p.EndDate, &s.End}} {
		if d.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, d.text)
		if err != nil {
			return place{id, "Properties." + d.name}.refuse("%q is not a time", d.text)
		}
		*d.into = at
	}
	t.Schedules = append(t.Schedules, s)
	return nil
}
