package eks

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
)

// roll is a rolling update: some instances more than wanted come first, and
// for each that is Ready an old one goes.
type roll struct {
	ng     *state.Nodegroup
	update *ekstypes.Update
	before ekstypes.NodegroupStatus
	to     state.Release
	groups []*groupRoll
	// moved is when a node last became Ready or an instance went.
	moved time.Time
	last  int
}

// groupRoll is the roll of one Auto Scaling group.
type groupRoll struct {
	g        *state.Group
	template string // version of before
	surge    int32
	old      []string // not yet ended
	ended    int
	before   map[string]bool
}

// beginRoll makes room for the new instances. A nodegroup without instances
// has nothing to replace.
func beginRoll(w *state.State, r *roll) {
	ng := r.ng
	r.moved, ng.Rolling = w.Now, &r.to
	for _, g := range w.GroupsOf(ng) {
		gr := &groupRoll{g: g, template: nextTemplate(w, g, r.to), before: map[string]bool{}}
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
		w.Because(g, "a user request update of AutoScalingGroup constraints to min: %d, max: %d, desired: %d changing the desired capacity from %d to %d.",
			aws.ToInt32(g.MinSize), aws.ToInt32(g.MaxSize)+gr.surge, aws.ToInt32(g.DesiredCapacity)+gr.surge, aws.ToInt32(g.DesiredCapacity), aws.ToInt32(g.DesiredCapacity)+gr.surge)
		g.MaxSize = aws.Int32(aws.ToInt32(g.MaxSize) + gr.surge)
		lifecycle.SetCapacity(w, g, aws.ToInt32(g.DesiredCapacity)+gr.surge)
	}
	w.After(w.File.EKS.Rules.UpdateTime, func() { rollStep(w, r) })
}

// surge is how many instances more a roll may have: as many as may be
// unavailable, and no more than there are.
func surge(ng *state.Nodegroup, have int) int32 {
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
func rollStep(w *state.State, r *roll) {
	if r.ng.Status != ekstypes.NodegroupStatusUpdating {
		return
	}
	progress, done := 0, true
	var waiting []string
	for _, gr := range r.groups {
		ready, missing := fresh(w, gr)
		for gr.ended < ready && len(gr.old) > 0 {
			replaceOld(w, gr)
		}
		progress += ready + gr.ended
		waiting = append(waiting, missing...)
		done = done && len(gr.old) == 0 && len(missing) == 0 && !leaving(w, gr.g)
	}
	if done {
		for _, gr := range r.groups {
			gr.g.MaxSize = aws.Int32(aws.ToInt32(gr.g.MaxSize) - gr.surge)
		}
		rollDone(w, r)
		return
	}
	if progress != r.last {
		r.last, r.moved = progress, w.Now
	}
	// Just before EKS's time for a single instance is over, so that the update
	// is what fails of it.
	if w.Now.Add(rollTick).Sub(r.moved) >= w.File.EKS.Rules.JoinTimeout {
		rollBack(w, r, waiting)
		return
	}
	w.After(rollTick, func() { rollStep(w, r) })
}

// rollDone is a rolling update that worked, which is also a scale-out that
// worked.
func rollDone(w *state.State, r *roll) {
	r.update.Status = ekstypes.UpdateStatusSuccessful
	r.ng.Rolling = nil
	r.ng.Version, r.ng.ReleaseVersion, r.ng.LaunchTemplate = aws.String(r.to.Version), aws.String(r.to.Release), r.to.Template
	endUpdate(w, r.ng, r.before)
	if r.ng.Status == ekstypes.NodegroupStatusDegraded {
		nodegroup.ClearIssues(w, r.ng)
	}
}

// fresh counts the new instances that are Ready nodes and names those that are
// not; an instance that could not be launched is not among them.
func fresh(w *state.State, gr *groupRoll) (ready int, missing []string) {
	for _, i := range gr.g.Instances {
		id := aws.ToString(i.InstanceId)
		switch {
		case gr.before[id] || strings.HasPrefix(string(i.LifecycleState), "Terminat"):
		case w.IsReady(id):
			ready++
		default:
			missing = append(missing, id)
		}
	}
	return ready, missing
}

// leaving tells whether a group still has instances on their way out.
func leaving(w *state.State, g *state.Group) bool {
	return g.Capacity() < len(g.Instances)
}

// replaceOld ends the oldest; the last ones leave without a successor, which
// brings the capacity back to what it was.
func replaceOld(w *state.State, gr *groupRoll) {
	id := gr.old[0]
	if len(gr.old) <= int(gr.surge) {
		gr.g.DesiredCapacity = aws.Int32(aws.ToInt32(gr.g.DesiredCapacity) - 1)
	}
	gr.old = gr.old[1:]
	gr.ended++
	lifecycle.EndInGroup(w, gr.g, id, "At "+w.Now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
	lifecycle.ReconcileLater(w, gr.g, lifecycle.ReconcileTime)
}

// rollBack gives an update up: what did not join goes, and the group launches
// from its template of before.
func rollBack(w *state.State, r *roll, waiting []string) {
	if len(waiting) == 0 {
		waiting = []string{"DUMMY_" + w.IDs.UUID()} // nothing could even be launched
	}
	failUpdate(r.update, stuck(r.ng, waiting))
	r.ng.Rolling = nil
	for _, gr := range r.groups {
		left := min(int(gr.surge), len(gr.old))
		gr.g.DesiredCapacity = aws.Int32(aws.ToInt32(gr.g.DesiredCapacity) - int32(left))
		gr.g.MaxSize = aws.Int32(aws.ToInt32(gr.g.MaxSize) - gr.surge)
		useTemplate(w, gr.g, gr.template)
		for _, i := range slices.Clone(gr.g.Instances) {
			if id := aws.ToString(i.InstanceId); slices.Contains(waiting, id) {
				lifecycle.EndInGroup(w, gr.g, id, "At "+w.Now.UTC().Format(time.RFC3339)+" instance "+id+" was taken out of service in response to a user request.")
			}
		}
		lifecycle.ReconcileLater(w, gr.g, lifecycle.ReconcileTime)
	}
	endUpdate(w, r.ng, r.before)
}
