package doctor

import (
	"context"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/kube"
	"rollcall/shared/s3"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// NewElsewhere makes the clients of a spoke's account and region, of credentials of it.
func NewElsewhere(cfg aws.Config) Elsewhere {
	c := NewClients(cfg, nil)
	return Elsewhere{Functions: c.Functions, Rules: c.Rules, Roles: c.Roles, Clusters: c.Clusters, Kubernetes: c.Kubernetes}
}

// NewClients makes the clients of somebody's credentials. Slack is reached by via.
func NewClients(cfg aws.Config, via *http.Client) Clients {
	return Clients{
		Functions: lambda.NewFromConfig(cfg), Rules: eventbridge.NewFromConfig(cfg), Bus: eventbridge.NewFromConfig(cfg), Roles: iam.NewFromConfig(cfg), Queues: sqs.NewFromConfig(cfg),
		Secrets: secretsmanager.NewFromConfig(cfg), Clusters: eks.NewFromConfig(cfg),
		Alarms: newCloudWatch(cfg), Objects: s3.New(cfg),
		Kubernetes: func(ctx context.Context, c Cluster) (Kubernetes, error) {
			token, err := kube.Token(ctx, sts.NewPresignClient(sts.NewFromConfig(cfg)), c.Name)
			if err != nil {
				return nil, err
			}
			via, err := kube.Transport(c.CA)
			if err != nil {
				return nil, err
			}
			via.Proxy = http.ProxyFromEnvironment
			return kube.NewVia(via, c.Endpoint, c.CA, token)
		},
		Incidents: func(table string, of spoke.ID) Incidents { return store.New(dynamodb.NewFromConfig(cfg), table).In(of) },
		Elsewhere: func(context.Context, spoke.ID) (Elsewhere, error) { return Elsewhere{}, ErrNoWay },
		Buses:     eventbridge.NewFromConfig(cfg),
		Records:   func(table string) Records { return store.New(dynamodb.NewFromConfig(cfg), table) },
		Slack:     func(api, token string) (Slack, error) { return NewSlack(api, token, via), nil },
	}
}
