package stage

import (
	"strings"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
)

// object is what IAM sees of a write of S3: the object's ARN, and of the request the
// headers that are condition keys. One that is not sent is no key (service authorization
// reference, "Condition keys for Amazon S3"). The stage's own address stands for S3's, to
// which the functions speak TLS.
func (t things) object(o wire.Object) (arn string, keys map[string][]string, ok bool) {
	keys = map[string][]string{"aws:SecureTransport": {"true"}, "aws:ResourceAccount": {t.account}}
	for key, header := range map[string]string{"s3:if-none-match": "If-None-Match", "s3:x-amz-server-side-encryption": "X-Amz-Server-Side-Encryption"} {
		if value := o.Header.Get(header); value != "" {
			keys[key] = []string{value}
		}
	}
	return "arn:aws:s3:::" + o.Bucket + "/" + o.Key, keys, true
}

// bucketPolicy is what a bucket's own policy refuses.
func (t things) bucketPolicy(name string) []template.Statement {
	for _, b := range t.buckets {
		if strings.EqualFold(b.Name, name) {
			return b.Statements
		}
	}
	return nil
}
