package incident

import (
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"strings"
)

// The checks of a subnet's addresses that have to do with one another: what
// leaks is foreseen to run out, is empty, refuses launches, and keeps nodes from
// being Ready. Which function sees which of it first is chance.
const (
	LeakedInterfaces checks.ID = checkid.IPLeakedInterfaces
	NoFreeBlock      checks.ID = checkid.IPFragmented
	Runway           checks.ID = checkid.IPRunway
	ScaleOut         checks.ID = checkid.IPScaleOutWillNotFit
	SubnetExhausted  checks.ID = checkid.IPSubnetExhausted
	BurstTooLarge    checks.ID = checkid.SpotBurstExceedsSubnet
	LaunchRefused    checks.ID = checkid.LaunchSubnetFull
	CniNotReady      checks.ID = checkid.NodeCNINotReady
	NodeNotReady     checks.ID = checkid.NodeNotReady
)

// IsShortage tells a check of a subnet that has too few addresses now.
func IsShortage(check checks.ID) bool {
	return check == SubnetExhausted || check == BurstTooLarge || check == LaunchRefused
}

// IsStarvationSymptom tells a check of nodes as they are where their pods get no addresses.
func IsStarvationSymptom(check checks.ID) bool { return check == CniNotReady || check == NodeNotReady }

// OfAddresses tells that a check is about the addresses of its resource, a
// subnet.
func OfAddresses(check checks.ID) bool {
	return strings.HasPrefix(string(check), "ip/") || IsShortage(check)
}
