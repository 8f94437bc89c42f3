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

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
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
// reports a full subnet in the plain form where it launches on demand.
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

// SpotTermination is the reason code of an instance that EC2 took back.
const SpotTermination = "Server.SpotInstanceTermination"

// interruptionNotice is how long before it takes an instance back EC2 says so.
const interruptionNotice = 2 * time.Minute

func notice(r *worldfile.Reclaim) time.Duration {
	if r.Notice > 0 {
		return r.Notice
	}
	return interruptionNotice
}

// CheckSpot refuses pools that could never be meant.
func CheckSpot(w *state.State, f *worldfile.File) error {
	for i, p := range f.Spot.Pools {
		switch {
		case p.Type != "" && w.InstanceTypes.Get(p.Type) == nil:
			return fmt.Errorf("spot.pools[%d]: instance type %q is not known", i, p.Type)
		case p.OnDemand && p.Reclaim != nil:
			return fmt.Errorf("spot.pools[%d]: EC2 takes no on-demand instances back", i)
		case p.Reservation != "" && (p.OnDemand || p.Capacity != nil || p.Reclaim == nil || p.Reclaim.After != 0 || p.Reclaim.Rebalance != 0):
			return fmt.Errorf("spot.pools[%d]: instances of an interruptible reservation are reclaimed at a time, and nothing else", i)
		case p.Reclaim != nil && p.Reclaim.UpTo != 0 && p.Reclaim.UpTo < p.Reclaim.After:
			return fmt.Errorf("spot.pools[%d]: upTo is less than after", i)
		case p.Price < 0 || p.Capacity != nil && *p.Capacity < 0 || p.From < 0 || p.For < 0 || negative(p.Reclaim):
			return fmt.Errorf("spot.pools[%d]: a number or a time is negative", i)
		}
	}
	return nil
}

func negative(r *worldfile.Reclaim) bool {
	return r != nil && (r.After < 0 || r.Notice < 0 || r.Rebalance < 0 || r.Times < 0 || slices.ContainsFunc(r.At, func(at time.Duration) bool { return at < 0 }))
}

// reclaimLater enters the end of a new Spot instance where its pool is one
// whose instances do not last. No warning comes before the instance runs.
func reclaimLater(w *state.State, in *ec2types.Instance) {
	p := poolFor(w, string(in.InstanceType), aws.ToString(in.Placement.AvailabilityZone), false)
	if p == nil || p.Reclaim == nil || p.Reclaim.After == 0 {
		return
	}
	w.PoolLaunches[p]++
	if p.Reclaim.Times > 0 && w.PoolLaunches[p] > p.Reclaim.Times {
		return
	}
	id := aws.ToString(in.InstanceId)
	end := p.Reclaim.After
	if p.Reclaim.UpTo > end {
		end += time.Duration(float64(p.Reclaim.UpTo-end) * ids.Chance(w.Seed, "reclaim", id)).Truncate(time.Second)
	}
	soonest := min(w.RunningTime()+time.Second, end)
	if p.Reclaim.Rebalance > 0 {
		w.After(max(end-p.Reclaim.Rebalance, soonest), func() { recommendRebalance(w, id) })
	}
	warned := max(end-notice(p.Reclaim), soonest)
	w.After(warned, func() { interrupt(w, id, end-warned) })
}

// holds reports whether an instance is of the pool.
func holds(p *worldfile.PoolFile, in *ec2types.Instance) bool {
	if p.Reservation != "" {
		return aws.ToString(in.CapacityReservationId) == p.Reservation
	}
	return in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot && (p.Type == "" || p.Type == string(in.InstanceType)) &&
		(p.Zone == "" || p.Zone == aws.ToString(in.Placement.AvailabilityZone))
}

// ReclaimAtTimes enters the times at which whole pools are taken back.
func ReclaimAtTimes(w *state.State) {
	for i := range w.File.Spot.Pools {
		p := &w.File.Spot.Pools[i]
		if p.Reclaim == nil {
			continue
		}
		for _, at := range p.Reclaim.At {
			if p.Reclaim.Rebalance > 0 {
				w.After(max(at-p.Reclaim.Rebalance, 0), func() { inPool(w, p, func(id string) { recommendRebalance(w, id) }) })
			}
			warned := max(at-notice(p.Reclaim), 0)
			w.After(warned, func() { inPool(w, p, func(id string) { interrupt(w, id, at-warned) }) })
		}
	}
}

// inPool does something with each of a pool's instances that live.
func inPool(w *state.State, p *worldfile.PoolFile, do func(id string)) {
	for _, in := range w.Instances.All() {
		if holds(p, in) && !state.Ended(in) {
			do(aws.ToString(in.InstanceId))
		}
	}
}

// interrupt warns of an instance's end and takes it back that much later. An
// interruptible Capacity Reservation warns two minutes before, too (EC2 user guide,
// "Monitor interruptible Capacity Reservations with EventBridge and CloudTrail"); no page
// gives the reason that EC2 then describes.
func interrupt(w *state.State, id string, lead time.Duration) {
	in := w.Instances.Get(id)
	if in == nil || state.Ended(in) {
		return
	}
	w.EmitInterruption(id)
	reason := ec2types.StateReason{Code: aws.String(SpotTermination), Message: aws.String(SpotTermination + ": Spot instance termination")}
	if in.InstanceLifecycle != ec2types.InstanceLifecycleTypeSpot {
		reason = ec2types.StateReason{Code: aws.String("Server.Unknown"), Message: aws.String("Server.Unknown: the owner of the reservation reclaimed its capacity")}
	}
	w.After(lead, func() { Terminate(w, id, reason) })
}

// recommendRebalance emits that an instance is likely to be taken back.
func recommendRebalance(w *state.State, id string) {
	if in := w.Instances.Get(id); in == nil || state.Ended(in) {
		return
	}
	w.EmitRebalance(id)
	if g := w.GroupOf(id); g != nil && aws.ToBool(g.CapacityRebalance) {
		replaceAtRisk(w, g, id)
	}
}
