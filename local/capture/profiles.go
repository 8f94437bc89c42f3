package capture

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/simaws/route53profiles"
)

// ListProfileAssociations answers with the Profiles of a VPC.
func (a API) ListProfileAssociations(in *route53profiles.Input) (json.RawMessage, error) {
	all, err := plain[route53profiles.ListProfileAssociationsOutput](a.c, "route53profiles-list-profile-associations")
	return route53profiles.Written(all.Fitting(in), err)
}

// ListProfileResourceAssociations answers with the resources of a Profile.
func (a API) ListProfileResourceAssociations(in *route53profiles.Input) (json.RawMessage, error) {
	all, err := plain[route53profiles.ListProfileResourceAssociationsOutput](a.c, "route53profiles-list-profile-resource-associations", aws.ToString(in.ProfileId))
	return route53profiles.Written(all.Fitting(in), err)
}
