package ec2api

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/smithy-go/middleware"
)

// NewEC2 makes the client that all of EC2 is read with. EC2 leaves out of its
// lists what AWS services manage in the account (EKS Auto Mode's instances,
// interfaces and volumes among it) unless a request has
// IncludeManagedResources (EC2's model, botocore 1.43.11). An instance that is
// left out would look dead, and its addresses free.
func NewEC2(cfg aws.Config) *ec2.Client {
	return ec2.NewFromConfig(cfg, func(o *ec2.Options) { o.APIOptions = append(o.APIOptions, includeManaged) })
}

// includeManaged sets IncludeManagedResources in every request that has it, so
// that no call can forget it. The caller's input stays as it is.
func includeManaged(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallIncludeManagedResources",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			in.Parameters = withManaged(in.Parameters)
			return next.HandleInitialize(ctx, in)
		}), middleware.Before)
}

// withManaged is an operation's input that asks for managed resources too,
// where the operation has the parameter; else the input itself.
func withManaged(input any) any {
	p := reflect.ValueOf(input)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return input
	}
	if f, ok := p.Type().Elem().FieldByName("IncludeManagedResources"); !ok || f.Type != reflect.TypeFor[*bool]() {
		return input
	}
	out := reflect.New(p.Type().Elem())
	out.Elem().Set(p.Elem())
	out.Elem().FieldByName("IncludeManagedResources").Set(reflect.ValueOf(aws.Bool(true)))
	return out.Interface()
}
