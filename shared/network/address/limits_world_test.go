package address

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
)

// The simulated AWS, on which everything else is measured, says the same of
// every type that it knows as the independent table.
func TestTheStagesTypesAgreeWithThePluginsTable(t *testing.T) {
	w, err := world.New(&worldfile.File{Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}, world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]limit{}
	for _, row := range limits(t) {
		table[row.of.Name] = row
	}
	known := 0
	for in := (&ec2.DescribeInstanceTypesInput{}); in != nil; {
		page, err := w.EC2().DescribeInstanceTypes(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.InstanceTypes {
			known++
			row, is := table[string(info.InstanceType)]
			if !is {
				t.Errorf("%s is not in the independent table: add it", info.InstanceType)
				continue
			}
			interfaces, each := int(aws.ToInt32(info.NetworkInfo.MaximumNetworkInterfaces)), int(aws.ToInt32(info.NetworkInfo.Ipv4AddressesPerInterface))
			if interfaces != row.of.Interfaces || each != row.of.IPv4PerInterface || (info.Hypervisor == ec2types.InstanceTypeHypervisorNitro) != (row.of.Hypervisor == "nitro") {
				t.Errorf("%s: the stage says %d interfaces of %d, %s; the table %+v", info.InstanceType, interfaces, each, info.Hypervisor, row.of)
			}
		}
		if in = nil; page.NextToken != nil {
			in = &ec2.DescribeInstanceTypesInput{NextToken: page.NextToken}
		}
	}
	if known < 40 {
		t.Errorf("the stage names %d types only", known)
	}
}
