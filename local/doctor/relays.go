package doctor

import (
	"cmp"
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/shared/config"
	"rollcall/shared/relay"
	"rollcall/shared/shell"
)

// relay looks at the relay of a cluster that has a private endpoint only, where the functions
// that read in it are not in its VPC themselves.
func (c Clients) relay(ctx context.Context, cluster *types.Cluster, by functionOf) []Finding {
	vpc := cluster.ResourcesVpcConfig
	if vpc == nil || vpc.EndpointPublicAccess || by.setting(config.InVPC) == "on" {
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
	// Its template gives it no policy: who invokes it has the permission himself.
	policy, err := c.Functions.GetPolicy(ctx, &lambda.GetPolicyInput{FunctionName: aws.String(name)})
	switch {
	case err == nil:
		return []Finding{{
			Part: "relay", Name: name, State: Wrong, Says: "has a policy by which others may invoke it, and it needs none: " + aws.ToString(policy.Policy),
			Do: "Take each statement away that nobody knows the reason of.", Command: shell.Command("aws", "lambda", "get-policy", "--function-name", name),
		}}
	case !coded(err, "ResourceNotFoundException"):
		return []Finding{unseen("relay", name, "lambda:GetPolicy", err)}
	}
	return []Finding{{Part: "relay", Name: name, State: Well, Says: "is there, of this cluster, and lets in nobody by itself"}}
}
