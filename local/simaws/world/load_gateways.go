package world

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ec2"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// loadGatewayInterfaces gives NAT gateways and interface endpoints the
// addresses that they hold in their subnets, unless the file lists them.
func loadGatewayInterfaces(w *state.State, _ *worldfile.File) error {
	listed := map[string]bool{}
	for _, n := range w.File.EC2.NetworkInterfaces {
		listed[aws.ToString(n.NetworkInterfaceId)] = true
	}
	var errs []error
	for _, n := range w.NATGateways.All() {
		id := aws.ToString(n.NatGatewayId)
		if n.AvailabilityMode == ec2types.AvailabilityModeRegional {
			continue // it stands in no subnet
		}
		if (n.State != ec2types.NatGatewayStateAvailable && n.State != ec2types.NatGatewayStatePending) || (len(n.NatGatewayAddresses) > 0 && listed[aws.ToString(n.NatGatewayAddresses[0].NetworkInterfaceId)]) {
			continue
		}
		errs = append(errs, ec2.NATInterface(w, n, id))
	}
	for _, e := range w.Endpoints.All() {
		if e.VpcEndpointType != ec2types.VpcEndpointTypeInterface || len(e.NetworkInterfaceIds) > 0 {
			continue
		}
		errs = append(errs, ec2.EndpointInterfaces(w, e))
	}
	return errors.Join(errs...)
}
