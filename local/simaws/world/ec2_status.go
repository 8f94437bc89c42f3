package world

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
)

// DescribeInstanceStatus shows the status checks of running instances, or of
// all where the caller asks for all.
func (s EC2) DescribeInstanceStatus(in *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error) {
	defer s.w.enter()()
	running := newTable[ec2types.Instance]()
	for _, v := range s.w.instances.all() {
		if aws.ToBool(in.IncludeAllInstances) || v.State.Name == ec2types.InstanceStateNameRunning {
			running.put(*v.InstanceId, v)
		}
	}
	for _, id := range in.InstanceIds {
		if s.w.instances.get(id) == nil {
			return nil, instanceMissing([]string{id})
		}
	}
	ids := in.InstanceIds
	if len(ids) > 0 {
		// An id that is not running is not an error; it is only not shown.
		asked := newTable[ec2types.Instance]()
		for _, id := range ids {
			if v := running.get(id); v != nil {
				asked.put(id, v)
			}
		}
		if in.MaxResults != nil {
			return nil, wire.Errorf("InvalidParameterCombination", "The parameter instancesSet cannot be used with the parameter maxResults")
		}
		running = asked
	}
	list, next, err := selection[ec2types.Instance]{
		table: running, id: func(v *ec2types.Instance) *string { return v.InstanceId }, filters: in.Filters,
		hidden: func(v *ec2types.Instance) bool {
			return len(ids) == 0 && s.w.hides(v.Operator, in.IncludeManagedResources)
		},
		known: operatorFilters(filters[ec2types.Instance]{
			"availability-zone":      func(v *ec2types.Instance) []string { return one(v.Placement.AvailabilityZone) },
			"instance-state-name":    func(v *ec2types.Instance) []string { return []string{string(v.State.Name)} },
			"instance-status.status": func(v *ec2types.Instance) []string { return []string{string(s.w.checks(v))} },
			"system-status.status":   func(v *ec2types.Instance) []string { return []string{string(s.w.checks(v))} },
		}, func(v *ec2types.Instance) *ec2types.OperatorResponse { return v.Operator }),
		size: in.MaxResults, token: in.NextToken, min: ec2MinPage, max: ec2MaxPage,
	}.run()
	if err != nil {
		return nil, err
	}
	out := &ec2.DescribeInstanceStatusOutput{NextToken: next}
	for _, v := range list {
		if told, ok := s.w.told(v); ok {
			out.InstanceStatuses = append(out.InstanceStatuses, told)
			continue
		}
		status := s.w.checks(v)
		detail := ec2types.InstanceStatusDetails{Name: ec2types.StatusNameReachability, Status: ec2types.StatusTypePassed}
		if status == ec2types.SummaryStatusInitializing {
			detail.Status = ec2types.StatusTypeInitializing
		}
		summary := func() *ec2types.InstanceStatusSummary {
			return &ec2types.InstanceStatusSummary{Status: status, Details: []ec2types.InstanceStatusDetails{detail}}
		}
		out.InstanceStatuses = append(out.InstanceStatuses, ec2types.InstanceStatus{
			InstanceId: clone(v.InstanceId), InstanceState: clone(v.State), AvailabilityZone: clone(v.Placement.AvailabilityZone),
			InstanceStatus: summary(), SystemStatus: summary(), Operator: s.w.operatorShown(v.Operator),
		})
	}
	return out, nil
}

func (w *World) checks(v *ec2types.Instance) ec2types.SummaryStatus {
	switch {
	case v.State.Name != ec2types.InstanceStateNameRunning:
		return ec2types.SummaryStatusNotApplicable
	case w.now.Sub(*v.LaunchTime) < statusCheckTime:
		return ec2types.SummaryStatusInitializing
	}
	return ec2types.SummaryStatusOk
}

// told is the status of an instance that the world's file lists. EC2 checks
// running instances only; their events it shows in any state.
func (w *World) told(v *ec2types.Instance) (ec2types.InstanceStatus, bool) {
	for _, listed := range w.file.EC2.InstanceStatuses {
		if aws.ToString(listed.InstanceId) != *v.InstanceId {
			continue
		}
		out := clone(listed)
		out.Operator = w.operatorShown(v.Operator)
		out.InstanceState, out.AvailabilityZone = clone(v.State), clone(v.Placement.AvailabilityZone)
		for _, of := range []**ec2types.InstanceStatusSummary{&out.InstanceStatus, &out.SystemStatus} {
			if *of == nil || v.State.Name != ec2types.InstanceStateNameRunning {
				*of = &ec2types.InstanceStatusSummary{Status: w.checks(v)}
			}
		}
		return out, true
	}
	return ec2types.InstanceStatus{}, false
}
