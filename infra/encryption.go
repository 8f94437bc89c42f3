package main

import (
	"fmt"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// encrypted are the properties that a customer key takes in each type of resource: those of
// the CloudFormation template reference, where a property that is "" is left out.
func encrypted(key string) map[string]map[string]any {
	return map[string]map[string]any{
		"AWS::DynamoDB::Table": {"SSESpecification.SSEType": "KMS", "SSESpecification.KMSMasterKeyId": key},
		"AWS::S3::Bucket": {"BucketEncryption.ServerSideEncryptionConfiguration": []any{map[string]any{
			// With a key of the bucket, KMS is called once for many objects (S3 user guide,
			// "Reducing the cost of SSE-KMS with Amazon S3 Bucket Keys").
			"BucketKeyEnabled":              true,
			"ServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key},
		}}},
		// SQS takes one way of encryption or the other (API reference, SetQueueAttributes).
		"AWS::SQS::Queue":       {"KmsMasterKeyId": key, "SqsManagedSseEnabled": ""},
		"AWS::SNS::Topic":       {"KmsMasterKeyId": key},
		"AWS::Logs::LogGroup":   {"KmsKeyId": key},
		"AWS::Lambda::Function": {"KmsKeyArn": key},
	}
}

// encrypt has what a stack keeps encrypted with a customer key, if there is one.
func encrypt(stack awscdk.Stack, key string) {
	if key == "" {
		return
	}
	rows := encrypted(key)
	for _, c := range *stack.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if !*awscdk.CfnResource_IsCfnResource(c) {
			continue
		}
		r := c.(awscdk.CfnResource)
		for path, value := range rows[*r.CfnResourceType()] {
			if value == "" {
				r.AddPropertyDeletionOverride(jsii.String(path))
				continue
			}
			r.AddPropertyOverride(jsii.String(path), value)
		}
	}
}

// keyUse is what a function needs of the key through a service.
type keyUse struct {
	sid, service string
	actions      []string
	needed       bool
}

// useKey lets a function use the key through the services that it calls, and not by itself.
// What else uses the key has its permission from elsewhere: Lambda decrypts the environment by
// a grant that it makes with the function, and CloudWatch Logs, EventBridge and CloudWatch
// alarms use it by the key's policy (docs/standard.md).
func useKey(function spec.Spec, r resources, chosen settings.Settings) []statement {
	if chosen.KMSKey == "" {
		return nil
	}
	var list []statement
	for _, use := range []keyUse{
		// SQS developer guide, "Key management", permissions of producers (GenerateDataKey,
		// Decrypt) and consumers (Decrypt): each function sends what failed.
		{"UseKeyForQueues", "sqs", []string{"kms:Decrypt", "kms:GenerateDataKey"}, true},
		// DynamoDB developer guide, "DynamoDB encryption at rest usage notes": on behalf of
		// who calls it; grants are made with the table. Reads need Decrypt and DescribeKey,
		// writes the others (as grantReadWriteData of the CDK's Table has them).
		{"UseKeyForTable", "dynamodb", []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"},
			slices.Contains(function.Environment, config.TableName)},
		// S3 user guide, "Using server-side encryption with AWS KMS keys": an upload needs
		// GenerateDataKey.
		{"UseKeyForEvidence", "s3", []string{"kms:GenerateDataKey"}, slices.Contains(function.Environment, config.EvidenceBucket) && r.evidence != nil},
		// SNS developer guide, "Key management": who publishes needs both.
		{"UseKeyForTopic", "sns", []string{"kms:Decrypt", "kms:GenerateDataKey"}, slices.Contains(function.Environment, config.TargetTopicARN) && chosen.MakesTopic},
	} {
		if use.needed {
			list = append(list, statement{
				sid: use.sid, actions: use.actions, resources: []string{chosen.KMSKey},
				conditions: map[string]map[string][]string{"StringEquals": {
					"kms:ViaService": {fmt.Sprintf("%s.%s.%s", use.service, *awscdk.Aws_REGION(), *awscdk.Aws_URL_SUFFIX())},
				}},
			})
		}
	}
	return list
}
