package preflight

import "rollcall/shared/snapshot"

// NodegroupPlan is what CreateNodegroup takes, as
// aws eks create-nodegroup --cli-input-json reads it.
type NodegroupPlan struct {
	ClusterName    string            `json:"clusterName"`
	NodegroupName  string            `json:"nodegroupName"`
	ScalingConfig  *scalingConfig    `json:"scalingConfig"`
	DiskSize       *int              `json:"diskSize"` // GiB
	Subnets        []string          `json:"subnets"`
	InstanceTypes  []string          `json:"instanceTypes"`
	AMIType        string            `json:"amiType"`
	RemoteAccess   *remoteAccess     `json:"remoteAccess"`
	NodeRole       string            `json:"nodeRole"`
	Labels         map[string]string `json:"labels"`
	Taints         []taint           `json:"taints"`
	Tags           map[string]string `json:"tags"`
	Token          string            `json:"clientRequestToken"`
	LaunchTemplate *templateRef      `json:"launchTemplate"`
	UpdateConfig   *updateConfig     `json:"updateConfig"`
	RepairConfig   *repairConfig     `json:"nodeRepairConfig"`
	CapacityType   string            `json:"capacityType"`
	Version        string            `json:"version"`
	ReleaseVersion string            `json:"releaseVersion"`
	WarmPool       *warmPool         `json:"warmPoolConfig"`
}

type scalingConfig struct {
	MinSize     *int `json:"minSize"`
	MaxSize     *int `json:"maxSize"`
	DesiredSize *int `json:"desiredSize"`
}

type remoteAccess struct {
	Key    string   `json:"ec2SshKey"`
	Groups []string `json:"sourceSecurityGroups"`
}

type taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

type templateRef struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	ID      string `json:"id"`
}

type updateConfig struct {
	MaxUnavailable *int   `json:"maxUnavailable"`
	Percentage     *int   `json:"maxUnavailablePercentage"`
	Strategy       string `json:"updateStrategy"`
}

type repairConfig struct {
	Enabled             *bool            `json:"enabled"`
	ThresholdCount      *int             `json:"maxUnhealthyNodeThresholdCount"`
	ThresholdPercentage *int             `json:"maxUnhealthyNodeThresholdPercentage"`
	ParallelCount       *int             `json:"maxParallelNodesRepairedCount"`
	ParallelPercentage  *int             `json:"maxParallelNodesRepairedPercentage"`
	Overrides           []repairOverride `json:"nodeRepairConfigOverrides"`
}

type repairOverride struct {
	Condition string `json:"nodeMonitoringCondition"`
	Reason    string `json:"nodeUnhealthyReason"`
	MinWait   *int   `json:"minRepairWaitTimeMins"`
	Action    string `json:"repairAction"`
}

type warmPool struct {
	Enabled  *bool  `json:"enabled"`
	MinSize  *int   `json:"minSize"`
	Prepared *int   `json:"maxGroupPreparedCapacity"`
	State    string `json:"poolState"`
	Reuse    *bool  `json:"reuseOnScaleIn"`
}

// ref is the launch template that the plan names.
func (n *NodegroupPlan) ref() snapshot.TemplateRef {
	if n.LaunchTemplate == nil {
		return snapshot.TemplateRef{}
	}
	t := n.LaunchTemplate
	ref := snapshot.TemplateRef{ID: t.ID, Name: t.Name, Version: t.Version}
	if ref.ID != "" {
		ref.Name = ""
	}
	if ref.Version == "" {
		ref.Version = "$Default" // API reference, LaunchTemplateSpecification
	}
	return ref
}

// sizes are the scaling settings. CreateNodegroup says of none what EKS takes;
// the API's answers show 1, 2 and 2.
func (n *NodegroupPlan) sizes() (least, most, desired int) {
	least, most, desired = 1, 2, 2
	if c := n.ScalingConfig; c != nil {
		least, most, desired = or(c.MinSize, least), or(c.MaxSize, most), or(c.DesiredSize, desired)
	}
	return least, most, desired
}

func or(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}
