package world

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/local/simaws/worldfile"
)

func TestRulesThatEC2Refuses(t *testing.T) {
	const cluster, plain = "sg-0e50000000000000f", "sg-0d30000000000000d"
	fromGroup := func(group string) []ec2types.IpPermission {
		return []ec2types.IpPermission{{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(443), ToPort: aws.Int32(443), UserIdGroupPairs: []ec2types.UserIdGroupPair{{GroupId: aws.String(group)}}}}
	}
	many := func(n int) []ec2types.IpPermission {
		p := ec2types.IpPermission{IpProtocol: aws.String("tcp"), FromPort: aws.Int32(443), ToPort: aws.Int32(443)}
		for i := range n {
			p.IpRanges = append(p.IpRanges, ec2types.IpRange{CidrIp: aws.String(fmt.Sprintf("10.1.%d.0/24", i))})
		}
		return []ec2types.IpPermission{p}
	}
	noPorts := fromGroup(cluster)
	noPorts[0].FromPort = nil
	tests := map[string]struct {
		group string
		rules []ec2types.IpPermission
		want  string
	}{
		"no such group":         {group: "sg-0123456789abcdef0", rules: fromGroup(cluster), want: "InvalidGroup.NotFound"},
		"no such source":        {group: plain, rules: fromGroup("sg-0123456789abcdef0"), want: "InvalidGroup.NotFound"},
		"a source of elsewhere": {group: plain, rules: fromGroup("sg-0fff0000000000001"), want: "InvalidGroup.NotFound"},
		"TCP without ports":     {group: plain, rules: noPorts, want: "InvalidParameterValue"},
		"twice in one call":     {group: plain, rules: append(fromGroup(cluster), fromGroup(cluster)...), want: "InvalidParameterValue"},
		"nothing":               {group: plain, want: "MissingParameter"},
		"one over the quota":    {group: plain, rules: many(60), want: "RulesPerSecurityGroupLimitExceeded"},
		"the quota":             {group: plain, rules: many(59)},
		"a group":               {group: plain, rules: fromGroup(cluster)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := openWith(t, "route", func(f *worldfile.File) {
				f.EC2.Vpcs = append(f.EC2.Vpcs, ec2types.Vpc{VpcId: aws.String("vpc-0fff0000000000001"), CidrBlock: aws.String("10.99.0.0/16")})
				f.EC2.SecurityGroups = append(f.EC2.SecurityGroups, ec2types.SecurityGroup{GroupId: aws.String("sg-0fff0000000000001"), GroupName: aws.String("payments"), VpcId: aws.String("vpc-0fff0000000000001")})
			})
			_, err := w.EC2().AuthorizeSecurityGroupIngress(&ec2.AuthorizeSecurityGroupIngressInput{GroupId: aws.String(tt.group), IpPermissions: tt.rules})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || code(t, err) != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAccessEntryTypes(t *testing.T) {
	const role, user = "arn:aws:iam::111122223333:role/nodes", "arn:aws:iam::111122223333:user/eve"
	tests := map[string]struct {
		in   eks.CreateAccessEntryInput
		want string
	}{
		"a type that is none":         {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(role), Type: aws.String("EC2_BSD")}, want: "InvalidParameterException"},
		"a user as a node":            {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(user), Type: aws.String("EC2_LINUX")}, want: "InvalidParameterException"},
		"a node with groups":          {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(role), Type: aws.String("EC2_LINUX"), KubernetesGroups: []string{"system:masters"}}, want: "InvalidParameterException"},
		"a cluster that is not there": {in: eks.CreateAccessEntryInput{ClusterName: aws.String("prod"), PrincipalArn: aws.String(role), Type: aws.String("EC2_LINUX")}, want: "ResourceNotFoundException"},
		"nodes":                       {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(role), Type: aws.String("EC2_LINUX")}},
		"a person":                    {in: eks.CreateAccessEntryInput{PrincipalArn: aws.String(user)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := open(t, "route")
			if tt.in.ClusterName == nil {
				tt.in.ClusterName = aws.String("eks-workshop")
			}
			_, err := w.EKS().CreateAccessEntry(&tt.in)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || code(t, err) != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
