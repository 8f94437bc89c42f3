// Package ec2 reads instances, and what they are made of: types, images, launch
// templates, user data, console output, status checks, volumes, zones.
package ec2

import (
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/gather/source"
)

// Sources are what is read of instances, and of what they are made of.
func Sources(e *ec2.Client) []source.Source {
	return []source.Source{
		instances(), instanceTypes(e), typeOfferings(e), statuses(e), UserData(e), consoles(e), images(e), launchedImages(e), launchTemplates(e), allowedImages(e), metadataDefaults(e), capacityReservations(e), placementGroups(e), volumes(e), zones(e),
	}
}
