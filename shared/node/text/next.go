package text

import (
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/node/activity"
	"rollcall/shared/node/messages"
	"rollcall/shared/shell"
)

// The forms of what a record names beside resources of EC2.
var (
	dialed  = lazyregexp.New(`dial (?:tcp|udp)6? (?:lookup )?(\[?[\w.:-]+\]?[\w.:-]*[\w])`)
	request = lazyregexp.New(`(?i)request ?id"?:? ?"?([0-9a-f]{8}-[0-9a-f-]{27})\b`)
	node    = lazyregexp.New(`\bip-\d+-\d+-\d+-\d+\.[\w.-]+\.internal\b|\bi-[0-9a-f]{8,17}\.[\w.-]+\.internal\b`)
	unit    = lazyregexp.New(`\b[\w@-]+\.service\b`)
)

// valuesIn are the address that was called, the request, the node and the unit that a record
// names.
func valuesIn(words string) []messages.Value {
	var list []messages.Value
	for _, f := range []struct {
		name, has string
		form      *lazyregexp.Regexp
	}{{"address", "dial ", dialed}, {"request", "equest", request}, {"node", ".internal", node}, {"unit", ".service", unit}} {
		if !strings.Contains(words, f.has) {
			continue
		}
		if m := f.form.FindStringSubmatch(words); m != nil {
			list = append(list, messages.Value{Name: f.name, Value: m[len(m)-1]})
		}
	}
	return list
}

// commandOf is what to run next: it looks at what the record names and the check is
// about, else at the instance. Empty where neither is named.
func commandOf(check checkid.ID, n activity.Named, values []messages.Value) string {
	named := func(name string) string {
		i := slices.IndexFunc(values, func(v messages.Value) bool { return v.Name == name })
		if i < 0 {
			return ""
		}
		return values[i].Value
	}
	family, _, _ := strings.Cut(string(check), "/")
	var value string
	var words []any
	about := func(what string, command ...any) { value, words = what, append(command, what) }
	switch {
	case check == checkid.LaunchAMI, check == checkid.InstanceAMI:
		about(n.AMI, "aws", "ec2", "describe-images", "--image-ids")
	case check == checkid.LaunchSecurityGroup, family == "sg":
		about(n.SecurityGroup, "aws", "ec2", "describe-security-groups", "--group-ids")
	case check == checkid.LaunchKMSKey:
		about(n.Key, "aws", "kms", "describe-key", "--key-id")
	case check == checkid.LaunchTemplate:
		about(n.Template, "aws", "ec2", "describe-launch-template-versions", "--versions", "$Latest", "--launch-template-id")
	case check == checkid.LaunchProfile, check == checkid.IAMProfileMissing:
		about(n.Profile, "aws", "iam", "get-instance-profile", "--instance-profile-name")
	case check == checkid.LaunchVCPULimit, check == checkid.LaunchSpotLimit:
		q, _ := activity.QuotaOf(n.Type, check == checkid.LaunchSpotLimit)
		about(q.Code, "aws", "service-quotas", "get-service-quota", "--service-code", "ec2", "--quota-code")
	case check == checkid.LaunchUnsupportedType, check == checkid.LaunchInsufficientCapacity:
		if n.Type != "" {
			about("Name=instance-type,Values="+n.Type, "aws", "ec2", "describe-instance-type-offerings", "--location-type", "availability-zone", "--filters")
		}
	case check == checkid.LaunchSubnetFull, family == "ip", family == "route":
		about(n.Subnet, "aws", "ec2", "describe-subnets", "--subnet-ids")
	case family == "zone":
		about(n.Volume, "aws", "ec2", "describe-volumes", "--volume-ids")
	case family == "iam":
		about(n.Role[strings.LastIndexByte(n.Role, '/')+1:], "aws", "iam", "list-attached-role-policies", "--role-name")
	}
	registered := "" // a node that is not there has nothing to describe
	if family == "node" && check != checkid.NodeNotRegistered {
		registered = named("node")
	}
	for _, other := range []struct {
		value   string
		command []any
	}{
		{named("cluster"), []any{"aws", "eks", "describe-cluster", "--name"}},
		{named("nodepool"), []any{"kubectl", "describe", "nodepool"}},
		{n.Instance, []any{"aws", "ec2", "describe-instances", "--instance-ids"}},
		{registered, []any{"kubectl", "describe", "node"}},
	} {
		if value == "" {
			about(other.value, other.command...)
		}
	}
	if value == "" {
		return ""
	}
	return shell.Command(words...)
}
