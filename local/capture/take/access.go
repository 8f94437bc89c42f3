package take

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/kube"
)

// Limits of a cluster's API: one that is private and out of reach drops packets.
const (
	dialTimeout = 5 * time.Second
	headTimeout = 30 * time.Second
)

// ByToken opens clusters with tokens of their own for whoever cfg is (aws eks get-token).
// Requests go by via, where that is not nil, in place of a connection.
func ByToken(cfg aws.Config, via http.RoundTripper) func(context.Context, Cluster) (Kubernetes, error) {
	presigner := sts.NewPresignClient(sts.NewFromConfig(cfg))
	return func(ctx context.Context, c Cluster) (Kubernetes, error) {
		token, err := kube.Token(ctx, presigner, c.Name)
		if err != nil {
			return nil, err
		}
		if via != nil {
			return kube.NewVia(via, c.Endpoint, c.CA, token)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(c.CA) {
			return nil, errors.New("EKS gives no certificate of its API")
		}
		return kube.NewVia(&http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:       &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:   dialTimeout,
			ResponseHeaderTimeout: headTimeout,
			ForceAttemptHTTP2:     true,
		}, c.Endpoint, c.CA, token)
	}
}
