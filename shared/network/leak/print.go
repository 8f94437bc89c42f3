package leak

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"slices"

	"rollcall/shared/snapshot"
)

// Print is a fingerprint of what the rules went by. Status and attachment are
// not in it: they are asked each time.
func Print(i snapshot.Interface) string {
	// The order in which EC2 lists addresses means nothing.
	ips, prefixes, six, groups := slices.Clone(i.PrivateIPs), slices.Clone(i.Prefixes), slices.Clone(i.IPv6), slices.Clone(i.Groups)
	slices.SortFunc(ips, netip.Addr.Compare)
	slices.SortFunc(six, netip.Addr.Compare)
	slices.SortFunc(prefixes, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	slices.Sort(groups)
	// JSON keeps the parts apart, and a map's keys in order.
	text, err := json.Marshal([]any{
		i.ID, i.Account, i.VPC, i.Subnet, i.Kind, i.RequesterManaged, i.Description, i.Tags,
		ips, prefixes, six, i.PublicIP, groups, i.SourceCheck,
	})
	if err != nil {
		return "" // texts and addresses only: cannot happen, and an empty print never fits
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Confirm holds an interface as it was described again, nil if it is not there
// any more, against its verdict: Leaked if it may still be deleted.
func Confirm(again *snapshot.Interface, v Verdict) Reason {
	switch {
	case v.Why != Leaked:
		return v.Why
	case again == nil:
		return Gone
	case again.Status != "available" || again.Attached || again.Instance != "":
		return InUse
	case again.ID != v.Interface.ID || Print(*again) == "" || Print(*again) != Print(v.Interface):
		return Changed
	}
	return Leaked
}
