package trail

import (
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/report"
)

// Kind is what a target is.
type Kind string

// The kinds. The first are known by their ids.
const (
	RouteTable     Kind = "rtb"
	Subnet         Kind = "subnet"
	SecurityGroup  Kind = "sg"
	NetworkACL     Kind = "acl"
	NATGateway     Kind = "nat"
	Gateway        Kind = "igw"
	Endpoint       Kind = "vpce"
	VPC            Kind = "vpc"
	TransitGateway Kind = "tgw"
	LaunchTemplate Kind = "lt"
	Other          Kind = "other" // another thing of EC2 with an id of its own

	Role      Kind = "role"
	Access    Kind = "access" // the access entries of a role
	Profile   Kind = "instance-profile"
	Nodegroup Kind = "nodegroup"
	Group     Kind = "group" // Auto Scaling group
	Cluster   Kind = "cluster"
	Addon     Kind = "addon"
)

// Target is a resource whose changes are looked for.
type Target struct {
	Kind Kind
	// Name is its id or name, as it stands in records. Of a role it is the
	// name, of its access entries the ARN.
	Name string
	// Cluster is the cluster's, for what is named within one.
	Cluster string
}

// How many of each are looked at. CloudTrail takes one name a call and two
// calls a second, of which other people need some too.
const (
	mostTargets = 6
	mostSubnets = 3
	mostOf      = 2 // nodegroups, groups, launch templates
)

// Targets are what an incident is about, the cause first: what a fix would
// change, the other things on the way, the subnets whose table or ACL may have
// been swapped, and what the launches were made from.
func Targets(inc incident.Incident, templates []string) []Target {
	var list []Target
	add := func(t Target, ok bool) {
		if ok && len(list) < mostTargets && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	cause := inc.Cause
	add(targetOf(inc, inc.Key.Resource))
	if strings.HasPrefix(string(inc.Key.Check), "iam/access") && strings.HasPrefix(inc.Key.Resource, "arn:") {
		add(Target{Access, inc.Key.Resource, inc.Key.Cluster}, true)
	}
	for _, id := range first(cause.Resources, mostTargets) {
		add(targetOf(inc, id))
	}
	var subnets []string
	for _, id := range cause.Covers {
		if strings.HasPrefix(id, "subnet-") {
			subnets = append(subnets, id)
		}
	}
	for _, id := range first(subnets, mostSubnets) {
		add(Target{Kind: Subnet, Name: id}, true)
	}
	for _, id := range first(templates, mostOf) {
		add(Target{Kind: LaunchTemplate, Name: id}, strings.HasPrefix(id, "lt-"))
	}
	for _, name := range first(cause.Nodegroups, mostOf) {
		add(Target{Nodegroup, name, inc.Key.Cluster}, name != "")
	}
	var groups []string
	for _, l := range inc.Launches {
		if l.Group != "" && !slices.Contains(groups, l.Group) {
			groups = append(groups, l.Group)
		}
	}
	for _, name := range first(groups, mostOf) {
		add(Target{Kind: Group, Name: name}, true)
	}
	return list
}

// targetOf tells what a resource of a cause is: by its form, else by what the
// incident knows of that name.
func targetOf(inc incident.Incident, id string) (Target, bool) {
	if name, ok := strings.CutPrefix(afterAccount(id), "role/"); ok {
		return Target{Kind: Role, Name: last(name)}, true
	}
	if name, ok := strings.CutPrefix(afterAccount(id), "instance-profile/"); ok {
		return Target{Kind: Profile, Name: last(name)}, true
	}
	prefix, hex, ok := strings.Cut(id, "-")
	if ok && isHex(hex) {
		for _, k := range []Kind{RouteTable, Subnet, SecurityGroup, NetworkACL, NATGateway, Gateway, Endpoint, VPC, TransitGateway, LaunchTemplate} {
			if prefix == string(k) {
				return Target{Kind: k, Name: id}, true
			}
		}
		return Target{Kind: Other, Name: id}, true
	}
	cluster := inc.Key.Cluster
	family := inc.Key.Check.Family()
	switch {
	case id == "" || strings.HasPrefix(id, "arn:"):
		return Target{}, false
	case family == checkid.Addon:
		return Target{Addon, id, cluster}, true
	case slices.Contains(inc.Cause.Nodegroups, id) || family == checkid.Nodegroup:
		return Target{Nodegroup, id, cluster}, true
	case slices.ContainsFunc(inc.Launches, func(l report.Launch) bool { return l.Group == id }) || family == checkid.Launch:
		return Target{Kind: Group, Name: id}, true
	case id == cluster:
		return Target{Cluster, id, cluster}, true
	}
	return Target{}, false
}

// afterAccount is the resource of an IAM ARN: role/path/name.
func afterAccount(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[2] != "iam" {
		return ""
	}
	return parts[5]
}

// isHex tells an id of AWS: eight digits in old accounts, seventeen today.
func isHex(s string) bool {
	return len(s) >= 8 && strings.Trim(s, "0123456789abcdef") == ""
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Is tells whether a record is about the target: it stands in the request, or
// in the answer of a call that made it.
func (t Target) is(r Record) bool {
	switch t.Kind {
	case Role:
		return r.Source == iam && has(r.Asked, t.Name, "roleName", Listed)
	case Profile:
		return r.Source == iam && has(r.Asked, t.Name, "instanceProfileName", Listed)
	case Access:
		return r.Source == eks && has(r.Asked, t.Name, "principalArn") && t.ofCluster(r)
	case Nodegroup:
		return r.Source == eks && has(r.Asked, t.Name, "nodegroupName") && t.ofCluster(r)
	case Addon:
		return r.Source == eks && has(r.Asked, t.Name, "addonName") && t.ofCluster(r)
	case Cluster:
		return r.Source == eks && slices.Contains(t.calls(), r.Call) && t.ofCluster(r)
	case Group:
		return r.Source == autoscaling && has(r.Asked, t.Name, "autoScalingGroupName")
	}
	return r.Source == ec2 && t.changes(r.Call) && (has(r.Asked, t.Name) || strings.HasPrefix(r.Call, "Create") && has(r.Answered, t.Name))
}

func (t Target) ofCluster(r Record) bool { return has(r.Asked, t.Cluster, "name", "clusterName") }

// The services whose calls are looked at, as records name them.
const (
	ec2         = "ec2.amazonaws.com"
	iam         = "iam.amazonaws.com"
	eks         = "eks.amazonaws.com"
	autoscaling = "autoscaling.amazonaws.com"
	// Listed is the field of what CloudTrail itself lists beside an event.
	Listed = "resource"
)
