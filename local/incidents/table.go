package incidents

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"rollcall/local/caller"
	"rollcall/local/doctor"
	"rollcall/local/exit"
	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// Table is the table of the deployment in the caller's account and region, with what it
// has of every spoke: its function report says which table and which spokes.
func Table(ctx context.Context, by caller.Caller) (Records, error) {
	out, err := lambda.NewFromConfig(by.AWS).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(doctor.Prefix + "-report")})
	var none *lambdatypes.ResourceNotFoundException
	switch {
	case errors.As(err, &none):
		return nil, exit.Misuse("there is no deployment of Rollcall in %s of account %s: --region and --profile choose another; rollcall diagnose --cluster needs no deployment", by.AWS.Region, by.Account)
	case err != nil:
		return nil, fmt.Errorf("find the deployment's table: %w", err)
	}
	table := ""
	if out.Environment != nil {
		table = out.Environment.Variables[string(config.TableName)]
	}
	if table == "" {
		return nil, fmt.Errorf("find the deployment's table: %s-report has no setting %s; rollcall doctor tells more", doctor.Prefix, config.TableName)
	}
	settings, err := config.Load(func(name string) string {
		if name == "AWS_REGION" { // Lambda sets it, and does not tell
			return by.AWS.Region
		}
		return out.Environment.Variables[name]
	}, config.SpokeVariables())
	if err != nil {
		return nil, fmt.Errorf("find the deployment's spokes: %w", err)
	}
	return Everywhere(store.New(dynamodb.NewFromConfig(by.AWS), table), settings.Others()), nil
}

// Everywhere is what a table has of the hub's own account and region and of spokes, those
// that were watched before among them. A spoke's cluster is named with its account and
// region: 222233334444/eu-west-1/prod.
func Everywhere(table *store.Store, spokes []config.Spoke) Records { return everywhere{table, spokes} }

type everywhere struct {
	table  *store.Store
	spokes []config.Spoke
}

func (e everywhere) Clusters(ctx context.Context) ([]string, error) {
	past, err := e.table.AllSpokes(ctx)
	var newer *store.NewerFormat
	if err != nil && !errors.As(err, &newer) {
		return nil, err
	}
	ids := []spoke.ID{{}}
	for _, s := range e.spokes {
		ids = append(ids, s.ID)
	}
	for _, p := range past {
		if !slices.Contains(ids, p.Spoke) {
			ids = append(ids, p.Spoke)
		}
	}
	var all []string
	for _, id := range ids {
		names, err := e.table.In(id).Clusters(ctx)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, id.In(name))
		}
	}
	return all, nil
}

func (e everywhere) Incidents(ctx context.Context, cluster string) ([]incident.Incident, error) {
	of, err := spoke.ParseCluster(cluster)
	if err != nil {
		return nil, exit.Misuse("%s", err)
	}
	return e.table.In(of.ID).Incidents(ctx, of.Name)
}
