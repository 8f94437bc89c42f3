package world

import (
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/worldfile"
)

// enterChanges enters the file's changes. The nodegroup may come to be only
// on the way, so it is looked for at the time.
func (w *World) enterChanges(changes []worldfile.EKSChange) error {
	var errs []error
	for _, c := range changes {
		if (c.Nodegroup == "") == (c.Addon == "") {
			errs = append(errs, fmt.Errorf("eks.changes at %s: want a nodegroup or an addon", c.At))
			continue
		}
		w.agenda.add(due{at: w.start.Add(c.At), run: func() {
			if err := w.change(c); err != nil {
				w.log.Warn("change of EKS not made", "at", c.At.String(), "error", err)
			}
		}})
	}
	return errors.Join(errs...)
}

// Change gives a nodegroup or an add-on a status now, as EKS does for reasons
// of its own. At is not looked at.
func (w *World) Change(c worldfile.EKSChange) error {
	defer w.enter()()
	return w.change(c)
}

func (w *World) change(c worldfile.EKSChange) error {
	cluster, err := w.clusterNamed(c.Cluster)
	if err != nil {
		return err
	}
	if c.Addon != "" {
		a := w.addons.Get(nodegroupKey(cluster, c.Addon))
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
		w.setAddon(a, status, issues)
		return nil
	}
	ng := w.nodegroups.Get(nodegroupKey(cluster, c.Nodegroup))
	if ng == nil {
		return fmt.Errorf("nodegroup %q is not in cluster %s", c.Nodegroup, cluster)
	}
	ng.Health = &ekstypes.NodegroupHealth{Issues: make([]ekstypes.Issue, 0, len(c.Issues))}
	for _, i := range c.Issues {
		ng.Health.Issues = append(ng.Health.Issues, ekstypes.Issue{Code: ekstypes.NodegroupIssueCode(i.Code), Message: aws.String(i.Message), ResourceIds: deepcopy.Of(i.ResourceIds)})
	}
	if c.Status != "" {
		w.setNodegroup(ng, ekstypes.NodegroupStatus(c.Status))
	}
	ng.ModifiedAt = aws.Time(w.now)
	return nil
}
