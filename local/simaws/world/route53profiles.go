package world

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/route53profiles"
	"rollcall/local/simaws/state"
)

// profilesAPI is the world's Route 53 Profiles: it has what the world's file has.
type profilesAPI struct{ w *state.State }

// ListProfileAssociations lists the Profiles of VPCs.
func (s profilesAPI) ListProfileAssociations(in *route53profiles.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	all := route53profiles.ListProfileAssociationsOutput{ProfileAssociations: s.w.File.Route53Profiles.ProfileAssociations}
	return route53profiles.Written(all.Fitting(in), nil)
}

// ListProfileResourceAssociations lists what a Profile holds.
func (s profilesAPI) ListProfileResourceAssociations(in *route53profiles.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	list, there := s.w.File.Route53Profiles.ProfileResourceAssociations[aws.ToString(in.ProfileId)]
	if !there {
		return nil, wire.Errorf("ResourceNotFoundException", "The specified Profile %s does not exist", aws.ToString(in.ProfileId))
	}
	return route53profiles.Written(route53profiles.ListProfileResourceAssociationsOutput{ProfileResourceAssociations: list}.Fitting(in), nil)
}
