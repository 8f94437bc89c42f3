package evidence

import (
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// Grants are the permission to keep evidence, as the settings have it. It is to make
// objects, and to replace none: a request without If-None-Match is not allowed (S3 user
// guide, "Enforce conditional writes on Amazon S3 buckets"), and nothing is read.
func Grants(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.Evidence})
	if err != nil || c.EvidenceDays == 0 {
		return nil, err
	}
	return []spec.Grant{{
		Sid:       "KeepEvidence",
		Why:       "What was read when something was found is kept: so that it can be diagnosed again when the instance is gone.",
		Actions:   []string{"s3:PutObject"},
		Resources: []spec.Resource{spec.EvidenceObjects},
		Conditions: map[string]map[string][]string{
			"Null":         {"s3:if-none-match": {"false"}},
			"StringEquals": {"s3:x-amz-server-side-encryption": {"AES256"}},
		},
	}}, nil
}
