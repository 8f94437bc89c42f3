// Package dns holds the checks of dns: whether names resolve.
package dns
