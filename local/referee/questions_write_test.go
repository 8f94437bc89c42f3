package referee

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// writingQuestions are about the things that were made for them, and change
// them: an answer depends on those before.
func writingQuestions() []question {
	list := writing()
	for i := range list {
		list[i].writes = true
	}
	return list
}

func writing() []question {
	return []question{
		// Route tables.
		{name: "route table by subnet", ask: tablesBy("association.subnet-id"), want: "10.42.0.0/16 -> local active CreateRouteTable"},
		{name: "route table by id", ask: tableByID, want: "10.42.0.0/16 -> local active CreateRouteTable"},
		{name: "route tables of no subnet", ask: func(ctx context.Context, p *place) (string, error) {
			return tables(ctx, p, &ec2.DescribeRouteTablesInput{Filters: filters("association.subnet-id", "subnet-"+absent)})
		}, want: ""},
		{name: "unknown route table", ask: func(ctx context.Context, p *place) (string, error) {
			return tables(ctx, p, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{"rtb-" + absent}})
		}, want: "InvalidRouteTableID.NotFound"},
		{name: "route in an unknown table", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) {
			in.RouteTableId, in.NatGatewayId = aws.String("rtb-"+absent), &p.things.nat
		}), want: "InvalidRouteTableID.NotFound"},
		{name: "route to no block", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) {
			in.NatGatewayId, in.DestinationCidrBlock = &p.things.nat, aws.String("everywhere")
		}), want: "InvalidParameterValue"},
		{name: "route", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) { in.NatGatewayId = &p.things.nat }), want: "true"},
		{name: "route to another target", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) { in.GatewayId = &p.things.gateway }), want: "RouteAlreadyExists"},
		{
			name: "the same route again", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) { in.NatGatewayId = &p.things.nat }),
			want: "true", moto: "RouteAlreadyExists",
			why: "EC2 lets it pass, which is why Terraform's provider had to look for the route itself (its pull request 36326)",
		},
		{name: "table with the route", ask: tablesBy("association.subnet-id"), want: "0.0.0.0/0 -> nat active CreateRoute, 10.42.0.0/16 -> local active CreateRouteTable"},
		{name: "no such route", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DeleteRoute(ctx, &ec2.DeleteRouteInput{RouteTableId: &p.things.table, DestinationCidrBlock: aws.String("192.0.2.0/24")})
			return "deleted", err
		}, want: "InvalidRoute.NotFound"},

		// Subnets and interfaces.
		{name: "free addresses", ask: free, want: "8187"},
		{name: "interface", ask: createInterface("aws-K8S-i-"+absent, 0), want: "available interface 1"},
		{name: "free addresses with it", ask: free, want: "8186"},
		{name: "interface with four addresses", ask: createInterface("something else", 3), want: "available interface 4"},
		{name: "free addresses with both", ask: free, want: "8182"},
		{name: "interfaces by status", ask: interfaces("status", "available"), want: "aws-K8S-i-" + absent + ", something else"},
		{name: "interfaces by description", ask: interfaces("description", "aws-K8S-*"), want: "aws-K8S-i-" + absent},
		{name: "interfaces by another case", ask: interfaces("description", "AWS-k8s-*"), want: ""},
		{name: "interfaces by tag", ask: interfaces("tag:owner", "something else"), want: "something else"},
		{name: "interfaces by tag key", ask: interfaces("tag-key", "owner"), want: "aws-K8S-i-" + absent + ", something else"},
		{name: "interfaces in use", ask: interfaces("status", "in-use"), want: ""},
		{name: "unknown interface", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-" + absent}})
			return "found", err
		}, want: "InvalidNetworkInterfaceID.NotFound"},
		{name: "deleting an unknown interface", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-" + absent)})
			return "deleted", err
		}, want: "InvalidNetworkInterfaceID.NotFound"},
		{name: "deleting the interfaces", ask: deleteInterfaces, want: "2"},
		{name: "free addresses again", ask: free, want: "8187"},
		{name: "unknown subnet", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-" + absent}})
			return "found", err
		}, want: "InvalidSubnetID.NotFound"},

		// Secrets.
		{name: "secret", ask: secret(func(p *place, in *secretsmanager.GetSecretValueInput) {}), want: "xoxb-stage-token [AWSCURRENT] named -6"},
		{name: "unknown secret", ask: secret(func(_ *place, in *secretsmanager.GetSecretValueInput) { in.SecretId = aws.String("nothing") }), want: "ResourceNotFoundException"},
		{name: "secret's unknown stage", ask: secret(func(_ *place, in *secretsmanager.GetSecretValueInput) { in.VersionStage = aws.String("AWSPENDING") }), want: "ResourceNotFoundException"},

		// Queues.
		{name: "sending", ask: func(ctx context.Context, p *place) (string, error) {
			out, err := p.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &p.things.queue, MessageBody: aws.String("hello"), MessageAttributes: map[string]sqstypes.MessageAttributeValue{
				"kind": {DataType: aws.String("String"), StringValue: aws.String("greeting")},
			}})
			if err != nil {
				return "", err
			}
			return aws.ToString(out.MD5OfMessageBody) + " " + aws.ToString(out.MD5OfMessageAttributes), nil
		}, want: "5d41402abc4b2a76b9719d911017c592 55ed4b7836c74ac3476eb038898fee8b"},
		{name: "receiving", ask: receive, want: "hello kind=greeting ApproximateFirstReceiveTimestamp ApproximateReceiveCount=1 SenderId SentTimestamp"},
		{name: "receiving what is in flight", ask: receive, want: ""},
		{name: "deleting with no handle of ours", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &p.things.queue, ReceiptHandle: aws.String("nonsense")})
			return "deleted", err
		}, want: "ReceiptHandleIsInvalid", stage: "deleted", why: "the stage takes any handle that it does not know for an old one"},
		{name: "sending nothing", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &p.things.queue, MessageBody: aws.String("")})
			return "sent", err
		}, want: "MissingParameter", moto: "sent", why: "a message has at least one character (API reference)"},
		{name: "unknown queue", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("nothing")})
			return "found", err
		}, want: "AWS.SimpleQueueService.NonExistentQueue"},
	}
}

// isCode tells an error by the API's name of it.
func isCode(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

func filters(name, value string) []types.Filter {
	return []types.Filter{{Name: &name, Values: []string{value}}}
}

func tablesBy(filter string) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		return tables(ctx, p, &ec2.DescribeRouteTablesInput{Filters: filters(filter, p.things.subnet)})
	}
}

func tableByID(ctx context.Context, p *place) (string, error) {
	return tables(ctx, p, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{p.things.table}})
}

// tables are the routes of all tables found, without ids.
func tables(ctx context.Context, p *place, in *ec2.DescribeRouteTablesInput) (string, error) {
	out, err := p.ec2.DescribeRouteTables(ctx, in)
	if err != nil {
		return "", err
	}
	var rows []string
	for _, t := range out.RouteTables {
		for _, r := range t.Routes {
			kind, _, _ := strings.Cut(aws.ToString(r.GatewayId)+aws.ToString(r.NatGatewayId), "-")
			rows = append(rows, fmt.Sprintf("%s -> %s %s %s", aws.ToString(r.DestinationCidrBlock), kind, r.State, r.Origin))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, ", "), nil
}

func createRoute(change func(*place, *ec2.CreateRouteInput)) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		in := &ec2.CreateRouteInput{RouteTableId: &p.things.table, DestinationCidrBlock: aws.String("0.0.0.0/0")}
		change(p, in)
		out, err := p.ec2.CreateRoute(ctx, in)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(aws.ToBool(out.Return)), nil
	}
}

func free(ctx context.Context, p *place) (string, error) {
	out, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{p.things.subnet}})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(aws.ToInt32(out.Subnets[0].AvailableIpAddressCount)), nil
}

func createInterface(description string, secondary int32) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		in := &ec2.CreateNetworkInterfaceInput{
			SubnetId: &p.things.subnet, Description: &description,
			TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeNetworkInterface, Tags: []types.Tag{{Key: aws.String("owner"), Value: &description}}}},
		}
		if secondary > 0 {
			in.SecondaryPrivateIpAddressCount = &secondary
		}
		out, err := p.ec2.CreateNetworkInterface(ctx, in)
		if err != nil {
			return "", err
		}
		n := out.NetworkInterface
		return fmt.Sprintf("%s %s %d", n.Status, n.InterfaceType, len(n.PrivateIpAddresses)), nil
	}
}

func describeInterfaces(ctx context.Context, p *place, more ...types.Filter) ([]types.NetworkInterface, error) {
	out, err := p.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: append(filters("subnet-id", p.things.subnet), more...)})
	if err != nil {
		return nil, err
	}
	return out.NetworkInterfaces, nil
}

func interfaces(filter, value string) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		list, err := describeInterfaces(ctx, p, filters(filter, value)...)
		var names []string
		for _, n := range list {
			names = append(names, aws.ToString(n.Description))
		}
		slices.Sort(names)
		return strings.Join(names, ", "), err
	}
}

func deleteInterfaces(ctx context.Context, p *place) (string, error) {
	list, err := describeInterfaces(ctx, p)
	for _, n := range list {
		if _, err := p.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: n.NetworkInterfaceId}); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(len(list)), err
}

func secret(change func(*place, *secretsmanager.GetSecretValueInput)) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		in := &secretsmanager.GetSecretValueInput{SecretId: &p.things.secret}
		change(p, in)
		out, err := p.secrets.GetSecretValue(ctx, in)
		if err != nil {
			return "", err
		}
		name := map[bool]string{true: "named", false: "not named"}[aws.ToString(out.Name) == p.things.secret]
		_, suffix, _ := strings.Cut(aws.ToString(out.ARN), ":secret:"+p.things.secret+"-")
		return fmt.Sprintf("%s %v %s -%d", aws.ToString(out.SecretString), out.VersionStages, name, len(suffix)), nil
	}
}

// receive gives a message's body, its attributes, and the names of what SQS
// adds to it.
func receive(ctx context.Context, p *place) (string, error) {
	out, err := p.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &p.things.queue, MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		return "", err
	}
	var words []string
	for _, m := range out.Messages {
		words = append(words, aws.ToString(m.Body))
		for _, name := range slices.Sorted(maps.Keys(m.MessageAttributes)) {
			words = append(words, name+"="+aws.ToString(m.MessageAttributes[name].StringValue))
		}
		for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
			if name == "ApproximateReceiveCount" {
				name += "=" + m.Attributes[name]
			}
			words = append(words, name)
		}
	}
	return strings.Join(words, " "), nil
}
