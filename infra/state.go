package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"rollcall/shared/store"
)

// newTable makes the table that package state describes. It outlives the
// stack: what was said in Slack, and where, is not lost by `make destroy`.
func newTable(stack awscdk.Stack) awsdynamodb.Table {
	text := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
	}
	table := awsdynamodb.NewTable(stack, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey:        text("pk"),
		SortKey:             text("sk"),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String("expires"),
		// DynamoDB's own key would show as no encryption setting at all; the
		// account's key for DynamoDB costs nothing and is written in CloudTrail.
		Encryption: awsdynamodb.TableEncryption_AWS_MANAGED,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(store.OpenIndex),
		PartitionKey:   text("open"),
		SortKey:        text("started"),
		ProjectionType: awsdynamodb.ProjectionType_ALL,
	})
	table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
		IndexName:      jsii.String(store.EndedIndex),
		PartitionKey:   text("day"),
		SortKey:        text("began"),
		ProjectionType: awsdynamodb.ProjectionType_INCLUDE,
		// The keys come with it; "past" is a launch in a few words.
		NonKeyAttributes: jsii.Strings("past", "expires", "format"),
	})
	return table
}
