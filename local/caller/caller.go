// Package caller is who typed the command, to AWS and to Kubernetes: the profile, the
// region and the endpoint as every AWS tool reads them, and a context of a kubeconfig.
// What is wrong with them is told in one line.
package caller

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/awsconf"
)

// Options are what the command line says; empty is what the environment and the
// profile say.
type Options struct {
	Region, Profile, Endpoint string
	// Kubeconfig is a file, Context one of its contexts. Without both clusters are
	// reached as EKS tells, with a token that is made of the AWS credentials.
	Kubeconfig, Context string
	// MFA asks for the code of a profile's MFA device; nil is that there is nobody to ask.
	MFA awsconf.Ask
}

// Given reports whether the command line says anything.
func (o Options) Given() bool { return o.Region+o.Profile+o.Endpoint+o.Kubeconfig+o.Context != "" }

// Caller is who calls.
type Caller struct {
	AWS aws.Config
	// Account and ARN are whose the credentials are.
	Account, ARN string

	kube kubeconfig
}

// Mistake is what the caller can mend: credentials, a region, a name.
type Mistake struct{ error }

// Unwrap is why.
func (m Mistake) Unwrap() error { return m.error }

func mistake(format string, args ...any) error { return Mistake{fmt.Errorf(format, args...)} }

// firstAttempts are those of the call that shows whether AWS can be reached at all:
// whoever mistyped an endpoint does not wait for the retries that ride out an empty
// bucket.
const (
	firstAttempts = 2
	firstBackoff  = 200 * time.Millisecond
)

// Load finds the caller's credentials and asks AWS whose they are.
func Load(ctx context.Context, o Options, log *slog.Logger, calls *awsconf.Calls) (Caller, error) {
	asked := []func(*config.LoadOptions) error{awsconf.WithMFA(ctx, o.MFA)}
	if o.Region != "" {
		asked = append(asked, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		asked = append(asked, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Endpoint != "" {
		asked = append(asked, config.WithBaseEndpoint(o.Endpoint))
	}
	kube, err := loadKubeconfig(o)
	if err != nil {
		return Caller{}, err
	}
	cfg, err := awsconf.Load(ctx, log, calls, asked...)
	if err != nil {
		return Caller{}, ofConfig(err)
	}
	if cfg.Region == "" {
		return Caller{}, mistake("which region? --region, AWS_REGION or the profile names it")
	}
	if cfg.Credentials == nil {
		return Caller{}, noCredentials(nil)
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		return Caller{}, ofCredentials(ctx, err, cfg, profileOf(o))
	}
	who, err := sts.NewFromConfig(cfg, func(o *sts.Options) {
		o.Retryer = retry.AddWithMaxBackoffDelay(retry.AddWithMaxAttempts(o.Retryer, firstAttempts), firstBackoff)
	}).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return Caller{}, ofIdentity(ctx, err, cfg.Region, profileOf(o))
	}
	return Caller{AWS: cfg, Account: aws.ToString(who.Account), ARN: aws.ToString(who.Arn), kube: kube}, nil
}

// line is an error on one line, and not a long one.
func line(err error) string {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	const most = 300
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
