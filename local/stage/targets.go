package stage

import (
	"slices"
	"strings"

	"rollcall/infra/specs"
	"rollcall/local/platform/template"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/target"
)

// undeployed leaves out of the template, which has every function that there is, what a
// deployment with the stage's settings does not have: functions for targets where nobody
// set one. Slack's buttons are always there.
func (s *Stage) undeployed() {
	chosen := map[spec.Variable]string{config.SlackActions: "on", config.Targets: s.options.Settings[string(config.Targets)]}
	deployed := specs.Deployed(specs.All(), chosen)
	gone := map[string]bool{}
	s.Template.Functions = slices.DeleteFunc(s.Template.Functions, func(f template.Function) bool {
		is := func(list []spec.Spec) bool {
			return slices.ContainsFunc(list, func(of spec.Spec) bool { return of.Name == Folder(f) })
		}
		if is(deployed) || !is(specs.All()) {
			return false
		}
		gone[f.Name], gone[f.ARN] = true, true
		return true
	})
	s.Template.Rules = slices.DeleteFunc(s.Template.Rules, func(r template.Rule) bool {
		return slices.ContainsFunc(r.Targets, func(t template.Target) bool { return gone[t.ARN] })
	})
	s.Template.Mappings = slices.DeleteFunc(s.Template.Mappings, func(m template.EventSourceMapping) bool { return gone[m.FunctionName] })
	s.Template.Permissions = slices.DeleteFunc(s.Template.Permissions, func(p template.Permission) bool { return gone[p.FunctionName] })
	s.Template.InvokeConfigs = slices.DeleteFunc(s.Template.InvokeConfigs, func(c template.EventInvokeConfig) bool { return gone[c.FunctionName] })
}

// targetSecrets are those that an operator has made for the targets, empty.
func (s *Stage) targetSecrets(secrets map[string]string) {
	list, err := target.Parse(s.options.Settings[string(config.Targets)])
	if err != nil {
		return // the function says so itself
	}
	for _, t := range list {
		if t.Secret != "" {
			secrets[t.Secret] = s.options.TargetSecrets[t.Secret]
		}
	}
}

// topics are the ARNs of the stack's topics, and that of the targets among them.
func (s *Stage) topics() (all []string, targets string) {
	for _, t := range s.Template.Topics {
		all = append(all, t.ARN)
		if strings.HasPrefix(t.LogicalID, "TargetTopic") {
			targets = t.ARN
		}
	}
	return all, targets
}
