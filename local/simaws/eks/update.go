package eks

import (
	"encoding/json"
	"maps"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/autoscaling"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/lifecycle"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
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
		return &eks.UpdateNodegroupConfigOutput{Update: deepcopy.Of(u)}, nil
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
		n.UpdateConfig = deepcopy.Of(in.UpdateConfig)
	}
	warm := deepcopy.Of(in.WarmPoolConfig)
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
	return &eks.UpdateNodegroupConfigOutput{Update: deepcopy.Of(u)}, nil
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
	out := deepcopy.Of(*have)
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
