// Package eks holds the sources that are read of EKS.
package eks

import (
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/gather/source"
)

// Sources are all of them.
func Sources(api *eks.Client) []source.Source {
	return []source.Source{clusters(), nodegroups(api), updates(api), addons(api), accessEntries(api), podIdentities(api)}
}
