package stage

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/target"
	"rollcall/stage/platform/functionurl"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
)

// things is what IAM knows of the account.
type things struct {
	account, region string
	tables          []template.Table
	buckets         []template.S3Bucket
	secrets         []template.Secret
	api             describer
}

// describer is how IAM looks at what a call is about.
type describer interface {
	DescribeNetworkInterfaces(*ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error)
	DescribeRouteTables(*ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error)
	DescribeSecurityGroups(*ec2.DescribeSecurityGroupsInput) (*ec2.DescribeSecurityGroupsOutput, error)
	DescribeAutoScalingGroups(*autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribeAutoScalingInstances(*autoscaling.DescribeAutoScalingInstancesInput) (*autoscaling.DescribeAutoScalingInstancesOutput, error)
	DescribeNodegroup(*eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error)
	DescribeCluster(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error)
}

func (s *Stage) things() things {
	t := things{account: s.Template.AccountID, region: s.Template.Region, tables: s.Template.Tables, buckets: s.Template.S3Buckets, secrets: s.Template.Secrets}
	if s.World != nil {
		t.api = s.World.API()
	}
	return t
}

// Resource is what IAM sees of a write at this moment: the ARN of what it is
// about and its condition keys. It is false for calls that take no resource, or
// whose resource the stage does not know.
func (s *Stage) Resource(in any) (arn string, keys map[string][]string, ok bool) {
	return s.things().resource(in)
}

func (t things) resource(in any) (arn string, keys map[string][]string, ok bool) {
	switch in := in.(type) {
	case *sns.PublishInput:
		return aws.ToString(in.TopicArn), nil, true
	case *secretsmanager.GetSecretValueInput:
		return t.secret(aws.ToString(in.SecretId)), nil, true
	case *ec2.DeleteNetworkInterfaceInput:
		return t.networkInterface(in.NetworkInterfaceId)
	case *ec2.AttachNetworkInterfaceInput:
		return t.networkInterface(in.NetworkInterfaceId)
	case *ec2.AssignPrivateIpAddressesInput:
		return t.networkInterface(in.NetworkInterfaceId)
	case *ec2.UnassignPrivateIpAddressesInput:
		return t.networkInterface(in.NetworkInterfaceId)
	case *ec2.CreateRouteInput:
		return t.routeTable(in.RouteTableId)
	case *ec2.ReplaceRouteInput:
		return t.routeTable(in.RouteTableId)
	case *ec2.DeleteRouteInput:
		return t.routeTable(in.RouteTableId)
	case *ec2.AuthorizeSecurityGroupIngressInput:
		return t.securityGroup(in.GroupId)
	case *ec2.AuthorizeSecurityGroupEgressInput:
		return t.securityGroup(in.GroupId)
	case *ec2.RevokeSecurityGroupIngressInput:
		return t.securityGroup(in.GroupId)
	case *ec2.RevokeSecurityGroupEgressInput:
		return t.securityGroup(in.GroupId)
	case *autoscaling.SetDesiredCapacityInput:
		return t.group(aws.ToString(in.AutoScalingGroupName))
	case *autoscaling.UpdateAutoScalingGroupInput:
		return t.group(aws.ToString(in.AutoScalingGroupName))
	case *autoscaling.TerminateInstanceInAutoScalingGroupInput:
		return t.group(t.groupOf(in.InstanceId))
	case *eks.UpdateNodegroupConfigInput:
		return t.nodegroup(in.ClusterName, in.NodegroupName)
	case *eks.UpdateNodegroupVersionInput:
		return t.nodegroup(in.ClusterName, in.NodegroupName)
	case *eks.DeleteNodegroupInput:
		return t.nodegroup(in.ClusterName, in.NodegroupName)
	case *eks.CreateAccessEntryInput:
		return t.newEntry(in)
	case *lambda.InvokeInput:
		return simaws.FunctionARN(aws.ToString(in.FunctionName), t.region, t.account), nil, true
	case wire.Passed:
		return t.records(in)
	case wire.Object:
		return t.object(in)
	}
	return "", nil, false
}

func (t things) networkInterface(id *string) (string, map[string][]string, bool) {
	keys := map[string][]string{}
	if out, err := t.api.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{aws.ToString(id)}}); err == nil && len(out.NetworkInterfaces) == 1 {
		eni := out.NetworkInterfaces[0]
		tags(keys, eni.TagSet, "aws:ResourceTag/", "ec2:ResourceTag/")
		t.ec2Keys(keys, eni.VpcId, eni.OwnerId)
		keys["ec2:Subnet"] = []string{t.ec2("subnet/" + aws.ToString(eni.SubnetId))}
		keys["ec2:AvailabilityZone"] = []string{aws.ToString(eni.AvailabilityZone)}
	}
	return t.ec2("network-interface/" + aws.ToString(id)), keys, true
}

func (t things) routeTable(id *string) (string, map[string][]string, bool) {
	keys := map[string][]string{"ec2:RouteTableID": {aws.ToString(id)}}
	if out, err := t.api.DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{aws.ToString(id)}}); err == nil && len(out.RouteTables) == 1 {
		table := out.RouteTables[0]
		tags(keys, table.Tags, "aws:ResourceTag/", "ec2:ResourceTag/")
		t.ec2Keys(keys, table.VpcId, table.OwnerId)
	}
	return t.ec2("route-table/" + aws.ToString(id)), keys, true
}

func (t things) securityGroup(id *string) (string, map[string][]string, bool) {
	keys := map[string][]string{"ec2:SecurityGroupID": {aws.ToString(id)}}
	if out, err := t.api.DescribeSecurityGroups(&ec2.DescribeSecurityGroupsInput{GroupIds: []string{aws.ToString(id)}}); err == nil && len(out.SecurityGroups) == 1 {
		group := out.SecurityGroups[0]
		tags(keys, group.Tags, "aws:ResourceTag/", "ec2:ResourceTag/")
		t.ec2Keys(keys, group.VpcId, group.OwnerId)
	}
	return t.ec2("security-group/" + aws.ToString(id)), keys, true
}

// ec2Keys are the condition keys that resources of a VPC share. The VPC's ARN
// bears the account of the VPC's owner, which here is that of the resource.
func (t things) ec2Keys(keys map[string][]string, vpc, owner *string) {
	keys["ec2:Region"] = []string{t.region}
	keys["ec2:Vpc"] = []string{t.ec2("vpc/" + aws.ToString(vpc))}
	keys["aws:ResourceAccount"] = []string{aws.ToString(owner)}
}

// groupOf is the Auto Scaling group of an instance: IAM asks about the group.
func (t things) groupOf(instance *string) string {
	out, err := t.api.DescribeAutoScalingInstances(&autoscaling.DescribeAutoScalingInstancesInput{InstanceIds: []string{aws.ToString(instance)}})
	if err != nil || len(out.AutoScalingInstances) != 1 {
		return ""
	}
	return aws.ToString(out.AutoScalingInstances[0].AutoScalingGroupName)
}

func (t things) group(name string) (string, map[string][]string, bool) {
	keys := map[string][]string{}
	out, err := t.api.DescribeAutoScalingGroups(&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{name}})
	if name == "" || err != nil || len(out.AutoScalingGroups) != 1 {
		return "arn:aws:autoscaling:" + t.region + ":" + t.account + ":autoScalingGroup:*:autoScalingGroupName/" + name, keys, true
	}
	group := out.AutoScalingGroups[0]
	for _, tag := range group.Tags {
		put(keys, tag, "aws:ResourceTag/", "autoscaling:ResourceTag/")
	}
	keys["aws:ResourceAccount"] = []string{t.account}
	return aws.ToString(group.AutoScalingGroupARN), keys, true
}

func (t things) nodegroup(cluster, name *string) (string, map[string][]string, bool) {
	keys := map[string][]string{}
	arn := "arn:aws:eks:" + t.region + ":" + t.account + ":nodegroup/" + aws.ToString(cluster) + "/" + aws.ToString(name) + "/unknown"
	if out, err := t.api.DescribeNodegroup(&eks.DescribeNodegroupInput{ClusterName: cluster, NodegroupName: name}); err == nil {
		arn = aws.ToString(out.Nodegroup.NodegroupArn)
		for key, value := range out.Nodegroup.Tags {
			keys["aws:ResourceTag/"+key] = []string{value}
		}
		keys["aws:ResourceAccount"] = []string{t.account}
	}
	return arn, keys, true
}

// newEntry is an access entry that is to be made: IAM is asked about the
// cluster, with what the entry would have.
func (t things) newEntry(in *eks.CreateAccessEntryInput) (string, map[string][]string, bool) {
	kind := aws.ToString(in.Type)
	if kind == "" {
		kind = "STANDARD"
	}
	keys := map[string][]string{"eks:principalArn": {aws.ToString(in.PrincipalArn)}, "eks:accessEntryType": {kind}}
	if len(in.KubernetesGroups) > 0 {
		keys["eks:kubernetesGroups"] = in.KubernetesGroups
	}
	if in.Username != nil {
		keys["eks:username"] = []string{*in.Username}
	}
	for key, value := range in.Tags {
		keys["aws:RequestTag/"+key] = []string{value}
		keys["aws:TagKeys"] = append(keys["aws:TagKeys"], key)
	}
	if out, err := t.api.DescribeCluster(&eks.DescribeClusterInput{Name: in.ClusterName}); err == nil {
		for key, value := range out.Cluster.Tags {
			keys["aws:ResourceTag/"+key] = []string{value}
		}
		keys["aws:ResourceAccount"] = []string{t.account}
	}
	return "arn:aws:eks:" + t.region + ":" + t.account + ":cluster/" + aws.ToString(in.ClusterName), keys, true
}

func (t things) ec2(rest string) string {
	return "arn:aws:ec2:" + t.region + ":" + t.account + ":" + rest
}

func tags(keys map[string][]string, list []ec2types.Tag, prefixes ...string) {
	for _, tag := range list {
		for _, prefix := range prefixes {
			keys[prefix+aws.ToString(tag.Key)] = []string{aws.ToString(tag.Value)}
		}
	}
}

func put(keys map[string][]string, tag astypes.TagDescription, prefixes ...string) {
	for _, prefix := range prefixes {
		keys[prefix+aws.ToString(tag.Key)] = []string{aws.ToString(tag.Value)}
	}
}

// secret is the ARN of a secret that is asked for by name or ARN: as policies of the
// template have it, where the template made it.
func (t things) secret(id string) string {
	for _, s := range t.secrets {
		if arn := simaws.SecretARN(t.region, t.account, s.Name); id == s.Name || id == arn || id == s.ARN {
			return s.ARN
		}
	}
	if strings.HasPrefix(id, "arn:") {
		return id
	}
	return simaws.SecretARN(t.region, t.account, id)
}

// undeployed leaves out of the template, which has every function that there is, what a
// deployment with the stage's settings does not have: functions for targets where none
// is set. Slack's buttons are always there.
func (s *Stage) undeployed() {
	chosen := map[spec.Variable]string{config.SlackActions: "on", config.Targets: s.options.Settings[string(config.Targets)]}
	deployed := specs.Deployed(specs.All(), chosen)
	gone := map[string]bool{}
	s.Template.Functions = slices.DeleteFunc(s.Template.Functions, func(f template.Function) bool {
		is := func(list []spec.Spec) bool {
			return slices.ContainsFunc(list, func(of spec.Spec) bool { return of.Name == Folder(f) })
		}
		if is(deployed) || !is(specs.All()) {
			return false
		}
		gone[f.Name], gone[f.ARN] = true, true
		return true
	})
	s.Template.Rules = slices.DeleteFunc(s.Template.Rules, func(r template.Rule) bool {
		return slices.ContainsFunc(r.Targets, func(t template.Target) bool { return gone[t.ARN] })
	})
	s.Template.Mappings = slices.DeleteFunc(s.Template.Mappings, func(m template.EventSourceMapping) bool { return gone[m.FunctionName] })
	s.Template.Permissions = slices.DeleteFunc(s.Template.Permissions, func(p template.Permission) bool { return gone[p.FunctionName] })
	s.Template.InvokeConfigs = slices.DeleteFunc(s.Template.InvokeConfigs, func(c template.EventInvokeConfig) bool { return gone[c.FunctionName] })
}

// targetSecrets are those that an operator has made for the targets, empty.
func (s *Stage) targetSecrets(secrets map[string]string) {
	list, err := target.Parse(s.options.Settings[string(config.Targets)])
	if err != nil {
		return // the function says so itself
	}
	for _, t := range list {
		if t.Secret != "" {
			secrets[t.Secret] = s.options.TargetSecrets[t.Secret]
		}
	}
}

// topics are the ARNs of the stack's topics, and that of the targets among them.
func (s *Stage) topics() (all []string, targets string) {
	for _, t := range s.Template.Topics {
		all = append(all, t.ARN)
		if strings.HasPrefix(t.LogicalID, "TargetTopic") {
			targets = t.ARN
		}
	}
	return all, targets
}

// slackActions is the folder of the function that Slack calls.
const slackActions = "slack-actions"

// serveURLs serves the functions that have an address of their own, on
// loopback, and tells Slack the address of the one that takes its presses.
func (s *Stage) serveURLs() error {
	for _, u := range s.Template.URLs {
		f, ok := s.Template.Function(u.FunctionName)
		if !ok || s.options.Binaries == "" && s.network == nil {
			continue
		}
		handler := &functionurl.Handler{Function: f.Name, Invoker: s.Runtime, NewID: ids(), Now: time.Now}
		if s.network != nil {
			host := Folder(f) + ".lambda-url.invalid"
			s.network.Serve(host, handler)
			s.reachAt(f, "http://"+host+"/")
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("serve the address of %s: %w", f.Name, err)
		}
		server := &http.Server{
			Handler: handler,
			// Whoever sends slowly is let go some time.
			ReadTimeout: 30 * time.Second,
		}
		s.background(func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				s.log.Error("serve the address of a function", "function", f.Name, "error", err)
			}
		})
		s.onClose(func() { server.Close() })
		s.reachAt(f, "http://"+listener.Addr().String()+"/")
	}
	return nil
}

// reachAt notes a function's address.
func (s *Stage) reachAt(f template.Function, url string) {
	s.urls[f.Name] = url
	if Folder(f) == slackActions {
		s.Slack.SetInteractivityURL(url)
	}
}

// URL is the address of the function whose folder has the name; empty if it has
// none.
func (s *Stage) URL(folder string) string {
	f, _ := s.Function(folder)
	return s.urls[f.Name]
}

// secretOf is the secret to which a function's variable refers by its ARN.
func (s *Stage) secretOf(arn string) (template.Secret, bool) {
	for _, secret := range s.Template.Secrets {
		if secret.ARN == arn {
			return secret, true
		}
	}
	return template.Secret{}, false
}
