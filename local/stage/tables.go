package stage

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/local/platform/dynamo"
	"rollcall/local/platform/template"
)

// startTable makes a DynamoDB with the template's tables.
func (s *Stage) startTable(ctx context.Context) error {
	s.Table = dynamo.New()
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
