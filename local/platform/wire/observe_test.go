package wire

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"
)

// denyClusters refuses calls about clusters before they are read.
type denyClusters struct{}

func (denyClusters) Before(_ context.Context, call *Call) error {
	if call.Operation == "DescribeCluster" {
		return Denied
	}
	return nil
}

func TestObserve(t *testing.T) {
	var got [][4]string
	s, cfg := serve(t, Config{Faults: denyClusters{}, Observe: func(call Call, in, out any, err error) {
		seen := [4]string{call.Action(), "", "", ""}
		if v, ok := in.(*eks.DeleteNodegroupInput); ok {
			seen[1] = aws.ToString(v.NodegroupName)
		}
		if _, ok := out.(*eks.DeleteNodegroupOutput); ok {
			seen[2] = "answered"
		}
		var e *Error
		if errors.As(err, &e) {
			seen[3] = e.Code
		}
		got = append(got, seen)
	}})
	Handle(s, "eks", "DeleteNodegroup", func(_ context.Context, _ *Call, in *eks.DeleteNodegroupInput) (*eks.DeleteNodegroupOutput, error) {
		if *in.NodegroupName == "x" {
			return nil, &Error{Code: "ResourceNotFoundException", Status: 404}
		}
		return nil, nil
	})
	Handle(s, "eks", "DescribeCluster", func(context.Context, *Call, *eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
		return nil, nil
	})
	api := eks.NewFromConfig(cfg)
	for _, name := range []string{"workers", "x"} {
		if _, err := api.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: aws.String("c"), NodegroupName: aws.String(name)}); (err != nil) != (name == "x") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := api.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("c")}); err == nil {
		t.Error("a denied call: got no error")
	}
	want := [][4]string{
		{"eks:DeleteNodegroup", "workers", "answered", ""},
		{"eks:DeleteNodegroup", "x", "", "ResourceNotFoundException"},
		{"eks:DescribeCluster", "", "", "AccessDeniedException"},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
