package ids

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// SHA256 is the hexadecimal digest of a text.
func SHA256(name string) string {
	s := sha256.Sum256([]byte(name))
	return hex.EncodeToString(s[:])
}

// NameInARN is the name at the end of an ARN.
func NameInARN(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// OfName is an id in the form of a UUID that a name always has.
func OfName(name string) string {
	s := SHA256(name)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:32]
}
