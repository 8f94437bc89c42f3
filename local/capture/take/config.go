package take

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
)

// attempts and maxBackoff let a throttled call wait out half a minute of an empty request
// bucket.
const (
	attempts   = 10
	maxBackoff = 5 * time.Second
)

// LoadConfig reads region, credentials and endpoints as the AWS CLI does: environment,
// profiles, SSO, roles. "" is the default. The error is an *InputError.
func LoadConfig(ctx context.Context, region, profile string) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{
		config.WithAppID("rollcall"),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff
				// By itself the SDK stops after a hundred throttled retries of all calls together.
				o.RateLimiter = ratelimit.None
			})
		}),
	}
	if region != "" {
		options = append(options, config.WithRegion(region))
	}
	if profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	var missing config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &missing):
		return aws.Config{}, wrongInput("there is no profile %s in the AWS CLI's files", missing.Profile)
	case err != nil:
		return aws.Config{}, wrongInput("the AWS CLI's settings cannot be read: %s", oneLine(err))
	}
	return cfg, nil
}
