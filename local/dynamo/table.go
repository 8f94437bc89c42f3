package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Client is a client for it; region and credentials are of no matter.
func (s *Server) Client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-west-2",
		BaseEndpoint: aws.String(s.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// CreateTable makes a table as the stack does (see package state), for tests
// that have no template to make it from.
func (s *Server) CreateTable(ctx context.Context, name string) error {
	key := func(name string, t types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: t}
	}
	word := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	client := s.Client()
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{word("pk"), word("sk"), word("open"), word("started"), word("day"), word("began")},
		KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("open"),
			KeySchema:  []types.KeySchemaElement{key("open", types.KeyTypeHash), key("started", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}, {
			IndexName:  aws.String("ended"),
			KeySchema:  []types.KeySchemaElement{key("day", types.KeyTypeHash), key("began", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"past", "expires", "format"}},
		}},
	})
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	// A new table is not there at once, here as in AWS.
	active := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 2*time.Millisecond, 20*time.Millisecond
	})
	if err := active.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, 10*time.Second); err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return nil
}
