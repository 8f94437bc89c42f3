package checks

import (
	"cmp"
	"fmt"
	"net/url"

	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// command is an AWS CLI command in the snapshot's region.
func (a *attempts) command(service, operation string, args ...string) string {
	return aws(a.s, service+" "+operation, args)
}

// showActivities shows what the group says of its launches, or the instance
// where there is no group.
func (a *attempts) showActivities(f launchFault) string {
	name := f.groups()[0]
	if _, is := a.groups[name]; !is {
		if ids := f.each(func(t attempt) string { return t.instance }); len(ids) > 0 {
			return a.command("ec2", "describe-instances", "--instance-ids", ids[0])
		}
	}
	return a.command("autoscaling", "describe-scaling-activities", "--auto-scaling-group-name", name, "--max-items", "5")
}

// groupLink leads to the group's activities.
func (a *attempts) groupLink(f launchFault) string {
	name := f.groups()[0]
	if _, is := a.groups[name]; !is {
		if ids := f.each(func(t attempt) string { return t.instance }); len(ids) > 0 {
			return ec2Console(a.s, "InstanceDetails:instanceId="+ids[0])
		}
	}
	return autoScalingLink(a.s, name)
}

func autoScalingLink(s *View, group string) string {
	return ec2Console(s, "AutoScalingGroupDetails:id="+url.PathEscape(group)+";view=activity")
}

// templateOf is the version of the launch template that a group launches from;
// the group's reference where the version was not read.
func (a *attempts) templateOf(group string) (snapshot.LaunchTemplate, bool) {
	ref := a.groups[group].Template
	if ref.ID == "" || !a.s.Has(snapshot.LaunchTemplates) {
		return snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version}, false
	}
	for _, t := range a.s.LaunchTemplates {
		if t.ID == ref.ID && (t.Version == ref.Version || ref.Version == "$Latest" && t.Latest || (ref.Version == "$Default" || ref.Version == "") && t.Default) {
			return t, true
		}
	}
	return snapshot.LaunchTemplate{ID: ref.ID, Name: ref.Name, Version: ref.Version}, false
}

// types are the instance types that a failed launch can have been of: the one
// that the text names, else those that the group allows.
func (a *attempts) types(t attempt) []string {
	if t.verdict.Named.Type != "" {
		return []string{t.verdict.Named.Type}
	}
	if g := a.groups[t.group]; len(g.Types) > 0 {
		return g.Types
	}
	for _, n := range a.s.Nodegroups {
		for _, g := range n.Groups {
			if g == t.group && len(n.Types) > 0 {
				return n.Types
			}
		}
	}
	if template, read := a.templateOf(t.group); read && template.Type != "" {
		return []string{template.Type}
	}
	return nil
}

// quota is the quota that counts what a group launches, if it is one only.
func (a *attempts) quota(t attempt, spot bool) (activity.Quota, bool) {
	var found activity.Quota
	for _, name := range a.types(t) {
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
func quotaCode(spot bool) func(*attempts, attempt) string {
	return func(a *attempts, t attempt) string {
		q, _ := a.quota(t, spot)
		return q.Code
	}
}

// raiseQuota is the fix for a quota of vCPUs.
func raiseQuota(spot bool) func(*attempts, launchFault) Fix {
	return func(a *attempts, f launchFault) Fix {
		q, ok := a.quota(f.list[0], spot)
		kind := "Running On-Demand"
		if spot {
			kind = "Spot Instance Requests"
		}
		if !ok {
			return Fix{
				Text:    fmt.Sprintf("Ask for a higher quota of the family (the command lists those with %q in their names), or allow types of another family.", kind),
				Command: a.command("service-quotas", "list-service-quotas", "--service-code", "ec2", "--query", fmt.Sprintf("Quotas[?contains(QuotaName,`%s`)].[QuotaCode,QuotaName,Value]", kind), "--output", "table"),
				Console: fmt.Sprintf("%s/servicequotas/home/services/ec2/quotas?region=%s", consoleHost(a.s), a.s.Region),
			}
		}
		text := fmt.Sprintf("Ask for a higher quota %s (%s), which counts vCPUs; or stop what is not needed, or allow types of another family.", q.Code, q.Name)
		if limit := f.list[0].verdict.Named.Limit; limit != "" {
			text = fmt.Sprintf("Ask for more than the %s that quota %s allows (%s, counted in vCPUs); or stop what is not needed, or allow types of another family.", limit, q.Code, q.Name)
		}
		return Fix{
			Text:    text,
			Command: a.command("service-quotas", "get-service-quota", "--service-code", "ec2", "--quota-code", q.Code),
			Console: fmt.Sprintf("%s/servicequotas/home/services/ec2/quotas/%s?region=%s", consoleHost(a.s), q.Code, a.s.Region),
		}
	}
}

// ofAccount is the resource of a failure that only the account can cure.
func ofAccount(a *attempts, _ attempt) string { return a.s.Account }

// launcher is the role that launches for a group.
func (a *attempts) launcher(group string) string {
	g, is := a.groups[group]
	if !is {
		return "the role that launches the instances"
	}
	partition := cmp.Or(a.s.Partition, "aws")
	return cmp.Or(g.ServiceRole, fmt.Sprintf("arn:%s:iam::%s:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", partition, a.s.Account))
}

// nothing is for checks whose command is to read the activities.
func nothing(*attempts, launchFault) Fix { return Fix{} }
