// Package state keeps what Rollcall must remember between invocations, in one
// DynamoDB table.
//
// Keys. Each record has a partition key "pk", which begins with its kind (IAM
// conditions rest on that), a sort key "sk", a "version" that every write
// checks, "expires" (seconds since 1970, DynamoDB's time to live), the "format"
// of the record, and the record itself as JSON in "body". A record whose
// format is newer than the code's is left alone. What has expired counts as
// absent, whether DynamoDB has deleted it or not.
//
//	kind      pk                   sk                  read by
//	launch    launch#<instance>    launch              GetLaunches: batch get by instance id
//	                                                   OpenLaunches: index "open", key open = <cluster>,
//	                                                   sorted by launch time; the attribute is there only
//	                                                   while the outcome is unknown, so the index stays small.
//	                                                   It projects all attributes.
//	incident  incident#<cluster>   <check>#<resource>  Incidents: query by pk
package state

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

const (
	launchPrefix   = "launch#"
	incidentPrefix = "incident#"
	// OpenIndex is the sparse index over launches without an outcome: its
	// partition key is "open" (the cluster), its sort key "started".
	OpenIndex = "open"
)

// Reader is what reading the table takes.
type Reader interface {
	Querier
	Getter
}

// Getter is what reading records by their keys takes.
type Getter interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Querier is what reading incidents alone takes.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Writer is what writing a record takes: one conditional write per record.
type Writer interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

var (
	_ Reader = (*dynamodb.Client)(nil)
	_ Writer = (*dynamodb.Client)(nil)
)
