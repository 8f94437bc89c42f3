package kube

import (
	"context"
	"encoding/base64"
	"fmt"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Presigner signs the request that proves who we are without sending it.
type Presigner interface {
	PresignGetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.PresignOptions)) (*v4.PresignedHTTPRequest, error)
}

var _ Presigner = (*sts.PresignClient)(nil)

// Token makes a bearer token for a cluster: a presigned STS request that only
// this cluster accepts, because its name is among the signed headers. The
// cluster takes it for 15 minutes (aws-iam-authenticator); it is made anew for
// each use.
func Token(ctx context.Context, presigner Presigner, cluster string) (string, error) {
	signed, err := presigner.PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, func(o *sts.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions,
				smithyhttp.SetHeaderValue("x-k8s-aws-id", cluster),
				// The authenticator wants it, and allows at most 60.
				smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
		})
	})
	if err != nil {
		return "", fmt.Errorf("sign a token for cluster %s: %w", cluster, err)
	}
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(signed.URL)), nil
}
