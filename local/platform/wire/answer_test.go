package wire

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// failing registers one operation of each service whose handler answers err,
// and returns a caller for each.
func failing(s *Server, cfg aws.Config, err error) map[string]func(context.Context) error {
	Handle(s, "ec2", "DescribeRouteTables", func(context.Context, *Call, *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) {
		return nil, err
	})
	Handle(s, "autoscaling", "SetDesiredCapacity", func(context.Context, *Call, *autoscaling.SetDesiredCapacityInput) (*autoscaling.SetDesiredCapacityOutput, error) {
		return nil, err
	})
	Handle(s, "iam", "GetRole", func(context.Context, *Call, *iam.GetRoleInput) (*iam.GetRoleOutput, error) { return nil, err })
	Handle(s, "sts", "GetCallerIdentity", func(context.Context, *Call, *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
		return nil, err
	})
	Handle(s, "eks", "DescribeCluster", func(context.Context, *Call, *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
		return nil, err
	})
	Handle(s, "sqs", "DeleteMessage", func(context.Context, *Call, *sqs.DeleteMessageInput) (*sqs.DeleteMessageOutput, error) {
		return nil, err
	})
	Handle(s, "secretsmanager", "GetSecretValue", func(context.Context, *Call, *secretsmanager.GetSecretValueInput) (*secretsmanager.GetSecretValueOutput, error) {
		return nil, err
	})
	Handle(s, "eventbridge", "PutEvents", func(context.Context, *Call, *eventbridge.PutEventsInput) (*eventbridge.PutEventsOutput, error) {
		return nil, err
	})
	s.Pass("dynamodb", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	x := aws.String("x")
	return map[string]func(context.Context) error{
		"ec2": func(ctx context.Context) error {
			_, err := ec2.NewFromConfig(cfg).DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{})
			return err
		},
		"autoscaling": func(ctx context.Context) error {
			_, err := autoscaling.NewFromConfig(cfg).SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: x, DesiredCapacity: aws.Int32(1)})
			return err
		},
		"iam": func(ctx context.Context) error {
			_, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: x})
			return err
		},
		"sts": func(ctx context.Context) error {
			_, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
			return err
		},
		"eks": func(ctx context.Context) error {
			_, err := eks.NewFromConfig(cfg).DescribeCluster(ctx, &eks.DescribeClusterInput{Name: x})
			return err
		},
		"sqs": func(ctx context.Context) error {
			_, err := sqs.NewFromConfig(cfg).DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: x, ReceiptHandle: x})
			return err
		},
		"secretsmanager": func(ctx context.Context) error {
			_, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: x})
			return err
		},
		"eventbridge": func(ctx context.Context) error {
			_, err := eventbridge.NewFromConfig(cfg).PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []ebtypes.PutEventsRequestEntry{{}}})
			return err
		},
		"dynamodb": func(ctx context.Context) error {
			_, err := dynamodb.NewFromConfig(cfg).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: x})
			return err
		},
	}
}

// answerOf is what a client saw of an error.
type answerOf struct {
	Code, Message string
	Status        int
}

func decoded(t *testing.T, err error) answerOf {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		t.Fatalf("error = %v, want an API error", err)
	}
	var res interface{ HTTPStatusCode() int }
	if !errors.As(err, &res) {
		t.Fatalf("error = %v, want one with an HTTP response", err)
	}
	return answerOf{api.ErrorCode(), api.ErrorMessage(), res.HTTPStatusCode()}
}

func TestErrorsOfHandlers(t *testing.T) {
	tests := []struct {
		service string
		err     error
		want    answerOf
	}{
		{"ec2", Errorf("InvalidRouteTableID.NotFound", "The routeTable ID '%s' does not exist", "rtb-<1>"),
			answerOf{"InvalidRouteTableID.NotFound", "The routeTable ID 'rtb-<1>' does not exist", 400}},
		{"ec2", fmt.Errorf("create route: %w", &Error{Code: "RouteAlreadyExists", Message: "there"}), answerOf{"RouteAlreadyExists", "there", 400}},
		{"ec2", errors.New("a defect"), answerOf{"InternalError", "An internal error has occurred", 500}},
		{"autoscaling", Errorf("ValidationError", "New SetDesiredCapacity value 9 is above max value 1 for the AutoScalingGroup."),
			answerOf{"ValidationError", "New SetDesiredCapacity value 9 is above max value 1 for the AutoScalingGroup.", 400}},
		{"iam", &Error{Code: "NoSuchEntity", Message: "The role with name x cannot be found.", Status: 404},
			answerOf{"NoSuchEntity", "The role with name x cannot be found.", 404}},
		{"eks", &Error{Code: "ResourceNotFoundException", Message: "No cluster found for name: x.", Status: 404},
			answerOf{"ResourceNotFoundException", "No cluster found for name: x.", 404}},
		{"sqs", Errorf("QueueDoesNotExist", "The specified queue does not exist."),
			answerOf{"AWS.SimpleQueueService.NonExistentQueue", "The specified queue does not exist.", 400}},
		{"sqs", Errorf("InvalidAddress", "The address https://x is not valid for this endpoint."),
			answerOf{"InvalidAddress", "The address https://x is not valid for this endpoint.", 400}},
		{"secretsmanager", Errorf("ResourceNotFoundException", "Secrets Manager can't find the specified secret."),
			answerOf{"ResourceNotFoundException", "Secrets Manager can't find the specified secret.", 400}},
		{"eventbridge", Errorf("ValidationException", "too many"), answerOf{"ValidationException", "too many", 400}},
	}
	for _, tt := range tests {
		t.Run(tt.service+"/"+tt.want.Code, func(t *testing.T) {
			s, cfg := serve(t, Config{})
			got := decoded(t, failing(s, cfg, tt.err)[tt.service](t.Context()))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
			calls := s.Calls()
			if len(calls) != 1 || calls[0].Code == "" || calls[0].Status != tt.want.Status {
				t.Errorf("calls = %+v, want one with a code and status %d", calls, tt.want.Status)
			}
		})
	}
}

func TestTypedErrors(t *testing.T) {
	s, cfg := serve(t, Config{})
	call := failing(s, cfg, &Error{Code: "ResourceNotFoundException", Message: "No cluster found for name: x.", Status: 404})
	var notFound *ekstypes.ResourceNotFoundException
	if err := call["eks"](t.Context()); !errors.As(err, &notFound) {
		t.Errorf("error = %v, want *ResourceNotFoundException", err)
	}
}
