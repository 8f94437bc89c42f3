package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// partition reads all records of a partition, by sort key. What was just
// written is seen: the records say what was told or said already, or are
// written over what was read. If some were written by a newer version of
// Rollcall, it gives the others and an error with *NewerFormat in it.
func partition[T any](ctx context.Context, s *Store, pk string, format int, what string) ([]T, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pk)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	var records []T
	var wrong []error
	for _, attributes := range items {
		var r T
		there, err := s.decode(attributes, format, &r)
		if err != nil {
			wrong = append(wrong, err)
		}
		if there {
			records = append(records, r)
		}
	}
	if len(wrong) > 0 {
		return records, fmt.Errorf("read %s: %w", what, errors.Join(wrong...))
	}
	return records, nil
}

// oneByOne reads the records of a partition whose sort keys are as where says of
// #sk and :from, in their order. Unlike partition it gives none if one of them
// was written by a newer version: who counts audit records must have them all.
func oneByOne[T any](ctx context.Context, s *Store, pk, where, from string, format int, what string) ([]T, error) {
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND " + where),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pk), ":from": text(from)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	var list []T
	for _, attributes := range items {
		var r T
		there, err := s.decode(attributes, format, &r)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", what, err)
		}
		if there {
			list = append(list, r)
		}
	}
	return list, nil
}

// since reads those whose sort keys begin with a time, from one on.
func since[T any](ctx context.Context, s *Store, pk string, from time.Time, format int, what string) ([]T, error) {
	return oneByOne[T](ctx, s, pk, "#sk >= :from", from.UTC().Format(sortable), format, what)
}

// by is a list as a map.
func by[T any](list []T, key func(T) string) map[string]T {
	m := make(map[string]T, len(list))
	for _, x := range list {
		m[key(x)] = x
	}
	return m
}
