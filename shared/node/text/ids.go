package text

import "rollcall/shared/checkid"

// The ids of the catalogue whose checks are not built yet; checkid names the
// others.
const (
	karpenterNodeClassNotReady checkid.ID = "karpenter/nodeclass-not-ready"
	karpenterNodePoolLimit     checkid.ID = "karpenter/nodepool-limit"
	nodeNotInitialized         checkid.ID = "node/not-initialized"
	ipBranchInterfaces         checkid.ID = "ip/branch-interfaces"
	instanceCommonFactor       checkid.ID = "instance/common-factor"
)
