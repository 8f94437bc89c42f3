package eks

import (
	"cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/state"
)

// ListAddons lists a cluster's add-ons.
func (s API) ListAddons(in *eks.ListAddonsInput) (*eks.ListAddonsOutput, error) {
	defer s.w.Enter()()
	if _, err := eksCluster(s.w, in.ClusterName); err != nil {
		return nil, err
	}
	var all []string
	for _, a := range s.w.Addons.All() {
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

func eksAddon(w *state.State, cluster, name *string) (*ekstypes.Addon, error) {
	if _, err := eksCluster(w, cluster); err != nil {
		return nil, err
	}
	if a := w.Addons.Get(state.NodegroupKey(*cluster, aws.ToString(name))); a != nil {
		return a, nil
	}
	return nil, errEKSMissing("No addon: %s found in cluster: %s", aws.ToString(name), *cluster)
}

// DescribeAddon shows an add-on.
func (s API) DescribeAddon(in *eks.DescribeAddonInput) (*eks.DescribeAddonOutput, error) {
	defer s.w.Enter()()
	a, err := eksAddon(s.w, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	return &eks.DescribeAddonOutput{Addon: deepcopy.Of(a)}, nil
}

// UpdateAddon installs an add-on's version and settings anew. An update that
// works leaves it ACTIVE, whatever was wrong before.
func (s API) UpdateAddon(in *eks.UpdateAddonInput) (*eks.UpdateAddonOutput, error) {
	defer s.w.Enter()()
	w := s.w
	a, err := eksAddon(w, in.ClusterName, in.AddonName)
	if err != nil {
		return nil, err
	}
	switch a.Status {
	case ekstypes.AddonStatusCreating, ekstypes.AddonStatusUpdating, ekstypes.AddonStatusDeleting:
		return nil, &wire.Error{Code: "ResourceInUseException", Message: "Addon " + *a.AddonName + " cannot be updated as it is currently in " + string(a.Status) + " state", Status: 409}
	}
	u := newUpdate(w, ekstypes.UpdateTypeAddonUpdate)
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
	key := state.NodegroupKey(*in.ClusterName, *in.AddonName)
	w.AddonUpdates[key] = append(w.AddonUpdates[key], u)
	before := a.Status
	a.Status, a.ModifiedAt = ekstypes.AddonStatusUpdating, aws.Time(w.Now)
	if f := takeFault(w, *in.ClusterName, "", *in.AddonName, string(u.Type)); f != nil {
		w.After(f.After, func() {
			failUpdate(u, f.Errors)
			// Failing is not becoming degraded: EKS has another event for it.
			a.Status, a.ModifiedAt = ekstypes.AddonStatusUpdateFailed, aws.Time(w.Now)
			emitAddon(w, "EKS Addon Update Failed", a)
		})
		return &eks.UpdateAddonOutput{Update: deepcopy.Of(u)}, nil
	}
	version, role, values := deepcopy.Of(in.AddonVersion), deepcopy.Of(in.ServiceAccountRoleArn), deepcopy.Of(in.ConfigurationValues)
	w.After(w.File.EKS.Rules.UpdateTime, func() {
		u.Status = ekstypes.UpdateStatusSuccessful
		a.AddonVersion = cmp.Or(version, a.AddonVersion)
		a.ServiceAccountRoleArn = cmp.Or(role, a.ServiceAccountRoleArn)
		a.ConfigurationValues = cmp.Or(values, a.ConfigurationValues)
		a.Status = before
		setAddon(w, a, ekstypes.AddonStatusActive, nil)
		emitAddon(w, "EKS Addon Update Succeeded", a)
	})
	return &eks.UpdateAddonOutput{Update: deepcopy.Of(u)}, nil
}

// setAddon gives an add-on a status and tells of its health.
func setAddon(w *state.State, a *ekstypes.Addon, status ekstypes.AddonStatus, issues []ekstypes.AddonIssue) {
	before := a.Status
	if issues == nil {
		issues = []ekstypes.AddonIssue{}
	}
	a.Status, a.Health, a.ModifiedAt = status, &ekstypes.AddonHealth{Issues: issues}, aws.Time(w.Now)
	switch {
	case status == ekstypes.AddonStatusDegraded && before != status:
		emitAddon(w, "EKS Addon Health Degraded", a)
	case status == ekstypes.AddonStatusActive && before == ekstypes.AddonStatusDegraded:
		emitAddon(w, "EKS Addon Health Restored", a)
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

func emitAddon(w *state.State, detailType string, a *ekstypes.Addon) {
	d := addonEvent{
		ClusterName: aws.ToString(a.ClusterName), AddonName: aws.ToString(a.AddonName), AddonVersion: aws.ToString(a.AddonVersion),
		Status: string(a.Status), Health: addonHealth{Issues: []addonIssue{}},
	}
	if a.Health != nil {
		for _, i := range a.Health.Issues {
			d.Health.Issues = append(d.Health.Issues, addonIssue{string(i.Code), aws.ToString(i.Message), append([]string{}, i.ResourceIds...)})
		}
	}
	w.Emit("aws.eks", detailType, []string{aws.ToString(a.AddonArn)}, d)
}
