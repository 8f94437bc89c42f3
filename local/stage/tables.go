package stage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/local/dynamo"
	"rollcall/local/template"
)

// startTable starts DynamoDB, unless there is one to use, and makes the tables.
func (s *Stage) startTable(ctx context.Context) (err error) {
	if s.Table = s.options.Database; s.Table != nil {
		s.onClose(s.deleteTables)
		return s.createTables(ctx)
	}
	if s.Table, err = dynamo.Start(ctx, dynamo.Options{}); err != nil {
		return fmt.Errorf("start DynamoDB: %w", err)
	}
	s.onClose(func() { s.Table.Close() })
	return s.createTables(ctx)
}

// deleteTables leaves a DynamoDB that is not the stage's own as it was.
func (s *Stage) deleteTables() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 10*time.Second)
	defer cancel()
	gone := dynamodb.NewTableNotExistsWaiter(s.Table.Client(), func(o *dynamodb.TableNotExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 2*time.Millisecond, 20*time.Millisecond
	})
	for _, t := range s.Template.Tables {
		_, err := s.Table.Client().DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(t.Name)})
		if err == nil {
			err = gone.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(t.Name)}, 10*time.Second)
		}
		if err != nil {
			s.log.Error("delete a table", "table", t.Name, "error", err)
		}
	}
}

// createTables makes the template's tables in the emulator.
func (s *Stage) createTables(ctx context.Context) error {
	for _, t := range s.Template.Tables {
		if _, err := s.Table.Client().CreateTable(ctx, createTable(t)); err != nil {
			return fmt.Errorf("create table %s: %w", t.Name, err)
		}
	}
	return nil
}

func createTable(t template.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName: aws.String(t.Name), KeySchema: keys(t.Keys), BillingMode: types.BillingModePayPerRequest,
	}
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(name), AttributeType: types.ScalarAttributeType(t.Attributes[name]),
		})
	}
	for _, i := range t.GlobalIndexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(i.Name), KeySchema: keys(i.Keys),
			Projection: &types.Projection{ProjectionType: types.ProjectionType(i.Projection), NonKeyAttributes: i.NonKey},
		})
	}
	return in
}

func keys(list []template.Key) []types.KeySchemaElement {
	var out []types.KeySchemaElement
	for _, k := range list {
		out = append(out, types.KeySchemaElement{AttributeName: aws.String(k.Name), KeyType: types.KeyType(k.Type)})
	}
	return out
}

// Records are all items of the template's tables.
func (s *Stage) Records(ctx context.Context) ([]map[string]types.AttributeValue, error) {
	var out []map[string]types.AttributeValue
	for _, t := range s.Template.Tables {
		pages := dynamodb.NewScanPaginator(s.Table.Client(), &dynamodb.ScanInput{TableName: aws.String(t.Name)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("read table %s: %w", t.Name, err)
			}
			out = append(out, page.Items...)
		}
	}
	return out, nil
}
