package simaws

import (
	"context"
	"encoding/base64"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudwatch"
)

// World is the simulated account. These are the operations that this package
// itself calls; the others are found by their form and served, see
// Config.World.
type World interface {
	DescribeCluster(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error)
	DescribeAccessEntry(*eks.DescribeAccessEntryInput) (*eks.DescribeAccessEntryOutput, error)
	ListAssociatedAccessPolicies(*eks.ListAssociatedAccessPoliciesInput) (*eks.ListAssociatedAccessPoliciesOutput, error)
}

// Deployment is a stack, of whose functions' roles IAM tells as of the world's, and of
// whose alarms CloudWatch tells.
type Deployment interface {
	Role(name string) (role iamtypes.Role, there, known bool)
	DescribeAlarms(*cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error)
}

// getRole is IAM's answer about a role of the deployment or of the world.
func (c *Cloud) getRole(world func(*iam.GetRoleInput) (*iam.GetRoleOutput, error)) func(context.Context, *wire.Call, *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
	return func(_ context.Context, _ *wire.Call, in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
		name := aws.ToString(in.RoleName)
		role, there, known := c.cfg.Deployment.Role(name)
		switch {
		case !known:
			return world(in)
		case !there: // IAM API reference, GetRole
			return nil, &wire.Error{Code: "NoSuchEntity", Status: http.StatusNotFound, Message: "The role with name " + name + " cannot be found."}
		}
		return &iam.GetRoleOutput{Role: &role}, nil
	}
}

// register gives every operation its handler.
func (c *Cloud) register() {
	for _, service := range []string{"ec2", "autoscaling"} {
		c.ops[service] = wire.HandleMethods(c.wire, service, c.cfg.World)
	}
	world, roles := c.cfg.World.(interface {
		GetRole(*iam.GetRoleInput) (*iam.GetRoleOutput, error)
	})
	if c.cfg.Deployment != nil && roles {
		c.ops["iam"] = append(wire.HandleMethods(c.wire, "iam", c.cfg.World, "GetRole"), "GetRole")
		wire.Handle(c.wire, "iam", "GetRole", c.getRole(world.GetRole))
	} else {
		c.ops["iam"] = wire.HandleMethods(c.wire, "iam", c.cfg.World)
	}
	c.ops["eks"] = append(wire.HandleMethods(c.wire, "eks", c.cfg.World, "DescribeCluster"), "DescribeCluster")
	wire.Handle(c.wire, "eks", "DescribeCluster", c.describeCluster)
	c.ops["sts"] = append(wire.HandleMethods(c.wire, "sts", c.cfg.World), "GetCallerIdentity", "AssumeRole")
	wire.Handle(c.wire, "sts", "AssumeRole", c.assumeRole)
	wire.Handle(c.wire, "sts", "GetCallerIdentity", c.getCallerIdentity)
	c.ops["secretsmanager"] = []string{"GetSecretValue"}
	wire.Handle(c.wire, "secretsmanager", "GetSecretValue", c.getSecretValue)
	if len(c.cfg.Topics) > 0 {
		c.ops["sns"] = []string{"Publish"}
		wire.Handle(c.wire, "sns", "Publish", c.publish)
	}
	if c.cfg.Queues != nil {
		c.ops["sqs"] = wire.HandleMethods(c.wire, "sqs", c.cfg.Queues)
	}
	if c.cfg.Events != nil {
		c.ops["eventbridge"] = []string{"PutEvents"}
		wire.Handle(c.wire, "eventbridge", "PutEvents", c.putEvents)
	}
	if c.cfg.Deployment != nil {
		c.ops["cloudwatch"] = []string{"DescribeAlarms"}
		wire.HandlePlain(c.wire, "cloudwatch", "DescribeAlarms", func(_ context.Context, _ *wire.Call, in *cloudwatch.DescribeAlarmsInput) (*cloudwatch.DescribeAlarmsOutput, error) {
			return c.cfg.Deployment.DescribeAlarms(in)
		})
		c.ops["lambda"] = wire.HandleMethods(c.wire, "lambda", c.cfg.Deployment)
		c.ops["eventbridge"] = append(c.ops["eventbridge"], wire.HandleMethods(c.wire, "eventbridge", c.cfg.Deployment)...)
	}
	if c.cfg.Invoke != nil {
		c.ops["lambda"] = append(c.ops["lambda"], "Invoke")
		wire.Handle(c.wire, "lambda", "Invoke", c.invoke)
	}
	if c.cfg.History != nil {
		c.ops["cloudtrail"] = []string{"LookupEvents"}
		wire.HandlePlain(c.wire, "cloudtrail", "LookupEvents", c.lookupEvents)
	}
	if l, has := c.cfg.World.(Logs); has {
		c.registerLogs(l)
	}
	if r, has := c.cfg.World.(Resolver); has {
		c.registerResolver(r)
	}
	if z, has := c.cfg.World.(HostedZones); has {
		c.ops["route53"] = HandleHostedZones(c.wire, z)
	}
	if p, has := c.cfg.World.(Profiles); has {
		c.ops["route53profiles"] = HandleProfiles(c.wire, p)
	}
	if z, has := c.cfg.World.(ZonalShift); has {
		c.ops["arczonalshift"] = HandleZonalShift(c.wire, z)
	}
	if c.cfg.S3 != nil {
		c.wire.Pass("s3", c.cfg.S3)
	}
	if c.cfg.DynamoDB != nil {
		db := c.cfg.DynamoDB
		if c.cfg.Meter != nil {
			db = c.cfg.Meter.over(db)
		}
		c.wire.Pass("dynamodb", db)
	}
}

// describeCluster answers with the cluster of the world, whose endpoint and
// authority are those of the listener that serves its Kubernetes API.
func (c *Cloud) describeCluster(_ context.Context, _ *wire.Call, in *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	out, err := c.cfg.World.DescribeCluster(in)
	if err != nil || out == nil || out.Cluster == nil || c.cfg.Endpoints {
		return out, err
	}
	k, ok := c.clusters[aws.ToString(out.Cluster.Name)]
	if !ok {
		return out, nil
	}
	described := *out.Cluster
	described.Endpoint = aws.String(k.endpoint)
	described.CertificateAuthority = &ekstypes.Certificate{Data: aws.String(base64.StdEncoding.EncodeToString(k.ca))}
	return &eks.DescribeClusterOutput{Cluster: &described}, nil
}
