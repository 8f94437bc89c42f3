// Package node holds the checks of node: what Kubernetes says.
package node
