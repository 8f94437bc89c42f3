// Package peerscript is the cron job of the ips story: every quarter of an hour it
// deletes, one after the other, each network interface that is available and
// described as the VPC CNI describes its own. The team of the story ran it as a
// loop of a few lines.
package peerscript

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
)

// EC2 is what the script calls.
type EC2 interface {
	DescribeNetworkInterfaces(context.Context, *ec2.DescribeNetworkInterfacesInput, ...func(*ec2.Options)) (*ec2.DescribeNetworkInterfacesOutput, error)
	DeleteNetworkInterface(context.Context, *ec2.DeleteNetworkInterfaceInput, ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error)
}

// Result is what a run did.
type Result struct {
	// Deleted are the interfaces that it deleted, in order.
	Deleted []types.NetworkInterface
	// Failed counts the deletes that did not go through, by EC2's error code.
	Failed map[string]int
}

// Run is one run. A delete that fails is passed over, as the loop does.
func Run(ctx context.Context, api EC2) (Result, error) {
	r := Result{Failed: map[string]int{}}
	var list []types.NetworkInterface
	pages := ec2.NewDescribeNetworkInterfacesPaginator(api, &ec2.DescribeNetworkInterfacesInput{
		MaxResults: aws.Int32(1000),
		Filters: []types.Filter{
			{Name: aws.String("status"), Values: []string{"available"}},
			{Name: aws.String("description"), Values: []string{"aws-K8S-*"}},
		},
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return r, fmt.Errorf("describe the interfaces: %w", err)
		}
		list = append(list, out.NetworkInterfaces...)
	}
	for _, eni := range list {
		_, err := api.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: eni.NetworkInterfaceId})
		var failed smithy.APIError
		switch {
		case err == nil:
			r.Deleted = append(r.Deleted, eni)
		case ctx.Err() != nil:
			return r, ctx.Err()
		case errors.As(err, &failed):
			r.Failed[failed.ErrorCode()]++
		default:
			r.Failed["no answer"]++
		}
	}
	return r, nil
}
