package eks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/autoscaling"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

// UpdateNodegroupConfig changes a nodegroup's size, labels, update settings
// and warm pool. The group follows a moment later.
func (s API) UpdateNodegroupConfig(in *eks.UpdateNodegroupConfigInput) (*eks.UpdateNodegroupConfigOutput, error) {
	defer s.w.Enter()()
	w := s.w
	n, err := eksNodegroup(w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	if err := updatable(n); err != nil {
		return nil, err
	}
	size, err := newSize(n.ScalingConfig, in.ScalingConfig)
	if err != nil {
		return nil, err
	}
	u := newUpdate(w, ekstypes.UpdateTypeConfigUpdate)
	u.Params = append(u.Params, updateParams(in)...)
	n.Updates = append(n.Updates, u)
	before := n.Status
	nodegroup.SetStatus(w, n, ekstypes.NodegroupStatusUpdating)
	if f := takeFault(w, aws.ToString(n.ClusterName), aws.ToString(n.NodegroupName), "", string(u.Type)); f != nil {
		endUpdateFailed(w, n, u, f, before)
		return &eks.UpdateNodegroupConfigOutput{Update: state.Copy(u)}, nil
	}
	n.ScalingConfig = &size
	if l := in.Labels; l != nil {
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		maps.Copy(n.Labels, l.AddOrUpdateLabels)
		for _, key := range l.RemoveLabels {
			delete(n.Labels, key)
		}
	}
	if in.UpdateConfig != nil {
		n.UpdateConfig = state.Copy(in.UpdateConfig)
	}
	warm := state.Copy(in.WarmPoolConfig)
	w.After(w.File.EKS.Rules.UpdateTime, func() {
		u.Status = ekstypes.UpdateStatusSuccessful
		endUpdate(w, n, before)
		for _, g := range w.GroupsOf(n) {
			if err := autoscaling.Resize(w, g, size.MinSize, size.MaxSize, size.DesiredSize); err != nil {
				w.Log.Warn("nodegroup size refused by its group", "group", g.Name(), "error", err)
			} else if in.ScalingConfig != nil {
				lifecycle.GroupResized(w, g)
			}
			applyWarmPool(w, n, g, warm)
		}
	})
	return &eks.UpdateNodegroupConfigOutput{Update: state.Copy(u)}, nil
}

// updatable says whether an update of the nodegroup may begin.
func updatable(ng *state.Nodegroup) error {
	switch ng.Status {
	case ekstypes.NodegroupStatusActive, ekstypes.NodegroupStatusDegraded:
		return nil
	}
	return &wire.Error{Code: "ResourceInUseException", Message: "Nodegroup cannot be updated as it is currently not in Active State", Status: 409}
}

// endUpdate gives a nodegroup its status of before the update back, unless
// something else has given it another meanwhile.
func endUpdate(w *state.State, ng *state.Nodegroup, before ekstypes.NodegroupStatus) {
	if ng.Status != ekstypes.NodegroupStatusUpdating {
		return
	}
	degraded := ng.Degraded
	nodegroup.SetStatus(w, ng, before)
	if before == ekstypes.NodegroupStatusDegraded {
		ng.Degraded = degraded
	}
}

// endUpdateFailed ends an update that the world says fails: nothing of it
// stays.
func endUpdateFailed(w *state.State, ng *state.Nodegroup, u *ekstypes.Update, f *worldfile.UpdateFault, before ekstypes.NodegroupStatus) {
	w.After(f.After, func() {
		failUpdate(u, f.Errors)
		endUpdate(w, ng, before)
	})
}

func applyWarmPool(w *state.State, n *state.Nodegroup, g *state.Group, c *ekstypes.WarmPoolConfig) {
	if c == nil {
		return
	}
	n.WarmPoolConfig = c
	if !aws.ToBool(c.Enabled) {
		g.WarmPoolConfiguration = nil
		lifecycle.FillWarmPool(w, g)
		return
	}
	autoscaling.PutWarmPool(w, g, astypes.WarmPoolConfiguration{
		MaxGroupPreparedCapacity: c.MaxGroupPreparedCapacity, MinSize: c.MinSize, PoolState: astypes.WarmPoolState(poolState(c.PoolState)),
	})
}

// poolState turns EKS's spelling of a state into Auto Scaling's.
func poolState(s ekstypes.WarmPoolState) string {
	switch string(s) {
	case "RUNNING", "Running":
		return "Running"
	case "HIBERNATED", "Hibernated":
		return "Hibernated"
	}
	return "Stopped"
}

// newSize is the size after an update, which may name only a part of it.
func newSize(have, asked *ekstypes.NodegroupScalingConfig) (ekstypes.NodegroupScalingConfig, error) {
	out := state.Copy(*have)
	if asked == nil {
		return out, nil
	}
	if asked.MinSize != nil {
		out.MinSize = aws.Int32(*asked.MinSize)
	}
	if asked.MaxSize != nil {
		out.MaxSize = aws.Int32(*asked.MaxSize)
	}
	if asked.DesiredSize != nil {
		out.DesiredSize = aws.Int32(*asked.DesiredSize)
	}
	lo, hi, want := aws.ToInt32(out.MinSize), aws.ToInt32(out.MaxSize), aws.ToInt32(out.DesiredSize)
	switch {
	case lo < 0 || want < 0 || hi < 1:
		return out, wire.Errorf("InvalidParameterException", "Invalid scaling config: sizes must not be negative and maxSize must be at least 1")
	case lo > want:
		return out, wire.Errorf("InvalidParameterException", "Minimum capacity %d can't be greater than desired size %d", lo, want)
	case want > hi:
		return out, wire.Errorf("InvalidParameterException", "desired capacity %d can't be greater than max size %d", want, hi)
	}
	return out, nil
}

func updateParams(in *eks.UpdateNodegroupConfigInput) []ekstypes.UpdateParam {
	var out []ekstypes.UpdateParam
	add := func(kind ekstypes.UpdateParamType, value string) {
		out = append(out, ekstypes.UpdateParam{Type: kind, Value: aws.String(value)})
	}
	number := func(kind ekstypes.UpdateParamType, n *int32) {
		if n != nil {
			add(kind, strconv.Itoa(int(*n)))
		}
	}
	if c := in.ScalingConfig; c != nil {
		number(ekstypes.UpdateParamTypeMinSize, c.MinSize)
		number(ekstypes.UpdateParamTypeMaxSize, c.MaxSize)
		number(ekstypes.UpdateParamTypeDesiredSize, c.DesiredSize)
	}
	if c := in.UpdateConfig; c != nil {
		number(ekstypes.UpdateParamTypeMaxUnavailable, c.MaxUnavailable)
		number(ekstypes.UpdateParamTypeMaxUnavailablePercentage, c.MaxUnavailablePercentage)
	}
	if l := in.Labels; l != nil {
		if b, err := json.Marshal(l.AddOrUpdateLabels); err == nil && len(l.AddOrUpdateLabels) > 0 {
			add(ekstypes.UpdateParamTypeLabelsToAdd, string(b))
		}
		if b, err := json.Marshal(l.RemoveLabels); err == nil && len(l.RemoveLabels) > 0 {
			add(ekstypes.UpdateParamTypeLabelsToRemove, string(b))
		}
	}
	if c := in.WarmPoolConfig; c != nil && c.Enabled != nil {
		add(ekstypes.UpdateParamTypeWarmPoolEnabled, strconv.FormatBool(*c.Enabled))
	}
	return out
}

// PutPodIdentity keeps an association, with what EKS would have filled in.
func PutPodIdentity(w *state.State, a *ekstypes.PodIdentityAssociation) {
	state.Default(&a.AssociationId, "a-"+w.IDs.Hex(17))
	state.Default(&a.Namespace, "kube-system")
	state.Default(&a.AssociationArn, w.ARN("eks", "podidentityassociation/"+aws.ToString(a.ClusterName)+"/"+*a.AssociationId))
	state.Default(&a.CreatedAt, w.Start.Add(-state.Age))
	state.Default(&a.ModifiedAt, *a.CreatedAt)
	w.PodIdentities.Put(state.NodegroupKey(aws.ToString(a.ClusterName), *a.AssociationId), a)
}

// ListPodIdentityAssociations lists a cluster's associations, without their
// roles.
func (s API) ListPodIdentityAssociations(in *eks.ListPodIdentityAssociationsInput) (*eks.ListPodIdentityAssociationsOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var ids []string
	for _, a := range s.w.PodIdentities.All() {
		if aws.ToString(a.ClusterName) == *in.ClusterName &&
			(in.Namespace == nil || *in.Namespace == aws.ToString(a.Namespace)) &&
			(in.ServiceAccount == nil || *in.ServiceAccount == aws.ToString(a.ServiceAccount)) {
			ids = append(ids, *a.AssociationId)
		}
	}
	ids, next, err := names(ids, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	out := &eks.ListPodIdentityAssociationsOutput{NextToken: next, Associations: []ekstypes.PodIdentityAssociationSummary{}}
	for _, id := range ids {
		a := state.Copy(*s.w.PodIdentities.Get(state.NodegroupKey(*in.ClusterName, id)))
		out.Associations = append(out.Associations, ekstypes.PodIdentityAssociationSummary{
			AssociationArn: a.AssociationArn, AssociationId: a.AssociationId, ClusterName: a.ClusterName,
			Namespace: a.Namespace, OwnerArn: a.OwnerArn, ServiceAccount: a.ServiceAccount,
		})
	}
	return out, nil
}

// DescribePodIdentityAssociation shows an association.
func (s API) DescribePodIdentityAssociation(in *eks.DescribePodIdentityAssociationInput) (*eks.DescribePodIdentityAssociationOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	a := s.w.PodIdentities.Get(state.NodegroupKey(*in.ClusterName, aws.ToString(in.AssociationId)))
	if a == nil {
		return nil, errEKSMissing("No pod identity association found for association ID: %s", aws.ToString(in.AssociationId))
	}
	return &eks.DescribePodIdentityAssociationOutput{Association: state.Copy(a)}, nil
}

// rollingUpdate is a rolling update: some instances more than wanted come first, and
// for each that is Ready an old one goes.
type rollingUpdate struct {
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
func beginRoll(w *state.State, r *rollingUpdate) {
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
func rollStep(w *state.State, r *rollingUpdate) {
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
func rollDone(w *state.State, r *rollingUpdate) {
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

// leaving reports whether a group still has instances on their way out.
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
func rollBack(w *state.State, r *rollingUpdate, waiting []string) {
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

// The times of EKS where a world says none; see EKSRules.
const (
	joinTimeout = 20 * time.Minute
	healthDelay = 5 * time.Minute
	createTime  = 45 * time.Second
	updateTime  = 3 * time.Second
	faultTime   = 2 * time.Minute
)

// CompleteRules fills in the times that a world leaves out.
func CompleteRules(r worldfile.EKSRules) worldfile.EKSRules {
	return worldfile.EKSRules{
		JoinTimeout: cmp.Or(r.JoinTimeout, joinTimeout), HealthDelay: cmp.Or(r.HealthDelay, healthDelay),
		CreateTime: cmp.Or(r.CreateTime, createTime), UpdateTime: cmp.Or(r.UpdateTime, updateTime),
		DeleteTime: r.DeleteTime,
	}
}

// clusterNamed is the cluster that a part of the file means: the named one, or
// the only one.
func clusterNamed(w *state.State, name string) (string, error) {
	all := w.Clusters.All()
	if name == "" && len(all) == 1 {
		return aws.ToString(all[0].Name), nil
	}
	if w.Clusters.Get(name) == nil {
		return "", fmt.Errorf("cluster %q is not in the world", name)
	}
	return name, nil
}

// FailNextUpdate makes the next update that the fault is about fail.
func FailNextUpdate(w *state.State, f worldfile.UpdateFault) {
	defer w.Enter()()
	w.UpdateFaults = append(w.UpdateFaults, state.Copy(f))
}

// takeFault is the fault that a new update meets, nil for none. Each is met
// once.
func takeFault(w *state.State, cluster, name, addon, kind string) *worldfile.UpdateFault {
	for i, f := range w.UpdateFaults {
		if nodegroup.SameCluster(f.Cluster, cluster) && f.Nodegroup == name && f.Addon == addon && (f.Type == "" || f.Type == kind) {
			w.UpdateFaults = append(w.UpdateFaults[:i:i], w.UpdateFaults[i+1:]...)
			f.After = cmp.Or(f.After, faultTime)
			return &f
		}
	}
	return nil
}

// newUpdate is an update that has just begun.
func newUpdate(w *state.State, kind ekstypes.UpdateType) *ekstypes.Update {
	return &ekstypes.Update{
		Id: aws.String(w.IDs.UUID()), Type: kind, Status: ekstypes.UpdateStatusInProgress,
		CreatedAt: aws.Time(w.Now), Errors: []ekstypes.ErrorDetail{}, Params: []ekstypes.UpdateParam{},
	}
}

func failUpdate(u *ekstypes.Update, errs []worldfile.EKSIssue) {
	u.Status = ekstypes.UpdateStatusFailed
	for _, e := range errs {
		u.Errors = append(u.Errors, ekstypes.ErrorDetail{ErrorCode: ekstypes.ErrorCode(e.Code), ErrorMessage: aws.String(e.Message), ResourceIds: state.Copy(e.ResourceIds)})
	}
}

// updatesOf are the updates of a nodegroup or an add-on, the newest first; of
// the cluster itself this world has none.
func updatesOf(w *state.State, cluster, nodegroup, addon *string) ([]*ekstypes.Update, error) {
	var all []*ekstypes.Update
	switch {
	case nodegroup != nil && addon != nil:
		return nil, wire.Errorf("InvalidParameterException", "Only one of nodegroupName and addonName may be given")
	case nodegroup != nil:
		n, err := eksNodegroup(w, cluster, nodegroup)
		if err != nil {
			return nil, err
		}
		all = n.Updates
	case addon != nil:
		if _, err := eksAddon(w, cluster, addon); err != nil {
			return nil, err
		}
		all = w.AddonUpdates[state.NodegroupKey(*cluster, *addon)]
	default:
		if _, err := eksCluster(w, cluster); err != nil {
			return nil, err
		}
	}
	all = slices.Clone(all)
	slices.Reverse(all)
	return all, nil
}

// ListUpdates lists the updates of a nodegroup or an add-on, the newest first.
func (s API) ListUpdates(in *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error) {
	defer s.w.Enter()()
	updates, err := updatesOf(s.w, in.Name, in.NodegroupName, in.AddonName)
	if err != nil {
		return nil, err
	}
	list, next, err := names(table.Each(updates, func(u *ekstypes.Update) *string { return u.Id }), in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListUpdatesOutput{UpdateIds: list, NextToken: next}, nil
}

// DescribeUpdate shows an update of a nodegroup or an add-on.
func (s API) DescribeUpdate(in *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error) {
	defer s.w.Enter()()
	updates, err := updatesOf(s.w, in.Name, in.NodegroupName, in.AddonName)
	if err != nil {
		return nil, err
	}
	for _, u := range updates {
		if aws.ToString(u.Id) == aws.ToString(in.UpdateId) {
			return &eks.DescribeUpdateOutput{Update: state.Copy(u)}, nil
		}
	}
	return nil, errEKSMissing("No update found for ID: %s", aws.ToString(in.UpdateId))
}

// rollTick is how often EKS looks how far a rolling update is.
const rollTick = 15 * time.Second

// UpdateNodegroupVersion replaces a nodegroup's nodes one after the other.
func (s API) UpdateNodegroupVersion(in *eks.UpdateNodegroupVersionInput) (*eks.UpdateNodegroupVersionOutput, error) {
	defer s.w.Enter()()
	w := s.w
	ng, err := eksNodegroup(w, in.ClusterName, in.NodegroupName)
	if err != nil {
		return nil, err
	}
	if err := updatable(ng); err != nil {
		return nil, err
	}
	if t := in.LaunchTemplate; t != nil && w.TemplateVersion(aws.ToString(t.Id), aws.ToString(t.Name), aws.ToString(t.Version)) == nil {
		return nil, wire.Errorf("InvalidParameterException", "Launch template details can't be found: %s", aws.ToString(t.Id)+aws.ToString(t.Name))
	}
	r := &rollingUpdate{ng: ng, before: ng.Status, to: versionAfter(w, ng, in)}
	u := newUpdate(w, ekstypes.UpdateTypeVersionUpdate)
	u.Params = versionParams(in, r.to)
	r.update = u
	ng.Updates = append(ng.Updates, u)
	nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatusUpdating)
	if f := takeFault(w, *in.ClusterName, *in.NodegroupName, "", string(u.Type)); f != nil {
		endUpdateFailed(w, ng, u, f, r.before)
	} else {
		beginRoll(w, r)
	}
	return &eks.UpdateNodegroupVersionOutput{Update: state.Copy(u)}, nil
}

// versionAfter is what a nodegroup has after an update: what was asked for,
// and the release that goes with it.
func versionAfter(w *state.State, ng *state.Nodegroup, in *eks.UpdateNodegroupVersionInput) state.Release {
	to := state.Release{Version: aws.ToString(ng.Version), Release: aws.ToString(ng.ReleaseVersion), Template: ng.LaunchTemplate}
	if in.Version != nil {
		to.Version = *in.Version
	}
	switch {
	case in.ReleaseVersion != nil:
		to.Release = *in.ReleaseVersion
		if v := strings.SplitN(to.Release, ".", 3); in.Version == nil && len(v) == 3 {
			to.Version = v[0] + "." + v[1]
		}
	case in.LaunchTemplate == nil:
		// The newest release, which here is always that of the day.
		to.Release = to.Version + ".1-" + w.Now.UTC().Format("20060102")
	}
	if in.LaunchTemplate != nil {
		to.Template = state.Copy(in.LaunchTemplate)
	}
	return to
}

func versionParams(in *eks.UpdateNodegroupVersionInput, to state.Release) []ekstypes.UpdateParam {
	out := []ekstypes.UpdateParam{
		{Type: ekstypes.UpdateParamTypeVersion, Value: aws.String(to.Version)},
		{Type: ekstypes.UpdateParamTypeReleaseVersion, Value: aws.String(to.Release)},
	}
	if t := in.LaunchTemplate; t != nil {
		out = append(out, ekstypes.UpdateParam{Type: ekstypes.UpdateParamTypeLaunchTemplateVersion, Value: aws.String(aws.ToString(t.Version))})
	}
	return out
}

// nextTemplate makes the next version of the template that EKS keeps for a
// group, and has the group launch from it. It returns the version of before.
func nextTemplate(w *state.State, g *state.Group, to state.Release) string {
	have, spec := w.GroupTemplate(g), g.TemplateSpec()
	if have == nil || spec == nil {
		return ""
	}
	was := aws.ToString(spec.Version)
	t := w.TemplateNamed(aws.ToString(spec.LaunchTemplateId), aws.ToString(spec.LaunchTemplateName))
	next := state.Copy(*have)
	next.VersionNumber = aws.Int64(aws.ToInt64(t.LatestVersionNumber) + 1)
	next.DefaultVersion, next.CreateTime = aws.Bool(false), aws.Time(w.Now)
	if next.LaunchTemplateData == nil {
		next.LaunchTemplateData = &ec2types.ResponseLaunchTemplateData{}
	}
	w.AddTemplateVersion(&next)
	// The members keep the specification they were launched from.
	useTemplate(w, g, strconv.FormatInt(*next.VersionNumber, 10))
	overlayTemplate(w, to.Template, g)
	return was
}

// useTemplate has a group launch from a version of its template.
func useTemplate(w *state.State, g *state.Group, version string) {
	if spec := g.TemplateSpec(); spec != nil && version != "" {
		for i := range g.Instances {
			g.Instances[i].LaunchTemplate = state.Copy(g.Instances[i].LaunchTemplate)
		}
		spec.Version = aws.String(version)
	}
}

// stuck is what an update fails with whose new nodes do not join.
func stuck(ng *state.Nodegroup, ids []string) []worldfile.EKSIssue {
	return []worldfile.EKSIssue{{
		Code:        string(ekstypes.ErrorCodeNodeCreationFailure),
		Message:     fmt.Sprintf("Couldn't proceed with upgrade process as new nodes are not joining node group %s", aws.ToString(ng.NodegroupName)),
		ResourceIds: ids,
	}}
}
