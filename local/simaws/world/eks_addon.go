package world

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
)

// ListAddons lists a cluster's add-ons.
func (s EKS) ListAddons(in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	defer s.w.enter()()
	if _, err := s.w.eksCluster(in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range s.w.addons.All() {
		if aws.ToString(a.ClusterName) == *in.ClusterName {
			all = append(all, *a.AddonName)
		}
	}
	list, next, err := names(all, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &eks.ListAddonsOutput{Addons: list, NextToken: next}, nil
}

func (w *World) eksAddon(cluster, name *string) (*ekstypes.Addon, error) {
	if _, err := w.eksCluster(cluster); err != nil {
		return nil, err
	}
	if a := w.addons.Get(nodegroupKey(*cluster, aws.ToString(name))); a != nil {
		return a, nil
	}
	return nil, errEKSMissing("No addon: %s found in cluster: %s", aws.ToString(name), *cluster)
}

// DescribeAddon shows an add-on.
func (s EKS) DescribeAddon(in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	defer s.w.enter()()
	a, err := s.w.eksAddon(in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeAddonOutput{Addon: deepcopy.Of(a)}, nil
}

// UpdateAddon installs an add-on's version and settings anew. An update that
// works leaves it ACTIVE, whatever was wrong before.
func (s EKS) UpdateAddon(in *eks.UpdateAddonInput) (*eks.UpdateAddonOutput, error) {
	defer s.w.enter()()
	w := s.w
	a, err := w.eksAddon(in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	switch a.Status {
	case ekstypes.AddonStatusCreating, ekstypes.AddonStatusUpdating, ekstypes.AddonStatusDeleting:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Addon " + *a.AddonName + " cannot be updated as it is currently in " + string(a.Status) + " state", Status: 409}
	}
	u := w.newUpdate(ekstypes.UpdateTypeAddonUpdate)
	for _, p := range []struct {
		kind  ekstypes.UpdateParamType
		value *string
	}{
		{ekstypes.UpdateParamTypeAddonVersion, in.AddonVersion},
		{ekstypes.UpdateParamTypeServiceAccountRoleArn, in.ServiceAccountRoleArn},
		{ekstypes.UpdateParamTypeConfigurationValues, in.ConfigurationValues},
	} {
		if p.value != nil {
			u.Params = append(u.Params, ekstypes.UpdateParam{Type: p.kind, Value: deepcopy.Of(p.value)})
		}
	}
	key := nodegroupKey(*in.ClusterName, *in.AddonName)
	w.addonUpdates[key] = append(w.addonUpdates[key], u)
	before := a.Status
	a.Status, a.ModifiedAt = ekstypes.AddonStatusUpdating, aws.Time(w.now)
	if f := w.takeFault(*in.ClusterName, "", *in.AddonName, string(u.Type)); f != nil {
		w.after(f.After, func() {
			failUpdate(u, f.Errors)
			// Failing is not becoming degraded: EKS has another event for it.
			a.Status, a.ModifiedAt = ekstypes.AddonStatusUpdateFailed, aws.Time(w.now)
			w.emitAddon("EKS Addon Update Failed", a)
		})
		return &eks.UpdateAddonOutput{Update: deepcopy.Of(u)}, nil
	}
	version, role, values := deepcopy.Of(in.AddonVersion), deepcopy.Of(in.ServiceAccountRoleArn), deepcopy.Of(in.ConfigurationValues)
	w.after(w.file.EKS.Rules.UpdateTime, func() {
		u.Status = ekstypes.UpdateStatusSuccessful
		a.AddonVersion = cmp.Or(version, a.AddonVersion)
		a.ServiceAccountRoleArn = cmp.Or(role, a.ServiceAccountRoleArn)
		a.ConfigurationValues = cmp.Or(values, a.ConfigurationValues)
		a.Status = before
		w.setAddon(a, ekstypes.AddonStatusActive, nil)
		w.emitAddon("EKS Addon Update Succeeded", a)
	})
	return &eks.UpdateAddonOutput{Update: deepcopy.Of(u)}, nil
}

// setAddon gives an add-on a status and tells of its health.
func (w *World) setAddon(a *ekstypes.Addon, status ekstypes.AddonStatus, issues []ekstypes.AddonIssue) {
	before := a.Status
	if issues == nil {
		issues = []ekstypes.AddonIssue{}
	}
	a.Status, a.Health, a.ModifiedAt = status, &ekstypes.AddonHealth{Issues: issues}, aws.Time(w.now)
	switch {
	case status == ekstypes.AddonStatusDegraded && before != status:
		w.emitAddon("EKS Addon Health Degraded", a)
	case status == ekstypes.AddonStatusActive && before == ekstypes.AddonStatusDegraded:
		w.emitAddon("EKS Addon Health Restored", a)
	}
}

type addonIssue struct {
	Code        string   `json:"code"`
	Message     string   `json:"message"`
	ResourceIDs []string `json:"resourceIds"`
}

type addonHealth struct {
	Issues []addonIssue `json:"issues"`
}

// addonEvent is the detail of an add-on's events. AWS shows no sample of it;
// the add-on's ARN among the resources is what to go by.
type addonEvent struct {
	ClusterName  string      `json:"clusterName"`
	AddonName    string      `json:"addonName"`
	AddonVersion string      `json:"addonVersion,omitempty"`
	Status       string      `json:"status"`
	Health       addonHealth `json:"health"`
}

func (w *World) emitAddon(detailType string, a *ekstypes.Addon) {
	d := addonEvent{
		ClusterName: aws.ToString(a.ClusterName), AddonName: aws.ToString(a.AddonName), AddonVersion: aws.ToString(a.AddonVersion),
		Status: string(a.Status), Health: addonHealth{Issues: []addonIssue{}},
	}
	if a.Health != nil {
		for _, i := range a.Health.Issues {
			d.Health.Issues = append(d.Health.Issues, addonIssue{string(i.Code), aws.ToString(i.Message), append([]string{}, i.ResourceIds...)})
		}
	}
	w.emit("aws.eks", detailType, []string{aws.ToString(a.AddonArn)}, d)
}
