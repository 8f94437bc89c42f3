package gather

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/shared/snapshot"
)

func TestInterfacesByID(t *testing.T) {
	r, s := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeNetworkInterfaces", answer(func(in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
			if len(in.NetworkInterfaceIds) > 0 || *in.Filters[0].Name != "network-interface-id" || len(in.Filters[0].Values) > 200 {
				t.Errorf("asked for %+v", in)
			}
			out := &ec2.DescribeNetworkInterfacesOutput{}
			for _, id := range in.Filters[0].Values {
				if id != "eni-007" { // gone: the others are there all the same
					out.NetworkInterfaces = append(out.NetworkInterfaces, types.NetworkInterface{NetworkInterfaceId: aws.String(id), Status: types.NetworkInterfaceStatusAvailable})
				}
			}
			return out, nil
		}))
	})
	var ids []string
	for i := range 250 {
		ids = append(ids, fmt.Sprintf("eni-%03d", 249-i))
	}
	got, failed := r.InterfacesByID(context.Background(), ids)
	if failed != nil || len(got) != 249 || got[0].ID != "eni-000" || len(s.Calls()) != 2 {
		t.Errorf("%d interfaces in %d calls, %+v", len(got), len(s.Calls()), failed)
	}
	if got, failed := r.InterfacesByID(context.Background(), nil); failed != nil || len(got) > 0 {
		t.Errorf("none asked for: %v, %+v", got, failed)
	}
}

func TestInterfacesByIDRefused(t *testing.T) {
	r, _ := reader(t, func(s *wire.Server) {
		wire.Handle(s, "ec2", "DescribeNetworkInterfaces", answer(func(*ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
			return nil, &wire.Error{Code: "UnauthorizedOperation", Message: "no", Status: 403}
		}))
	})
	got, failed := r.InterfacesByID(context.Background(), []string{"eni-1"})
	if got != nil || failed == nil || failed.Reason != snapshot.Denied || failed.Call != "ec2:DescribeNetworkInterfaces" {
		t.Errorf("%v, %+v", got, failed)
	}
}
