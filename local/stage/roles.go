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

// readers are the roles that are let into the clusters: the one that the functions
// assume, or, of a release that had none, each function's own.
func (s *Stage) readers() []string {
	for _, r := range s.Template.Roles {
		if slices.ContainsFunc(r.Trust, func(t template.Statement) bool {
			return slices.ContainsFunc(t.Principals, func(p string) bool { return s.functionOf(p) != "" })
		}) {
			return []string{r.ARN}
		}
	}
	var list []string
	for _, f := range s.Template.Functions {
		list = append(list, simaws.RoleIdentity(s.Template.AccountID, f.Name).RoleARN)
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

// mayAssume tells whether somebody may assume a role of the template: the role's trust
// policy names him, and his own policies let him. Within an account IAM would take the
// first alone where it names the role itself (IAM user guide, "Policy evaluation for
// requests within a single account"); here both are wanted, so that a missing grant
// shows.
func (s *Stage) mayAssume(caller simaws.Identity, in *sts.AssumeRoleInput) (bool, error) {
	arn := aws.ToString(in.RoleArn)
	i := slices.IndexFunc(s.Template.Roles, func(r template.Role) bool { return r.ARN == arn })
	if i < 0 {
		return false, nil
	}
	var named []template.Statement
	for _, t := range s.Template.Roles[i].Trust {
		if slices.ContainsFunc(t.Principals, func(p string) bool { return s.functionOf(p) == caller.Name && caller.Name != "" }) {
			t.Resources = []string{arn} // a trust policy's resource is the role
			named = append(named, t)
		}
	}
	trusted, err := template.Allows(named, "sts:AssumeRole", arn, nil)
	if err != nil || !trusted {
		return false, err
	}
	return template.Allows(s.Policy(caller.Name), "sts:AssumeRole", arn, nil)
}
