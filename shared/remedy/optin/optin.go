// Package optin names what an operator opts in to: remedies, and what each may
// do. It imports nothing, so that settings are judged before anything large is
// compiled.
package optin

// Remedy names a remedy. The names are permanent: they stand in settings, in
// audit records and in other people's rules.
type Remedy string

// The remedies (DESIGN, section 7).
const (
	AddNATRoute               Remedy = "add-nat-route"
	ReplaceInstance           Remedy = "replace-instance"
	OpenEndpointSecurityGroup Remedy = "open-endpoint-security-group"
	CoverZones                Remedy = "cover-zones"
	DeleteLeakedInterfaces    Remedy = "delete-leaked-interfaces"
	CreateAccessEntry         Remedy = "create-access-entry"
)

// Remedies are all of them.
func Remedies() []Remedy {
	return []Remedy{AddNATRoute, ReplaceInstance, OpenEndpointSecurityGroup, CoverZones, DeleteLeakedInterfaces, CreateAccessEntry}
}

// Policy is what an operator lets a remedy do in a cluster.
type Policy string

// The policies. Off is the default.
const (
	Off     Policy = "off"
	Approve Policy = "approve" // ask a person first
	Auto    Policy = "auto"
)
