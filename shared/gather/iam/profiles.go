package iam

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Profiles gets instance profiles.
type Profiles interface {
	GetInstanceProfile(context.Context, *iam.GetInstanceProfileInput, ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error)
}

// profiles are the instance profiles of the scope's instances.
func profiles(api Profiles) source.Source {
	return source.Source{
		Name: snapshot.Profiles,
		Calls: []source.Call{
			{Action: "iam:GetInstanceProfile", Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}},
		},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readProfiles(ctx, api, v)
		},
	}
}

// maxProfiles bounds the instance profiles that are read in one look.
const maxProfiles = 10

func readProfiles(ctx context.Context, api Profiles, v *source.View) (source.Store, error) {
	var arns []string
	for _, in := range v.InScope() {
		arns = append(arns, in.Profile)
	}
	var list []snapshot.Profile
	lacks := map[string]snapshot.Failure{}
	for i, arn := range source.Distinct(arns) {
		if i >= maxProfiles {
			lacks[arn] = v.Source.Skipped(fmt.Sprintf("%d other instance profiles were read in this look", maxProfiles))
			continue
		}
		out, err := api.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(NameOf(arn))})
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			lacks[arn] = f
			continue
		}
		if out.InstanceProfile == nil {
			lacks[arn] = *v.Source.Failure(fmt.Errorf("get instance profile %s: the answer holds none", arn))
			continue
		}
		p := profile(*out.InstanceProfile)
		p.ARN = arn // as the instance has it, which is how it is looked for
		list = append(list, p)
	}
	list = source.Sorted(list, func(p snapshot.Profile) string { return p.ARN })
	return func(s *snapshot.Snapshot) {
		s.Profiles = list
		source.LackAll(s, snapshot.Profiles, lacks)
	}, nil
}

func profile(p types.InstanceProfile) snapshot.Profile {
	out := snapshot.Profile{ARN: aws.ToString(p.Arn), Name: aws.ToString(p.InstanceProfileName)}
	for _, r := range p.Roles {
		out.Roles = append(out.Roles, aws.ToString(r.Arn))
	}
	slices.Sort(out.Roles)
	return out
}

// NameOf is the name at the end of the ARN of a role or an instance profile,
// after its path.
func NameOf(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }
