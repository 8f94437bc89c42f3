// Package autoscaling holds the sources that are read of EC2 Auto Scaling, and of ARC zonal
// shift, which keeps its launches out of a zone.
package autoscaling

import (
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"rollcall/shared/gather/source"
)

// Sources are all of them.
func Sources(api *autoscaling.Client, shifts Shifts) []source.Source {
	return []source.Source{groups(), activities(api), zonalShifts(shifts), autoshifts(shifts)}
}
