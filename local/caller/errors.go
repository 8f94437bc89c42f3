package caller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go"

	"rollcall/shared/awsconf"
)

// profileOf is the profile that counts, as the SDK finds it.
func profileOf(o Options) string {
	for _, name := range []string{o.Profile, os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE")} {
		if name != "" {
			return name
		}
	}
	return "default"
}

// ofConfig is what is wrong with the settings.
func ofConfig(err error) error {
	var none config.SharedConfigProfileNotExistError
	if errors.As(err, &none) {
		return mistake("there is no profile %s in %v", none.Profile, none.Filename)
	}
	return mistake("%s", line(err))
}

func noCredentials(err error) error {
	text := "there are no AWS credentials: --profile, AWS_PROFILE, aws configure or aws sso login give some"
	if err != nil {
		text += " (" + line(err) + ")"
	}
	return Mistake{errors.New(text)}
}

// ofCredentials is why there are none: by types and codes, for the texts change.
func ofCredentials(ctx context.Context, err error, cfg aws.Config, profile string) error {
	var api smithy.APIError
	var op *smithy.OperationError
	var code *awsconf.CodeError
	answered := errors.As(err, &api) && errors.As(err, &op)
	told := unreachable(err, cfg.Region)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &code):
		return Mistake{code}
	case told != nil:
		return told
	// OIDC CreateToken, and SSO GetRoleCredentials (API references, "Errors").
	case answered && ofSSO(cfg):
		return mistake("the SSO session of profile %s gives no credentials (%s): aws sso login --profile %s", profile, api.ErrorCode(), profile)
	case answered:
		return mistake("profile %s gives no credentials: %s:%s: %s (%s)", profile, op.Service(), op.Operation(), api.ErrorCode(), api.ErrorMessage())
	// A token that has run out, and none at all, have no type of their own.
	case ofSSO(cfg):
		return mistake("the SSO session of profile %s has expired, or was never begun: aws sso login --profile %s", profile, profile)
	}
	return noCredentials(err)
}

// ofSSO tells that the profile, or the one that its role is assumed by, is of IAM
// Identity Center.
func ofSSO(cfg aws.Config) bool {
	for _, source := range cfg.ConfigSources {
		shared, ok := source.(config.SharedConfig)
		for of := &shared; ok && of != nil; of = of.Source {
			if of.SSOSession != nil || of.SSOStartURL != "" {
				return true
			}
		}
	}
	return false
}

// ofIdentity is why AWS does not say whose the credentials are. Codes: STS API
// reference, "Common errors".
func ofIdentity(ctx context.Context, err error, region, profile string) error {
	var api smithy.APIError
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !errors.As(err, &api) {
		if told := unreachable(err, region); told != nil {
			return told
		}
		return fmt.Errorf("AWS cannot be reached: %s", line(cause(err)))
	}
	switch api.ErrorCode() {
	case "ExpiredToken", "ExpiredTokenException":
		return mistake("the credentials of profile %s have expired: log in again", profile)
	case "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure":
		return mistake("AWS does not know the credentials of profile %s (%s), or not in region %s", profile, api.ErrorCode(), region)
	case "SignatureDoesNotMatch", "IncompleteSignature":
		return mistake("the secret key of profile %s is not that of its access key (%s), or this machine's clock is wrong", profile, api.ErrorCode())
	}
	return fmt.Errorf("ask AWS whose the credentials are: %s: %s", api.ErrorCode(), line(err))
}

// unreachable is why nobody answered; nil for what somebody did.
func unreachable(err error, region string) error {
	var dns *net.DNSError
	var conn *net.OpError
	switch {
	case errors.As(err, &dns):
		return mistake("%s does not resolve: is %s a region, or the endpoint right, and is there a network?", dns.Name, region)
	case errors.As(err, &conn):
		return fmt.Errorf("AWS cannot be reached: %s", line(conn))
	}
	return nil
}

// cause is the innermost error of a call, without what the SDK says around it.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
