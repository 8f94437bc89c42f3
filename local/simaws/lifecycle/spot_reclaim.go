package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

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

// recommendRebalance tells that an instance is likely to be taken back.
func recommendRebalance(w *state.State, id string) {
	if in := w.Instances.Get(id); in == nil || state.Ended(in) {
		return
	}
	w.EmitRebalance(id)
	if g := w.GroupOf(id); g != nil && aws.ToBool(g.CapacityRebalance) {
		replaceAtRisk(w, g, id)
	}
}
