package doctor

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/relay"
	"rollcall/shared/shell"
	"rollcall/shared/spoke"
)

// relay looks at the relay of a cluster whose API is not open to all, where the functions
// that read in it are not in its VPC themselves.
func (c Clients) relay(ctx context.Context, cluster *types.Cluster, by functionOf) []Finding {
	vpc := cluster.ResourcesVpcConfig
	if vpc == nil || vpc.EndpointPublicAccess && (len(vpc.PublicAccessCidrs) == 0 || slices.Contains(vpc.PublicAccessCidrs, "0.0.0.0/0")) || by.setting(config.InVPC) == "on" && at(by.arn) == at(aws.ToString(cluster.Arn)) {
		return nil
	}
	name := relay.FunctionName(Prefix, aws.ToString(cluster.Name))
	again := Finding{
		Part: "relay", Name: name, State: Wrong, Do: "Deploy it, with a bucket of this region for its program (docs/deploy.md).",
		Command: shell.Command("make", "deploy-relay", "CLUSTER="+aws.ToString(cluster.Name), "BUCKET=a-bucket-of-this-region"),
	}
	out, err := c.Functions.GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
	switch {
	case coded(err, "ResourceNotFoundException"):
		again.Says = "is not there, and the API of " + aws.ToString(cluster.Name) + " has a private endpoint only: its nodes, pods and volumes cannot be read"
		if vpc.EndpointPublicAccess {
			again.Says = "is not there, and the public endpoint of the API of " + aws.ToString(cluster.Name) + " is open to " + strings.Join(vpc.PublicAccessCidrs, ", ") + " alone: its nodes, pods and volumes cannot be read from the functions' addresses, which are AWS's"
			if by.setting(config.InVPC) == "on" {
				again.State, again.Says = Unknown, "is not there, and the public endpoint of the API of "+aws.ToString(cluster.Name)+" is open to "+strings.Join(vpc.PublicAccessCidrs, ", ")+" alone: whether the address of the functions' NAT gateway is among these is not looked at"
			}
		}
		if !vpc.EndpointPrivateAccess {
			again.Do = "Turn on the private endpoint, which a relay needs, and deploy the relay, with a bucket of this region for its program (docs/deploy.md)."
			again.Command = shell.Command("aws", "eks", "update-cluster-config", "--name", aws.ToString(cluster.Name), "--resources-vpc-config", "endpointPrivateAccess=true") + " && " + again.Command
		}
		return []Finding{again}
	case err != nil:
		return []Finding{unseen("relay", name, "lambda:GetFunctionConfiguration", err)}
	}
	environment := map[string]string{}
	if out.Environment != nil {
		environment = out.Environment.Variables
	}
	switch {
	case environment[string(config.RelayCluster)] != aws.ToString(cluster.Arn) || environment[string(config.RelayEndpoint)] != aws.ToString(cluster.Endpoint):
		again.Says = "is of another cluster than the one that has the name now, and refuses what it is asked"
		return []Finding{again}
	case out.State == lambdatypes.StateFailed, out.LastUpdateStatus == lambdatypes.LastUpdateStatusFailed:
		again.Says = "cannot run: " + cmp.Or(aws.ToString(out.LastUpdateStatusReason), aws.ToString(out.StateReason))
		return []Finding{again}
	}
	named := strings.FieldsFunc(strings.TrimPrefix(by.setting(config.Relays), "none"), func(r rune) bool { return r == ',' || r == ' ' })
	line := aws.ToString(cluster.Name)
	if where := at(aws.ToString(cluster.Arn)); where != at(by.arn) {
		line = spoke.ID{Account: where[1], Region: where[0]}.In(line)
	}
	if !slices.Contains(named, line) {
		again.Says = "is not named by the setting relays: one that was used before there was the setting is asked for 30 days from the upgrade, any other is not"
		again.Do = "Name it, once you know that it is yours: anybody who can create functions can create one of this name."
		again.Command = "SET=" + shell.Quote("relays="+strings.Join(append(named, line), ","))
		return []Finding{again}
	}
	list := c.relayRelease(ctx, aws.ToString(out.FunctionArn), again)
	// Its template gives it no policy: who invokes it has the permission himself.
	policy, err := c.Functions.GetPolicy(ctx, &lambda.GetPolicyInput{FunctionName: aws.String(name)})
	switch {
	case err == nil:
		list = append(list, Finding{
			Part: "relay", Name: name, State: Wrong, Says: "has a policy by which others may invoke it, and it needs none: " + aws.ToString(policy.Policy),
			Do: "Take each statement away that nobody knows the reason of.", Command: shell.Command("aws", "lambda", "get-policy", "--function-name", name),
		})
	case !coded(err, "ResourceNotFoundException"):
		list = append(list, unseen("relay", name, "lambda:GetPolicy", err))
	}
	if list != nil {
		return list
	}
	return []Finding{{Part: "relay", Name: name, State: Well, Says: "is there, of this cluster and this release, and lets in nobody by itself"}}
}

// relayRelease looks whether a relay does what this release asks of one; it is told by a tag,
// which GetFunctionConfiguration does not have (Lambda API reference).
func (c Clients) relayRelease(ctx context.Context, arn string, again Finding) []Finding {
	again.Do = "Deploy it again with this release, with a bucket of its region for its program (docs/deploy.md)."
	out, err := c.Functions.ListTags(ctx, &lambda.ListTagsInput{Resource: aws.String(arn)})
	if err != nil {
		return []Finding{unseen("relay", again.Name, "lambda:ListTags", err)}
	}
	switch out.Tags[specs.RelayTag] {
	case specs.RelayDigest():
		return nil
	case "":
		again.Says = "tells of no release: it is an earlier one, and may refuse what this release asks for"
	default:
		again.Says = "is of another release: what it hands on, or how it is asked, is not what this release wants"
	}
	return []Finding{again}
}

// at is the region and account of an ARN: functions in a VPC of the hub's reach the clusters
// of its own account and region themselves, and ask the relays of others (docs/deploy.md).
func at(arn string) [2]string {
	if part := strings.SplitN(arn, ":", 6); len(part) == 6 {
		return [2]string{part[3], part[4]}
	}
	return [2]string{}
}
