package stage

import (
	"net/http"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/shared/spoke"
)

// LoseSpoke deletes a spoke's stack: its rules and roles go, and with them their sessions.
func (s *Stage) LoseSpoke(id spoke.ID) {
	x := s.spokes[id]
	none := &template.Template{AccountID: id.Account, Region: id.Region}
	s.mu.Lock()
	x.template, x.forwards = none, nil
	x.deployment.Replace(none, s.Clock.Now())
	s.mu.Unlock()
	x.cloud.Revoke("")
}

// DisableRegion has a spoke's account disable its region, or enable it again.
func (s *Stage) DisableRegion(id spoke.ID, disabled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spokes[id].disabled = disabled
}

// regionDisabled is what services answer in a region that the account has not enabled, to
// credentials that are good elsewhere: EC2 AuthFailure (EC2 API reference, "Common client
// errors": "you might also receive this error if you've not opted in to the Region"), others
// UnrecognizedClientException ("Common errors": the key ID or token does not exist in the
// service's records). IAM and Route 53 have no regions.
func regionDisabled(service string) error {
	switch service {
	case "ec2":
		return &wire.Error{Code: "AuthFailure", Status: http.StatusUnauthorized, Message: "AWS was not able to validate the provided access credentials"}
	case "sts", "autoscaling":
		return &wire.Error{Code: "InvalidClientTokenId", Status: http.StatusForbidden, Message: "The security token included in the request is invalid"}
	}
	return &wire.Error{Code: "UnrecognizedClientException", Status: http.StatusForbidden, Message: "The security token included in the request is invalid."}
}

// JoinOrganization has the hub's account join an organization, or leave it where it is "".
func (s *Stage) JoinOrganization(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.organization = id
}

// inOrganization narrows the trust of a spoke's roles as the setting organization does.
func inOrganization(t *template.Template, id string) {
	for _, r := range t.Roles {
		for _, st := range r.Trust {
			if equals, ok := st.Conditions["StringEquals"]; ok && len(equals["sts:ExternalId"]) > 0 {
				equals["aws:PrincipalOrgID"] = []string{id}
			}
		}
	}
}
