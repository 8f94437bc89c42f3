package stage

import (
	"fmt"
	"slices"
	"strings"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	notifytargets "rollcall/functions/notify-targets/spec"
	remediate "rollcall/functions/remediate/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	sweep "rollcall/functions/sweep/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/local/platform/template"
	"rollcall/shared/spec"
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
	if s.release != nil {
		if _, ok := s.release.Function(function); ok {
			return s.release.Policy(function)
		}
	}
	return s.Template.Policy(function)
}

// byChoice are the functions whose grants hang on settings.
func byChoice() []spec.Spec {
	return []spec.Spec{
		enicleanup.Spec(), remediate.Spec(), launchwatch.Spec(), joincheck.Spec(),
		nodegroupwatch.Spec(), spotreport.Spec(), subnetwatch.Spec(), sweep.Spec(), zonewatch.Spec(),
		notifytargets.Spec(),
	}
}

// synthesise makes the policies that hang on settings, as infra does.
func (s *Stage) synthesise() error {
	policies := map[string][]template.Statement{}
	for _, function := range byChoice() {
		f, ok := s.Function(function.Name)
		if !ok || function.Chosen == nil {
			continue
		}
		policy, err := s.chosen(function, f)
		if err != nil {
			return fmt.Errorf("the permissions of %s that hang on settings: %w", f.Name, err)
		}
		policies[f.Name] = policy
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policies = policies
	return nil
}

// chosen is a function's policy of the template, with what the template's own
// settings gave taken away and what those of here give put in.
func (s *Stage) chosen(function spec.Spec, f template.Function) ([]template.Statement, error) {
	before, err := function.Chosen(within(f.Environment, s.Template.Region))
	if err != nil {
		return nil, fmt.Errorf("the template's settings: %w", err)
	}
	now, err := function.Chosen(within(s.environment(f), s.Template.Region))
	if err != nil {
		return nil, err
	}
	policy := slices.DeleteFunc(slices.Clone(s.Template.Policy(f.Name)), func(old template.Statement) bool {
		return slices.ContainsFunc(before, func(g spec.Grant) bool { return g.Sid == old.SID })
	})
	for _, g := range now {
		policy = append(policy, s.statement(g, function.Name, s.Template.Region, s.Template.AccountID))
	}
	return policy, nil
}

// within reads an environment as a function in a region has it.
func within(env map[string]string, region string) func(string) string {
	return func(name string) string {
		if name == "AWS_REGION" {
			return region
		}
		return env[name]
	}
}

func (s *Stage) statement(g spec.Grant, source, region, account string) template.Statement {
	fill := strings.NewReplacer("${Partition}", "aws", "${Region}", region, "${Account}", account).Replace
	out := template.Statement{SID: g.Sid, Effect: "Allow", Actions: g.Actions, Conditions: map[string]map[string][]string{}, Source: source}
	for _, r := range g.Resources {
		if r == spec.TargetTopic {
			_, topic := s.topics()
			out.Resources = append(out.Resources, topic)
			continue
		}
		if r == spec.EvidenceObjects {
			for _, b := range s.Template.S3Buckets {
				out.Resources = append(out.Resources, b.ARN+"/*")
			}
			continue
		}
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
