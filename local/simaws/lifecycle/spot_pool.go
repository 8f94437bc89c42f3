package lifecycle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// offer is what one pool has for a launch.
type offer struct {
	kind string
	// room is how many more instances the pool has; of a pool without a bound
	// it is a figure that only ranks.
	room float64
	// guess is what EC2 takes the room for before it has asked the pool.
	guess float64
	full  bool
	price float64
}

// choosePool settles type and lifecycle of a launch: those of the group's
// mixed instances policy, or else of its launch template.
func choosePool(w *state.State, g *state.Group, d *ec2types.ResponseLaunchTemplateData, spec *InstanceSpec) error {
	types, most := []string{spec.InstanceType}, ""
	if o := d.InstanceMarketOptions; o != nil && o.MarketType == ec2types.MarketTypeSpot {
		spec.Spot = true
		if o.SpotOptions != nil {
			most = aws.ToString(o.SpotOptions.MaxPrice)
		}
	}
	if m := g.MixedInstancesPolicy; m != nil {
		if c := m.InstancesDistribution; c != nil {
			if c.OnDemandPercentageAboveBaseCapacity != nil {
				spec.Spot = *c.OnDemandPercentageAboveBaseCapacity == 0
			}
			most = cmp.Or(aws.ToString(c.SpotMaxPrice), most)
		}
		if m.LaunchTemplate != nil && len(m.LaunchTemplate.Overrides) > 0 {
			types = types[:0]
			for _, o := range m.LaunchTemplate.Overrides {
				types = append(types, aws.ToString(o.InstanceType))
			}
		}
	}
	zone := ""
	if s := w.Subnets.Get(spec.Subnet); s != nil {
		zone = aws.ToString(s.AvailabilityZone)
	}
	// EC2 Fleet leaves out what the zone does not have; one that it has none of fails.
	if has := slices.DeleteFunc(slices.Clone(types), func(t string) bool { return !Offers(w, zone, t) }); len(has) > 0 {
		types = has
	}
	offers := offers(w, types, zone, spec.Spot)
	var err error
	if spec.Spot {
		spec.InstanceType, err = spotType(w, offers, most)
	} else {
		spec.InstanceType, err = onDemandType(offers, zone)
	}
	return asFleet(g, spec.Spot, err)
}

// offers are what the pools of some types have in a zone.
func offers(w *state.State, types []string, zone string, spot bool) []offer {
	used := map[string]int{}
	for _, in := range w.Instances.All() {
		if aws.ToString(in.Placement.AvailabilityZone) == zone && !state.Ended(in) && (in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot) == spot {
			used[string(in.InstanceType)]++
		}
	}
	// Prices and depths are others every half hour.
	era := kubestate.Time(w.Now.Truncate(30 * time.Minute))
	list := make([]offer, 0, len(types))
	for _, kind := range types {
		// Unlisted pools are some deeper and cheaper than others, as the seed has
		// it: 3 to 7 instances deep, and 0.015 to 0.025 USD per vCPU and hour.
		o := offer{kind: kind, price: float64(vcpus(w, kind)) * (0.015 + 0.01*ids.Chance(w.Seed, "price", kind, zone, era))}
		o.guess = 3 + 4*ids.Chance(w.Seed, "room", kind, zone, era) - float64(used[kind])
		o.room = o.guess
		if p := poolFor(w, kind, zone, !spot); p != nil {
			if p.Price > 0 {
				o.price = p.Price
			}
			if p.Capacity != nil {
				o.room = float64(*p.Capacity - used[kind])
				o.full = o.room <= 0
			}
		}
		list = append(list, o)
	}
	return list
}

// poolFor is what the world says of a pool at this time, nil where it says
// nothing.
func poolFor(w *state.State, kind, zone string, onDemand bool) *worldfile.PoolFile {
	since := w.Now.Sub(w.Start)
	for i := range w.File.Spot.Pools {
		p := &w.File.Spot.Pools[i]
		if p.Reservation == "" && p.OnDemand == onDemand && (p.Type == "" || p.Type == kind) && (p.Zone == "" || p.Zone == zone) &&
			since >= p.From && (p.For == 0 || since < p.From+p.For) {
			return p
		}
	}
	return nil
}

// spotType is the choice of EC2's strategy "price-capacity-optimized": the
// half of the pools that has the most room, and of it the cheapest.
func spotType(w *state.State, offers []offer, most string) (string, error) {
	list := slices.DeleteFunc(slices.Clone(offers), func(o offer) bool { return o.full })
	if len(list) == 0 {
		if len(offers) == 1 {
			return "", wire.Errorf("InsufficientInstanceCapacity", "There is no Spot capacity available that matches your request.")
		}
		return "", wire.Errorf("UnfulfillableCapacity", "Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.")
	}
	if limit, err := strconv.ParseFloat(most, 64); err == nil {
		least := slices.MinFunc(list, func(a, b offer) int { return cmp.Compare(a.price, b.price) }).price
		if least > limit {
			return "", wire.Errorf("SpotMaxPriceTooLow", "Your Spot request price of %s is lower than the minimum required Spot request fulfillment price of %s.", most, strconv.FormatFloat(least, 'f', 4, 64))
		}
		list = slices.DeleteFunc(list, func(o offer) bool { return o.price > limit })
	}
	slices.SortStableFunc(list, func(a, b offer) int { return cmp.Compare(b.room, a.room) })
	list = list[:(len(list)+1)/2]
	best := slices.MinFunc(list, func(a, b offer) int { return cmp.Compare(a.price, b.price) })
	if limit := w.File.Spot.VCPULimit; limit > 0 && runningVCPUs(w, true)+vcpus(w, best.kind) > limit {
		return "", wire.Errorf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded.")
	}
	return best.kind, nil
}

// onDemandType is the choice of EC2's strategy "prioritized": the first type
// that there is.
func onDemandType(offers []offer, zone string) (string, error) {
	for _, o := range offers {
		if !o.full {
			return o.kind, nil
		}
	}
	return "", wire.Errorf("InsufficientInstanceCapacity",
		"We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity.", offers[0].kind, zone)
}

func vcpus(w *state.State, kind string) int {
	if t := w.InstanceTypes.Get(kind); t != nil && t.VCpuInfo != nil {
		return int(aws.ToInt32(t.VCpuInfo.DefaultVCpus))
	}
	return 1
}

// runningVCPUs are the vCPUs of the instances that live: of Spot, or of those on demand.
func runningVCPUs(w *state.State, spot bool) int {
	n := 0
	for _, in := range w.Instances.All() {
		if spot == (in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot) && !state.Ended(in) {
			n += vcpus(w, string(in.InstanceType))
		}
	}
	return n
}

// fleetError is a refusal as Auto Scaling tells it of a group with a mixed
// instances policy, which launches through EC2 Fleet.
type fleetError struct {
	spot bool
	by   *wire.Error
}

// Error is the text that stands in the activity.
func (e *fleetError) Error() string {
	kind := "On-Demand"
	if e.spot {
		kind = "Spot"
	}
	return fmt.Sprintf("Could not launch %s Instances. %s - %s", kind, e.by.Code, e.by.Message)
}

// asFleet gives what EC2 refused the form of the group's kind. Auto Scaling
// tells of a full subnet in the plain form where it launches on demand.
func asFleet(g *state.Group, spot bool, err error) error {
	var by *wire.Error
	if g.MixedInstancesPolicy == nil || !errors.As(err, &by) || !spot && strings.HasPrefix(by.Code, "InsufficientFreeAddresses") {
		return err
	}
	if by.Code == "ValidationError" || strings.HasPrefix(by.Code, "Invalid") {
		return err
	}
	return &fleetError{spot, by}
}
