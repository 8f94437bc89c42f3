// Package awsconf makes the one aws.Config of a function: retries, time
// limits, and middleware that counts and logs every call.
package awsconf

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
)

// Limits of one call. A function has a minute for all it does: a service that
// does not answer must leave time to say so.
const (
	connectTimeout  = 3 * time.Second
	responseTimeout = 10 * time.Second
	// attempts and maxBackoff let a throttled call ride out about ten seconds
	// of an empty request bucket (EC2 refills 20 a second, shared by the account).
	attempts   = 6
	maxBackoff = 4 * time.Second
)

// Load reads region, credentials and endpoints as every AWS SDK does, and
// reports each finished call to calls. What is asked for beside that goes first.
func Load(ctx context.Context, log *slog.Logger, calls *Calls, asked ...func(*config.LoadOptions) error) (aws.Config, error) {
	client := awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTimeout }).
		WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = responseTimeout })
	cfg, err := config.LoadDefaultConfig(ctx, append([]func(*config.LoadOptions) error{config.WithHTTPClient(client)}, asked...)...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	return From(cfg, log, calls), nil
}

// From is Load where region, credentials, endpoints and the way to them are given.
func From(cfg aws.Config, log *slog.Logger, calls *Calls) aws.Config {
	cfg = cfg.Copy()
	cfg.AppID = "rollcall"
	cfg.Logger = sdkLog{log}
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.MaxBackoff = maxBackoff
		})
	}
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), calls.middleware(log))
	return cfg
}
