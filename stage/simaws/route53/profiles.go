package route53

import (
	"encoding/json"
	"slices"
	"time"
)

// ProfilesInput requests a page of a list. A member that a call does not have is not sent.
type ProfilesInput struct {
	ProfileId, ResourceId, ResourceType *string
	MaxResults                          *int32
	NextToken                           *string
}

// ProfileAssociation is what list-profile-associations prints of one: a Profile in a VPC.
type ProfileAssociation struct {
	Id, Name, OwnerId, ProfileId, ResourceId, Status, StatusMessage string `json:",omitempty"`
	// Priority orders the Profiles of one VPC, the lowest first (Route 53 developer guide,
	// "Updating the priority of a Route 53 Profile association with a VPC"). Botocore's model
	// does not have it yet.
	Priority                       int       `json:",omitempty"`
	CreationTime, ModificationTime time.Time `json:",omitzero"`
}

// ProfileResourceAssociation is what list-profile-resource-associations prints of one: a
// resource in a Profile. ResourceProperties of a rule group is {"priority":102}.
type ProfileResourceAssociation struct {
	Id, Name, OwnerId, ProfileId, ResourceArn, ResourceType, ResourceProperties, Status, StatusMessage string    `json:",omitempty"`
	CreationTime, ModificationTime                                                                     time.Time `json:",omitzero"`
}

// The outputs.
type (
	// ListProfileAssociationsOutput is a page of Profiles in VPCs.
	ListProfileAssociationsOutput struct {
		ProfileAssociations []ProfileAssociation
	}
	// ListProfileResourceAssociationsOutput is a page of what a Profile holds.
	ListProfileResourceAssociationsOutput struct {
		ProfileResourceAssociations []ProfileResourceAssociation
	}
)

// Fitting are the associations that a request is about.
func (o ListProfileAssociationsOutput) Fitting(in *ProfilesInput) ListProfileAssociationsOutput {
	return ListProfileAssociationsOutput{slices.DeleteFunc(slices.Clone(o.ProfileAssociations), func(a ProfileAssociation) bool {
		return in.ResourceId != nil && a.ResourceId != *in.ResourceId || in.ProfileId != nil && a.ProfileId != *in.ProfileId
	})}
}

// Fitting are the resources that a request is about.
func (o ListProfileResourceAssociationsOutput) Fitting(in *ProfilesInput) ListProfileResourceAssociationsOutput {
	return ListProfileResourceAssociationsOutput{slices.DeleteFunc(slices.Clone(o.ProfileResourceAssociations), func(a ProfileResourceAssociation) bool {
		return in.ResourceType != nil && a.ResourceType != *in.ResourceType
	})}
}

// WrittenProfiles is an output as the service writes it: times are seconds since 1970 (the AWS CLI's
// example of list-profile-associations).
func WrittenProfiles(out any, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	var lists map[string][]map[string]any
	if err := json.Unmarshal(raw, &lists); err != nil {
		return nil, err
	}
	for name, list := range lists {
		if list == nil {
			lists[name] = []map[string]any{}
		}
		for _, item := range list {
			for _, key := range []string{"CreationTime", "ModificationTime"} {
				if text, is := item[key].(string); is {
					at, err := time.Parse(time.RFC3339, text)
					if err != nil {
						return nil, err
					}
					item[key] = float64(at.UnixMilli()) / 1000
				}
			}
		}
	}
	return json.Marshal(lists)
}
