package ec2

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// DescribeInstanceStatus shows the status checks of running instances, or of
// all where the caller asks for all.
func (s API) DescribeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	defer s.w.Enter()()
	running := table.New[ec2types.Instance]()
	for _, v := range s.w.Instances.All() {
		if aws.ToBool(in.IncludeAllInstances) || v.State.Name == ec2types.InstanceStateNameRunning {
			running.Put(*v.InstanceId, v)
		}
	}
	for _, id := range in.InstanceIds {
		if s.w.Instances.Get(id) == nil {
			return nil, instanceMissing([]string{id})
		}
	}
	ids := in.InstanceIds
	if len(ids) > 0 {
		// An id that is not running is not an error; it is only not shown.
		asked := table.New[ec2types.Instance]()
		for _, id := range ids {
			if v := running.Get(id); v != nil {
				asked.Put(id, v)
			}
		}
		if in.MaxResults != nil {
			return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
		}
		running = asked
	}
	list, next, err := table.Selection[ec2types.Instance]{
		Table: running, ID: func(v *ec2types.Instance) *string { return v.InstanceId }, Filters: in.Filters,
		Hidden: func(v *ec2types.Instance) bool {
			return len(ids) == 0 && hides(s.w, v.Operator, in.IncludeManagedResources)
		},
		Known: operatorFilters(table.Filters[ec2types.Instance]{
			"availability-zone":      func(v *ec2types.Instance) []string { return table.One(v.Placement.AvailabilityZone) },
			"instance-state-name":    func(v *ec2types.Instance) []string { return []string{string(v.State.Name)} },
			"instance-status.status": func(v *ec2types.Instance) []string { return []string{string(checks(s.w, v))} },
			"system-status.status":   func(v *ec2types.Instance) []string { return []string{string(checks(s.w, v))} },
		}, func(v *ec2types.Instance) *ec2types.OperatorResponse { return v.Operator }),
		Size: in.MaxResults, Token: in.NextToken, Min: ec2MinPage, Max: ec2MaxPage,
	}.Run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceStatusOutput{NextToken: next}
	for _, v := range list {
		if told, ok := told(s.w, v); ok {
			out.InstanceStatuses = append(out.InstanceStatuses, told)
			continue
		}
		status := checks(s.w, v)
		detail := ec2types.InstanceStatusDetails{Name: ec2types.StatusNameReachability, Status: ec2types.StatusTypePassed}
		if status == ec2types.SummaryStatusInitializing {
			detail.Status = ec2types.StatusTypeInitializing
		}
		summary := func() *ec2types.InstanceStatusSummary {
			return &ec2types.InstanceStatusSummary{Status: status, Details: []ec2types.InstanceStatusDetails{detail}}
		}
		out.InstanceStatuses = append(out.InstanceStatuses, ec2types.InstanceStatus{
			InstanceId: deepcopy.Of(v.InstanceId), InstanceState: deepcopy.Of(v.State), AvailabilityZone: deepcopy.Of(v.Placement.AvailabilityZone),
			InstanceStatus: summary(), SystemStatus: summary(), Operator: operatorShown(s.w, v.Operator),
		})
	}
	return out, nil
}

func checks(w *state.State, v *ec2types.Instance) ec2types.SummaryStatus {
	switch {
	case v.State.Name != ec2types.InstanceStateNameRunning:
		return ec2types.SummaryStatusNotApplicable
	case w.Now.Sub(*v.LaunchTime) < lifecycle.StatusCheckTime:
		return ec2types.SummaryStatusInitializing
	}
	return ec2types.SummaryStatusOk
}

// told is the status of an instance that the world's file lists. EC2 checks
// running instances only; their events it shows in any state.
func told(w *state.State, v *ec2types.Instance) (ec2types.InstanceStatus, bool) {
	for _, listed := range w.File.EC2.InstanceStatuses {
		if aws.ToString(listed.InstanceId) != *v.InstanceId {
			continue
		}
		out := deepcopy.Of(listed)
		out.Operator = operatorShown(w, v.Operator)
		out.InstanceState, out.AvailabilityZone = deepcopy.Of(v.State), deepcopy.Of(v.Placement.AvailabilityZone)
		for _, of := range []**ec2types.InstanceStatusSummary{&out.InstanceStatus, &out.SystemStatus} {
			if *of == nil || v.State.Name != ec2types.InstanceStateNameRunning {
				*of = &ec2types.InstanceStatusSummary{Status: checks(w, v)}
			}
		}
		return out, true
	}
	return ec2types.InstanceStatus{}, false
}
