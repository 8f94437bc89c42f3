package stage

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/platform/template"
	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
)

// admittedRoles are those that a release wants to be let into the clusters: the one that
// its functions assume, or, where it has none, each function's own.
func admittedRoles(t *template.Template) []string {
	for _, r := range t.Roles {
		for _, f := range t.Functions {
			if slices.ContainsFunc(r.Trust, func(st template.Statement) bool { return slices.Contains(st.Principals, "AWS:"+f.RoleARN) }) {
				return []string{r.ARN}
			}
		}
	}
	var list []string
	for _, f := range t.Functions {
		list = append(list, simaws.RoleIdentity(t.AccountID, f.Name).RoleARN)
	}
	return list
}

// assumedPolicy is what a role allows that a function has assumed.
func (s *Stage) assumedPolicy(who wire.Principal) (policy []template.Statement, assumed bool) {
	for _, r := range s.Template.Roles {
		if strings.HasSuffix(who.ARN, ":assumed-role/"+r.Name+"/"+who.Name) && r.Name != who.Name {
			return r.Statements, true
		}
	}
	return nil, false
}

// functionOf is the function whose role a trust policy's principal is; "" for another.
func (s *Stage) functionOf(principal string) string {
	for _, f := range s.Template.Functions {
		if principal == "AWS:"+f.RoleARN {
			return f.Name
		}
	}
	return ""
}

// On the stage a function's role bears the function's name.

// RoleInTemplate is the ARN in the template of a role that is known on the stage.
func (s *Stage) RoleInTemplate(known string) string {
	for _, f := range s.Template.Functions {
		if simaws.RoleIdentity(s.Template.AccountID, f.Name).RoleARN == known {
			return f.RoleARN
		}
	}
	return known
}

// mayAssume tells whether somebody may assume a role of the template: the role's trust
// policy names him, and his own policies let him. Within an account IAM would take the
// first alone where it names the role itself (IAM user guide, "Policy evaluation for
// requests within a single account"); here both are wanted, so that a missing grant
// shows.
func (s *Stage) mayAssume(caller simaws.Identity, in *sts.AssumeRoleInput) (bool, error) {
	arn := s.RoleInTemplate(aws.ToString(in.RoleArn))
	if known, ok, err := s.maySpoke(caller, in); known {
		return ok, err
	}
	i := slices.IndexFunc(s.Template.Roles, func(r template.Role) bool { return r.ARN == arn })
	if i < 0 {
		return false, nil
	}
	// By the account, and by their names, or one by one.
	named := trusted(s.Template.Roles[i].Trust, arn, s.Template.AccountID)
	for _, t := range s.Template.Roles[i].Trust {
		if slices.ContainsFunc(t.Principals, func(p string) bool { return s.functionOf(p) == caller.Name && caller.Name != "" }) {
			t.Resources = []string{arn} // a trust policy's resource is the role
			named = append(named, t)
		}
	}
	let, err := template.Allows(named, "sts:AssumeRole", arn, map[string][]string{"aws:PrincipalArn": {s.deployedRole(caller.Name)}})
	if err != nil || !let {
		return false, err
	}
	return template.Allows(s.Policy(caller.Name), "sts:AssumeRole", arn, nil)
}
