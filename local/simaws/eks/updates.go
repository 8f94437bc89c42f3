package eks

import (
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

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
		u.Errors = append(u.Errors, ekstypes.ErrorDetail{ErrorCode: ekstypes.ErrorCode(e.Code), ErrorMessage: aws.String(e.Message), ResourceIds: deepcopy.Of(e.ResourceIds)})
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
			return &eks.DescribeUpdateOutput{Update: deepcopy.Of(u)}, nil
		}
	}
	return nil, errEKSMissing("No update found for ID: %s", aws.ToString(in.UpdateId))
}
