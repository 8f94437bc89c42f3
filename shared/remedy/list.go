package remedy

import (
	"slices"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/snapshot"
)

// Calls are all that remedies ask of AWS: each folder declares its own.
type Calls interface {
	addnatroute.Calls
	replaceinstance.Calls
	openendpointsecuritygroup.Calls
	coverzones.Calls
	createaccessentry.Calls
}

// All are the remedies. Each line says where a
// remedy's part of a plan stands, and of whom it asks its calls.
func All() []Remedy {
	return []Remedy{
		listed(addnatroute.Remedy(), func(p *Plan) **addnatroute.Plan { return &p.Route }, func(c Calls) addnatroute.Calls { return c }),
		listed(openendpointsecuritygroup.Remedy(), func(p *Plan) **openendpointsecuritygroup.Plan { return &p.Open }, func(c Calls) openendpointsecuritygroup.Calls { return c }),
		listed(coverzones.Remedy(), func(p *Plan) **coverzones.Plan { return &p.Cover }, func(c Calls) coverzones.Calls { return c }),
		listed(replaceinstance.Remedy(), func(p *Plan) **replaceinstance.Plan { return &p.Replace }, func(c Calls) replaceinstance.Calls { return c }),
		listed(deleteleakedinterfaces.Remedy(), func(p *Plan) **deleteleakedinterfaces.Plan { return &p.Cleanup }, nil),
		listed(createaccessentry.Remedy(), func(p *Plan) **createaccessentry.Plan { return &p.Access }, func(c Calls) createaccessentry.Calls { return c }),
	}
}

// Of is the remedy of a name. Of one that is not known there is no plan, and
// nothing is done.
func Of(name optin.Remedy) Remedy {
	list := All()
	if i := slices.IndexFunc(list, func(r Remedy) bool { return r.Name == name }); i >= 0 {
		return list[i]
	}
	return unknown(name)
}

// planned is the remedy whose part a plan has, whatever it is named.
func planned(p Plan) Remedy {
	list := All()
	if i := slices.IndexFunc(list, func(r Remedy) bool { return r.has(p) }); i >= 0 {
		return list[i]
	}
	return unknown(p.Remedy)
}

func unknown(name optin.Remedy) Remedy {
	return listed(action.Remedy[struct{}, any]{
		Name:    name,
		Sources: []snapshot.Source{snapshot.Clusters},
		Plan: func(action.Look) (*struct{}, *action.Refusal) {
			return nil, action.Refuse(action.NoSuchRemedy, "%s is no remedy.", name)
		},
	}, func(*Plan) **struct{} { return new(*struct{}) }, nil)
}
