package iam

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/shared/gather/source"
)

// ClassRoles looks up the roles of NodeClasses, without their policies.
type ClassRoles struct {
	API interface {
		Profiles
		GetRole(context.Context, *iam.GetRoleInput, ...func(*iam.Options)) (*iam.GetRoleOutput, error)
	}
}

// Role is the ARN of a role and when it was created.
func (r ClassRoles) Role(ctx context.Context, name string) (arn string, created time.Time, err error) {
	out, err := r.API.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("get role %s: %w", name, err)
	}
	if out.Role == nil {
		return "", time.Time{}, fmt.Errorf("get role %s: %w", name, source.ErrHalf)
	}
	return aws.ToString(out.Role.Arn), aws.ToTime(out.Role.CreateDate), nil
}

// RoleOfProfile is the name of the role that an instance profile holds.
func (r ClassRoles) RoleOfProfile(ctx context.Context, name string) (string, error) {
	out, err := r.API.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)})
	if err != nil {
		return "", fmt.Errorf("get instance profile %s: %w", name, err)
	}
	if out.InstanceProfile == nil || len(out.InstanceProfile.Roles) == 0 {
		return "", fmt.Errorf("get instance profile %s: %w", name, source.ErrHalf)
	}
	return aws.ToString(out.InstanceProfile.Roles[0].RoleName), nil
}
