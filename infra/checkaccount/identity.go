package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/ssocreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// errCode: the profile asks for an MFA code. The CDK command line asks for it itself,
// and STS takes a code once, so that it is not asked for here.
var errCode = errors.New(`the profile asks for an MFA code; with a session from before all is checked: eval "$(aws configure export-credentials --profile NAME --format env)", and AWS_PROFILE unset`)

// load reads what the CDK command line and every AWS SDK read: the
// environment and the shared files.
func load(ctx context.Context, target string) (aws.Config, error) {
	cfg, err := config.LoadDefaultConfig(ctx, config.WithRetryMaxAttempts(1), config.WithAppID("rollcall"), config.WithLogger(logging.Nop{}),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			o.TokenProvider = func() (string, error) { return "", errCode }
		}))
	var none config.SharedConfigProfileNotExistError
	switch {
	case errors.As(err, &none):
		return cfg, fmt.Errorf("AWS_PROFILE=%s: there is no such profile in ~/.aws/config and ~/.aws/credentials (aws configure list-profiles)", none.Profile)
	case err != nil:
		return cfg, fmt.Errorf("the AWS configuration cannot be read: %w", err)
	case cfg.Region == "":
		// The CDK command line would take us-east-1 without a word.
		return cfg, fmt.Errorf("no region is set, and the profile names none (AWS_REGION=us-west-2 make %s …)", target)
	}
	return cfg, nil
}

// identifier is the part of STS that is asked.
type identifier interface {
	GetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.Options)) (*sts.GetCallerIdentityOutput, error)
}

// caller is whose credentials there are.
type caller struct {
	account, arn string
	// unasked is why it is not known, if it is not: that AWS could not be asked
	// in time does not say that the credentials are bad.
	unasked string
}

// callerOf finds out whose credentials there are. That there are none, that they
// have expired and that AWS refuses them is an error.
func callerOf(ctx context.Context, target string, cfg aws.Config, ask func() identifier, getenv func(string) string) (caller, error) {
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return notRetrieved(err, target, aws.IsCredentialsProvider(cfg.Credentials, (*ec2rolecreds.Provider)(nil)), getenv("AWS_PROFILE"))
	}
	out, err := ask().GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err == nil {
		return caller{account: aws.ToString(out.Account), arn: aws.ToString(out.Arn)}, nil
	}
	var refused smithy.APIError
	var response *awshttp.ResponseError
	if errors.As(err, &refused) && errors.As(err, &response) {
		if status := response.HTTPStatusCode(); status >= 400 && status < 500 && status != http.StatusTooManyRequests {
			return caller{}, fmt.Errorf("AWS refuses these credentials: %s: %s%s", refused.ErrorCode(), refused.ErrorMessage(), profile(getenv("AWS_PROFILE")))
		}
	}
	return caller{unasked: fmt.Sprintf("STS in %s could not be asked whose the credentials are (%v)", cfg.Region, err)}, nil
}

// notRetrieved judges why there are no credentials. lastResort is set where
// nothing was set up anywhere, so that the SDK looked for an instance's role.
func notRetrieved(err error, target string, lastResort bool, profileName string) (caller, error) {
	var sso *ssocreds.InvalidTokenError
	switch {
	case errors.Is(err, errCode):
		return caller{unasked: errCode.Error()}, nil
	case lastResort:
		return caller{}, fmt.Errorf("no AWS credentials found in the environment, in ~/.aws or of this machine's role: sign in (aws sso login, or aws configure), or name a profile (AWS_PROFILE=name make %s …)", target)
	case errors.As(err, &sso):
		command := "aws sso login"
		if profileName != "" {
			command += " --profile " + profileName
		}
		return caller{}, fmt.Errorf("%w: run %s", sso, command)
	case errors.Is(err, context.DeadlineExceeded):
		return caller{unasked: fmt.Sprintf("the credentials were not there within %s", identityTime)}, nil
	}
	return caller{}, fmt.Errorf("the AWS credentials cannot be had: %w%s", err, profile(profileName))
}

func profile(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (AWS_PROFILE=%s)", name)
}
