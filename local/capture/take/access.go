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

// APIServer is how a cluster's Kubernetes API is reached.
type APIServer struct {
	Endpoint  string
	CA        []byte // PEM
	Transport http.RoundTripper
}

// Straight is the way that EKS tells.
func Straight(_ context.Context, c Cluster) (APIServer, error) {
	via, err := kube.Transport(c.CA)
	if err != nil {
		return APIServer{}, err
	}
	via.Proxy = http.ProxyFromEnvironment
	return APIServer{c.Endpoint, c.CA, via}, nil
}

// ByToken opens clusters by their API servers, with tokens of their own for whoever cfg is (aws eks
// get-token).
func ByToken(cfg aws.Config, server func(context.Context, Cluster) (APIServer, error)) func(context.Context, Cluster) (Kubernetes, error) {
	presigner := sts.NewPresignClient(sts.NewFromConfig(cfg))
	return func(ctx context.Context, c Cluster) (Kubernetes, error) {
		d, err := server(ctx, c)
		if err != nil {
			return nil, err
		}
		token, err := kube.Token(ctx, presigner, c.Name)
		if err != nil {
			return nil, err
		}
		return kube.NewVia(d.Transport, d.Endpoint, d.CA, token)
	}
}
