package text

import (
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/node/activity"
	"rollcall/shared/shell"
)

// commandOf is what to run next: it looks at what the record names and the check is
// about, else at the instance. Empty where neither is named.
func commandOf(check checkid.ID, n activity.Named) string {
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
	if value == "" {
		about(n.Instance, "aws", "ec2", "describe-instances", "--instance-ids")
	}
	if value == "" {
		return ""
	}
	return shell.Command(words...)
}
