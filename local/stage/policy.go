package stage

import (
	"fmt"
	"strings"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	"rollcall/local/template"
	"rollcall/shared/fn"
)

// Policy is what a function's role allows, by the function's deployed name.
// The template on the disk was synthesised with one set of settings; what
// hangs on settings is of those that are deployed here.
func (s *Stage) Policy(function string) []template.Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.policies[function]; ok {
		return p
	}
	return s.Template.Policy(function)
}

// synthesise makes the policies that hang on settings, as infra does.
func (s *Stage) synthesise() error {
	spec := enicleanup.Spec()
	f, ok := s.Function(spec.Name)
	if !ok {
		return nil
	}
	env := s.environment(f)
	env["AWS_REGION"] = s.Template.Region
	grants, err := spec.Chosen(func(name string) string { return env[name] })
	if err != nil {
		return fmt.Errorf("the permissions of %s that hang on settings: %w", f.Name, err)
	}
	var policy []template.Statement
	for _, old := range s.Template.Policy(f.Name) {
		if !chosenIn(old) {
			policy = append(policy, old)
		}
	}
	for _, g := range grants {
		policy = append(policy, s.statement(g, spec.Name))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policies = map[string][]template.Statement{f.Name: policy}
	return nil
}

// chosenIn tells that a statement of the template hangs on settings: deletes
// are the only writes that do.
func chosenIn(s template.Statement) bool {
	return len(s.Actions) == 1 && s.Actions[0] == "ec2:DeleteNetworkInterface"
}

func (s *Stage) statement(g fn.Grant, source string) template.Statement {
	fill := strings.NewReplacer("${Partition}", "aws", "${Region}", s.Template.Region, "${Account}", s.Template.AccountID).Replace
	out := template.Statement{SID: g.Sid, Effect: "Allow", Actions: g.Actions, Conditions: map[string]map[string][]string{}, Source: source}
	for _, r := range g.Resources {
		out.Resources = append(out.Resources, fill(string(r)))
	}
	for operator, keys := range g.Conditions {
		out.Conditions[operator] = map[string][]string{}
		for key, values := range keys {
			for _, v := range values {
				out.Conditions[operator][key] = append(out.Conditions[operator][key], fill(v))
			}
		}
	}
	return out
}
