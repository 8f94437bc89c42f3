package demo

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// The story's script deletes what lives. This is the world alone, without
// Rollcall.
func TestScriptOnACopy(t *testing.T) {
	w, err := copied("../worlds/ips.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.EC2().DescribeSubnets(&ec2.DescribeSubnetsInput{SubnetIds: []string{ipsSubnet}})
	if err != nil || aws.ToInt32(out.Subnets[0].AvailableIpAddressCount) != 0 {
		t.Errorf("the subnet has %d free (%v), want 0", aws.ToInt32(out.Subnets[0].AvailableIpAddressCount), err)
	}
	list, err := tollOf(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range list {
		want := 1
		if i == 0 {
			want = leaked()
		}
		if got.count != want || got.wrong != (i > 0) {
			t.Errorf("%s: %d deleted, want %d", got.what, got.count, want)
		}
	}
}
