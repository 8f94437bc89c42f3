package take

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/kube"
)

// attempts and maxBackoff let a throttled call wait out half a minute of an empty request
// bucket.
const (
	attempts   = 10
	maxBackoff = 5 * time.Second
)

// Retryer makes a call again until it is answered: nothing is missed for somebody else's
// calls. By itself the SDK stops after a hundred throttled ones of all calls together.
func Retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = attempts, maxBackoff, ratelimit.None
	})
}

// Door is the way to a cluster's API.
type Door struct {
	Endpoint string
	CA       []byte // PEM
	Via      http.RoundTripper
}

// Straight is the way that EKS tells.
func Straight(_ context.Context, c Cluster) (Door, error) {
	via, err := kube.Transport(c.CA)
	if err != nil {
		return Door{}, err
	}
	via.Proxy = http.ProxyFromEnvironment
	return Door{c.Endpoint, c.CA, via}, nil
}

// ByToken opens clusters by a door, with tokens of their own for whoever cfg is (aws eks
// get-token).
func ByToken(cfg aws.Config, door func(context.Context, Cluster) (Door, error)) func(context.Context, Cluster) (Kubernetes, error) {
	presigner := sts.NewPresignClient(sts.NewFromConfig(cfg))
	return func(ctx context.Context, c Cluster) (Kubernetes, error) {
		d, err := door(ctx, c)
		if err != nil {
			return nil, err
		}
		token, err := kube.Token(ctx, presigner, c.Name)
		if err != nil {
			return nil, err
		}
		return kube.NewVia(d.Via, d.Endpoint, d.CA, token)
	}
}
