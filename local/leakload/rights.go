package main

import (
	"slices"
	"strings"

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/local/stage"
	"rollcall/local/template"
)

// permit gives eni-cleanup's role what a deployment with the settings gives it:
// the committed template is that of the defaults, which let nothing be deleted.
func permit(s *stage.Stage, role string, settings map[string]string) error {
	grants, err := spec.Deletes(func(name string) string { return settings[name] })
	if err != nil {
		return err
	}
	fill := strings.NewReplacer("${Partition}", "aws", "${Region}", s.Template.Region, "${Account}", s.Template.AccountID).Replace
	i := slices.IndexFunc(s.Template.Roles, func(r template.Role) bool { return r.ARN == role })
	for _, g := range grants {
		st := template.Statement{SID: g.Sid, Effect: "Allow", Actions: g.Actions, Conditions: g.Conditions, Source: spec.Name}
		for _, r := range g.Resources {
			st.Resources = append(st.Resources, fill(string(r)))
		}
		s.Template.Roles[i].Statements = append(s.Template.Roles[i].Statements, st)
	}
	return nil
}
