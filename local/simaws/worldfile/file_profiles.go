package worldfile

import "rollcall/local/simaws/route53profiles"

// ProfilesFile is the Route 53 Profiles part of a world, as `aws route53profiles list-*`
// prints it: the resources of Profiles by Profile.
type ProfilesFile struct {
	ProfileAssociations         []route53profiles.ProfileAssociation
	ProfileResourceAssociations map[string][]route53profiles.ProfileResourceAssociation
}
