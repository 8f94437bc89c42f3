package eks

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// LoadChanges enters the file's changes. The nodegroup may come to be only
// on the way, so it is looked for at the time.
func LoadChanges(w *state.State, changes []worldfile.EKSChange) error {
	var errs []error
	for _, c := range changes {
		if (c.Nodegroup == "") == (c.Addon == "") {
			errs = append(errs, fmt.Errorf("eks.changes at %s: want a nodegroup or an addon", c.At))
			continue
		}
		w.At(w.Start.Add(c.At), func() {
			if err := change(w, c); err != nil {
				w.Log.Warn("change of EKS not made", "at", c.At.String(), "error", err)
			}
		})
	}
	return errors.Join(errs...)
}

// Change gives a nodegroup or an add-on a status now, as EKS does for reasons
// of its own. At is not looked at.
func Change(w *state.State, c worldfile.EKSChange) error {
	defer w.Enter()()
	return change(w, c)
}

func change(w *state.State, c worldfile.EKSChange) error {
	cluster, err := clusterNamed(w, c.Cluster)
	if err != nil {
		return err
	}
	if c.Addon != "" {
		a := w.Addons.Get(state.NodegroupKey(cluster, c.Addon))
		if a == nil {
			return fmt.Errorf("add-on %q is not in cluster %s", c.Addon, cluster)
		}
		status := a.Status
		if c.Status != "" {
			status = ekstypes.AddonStatus(c.Status)
		}
		issues := make([]ekstypes.AddonIssue, 0, len(c.Issues))
		for _, i := range c.Issues {
			issues = append(issues, ekstypes.AddonIssue{Code: ekstypes.AddonIssueCode(i.Code), Message: aws.String(i.Message), ResourceIds: deepcopy.Of(i.ResourceIds)})
		}
		setAddon(w, a, status, issues)
		return nil
	}
	ng := w.Nodegroups.Get(state.NodegroupKey(cluster, c.Nodegroup))
	if ng == nil {
		return fmt.Errorf("nodegroup %q is not in cluster %s", c.Nodegroup, cluster)
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: make([]ekstypes.Issue, 0, len(c.Issues))}
	for _, i := range c.Issues {
		ng.Health.Issues = append(ng.Health.Issues, ekstypes.Issue{Code: ekstypes.NodegroupIssueCode(i.Code), Message: aws.String(i.Message), ResourceIds: deepcopy.Of(i.ResourceIds)})
	}
	if c.Status != "" {
		nodegroup.SetStatus(w, ng, ekstypes.NodegroupStatus(c.Status))
	}
	ng.ModifiedAt = aws.Time(w.Now)
	return nil
}
