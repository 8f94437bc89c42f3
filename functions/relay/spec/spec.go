// Package spec describes relay: its settings and size. No event wakes it, and
// it may do nothing in AWS. It is no part of the stack: its own template is deployed for each
// cluster whose API has a private endpoint only.
package spec

import (
	"time"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// Name is the function's name.
const Name = "relay"

// Environment is what the function reads of its environment.
func Environment() []spec.Variable {
	return []spec.Variable{config.RelayCluster, config.RelayEndpoint, config.RelayCA, config.LogLevel}
}

// Spec is what infra deploys.
func Spec() spec.Spec {
	return spec.Spec{
		Name:          Name,
		About:         "Forwards list calls to a cluster whose API is reachable only inside its VPC: those in deploy/clusterrole.yaml, with the caller's token, and nothing else.",
		FailureImpact: "Nodes, pods and volumes of the cluster cannot be read: checks that need them are unknown, and a message says so.",
		// A page of 500 nodes is some megabytes, which pass compressed.
		Memory: 256,
		// Two seconds before it the frame ends the work: the answer must be there before the
		// caller's ten are over (awsconf).
		Timeout:     10 * time.Second,
		Environment: Environment(),
	}
}
