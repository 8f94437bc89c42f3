package lifecycle

import (
	"cmp"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/state"
)

// FleetOffer is a type in a subnet that a fleet may start.
type FleetOffer struct{ Type, Subnet, Image string }

// serverError is the HTTP status of what EC2 itself cannot do now: CloudTrail writes
// such a code with "Server." before it.
const serverError = 500

// InOrder is the order in which EC2 tries what a fleet may start. On demand it is
// the cheapest first ("lowest-price"); of Spot the half of the pools that have the
// most room, the cheapest of them first, and then the others
// ("price-capacity-optimized"; EC2 user guide, "Use allocation strategies"). That a
// pool is empty it learns as it asks it: why else would fleets that brought
// instances tell of errors (aws/karpenter-provider-aws#5850).
func InOrder(w *state.State, list []FleetOffer, spot bool) []FleetOffer {
	type ranked struct {
		FleetOffer
		offer
	}
	var pools []ranked
	for _, o := range list {
		pools = append(pools, ranked{o, offers(w, []string{o.Type}, zoneOf(w, o.Subnet), spot)[0]})
	}
	cheaper := func(a, b ranked) int { return cmp.Compare(a.price, b.price) }
	if !spot {
		// A vCPU costs the same in each zone, whatever Spot costs there.
		cheaper = func(a, b ranked) int { return vcpus(w, a.Type) - vcpus(w, b.Type) }
	}
	half := 0
	if spot {
		slices.SortStableFunc(pools, func(a, b ranked) int { return cmp.Compare(b.guess, a.guess) })
		half = (len(pools) + 1) / 2
	}
	slices.SortStableFunc(pools[:half], cheaper)
	slices.SortStableFunc(pools[half:], cheaper)
	var out []FleetOffer
	for _, p := range pools {
		out = append(out, p.FleetOffer)
	}
	return out
}

// PoolRefusal is why a pool gives a fleet no instance now, nil where it does.
func PoolRefusal(w *state.State, o FleetOffer, spot bool) error {
	zone := zoneOf(w, o.Subnet)
	switch limit := w.File.Spot.VCPULimit; {
	case offers(w, []string{o.Type}, zone, spot)[0].full && spot:
		return &wire.Error{Code: "InsufficientInstanceCapacity", Status: serverError, Message: "There is no Spot capacity available that matches your request."}
	case offers(w, []string{o.Type}, zone, spot)[0].full:
		e := wire.Errorf("InsufficientInstanceCapacity", "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). "+
			"Our system will be working on provisioning additional capacity.", o.Type, zone)
		e.Status = serverError
		return e
	case spot && limit > 0 && runningVCPUs(w, true)+vcpus(w, o.Type) > limit:
		return wire.Errorf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	}
	return nil
}

// RequiresTokens tells that the metadata service of what is launched wants session
// tokens: here each does that is neither switched off nor set to optional.
func (s InstanceSpec) RequiresTokens() bool {
	return s.tokens != ec2types.HttpTokensStateOptional && s.metadata != ec2types.InstanceMetadataEndpointStateDisabled
}
