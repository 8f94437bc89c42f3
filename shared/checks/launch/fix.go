package launch

import (
	"cmp"
	"fmt"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/node/activity"
)

// AWSCommand is an AWS CLI command in the snapshot's region.
func AWSCommand(a *facts.Attempts, service, operation string, args ...string) string {
	return command.AWS(a.S, service+" "+operation, args)
}

// showActivities shows what the group says of its launches, or the instance
// where there is no group.
func showActivities(a *facts.Attempts, f launchFault) string {
	name := f.groups()[0]
	if _, is := a.Groups[name]; !is {
		if ids := f.each(func(t facts.Attempt) string { return t.Instance }); len(ids) > 0 {
			return AWSCommand(a, "ec2", "describe-instances", "--instance-ids", ids[0])
		}
		if r := f.refused(); r != nil {
			return showCalls(a, *r)
		}
	}
	return AWSCommand(a, "autoscaling", "describe-scaling-activities", "--auto-scaling-group-name", name, "--max-items", "5")
}

// groupLink leads to the group's activities.
func groupLink(a *facts.Attempts, f launchFault) string {
	name := f.groups()[0]
	if _, is := a.Groups[name]; !is {
		if ids := f.each(func(t facts.Attempt) string { return t.Instance }); len(ids) > 0 {
			return link.EC2(a.S, "InstanceDetails:instanceId="+ids[0])
		}
		if f.refused() != nil {
			return link.Cluster(a.S)
		}
	}
	return link.AutoScalingGroup(a.S, name)
}

// quota is the quota that counts what a group launches, if it is one only.
func quota(a *facts.Attempts, t facts.Attempt, spot bool) (activity.Quota, bool) {
	var found activity.Quota
	for _, name := range a.Types(t) {
		q, ok := activity.QuotaOf(name, spot)
		if !ok || found.Code != "" && found != q {
			return activity.Quota{}, false
		}
		found = q
	}
	return found, found.Code != ""
}

// quotaCode is the code of that quota: one quota that is used up is one
// finding, however many groups it stops.
func quotaCode(spot bool) func(*facts.Attempts, facts.Attempt) string {
	return func(a *facts.Attempts, t facts.Attempt) string {
		q, _ := quota(a, t, spot)
		return q.Code
	}
}

// raiseQuota is the fix for a quota of vCPUs.
func raiseQuota(spot bool) func(*facts.Attempts, launchFault) finding.Fix {
	return func(a *facts.Attempts, f launchFault) finding.Fix {
		q, ok := quota(a, f.list[0], spot)
		kind := "Running On-Demand"
		if spot {
			kind = "Spot Instance Requests"
		}
		if !ok {
			return finding.Fix{
				Text:    fmt.Sprintf("Ask for a higher quota of the family (the command lists those with %q in their names), or allow types of another family.", kind),
				Command: AWSCommand(a, "service-quotas", "list-service-quotas", "--service-code", "ec2", "--query", fmt.Sprintf("Quotas[?contains(QuotaName,`%s`)].[QuotaCode,QuotaName,Value]", kind), "--output", "table"),
				Console: fmt.Sprintf("%s/servicequotas/home/services/ec2/quotas?region=%s", link.Host(a.S), a.S.Region),
			}
		}
		text := fmt.Sprintf("Ask for a higher quota %s (%s), which counts vCPUs; or stop what is not needed, or allow types of another family.", q.Code, q.Name)
		if limit := f.list[0].Verdict.Named.Limit; limit != "" {
			text = fmt.Sprintf("Ask for more than the %s that quota %s allows (%s, counted in vCPUs); or stop what is not needed, or allow types of another family.", limit, q.Code, q.Name)
		}
		return finding.Fix{
			Text:    text,
			Command: AWSCommand(a, "service-quotas", "get-service-quota", "--service-code", "ec2", "--quota-code", q.Code),
			Console: fmt.Sprintf("%s/servicequotas/home/services/ec2/quotas/%s?region=%s", link.Host(a.S), q.Code, a.S.Region),
		}
	}
}

// ofAccount is the resource of a failure that only the account can cure.
func ofAccount(a *facts.Attempts, _ facts.Attempt) string { return a.S.Account }

// launcher is the role that launches for a group, or that called.
func launcher(a *facts.Attempts, f launchFault) string {
	if r := f.refused(); r != nil && r.By != "" {
		return r.By
	}
	g, is := a.Groups[f.groups()[0]]
	if !is {
		return "the role that launches the instances"
	}
	partition := cmp.Or(a.S.Partition, "aws")
	return cmp.Or(g.ServiceRole, fmt.Sprintf("arn:%s:iam::%s:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", partition, a.S.Account))
}

// nothing is for checks whose command is to read the activities.
func nothing(*facts.Attempts, launchFault) finding.Fix { return finding.Fix{} }
