package eks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/gather/iam"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// ClassAccess is the access of the node roles of NodeClasses that EKS Auto Mode reports as
// refused. A cluster without such a NodeClass takes no call.
func ClassAccess(entries AccessEntries, roles iam.ClassRoles) source.Source {
	return source.Source{
		Name:  snapshot.ClassAccess,
		Needs: []snapshot.Source{snapshot.AutoNodeClassesOf},
		Calls: append(entryCalls(),
			source.Call{Action: "iam:GetRole", Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}},
			source.Call{Action: "iam:GetInstanceProfile", Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}},
		),
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readClassAccess(ctx, entries, roles, v)
		},
	}
}

// maxClassRoles bounds the roles of NodeClasses that are read in one look.
const maxClassRoles = 10

func readClassAccess(ctx context.Context, api AccessEntries, roles iam.ClassRoles, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.AutoNodeClassesOf) {
		return nil, v.Unread(snapshot.AutoNodeClassesOf)
	}
	refused := slices.DeleteFunc(slices.Clone(v.Snapshot.AutoNodeClasses), func(c snapshot.NodeClass) bool {
		_, is := c.Unauthorized()
		return !is || c.Deleting
	})
	if len(refused) == 0 {
		return source.Nothing, nil
	}
	principals, err := readPrincipals(ctx, api, v.Cluster)
	if err != nil {
		return nil, err
	}
	lacks := map[string]snapshot.Failure{}
	byName := map[string][]string{}
	for _, c := range refused {
		name, err := roleOfClass(ctx, roles, c)
		f := v.Source.Failure(err)
		switch {
		case err != nil && f.Reason == snapshot.Denied:
			return nil, err
		case err != nil:
			lacks[c.Name] = *f
		case len(byName) >= maxClassRoles && byName[name] == nil:
			lacks[c.Name] = v.Source.Skipped(fmt.Sprintf("the roles of %d other NodeClasses were read in this look", maxClassRoles))
		default:
			byName[name] = append(byName[name], c.Name)
		}
	}
	var list []snapshot.ClassRole
	for name, classes := range byName {
		r := snapshot.ClassRole{Classes: slices.Sorted(slices.Values(classes)), Name: name}
		mine := func(principal string) bool {
			return strings.Contains(principal, ":role/") && iam.NameOf(principal) == name
		}
		if r.Entries, _, err = describeEntries(ctx, api, v, principals, mine, lacks); err != nil {
			return nil, err
		}
		r.ARN, r.Created, err = roles.Role(ctx, name)
		if f := v.Source.Failure(err); err != nil && f.Reason == snapshot.Denied {
			return nil, err
		} else if err != nil {
			lacks[name] = *f
		}
		list = append(list, r)
	}
	list = source.Sorted(list, func(r snapshot.ClassRole) string { return r.Name })
	return func(s *snapshot.Snapshot) {
		s.ClassRoles = list
		source.LackAll(s, snapshot.ClassAccess, lacks)
	}, nil
}

// roleOfClass is the name of a NodeClass's role: it names one, or an instance profile that
// holds it (EKS user guide, "Create a Node Class for Amazon EKS": they exclude each other).
func roleOfClass(ctx context.Context, roles iam.ClassRoles, c snapshot.NodeClass) (string, error) {
	if c.Role != "" {
		return iam.NameOf(c.Role), nil
	}
	return roles.RoleOfProfile(ctx, c.Profile)
}
