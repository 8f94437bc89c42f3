package page

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// choice is a setting by which a function may do more, chosen for one cluster.
type choice struct {
	setting string
	// off is the environment without it, on with it.
	off, on map[spec.Variable]string
}

// choices are the settings on which grants hang. That they are all is held by a test
// (TestEveryChoiceIsShown).
func choices() []choice {
	one := func(setting string, v spec.Variable, off, on string) choice {
		return choice{setting, map[spec.Variable]string{v: off}, map[spec.Variable]string{v: on}}
	}
	remedies := one("remedies", config.Remedies, "off", "prod=approve")
	remedies.on[config.RemedyVPCs] = "vpc-0a1b2c3d4e5f60718"
	remedies.on[config.RemedyRoles] = "arn:aws:iam::111122223333:role/nodes"
	cleanup := one("cleanup", config.Cleanup, "report", "prod=delete")
	cleanup.on[config.CleanupUntagged] = "vpc-0a1b2c3d4e5f60718"
	return []choice{
		one("evidence", config.Evidence, "off", "30"),
		one("decodeDenied", config.DecodeDenied, "off", "on"),
		one("autoModeLogs", config.AutoModeLogs, "off", "/aws/vendedlogs/eks/prod"),
		one("targets", config.Targets, "none", "sns,pagerduty=rollcall/pagerduty"),
		one("spokes", config.Spokes, "none", "222233334444/eu-west-1=payments"),
		cleanup,
		remedies,
	}
}

// chosenGrant is a grant that is there with any of these settings.
type chosenGrant struct {
	settings []string
	grant    spec.Grant
}

// chosenGrants are what settings add to a function's role.
func chosenGrants(s spec.Spec) ([]chosenGrant, error) {
	if s.Chosen == nil {
		return nil, nil
	}
	var list []chosenGrant
	for _, c := range choices() {
		env := map[spec.Variable]string{}
		for _, other := range choices() {
			for name, value := range other.off {
				env[name] = value
			}
		}
		for name, value := range c.on {
			env[name] = value
		}
		grants, err := s.Chosen(func(name string) string { return env[spec.Variable(name)] })
		if err != nil {
			return nil, fmt.Errorf("%s with %s: %w", s.Name, c.setting, err)
		}
		for _, g := range grants {
			if i := slices.IndexFunc(list, func(have chosenGrant) bool { return have.grant.Sid == g.Sid }); i >= 0 {
				list[i].settings = append(list[i].settings, c.setting)
				continue
			}
			list = append(list, chosenGrant{[]string{c.setting}, g})
		}
	}
	return list, nil
}

// writeChosen writes what settings add.
func writeChosen(b *strings.Builder, list []chosenGrant) {
	if len(list) == 0 {
		return
	}
	b.WriteString("| only with | statement | may | on | why |\n|---|---|---|---|---|\n")
	for _, c := range list {
		settings := make([]string, len(c.settings))
		for i, name := range c.settings {
			settings[i] = fmt.Sprintf("[`%s`](settings.md#%s)", name, strings.ToLower(name))
		}
		fmt.Fprintf(b, "| %s %s\n", strings.Join(settings, " or "), grantRow(c.grant))
	}
	b.WriteString("\n")
}
