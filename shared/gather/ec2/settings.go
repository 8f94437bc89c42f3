package ec2

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Settings gets the account's settings of a Region that refuse launches.
type Settings interface {
	GetAllowedImagesSettings(context.Context, *ec2.GetAllowedImagesSettingsInput, ...func(*ec2.Options)) (*ec2.GetAllowedImagesSettingsOutput, error)
	GetInstanceMetadataDefaults(context.Context, *ec2.GetInstanceMetadataDefaultsInput, ...func(*ec2.Options)) (*ec2.GetInstanceMetadataDefaultsOutput, error)
}

// allowedImages is the setting Allowed AMIs.
func allowedImages(api Settings) source.Source {
	return setting(snapshot.AllowedImagesOf, "ec2:GetAllowedImagesSettings", func(ctx context.Context) (source.Store, error) {
		out, err := api.GetAllowedImagesSettings(ctx, &ec2.GetAllowedImagesSettingsInput{})
		if err != nil {
			return nil, fmt.Errorf("get allowed images settings: %w", err)
		}
		read := snapshot.AllowedImages{State: aws.ToString(out.State), ManagedBy: string(out.ManagedBy)}
		for _, c := range out.ImageCriteria {
			read.Providers = append(read.Providers, c.ImageProviders...)
		}
		return func(s *snapshot.Snapshot) { s.AllowedImages = &read }, nil
	})
}

// metadataDefaults are the instance metadata defaults.
func metadataDefaults(api Settings) source.Source {
	return setting(snapshot.MetadataDefaultsOf, "ec2:GetInstanceMetadataDefaults", func(ctx context.Context) (source.Store, error) {
		out, err := api.GetInstanceMetadataDefaults(ctx, &ec2.GetInstanceMetadataDefaultsInput{})
		if err != nil {
			return nil, fmt.Errorf("get instance metadata defaults: %w", err)
		}
		var read snapshot.MetadataDefaults
		if d := out.AccountLevel; d != nil {
			read = snapshot.MetadataDefaults{
				Metadata: snapshot.Metadata{Endpoint: string(d.HttpEndpoint), HopLimit: int(aws.ToInt32(d.HttpPutResponseHopLimit)), Tokens: string(d.HttpTokens)},
				Enforced: d.HttpTokensEnforced == types.HttpTokensEnforcedStateEnabled, ManagedBy: string(d.ManagedBy), Message: aws.ToString(d.ManagedExceptionMessage),
			}
		}
		return func(s *snapshot.Snapshot) { s.MetadataDefaults = &read }, nil
	})
}

// setting is a setting of the account that matters to refused launches alone: it takes no
// call in a look at which no launch was refused, unless what is planned is judged.
func setting(name snapshot.Source, action string, read func(context.Context) (source.Store, error)) source.Source {
	return source.Source{
		Name:  name,
		After: []snapshot.Source{snapshot.Activities, snapshot.NodeClaimsOf},
		Calls: []source.Call{{Action: action}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Settings && !refused(v.Snapshot) {
				return func(*snapshot.Snapshot) {}, nil
			}
			return read(ctx)
		},
	}
}

// refused reports whether a launch was refused in the last hour.
func refused(s *snapshot.Snapshot) bool {
	return len(s.Refused) > 0 || slices.ContainsFunc(s.Activities, func(a snapshot.Activity) bool {
		return s.Time.Sub(a.Started) <= time.Hour && activity.Launching(a.About, a.Message) && activity.StatusOf(a.Status, a.Message) == activity.Failed
	}) || slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool {
		return c.Instance == "" && c.Conditions["Launched"].Status != "True" && c.Conditions["Launched"].Message != ""
	})
}
