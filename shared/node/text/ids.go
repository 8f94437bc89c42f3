package text

import "rollcall/shared/checkid"

// The id of the catalogue whose check is not built yet; checkid names the others.
const ipBranchInterfaces checkid.ID = "ip/branch-interfaces"
