package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rollcall/shared/spec"
)

// Rights is the page of what each function's role may, from the specs that the policies
// are made of.
func Rights(list []spec.Spec) (string, error) {
	var b strings.Builder
	b.WriteString(generated + "# What each role may\n\n")
	b.WriteString("Each function has a role of its own, made of what stands here and nothing else; a test holds that the calls of its code are the actions of its role. ")
	b.WriteString("`*` as resource is where AWS takes none (Describe and List calls). What stands under \"only with\" is in the role only with that setting, and shown for a cluster `prod`; for spokes it is in the roles of their own template. What remedies rest on is in [their table](remedies.md#what-holds-for-each); why it is safe is in [security](security.md).\n")
	for _, s := range list {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n", s.Name, s.About)
		writeReads(&b, s.Reads)
		writeGrants(&b, s.Grants)
		chosen, err := chosenGrants(s)
		if err != nil {
			return "", err
		}
		writeChosen(&b, chosen)
		writeKube(&b, s.Kube)
	}
	return b.String(), nil
}

func writeReads(b *strings.Builder, reads []spec.Read) {
	by := map[string][]string{}
	for _, r := range reads {
		on := strings.Join(r.Resources, ", ")
		by[on] = append(by[on], r.Actions...)
	}
	if len(by) == 0 {
		return
	}
	b.WriteString("| reads | of |\n|---|---|\n")
	for _, on := range slices.Sorted(maps.Keys(by)) {
		actions := slices.Compact(slices.Sorted(slices.Values(by[on])))
		fmt.Fprintf(b, "| %s | `%s` |\n", code(actions), on)
	}
	b.WriteString("\n")
}

func writeGrants(b *strings.Builder, grants []spec.Grant) {
	if len(grants) == 0 {
		return
	}
	b.WriteString("| statement | may | on | why |\n|---|---|---|---|\n")
	for _, g := range grants {
		b.WriteString(grantRow(g) + "\n")
	}
	b.WriteString("\n")
}

// condition tells what IAM's operator asks of a key (IAM user guide, "IAM JSON policy
// elements: Condition operators").
func condition(op string, values []string) string {
	says, known := map[string]string{
		"StringEquals": "is", "StringEqualsIgnoreCase": "is", "StringLike": "is like", "StringNotEquals": "is not", "StringNotLike": "is not like",
		"ArnEquals": "is", "ArnLike": "is like", "Bool": "is",
		"ForAllValues:StringEquals": "is always", "ForAllValues:StringLike": "is always like",
		"ForAnyValue:StringEquals": "has", "ForAnyValue:StringLike": "has one like",
		"NumericLessThanEquals": "is at most", "NumericGreaterThanEquals": "is at least", "NumericEquals": "is",
		"StringEqualsIfExists": "is (or is not there)",
	}[op]
	switch {
	case op == "Null" && len(values) == 1 && values[0] == "false":
		return "is there"
	case op == "Null" && len(values) == 1 && values[0] == "true":
		return "is not there"
	case !known:
		says = "is (" + op + ")"
	}
	return says + " " + code(values)
}

// grantRow is a grant as the cells of a row.
func grantRow(g spec.Grant) string {
	var on []string
	for _, r := range g.Resources {
		on = append(on, string(r))
	}
	where := code(on)
	for _, op := range slices.Sorted(maps.Keys(g.Conditions)) {
		for _, key := range slices.Sorted(maps.Keys(g.Conditions[op])) {
			where += ", only where `" + key + "` " + condition(op, g.Conditions[op][key])
		}
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", g.Sid, code(g.Actions), where, prose(strings.ReplaceAll(g.Why, "|", "\\|")))
}

func writeKube(b *strings.Builder, rules []spec.KubeRule) {
	if len(rules) == 0 {
		return
	}
	b.WriteString("| in a cluster | of | may |\n|---|---|---|\n")
	for _, r := range rules {
		what := code(r.Resources)
		if len(r.Names) > 0 {
			what += ", only " + code(r.Names)
		}
		if r.Namespace != "" {
			what += " in `" + r.Namespace + "`"
		}
		group := r.Group
		if group == "" {
			group = "core"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", what, group, code(r.Verbs))
	}
	b.WriteString("\n")
}

func code(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }
