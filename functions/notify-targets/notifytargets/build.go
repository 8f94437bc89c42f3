package notifytargets

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/bus"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/shared/target/deliver"
)

var (
	_ Memory = (*store.Store)(nil)
	_ Queue  = bus.TargetQueue{}
	_ Secret = (*deliver.Secrets)(nil)
)

// Build makes the handler of notify-targets from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	memory := store.New(dynamodb.NewFromConfig(e.AWS), e.Config.TableName).At(e.Now)
	h := handler{
		records: func(ctx context.Context, of spoke.ID, cluster string) ([]incident.Incident, error) {
			return memory.In(of).Incidents(ctx, cluster)
		},
		weeks:   func(ctx context.Context) ([]outbox.Posting, error) { return memory.Postings(ctx, report.AllClusters) },
		now:     e.Now,
		targets: e.Config.Targets, topic: e.Config.TargetTopic,
		memory:  memory,
		queue:   bus.TargetQueue{Client: sqs.NewFromConfig(e.AWS), URL: e.Config.TargetQueueURL, Dead: e.Config.TargetDeadURL},
		secrets: deliver.NewSecrets(secretsmanager.NewFromConfig(e.AWS), e.Now),
		mail:    sns.NewFromConfig(e.AWS),
		send:    deliver.Sender{HTTP: deliver.Client(e.HTTP), PagerDuty: e.Config.PagerDutyAPI, Now: e.Now},
		log:     e.Log, count: e.Metrics.Count,
	}
	return h.handle, nil
}
