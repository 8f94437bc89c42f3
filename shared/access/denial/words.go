package denial

import (
	"fmt"

	"rollcall/shared/snapshot"
)

// Why a message is not decoded.
const (
	NotGranted = "Rollcall may not: it takes sts:DecodeAuthorizationMessage, which the setting decodeDenied=on grants"
	Cut        = "only a part of it was kept, which cannot be decoded"
	Others     = "others were decoded first"
)

// Undecodable is why STS did not decode a message.
func Undecodable(f snapshot.Failure) string {
	switch {
	case f.Code == "InvalidAuthorizationMessageException":
		return "STS does not take it: it has expired, is another account's, or is only a part"
	case f.Reason == snapshot.Denied && f.Code == "":
		return NotGranted
	case f.Code == "":
		return fmt.Sprintf("%s: %s", f.Call, f.Reason)
	}
	return fmt.Sprintf("%s: %s, %s", f.Call, f.Reason, f.Code)
}
