// Package cluster holds the checks of cluster: what EKS says of the cluster.
package cluster
