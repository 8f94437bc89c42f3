// Package karpenter holds the checks of karpenter: what Karpenter, or EKS Auto
// Mode, which runs it, does not make nodes for.
package karpenter
