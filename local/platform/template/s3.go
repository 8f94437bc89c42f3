package template

func (t *Template) addS3Bucket(id string, n named, properties map[string]any) error {
	var p struct {
		BucketName       string
		BucketEncryption struct {
			ServerSideEncryptionConfiguration []struct {
				ServerSideEncryptionByDefault struct{ SSEAlgorithm string }
			}
		}
		LifecycleConfiguration struct {
			Rules []struct {
				Id, Status       string
				ExpirationInDays *whole
			}
		}
		PublicAccessBlockConfiguration struct{ BlockPublicAcls, BlockPublicPolicy, IgnorePublicAcls, RestrictPublicBuckets flag }
		OwnershipControls, Tags        inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	b := S3Bucket{LogicalID: id, Name: n.name, ARN: n.arn}
	for _, rule := range p.LifecycleConfiguration.Rules {
		if rule.Status == "Enabled" {
			b.ExpireDays = number(rule.ExpirationInDays, 0)
		}
	}
	for _, rule := range p.BucketEncryption.ServerSideEncryptionConfiguration {
		b.Encryption = rule.ServerSideEncryptionByDefault.SSEAlgorithm
	}
	block := p.PublicAccessBlockConfiguration
	b.Private = bool(block.BlockPublicAcls) && bool(block.BlockPublicPolicy) && bool(block.IgnorePublicAcls) && bool(block.RestrictPublicBuckets)
	t.S3Buckets = append(t.S3Buckets, b)
	return nil
}

func (t *Template) addS3BucketPolicy(id string, properties map[string]any) error {
	var p struct {
		Bucket         string
		PolicyDocument policyDocument
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	for i, b := range t.S3Buckets {
		if b.Name == p.Bucket {
			t.S3Buckets[i].Statements = append(b.Statements, p.PolicyDocument.read(id)...)
			return nil
		}
	}
	return place{id, "Properties.Bucket"}.refuse("bucket %q is not in the template", p.Bucket)
}
