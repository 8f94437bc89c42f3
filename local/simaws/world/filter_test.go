package world

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
)

// code is the code of an API error, empty for none.
func code(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var we *wire.Error
	if !errors.As(err, &we) {
		t.Fatalf("got %v, want an API error", err)
	}
	return we.Code
}

func TestFilters(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	tables := func(name string, values ...string) ([]string, error) {
		out, err := api.DescribeRouteTables(&ec2.DescribeRouteTablesInput{Filters: []ec2types.Filter{{Name: aws.String(name), Values: values}}})
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, r := range out.RouteTables {
			ids = append(ids, *r.RouteTableId)
		}
		return ids, nil
	}
	tests := []struct {
		filter string
		values []string
		want   []string
	}{
		{"association.subnet-id", []string{storySubnet}, []string{storyTable}},
		{"association.subnet-id", []string{"subnet-0b20000000000000*"}, []string{"rtb-0b200000000000abc"}},
		{"association.main", []string{"true"}, []string{"rtb-0a700000000000001"}},
		{"route.nat-gateway-id", []string{storyNAT}, []string{"rtb-0b200000000000abc"}},
		{"tag:Name", []string{"workshop-*"}, []string{storyTable}},
		{"tag-key", []string{"Name"}, []string{storyTable}},
		{"vpc-id", []string{"vpc-none"}, nil},
	}
	for _, tt := range tests {
		got, err := tables(tt.filter, tt.values...)
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
		}
		if diff := cmp.Diff(got, tt.want); diff != "" {
			t.Errorf("%s %q (-got +want):\n%s", tt.filter, tt.values, diff)
		}
	}
	_, err := tables("association.subnetid", "x")
	if got := code(t, err); got != "InvalidParameterValue" {
		t.Errorf("unknown filter: got %q, want InvalidParameterValue", got)
	}
}

func TestUnknownIDs(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	tests := map[string]struct {
		call func() error
		want string
	}{
		"subnet": {func() error {
			_, err := api.DescribeSubnets(&ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-x"}})
			return err
		}, "InvalidSubnetID.NotFound"},
		"table": {func() error {
			_, err := api.DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{"rtb-x"}})
			return err
		}, "InvalidRouteTableID.NotFound"},
		"interface": {func() error {
			_, err := api.DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-x"}})
			return err
		}, "InvalidNetworkInterfaceID.NotFound"},
		"instance": {func() error {
			_, err := api.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{"i-x"}})
			return err
		}, "InvalidInstanceID.NotFound"},
		"nat": {func() error {
			_, err := api.DescribeNatGateways(&ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{"nat-x"}})
			return err
		}, "NatGatewayNotFound"},
		"type": {func() error {
			_, err := api.DescribeInstanceTypes(&ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.huge"}})
			return err
		}, "InvalidInstanceType"},
		"ids with a page size": {func() error {
			_, err := api.DescribeInstances(&ec2.DescribeInstancesInput{InstanceIds: []string{"i-0d0000000000000a1"}, MaxResults: aws.Int32(5)})
			return err
		}, "InvalidParameterCombination"},
		"page too small": {func() error {
			_, err := api.DescribeSubnets(&ec2.DescribeSubnetsInput{MaxResults: aws.Int32(4)})
			return err
		}, "InvalidParameterValue"},
		"bad token": {func() error {
			_, err := api.DescribeSubnets(&ec2.DescribeSubnetsInput{NextToken: aws.String("x")})
			return err
		}, "InvalidNextToken"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := code(t, tt.call()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPages(t *testing.T) {
	w, _ := open(t, "route")
	api := w.EC2()
	for i := range 12 {
		if _, err := api.CreateNetworkInterface(&ec2.CreateNetworkInterfaceInput{SubnetId: aws.String(storySubnet), Description: aws.String(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	want := []ec2types.Filter{{Name: aws.String("subnet-id"), Values: []string{storySubnet}}}
	var got, sizes []string
	in := &ec2.DescribeNetworkInterfacesInput{Filters: want, MaxResults: aws.Int32(5)}
	for {
		out, err := api.DescribeNetworkInterfaces(in)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, fmt.Sprint(len(out.NetworkInterfaces)))
		for _, n := range out.NetworkInterfaces {
			got = append(got, *n.Description)
		}
		if out.NextToken == nil {
			break
		}
		in.NextToken = out.NextToken
	}
	if diff := cmp.Diff(sizes, []string{"5", "5", "2"}); diff != "" {
		t.Errorf("page sizes (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(got, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}); diff != "" {
		t.Errorf("order (-got +want):\n%s", diff)
	}
}

func TestAnswersAreCopies(t *testing.T) {
	w, _ := open(t, "route")
	get := func() *ec2types.RouteTable {
		out, err := w.EC2().DescribeRouteTables(&ec2.DescribeRouteTablesInput{RouteTableIds: []string{storyTable}})
		if err != nil {
			t.Fatal(err)
		}
		return &out.RouteTables[0]
	}
	first := get()
	*first.VpcId = "changed"
	first.Routes[0].State = ec2types.RouteStateBlackhole
	if second := get(); *second.VpcId == "changed" || second.Routes[0].State != ec2types.RouteStateActive {
		t.Error("a caller's change of an answer changed the world")
	}
}
