// Package endpoint holds the checks of endpoint: VPC endpoints for what nodes need.
package endpoint
