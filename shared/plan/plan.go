// Package plan names what stands in package remedy by the names that it had
// before.
package plan

import (
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
)

type (
	Remedy   = optin.Remedy
	Policy   = optin.Policy
	Plan     = remedy.Plan
	Deed     = remedy.Run
	Next     = remedy.Next
	Result   = action.Status
	Reason   = action.Reason
	Route    = addnatroute.Plan
	Replace  = replaceinstance.Plan
	Replaced = replaceinstance.Replaced
	Open     = openendpointsecuritygroup.Plan
	Cover    = coverzones.Plan
	Cleanup  = deleteleakedinterfaces.Plan
	Access   = createaccessentry.Plan
)

const (
	AddNATRoute               = optin.AddNATRoute
	ReplaceInstance           = optin.ReplaceInstance
	OpenEndpointSecurityGroup = optin.OpenEndpointSecurityGroup
	CoverZones                = optin.CoverZones
	DeleteLeakedInterfaces    = optin.DeleteLeakedInterfaces
	CreateAccessEntry         = optin.CreateAccessEntry

	Off     = optin.Off
	Approve = optin.Approve
	Auto    = optin.Auto

	Format = remedy.Format

	CouldNotLook = action.CouldNotLook

	Done      = action.Done
	Refused   = action.Refused
	Failed    = action.Failed
	Partly    = action.Partly
	Uncertain = action.Uncertain
)

func Remedies() []Remedy { return optin.Remedies() }
