package world

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/worldfile"
)

// Describing a page out of 5,000 interfaces by filter: what one call of a
// sweep costs the stage.
func BenchmarkDescribeInterfaces(b *testing.B) {
	f, err := worldfile.Load("../../worlds/route.yaml")
	if err != nil {
		b.Fatal(err)
	}
	w, err := New(f, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for range 5000 {
		if _, err := w.EC2().CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(storySubnet), Description: aws.String("aws-K8S-i-0")}); err != nil {
			b.Fatal(err)
		}
	}
	in := &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{{Name: aws.String("description"), Values: []string{"aws-K8S-*"}}}}
	for b.Loop() {
		if _, err := w.EC2().DescribeNetworkInterfaces(in); err != nil {
			b.Fatal(err)
		}
	}
}
