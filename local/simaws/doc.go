// Package simaws is the simulated AWS of the local stage: one HTTP entry point
// for all AWS services and one TLS listener for the Kubernetes API of each
// cluster, all on loopback. It holds no resources of its own. What EC2, Auto
// Scaling, EKS and IAM answer is the world's business, messages are the queue
// engine's, and events go to a sink; this package gives them the wire.
package simaws
