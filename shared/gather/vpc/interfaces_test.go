package vpc

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// An interface that a service runs in the account, such as one of an EKS Auto
// Mode node, is AWS's own, though nobody says so of the requester.
func TestManagedInterfaceIsNobodysToDelete(t *testing.T) {
	for name, tt := range map[string]struct {
		of   types.NetworkInterface
		want bool
	}{
		"the account's own":      {types.NetworkInterface{}, false},
		"requester-managed":      {types.NetworkInterface{RequesterManaged: aws.Bool(true)}, true},
		"managed by EKS":         {types.NetworkInterface{RequesterManaged: aws.Bool(false), Operator: &types.OperatorResponse{Managed: aws.Bool(true), Principal: aws.String("eks.amazonaws.com")}}, true},
		"with an operator, free": {types.NetworkInterface{Operator: &types.OperatorResponse{Managed: aws.Bool(false)}}, false},
	} {
		if got := networkInterface(tt.of).RequesterManaged; got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
