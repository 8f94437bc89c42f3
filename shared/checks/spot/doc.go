// Package spot holds the checks of spot: what Spot takes back, and which pools fail.
package spot
