package text

import "rollcall/shared/checkid"

// The ids of the catalogue whose checks are not built yet; checkid names the
// others.
const (
	ipBranchInterfaces   checkid.ID = "ip/branch-interfaces"
	instanceCommonFactor checkid.ID = "instance/common-factor"
)
