package state

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Blackhole marks the routes whose target is gone.
func (w *State) Blackhole(gone func(*ec2types.Route) bool) {
	for _, t := range w.RouteTables.All() {
		for i := range t.Routes {
			if gone(&t.Routes[i]) {
				t.Routes[i].State = ec2types.RouteStateBlackhole
			}
		}
	}
}
