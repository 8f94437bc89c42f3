package stage

import (
	"fmt"
	"maps"
	"strings"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/specs"
	"rollcall/local/platform/template"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// changing are the roles of a spoke that change something, which its template has if it is
// written for settings in which a cluster of it opted in. They are made here as infra makes
// them (infra, TestSpokeTrust and TestSpokeChangesAsTheHub): trust as the reader's, of those
// functions that need the role; the statements are those of the hub's own function.
func (s *Stage) changing(x *spokeStage, t *template.Template) ([]template.Role, error) {
	var roles []template.Role
	getenv := func(name string) string { return x.optedIn[name] }
	for role, grantsIn := range map[spec.SpokeRole]func(func(string) string) ([]spec.Grant, error){
		spec.SpokeCleaner: enicleanup.DeletesIn(x.id), spec.SpokeRemediator: remediate.ChangesIn(x.id),
	} {
		grants, err := grantsIn(getenv)
		if err != nil {
			return nil, fmt.Errorf("the role %s: %w", role, err)
		}
		if len(grants) == 0 {
			continue
		}
		made := template.Role{
			LogicalID: string(role), Name: strings.TrimPrefix(config.SpokeRoleARN("rollcall", role, x.id), "arn:aws:iam::"+x.id.Account+":role/"),
			ARN: config.SpokeRoleARN("rollcall", role, x.id), Trust: s.trusting(t, role),
		}
		for _, g := range grants {
			made.Statements = append(made.Statements, s.statement(g, string(role), x.id.Region, x.id.Account))
		}
		roles = append(roles, made)
	}
	return roles, nil
}

// trusting is the reader's trust, of the functions that need another role.
func (s *Stage) trusting(t *template.Template, role spec.SpokeRole) []template.Statement {
	var arns []string
	for _, f := range specs.All() {
		for _, of := range f.Assumes {
			if of == role {
				arns = append(arns, "arn:aws:iam::"+s.Template.AccountID+":role/Rollcall-"+logicalID(f.Name)+"Role*")
			}
		}
	}
	var trust []template.Statement
	for _, r := range t.Roles {
		if !strings.Contains(r.Name, "-"+string(spec.SpokeReader)+"-") {
			continue
		}
		for _, st := range r.Trust {
			st.Conditions = maps.Clone(st.Conditions)
			st.Conditions["ArnLike"] = map[string][]string{"aws:PrincipalArn": arns}
			trust = append(trust, st)
		}
	}
	return trust
}

// logicalID is a function's name as logical ids have it.
func logicalID(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
