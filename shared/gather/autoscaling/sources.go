// Package autoscaling holds the sources that are read of EC2 Auto Scaling.
package autoscaling

import (
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"

	"rollcall/shared/gather/source"
)

// Sources are all of them.
func Sources(api *autoscaling.Client) []source.Source {
	return []source.Source{groups(), activities(api)}
}
