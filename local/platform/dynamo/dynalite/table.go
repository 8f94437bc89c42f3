package dynalite

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"rollcall/local/platform/dynamo"
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

// CreateTable makes a table as the stack does (see package state).
func (s *Server) CreateTable(ctx context.Context, name string) error {
	client := s.Client()
	if _, err := client.CreateTable(ctx, dynamo.TableOfTheStack(name)); err != nil {
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
