package peerscript

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
)

// account has three interfaces on two pages. One is taken meanwhile.
type account struct{ asked []string }

func (a *account) DescribeNetworkInterfaces(_ context.Context, in *ec2.DescribeNetworkInterfacesInput, _ ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error) {
	if in.NextToken == nil {
		return &ec2.DescribeNetworkInterfacesOutput{NextToken: aws.String("2"), NetworkInterfaces: []types.NetworkInterface{{NetworkInterfaceId: aws.String("eni-1")}, {NetworkInterfaceId: aws.String("eni-2")}}}, nil
	}
	return &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: []types.NetworkInterface{{NetworkInterfaceId: aws.String("eni-3")}}}, nil
}

func (a *account) DeleteNetworkInterface(_ context.Context, in *ec2.DeleteNetworkInterfaceInput, _ ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	a.asked = append(a.asked, *in.NetworkInterfaceId)
	if *in.NetworkInterfaceId == "eni-2" {
		return nil, &smithy.GenericAPIError{Code: "InvalidParameterValue"}
	}
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}

func TestRun(t *testing.T) {
	a := &account{}
	r, err := Run(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a.asked, []string{"eni-1", "eni-2", "eni-3"}); diff != "" {
		t.Errorf("asked (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(r.Failed, map[string]int{"InvalidParameterValue": 1}); diff != "" || len(r.Deleted) != 2 {
		t.Errorf("%d deleted; failed (-got +want):\n%s", len(r.Deleted), diff)
	}
}
