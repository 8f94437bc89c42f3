// Package zone holds the checks of zone: volumes, and the nodes where they live.
package zone
