// Package kubernetes holds the sources that are read of a cluster's own API, each
// with its right in the cluster.
package kubernetes

import (
	"context"
	"errors"
	"net/http"

	"rollcall/shared/gather/source"
	"rollcall/shared/kube"
)

// Sources are all of them.
func Sources() []source.Source {
	return []source.Source{
		nodes(), pods(), awsNodes(), awsAuth(), csrs(), nodeEvents(), eniConfigs(), persistentVolumes(), claims(), podsWaiting(), podEvents(), podsOnNodes(),
		nodePools(), nodeClaims(), ec2NodeClasses(), autoNodeClasses(), poolEvents(),
	}
}

// awsNode is the VPC CNI's container.
const awsNode = "aws-node"

// withClient reads with the client of the cluster's API, where there is one.
func withClient(read func(context.Context, *source.View, *kube.Client) (source.Store, error)) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		if v.Connect != nil {
			return nil, v.Connect
		}
		return read(ctx, v, v.Kube)
	}
}

// forbidden tells the refusal of somebody whom the cluster knows.
func forbidden(err error) bool {
	var status *kube.StatusError
	return errors.As(err, &status) && status.Code == http.StatusForbidden
}
