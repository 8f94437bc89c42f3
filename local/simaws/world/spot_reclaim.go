package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/worldfile"
)

// spotTermination is the reason code of an instance that EC2 took back.
const spotTermination = "Server.SpotInstanceTermination"

// interruptionNotice is how long before it takes an instance back EC2 says so.
const interruptionNotice = 2 * time.Minute

func notice(r *worldfile.Reclaim) time.Duration {
	if r.Notice > 0 {
		return r.Notice
	}
	return interruptionNotice
}

// checkSpot refuses pools that could never be meant.
func (w *World) checkSpot(f *worldfile.File) error {
	for i, p := range f.Spot.Pools {
		switch {
		case p.Type != "" && w.instanceTypes.Get(p.Type) == nil:
			return fmt.Errorf("spot.pools[%d]: instance type %q is not known", i, p.Type)
		case p.OnDemand && p.Reclaim != nil:
			return fmt.Errorf("spot.pools[%d]: EC2 takes no on-demand instances back", i)
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
func (w *World) reclaimLater(in *ec2types.Instance) {
	p := w.poolFor(string(in.InstanceType), aws.ToString(in.Placement.AvailabilityZone), false)
	if p == nil || p.Reclaim == nil || p.Reclaim.After == 0 {
		return
	}
	w.poolLaunches[p]++
	if p.Reclaim.Times > 0 && w.poolLaunches[p] > p.Reclaim.Times {
		return
	}
	id := aws.ToString(in.InstanceId)
	end := p.Reclaim.After
	if p.Reclaim.UpTo > end {
		end += time.Duration(float64(p.Reclaim.UpTo-end) * ids.Chance(w.seed, "reclaim", id)).Truncate(time.Second)
	}
	soonest := min(w.runningTime()+time.Second, end)
	if p.Reclaim.Rebalance > 0 {
		w.after(max(end-p.Reclaim.Rebalance, soonest), func() { w.recommendRebalance(id) })
	}
	warned := max(end-notice(p.Reclaim), soonest)
	w.after(warned, func() { w.interrupt(id, end-warned) })
}

// holds tells whether a Spot instance is of the pool.
func holds(p *worldfile.PoolFile, in *ec2types.Instance) bool {
	return in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot && (p.Type == "" || p.Type == string(in.InstanceType)) &&
		(p.Zone == "" || p.Zone == aws.ToString(in.Placement.AvailabilityZone))
}

// reclaimAtTimes enters the times at which whole pools are taken back.
func (w *World) reclaimAtTimes() {
	for i := range w.file.Spot.Pools {
		p := &w.file.Spot.Pools[i]
		if p.Reclaim == nil {
			continue
		}
		for _, at := range p.Reclaim.At {
			if p.Reclaim.Rebalance > 0 {
				w.after(max(at-p.Reclaim.Rebalance, 0), func() { w.inPool(p, w.recommendRebalance) })
			}
			warned := max(at-notice(p.Reclaim), 0)
			w.after(warned, func() { w.inPool(p, func(id string) { w.interrupt(id, at-warned) }) })
		}
	}
}

// inPool does something with each of a pool's instances that live.
func (w *World) inPool(p *worldfile.PoolFile, do func(id string)) {
	for _, in := range w.instances.All() {
		if holds(p, in) && !ended(in) {
			do(aws.ToString(in.InstanceId))
		}
	}
}

// interrupt warns of an instance's end and takes it back that much later.
func (w *World) interrupt(id string, lead time.Duration) {
	if in := w.instances.Get(id); in == nil || ended(in) {
		return
	}
	w.emitInterruption(id)
	w.after(lead, func() {
		w.terminate(id, ec2types.StateReason{Code: aws.String(spotTermination), Message: aws.String(spotTermination + ": Spot instance termination")})
	})
}

// recommendRebalance tells that an instance is likely to be taken back.
func (w *World) recommendRebalance(id string) {
	if in := w.instances.Get(id); in == nil || ended(in) {
		return
	}
	w.emitRebalance(id)
	if g := w.groupOf(id); g != nil && aws.ToBool(g.CapacityRebalance) {
		w.replaceAtRisk(g, id)
	}
}
