package simaws

import (
	"context"
	"encoding/json"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/route53profiles"
)

// Profiles is Route 53 Profiles, of a world that has it.
type Profiles interface {
	ListProfileAssociations(*route53profiles.Input) (json.RawMessage, error)
	ListProfileResourceAssociations(*route53profiles.Input) (json.RawMessage, error)
}

// HandleProfiles serves Route 53 Profiles, and returns its operations.
func HandleProfiles(s *wire.Server, p Profiles) []string {
	get := func(operation, path string, answer func(*route53profiles.Input) (json.RawMessage, error)) {
		wire.HandleGet(s, "route53profiles", operation, path, func(_ context.Context, _ *wire.Call, in *route53profiles.Input) (json.RawMessage, error) {
			return answer(in)
		})
	}
	get("ListProfileAssociations", "/profileassociations", p.ListProfileAssociations)
	get("ListProfileResourceAssociations", "/profileresourceassociations/profileid/{ProfileId}", p.ListProfileResourceAssociations)
	return []string{"ListProfileAssociations", "ListProfileResourceAssociations"}
}
