package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// newEvidence makes the bucket in which package evidence keeps what was read, nil where
// the settings want none. It outlives the stack, as the table does; its objects do not
// outlive their days. There are no access logs: they would need a bucket of their own, and
// who reads an object stands in CloudTrail where an account records data events.
func newEvidence(stack awscdk.Stack, chosen settings.Settings) (awss3.Bucket, error) {
	c, err := config.Load(func(name string) string { return chosen.Environment[spec.Variable(name)] }, []spec.Variable{config.Evidence})
	if err != nil || c.EvidenceDays == 0 {
		return nil, err
	}
	return awss3.NewBucket(stack, jsii.String("Evidence"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:         jsii.String("Expire"),
			Expiration: awscdk.Duration_Days(jsii.Number(c.EvidenceDays)),
		}},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	}), nil
}
