package world

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// roll is a rolling update: some instances more than wanted come first, and
// for each that is Ready an old one goes.
type roll struct {
	ng     *nodegroup
	update *ekstypes.Update
	before ekstypes.NodegroupStatus
	to     release
	groups []*groupRoll
	// moved is when a node last became Ready or an instance went.
	moved time.Time
	last  int
}

// groupRoll is the roll of one Auto Scaling group.
type groupRoll struct {
	g        *group
	template string // version of before
	surge    int32
	old      []string // not yet ended
	ended    int
	before   map[string]bool
}

// beginRoll makes room for the new instances. A nodegroup without instances
// has nothing to replace.
func (w *World) beginRoll(r *roll) {
	ng := r.ng
	r.moved, ng.rolling = w.now, &r.to
	for _, g := range w.groupsOf(ng) {
		gr := &groupRoll{g: g, template: w.nextTemplate(g, r.to), before: map[string]bool{}}
		for _, i := range g.Instances {
			id := aws.ToString(i.InstanceId)
			gr.before[id] = true
			if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
				gr.old = append(gr.old, id)
			}
		}
		r.groups = append(r.groups, gr)
		if len(gr.old) == 0 {
			continue
		}
		gr.surge = surge(ng, len(gr.old))
		w.because(g, "a user request update of AutoScalingGroup constraints to min: %d, max: %d, desired: %d changing the desired capacity from %d to %d.",
			aws.ToInt32(g.MinSize), aws.ToInt32(g.MaxSize)+gr.surge, aws.ToInt32(g.DesiredCapacity)+gr.surge, aws.ToInt32(g.DesiredCapacity), aws.ToInt32(g.DesiredCapacity)+gr.surge)
		g.MaxSize = aws.Int32(aws.ToInt32(g.MaxSize) + gr.surge)
		w.setCapacity(g, aws.ToInt32(g.DesiredCapacity)+gr.surge)
	}
	w.after(w.file.EKS.Rules.UpdateTime, func() { w.rollStep(r) })
}

// surge is how many instances more a roll may have: as many as may be
// unavailable, and no more than there are.
func surge(ng *nodegroup, have int) int32 {
	n := 1
	if c := ng.UpdateConfig; c != nil && c.MaxUnavailablePercentage != nil {
		n = have * int(*c.MaxUnavailablePercentage) / 100
	} else if c != nil && c.MaxUnavailable != nil {
		n = int(*c.MaxUnavailable)
	}
	return int32(min(max(n, 1), have))
}

// rollStep ends an old instance for each new node that is Ready, and judges
// how far the update is.
func (w *World) rollStep(r *roll) {
	if r.ng.Status != ekstypes.NodegroupStatusUpdating {
		return
	}
	progress, done := 0, true
	var waiting []string
	for _, gr := range r.groups {
		ready, missing := w.fresh(gr)
		for gr.ended < ready && len(gr.old) > 0 {
			w.replaceOld(gr)
		}
		progress += ready + gr.ended
		waiting = append(waiting, missing...)
		done = done && len(gr.old) == 0 && len(missing) == 0 && !w.leaving(gr.g)
	}
	if done {
		for _, gr := range r.groups {
			gr.g.MaxSize = aws.Int32(aws.ToInt32(gr.g.MaxSize) - gr.surge)
		}
		w.rollDone(r)
		return
	}
	if progress != r.last {
		r.last, r.moved = progress, w.now
	}
	// Just before EKS's time for a single instance is over, so that the update
	// is what fails of it.
	if w.now.Add(rollTick).Sub(r.moved) >= w.file.EKS.Rules.JoinTimeout {
		w.rollBack(r, waiting)
		return
	}
	w.after(rollTick, func() { w.rollStep(r) })
}

// rollDone is a rolling update that worked, which is also a scale-out that
// worked.
func (w *World) rollDone(r *roll) {
	r.update.Status = ekstypes.UpdateStatusSuccessful
	r.ng.rolling = nil
	r.ng.Version, r.ng.ReleaseVersion, r.ng.LaunchTemplate = aws.String(r.to.version), aws.String(r.to.release), r.to.template
	w.endUpdate(r.ng, r.before)
	if r.ng.Status == ekstypes.NodegroupStatusDegraded {
		w.clearIssues(r.ng)
	}
}

// fresh counts the new instances that are Ready nodes and names those that are
// not; an instance that could not be launched is not among them.
func (w *World) fresh(gr *groupRoll) (ready int, missing []string) {
	for _, i := range gr.g.Instances {
		id := aws.ToString(i.InstanceId)
		switch {
		case gr.before[id] || strings.HasPrefix(string(i.LifecycleState), "Terminat"):
		case w.isReady(id):
			ready++
		default:
			missing = append(missing, id)
		}
	}
	return ready, missing
}

// leaving tells whether a group still has instances on their way out.
func (w *World) leaving(g *group) bool {
	return g.capacity() < len(g.Instances)
}

// replaceOld ends the oldest; the last ones leave without a successor, which
// brings the capacity back to what it was.
func (w *World) replaceOld(gr *groupRoll) {
	id := gr.old[0]
	if len(gr.old) <= int(gr.surge) {
		gr.g.DesiredCapacity = aws.Int32(aws.ToInt32(gr.g.DesiredCapacity) - 1)
	}
	gr.old = gr.old[1:]
	gr.ended++
	w.endInGroup(gr.g, id, "At "+w.now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
	w.reconcileLater(gr.g, reconcileTime)
}

// rollBack gives an update up: what did not join goes, and the group launches
// from its template of before.
func (w *World) rollBack(r *roll, waiting []string) {
	if len(waiting) == 0 {
		waiting = []string{"DUMMY_" + w.ids.UUID()} // nothing could even be launched
	}
	failUpdate(r.update, stuck(r.ng, waiting))
	r.ng.rolling = nil
	for _, gr := range r.groups {
		left := min(int(gr.surge), len(gr.old))
		gr.g.DesiredCapacity = aws.Int32(aws.ToInt32(gr.g.DesiredCapacity) - int32(left))
		gr.g.MaxSize = aws.Int32(aws.ToInt32(gr.g.MaxSize) - gr.surge)
		w.useTemplate(gr.g, gr.template)
		for _, i := range slices.Clone(gr.g.Instances) {
			if id := aws.ToString(i.InstanceId); slices.Contains(waiting, id) {
				w.endInGroup(gr.g, id, "At "+w.now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
			}
		}
		w.reconcileLater(gr.g, reconcileTime)
	}
	w.endUpdate(r.ng, r.before)
}
