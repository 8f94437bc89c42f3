package queue

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sort"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// contentHash is the deduplication id of content-based deduplication: the
// SHA-256 of the body, without the attributes.
func contentHash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// bodyDigest is MD5OfMessageBody, which clients check.
func bodyDigest(body string) string {
	sum := md5.Sum([]byte(body))
	return hex.EncodeToString(sum[:])
}

// attributeDigest is MD5OfMessageAttributes as the SQS developer guide
// defines it: for each attribute in the order of names the name, the data
// type and the value, each after its length in four bytes, with one byte
// before the value that tells strings (1) from binary (2). It is empty
// without attributes.
func attributeDigest(attributes map[string]types.MessageAttributeValue) string {
	if len(attributes) == 0 {
		return ""
	}
	names := make([]string, 0, len(attributes))
	for name := range attributes {
		names = append(names, name)
	}
	sort.Strings(names)
	var b []byte
	add := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, name := range names {
		a := attributes[name]
		add(name)
		dataType := ""
		if a.DataType != nil {
			dataType = *a.DataType
		}
		add(dataType)
		switch {
		case strings.HasPrefix(dataType, "Binary"):
			b = append(b, 2)
			add(string(a.BinaryValue))
		case a.StringValue != nil:
			b = append(b, 1)
			add(*a.StringValue)
		}
	}
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}
