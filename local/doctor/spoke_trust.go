package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// texts is a text or several, as policies have them.
type texts []string

// UnmarshalJSON reads "a" and ["a", "b"].
func (l *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// trustStatement is what is read of a trust policy.
type trustStatement struct {
	Effect    string
	Principal struct{ AWS texts }
	Condition map[string]map[string]texts
}

// trust looks whether a spoke's role lets in the hub's functions that need it: by their
// account, their roles and the external id, as infra writes it. Whether the organization
// that it may also want is the hub's is not known here: the hub's own record tells.
func (h hub) trust(s config.Spoke, role spec.SpokeRole, document string) []Finding {
	name := roleName(role, s.ID)
	wrong := func(says string) []Finding {
		return []Finding{{
			Part: "spoke", Name: called(s), State: Wrong, Says: "its role " + name + " does not let the hub in: " + says,
			Do: "Deploy it again for this hub, with that account's credentials and the words of before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
		}}
	}
	text, err := url.QueryUnescape(document)
	var policy struct{ Statement []trustStatement }
	if err == nil {
		err = json.Unmarshal([]byte(text), &policy)
	}
	if err != nil {
		return []Finding{{Part: "spoke", Name: called(s), State: Unknown, Says: "the trust policy of its role " + name + " could not be read: " + err.Error()}}
	}
	var accounts []string
	var own *trustStatement
	for i, st := range policy.Statement {
		for _, p := range st.Principal.AWS {
			accounts = append(accounts, accountOf(p))
			if accountOf(p) == h.Account && st.Effect == "Allow" {
				own = &policy.Statement[i]
			}
		}
	}
	switch {
	case own == nil:
		return wrong(fmt.Sprintf("it trusts %s, and the hub is %s", strings.Join(accounts, ", "), h.Account))
	case !slices.Contains(own.Condition["StringEquals"]["sts:ExternalId"], h.cfg.ExternalID):
		return wrong("it wants another external id than the hub's setting externalId")
	}
	var refused []string
	for _, f := range h.there {
		if slices.Contains(f.spec.Assumes, role) && !slices.ContainsFunc(own.Condition["ArnLike"]["aws:PrincipalArn"], func(form string) bool { return fits(form, f.role) }) {
			refused = append(refused, Prefix+"-"+f.spec.Name)
		}
	}
	if len(refused) > 0 {
		return wrong("it does not know " + strings.Join(refused, ", "))
	}
	return nil
}

// fits tells whether an ARN is of a form with stars, which do not reach over colons; the
// names of functions' roles have no slash in them.
func fits(form, arn string) bool {
	ok, err := path.Match(form, arn)
	return err == nil && ok
}

// changing looks at the spoke's roles that change something: there where a cluster of it has
// opted in at the hub, and only there.
func (h hub) changing(ctx context.Context, e Elsewhere, s config.Spoke) []Finding {
	var list []Finding
	for _, x := range []struct {
		role           spec.SpokeRole
		function, what string
		settings       []spec.Variable
		grants         func(func(string) string) ([]spec.Grant, error)
	}{
		{spec.SpokeCleaner, "eni-cleanup", "cleanup", []spec.Variable{config.Cleanup, config.CleanupUntagged, config.Remedies}, enicleanup.DeletesIn(s.ID)},
		{spec.SpokeRemediator, "remediate", "remedies", []spec.Variable{config.Remedies, config.RemedyVPCs, config.RemedyRoles}, remediate.ChangesIn(s.ID)},
	} {
		f, there := h.function(x.function)
		if !there {
			continue // said of the function
		}
		grants, err := x.grants(f.environment)
		if err != nil {
			list = append(list, redeploy(Finding{Part: "settings", Name: Prefix + "-" + x.function, Says: err.Error(), Do: "Correct the setting (docs/settings.md), and deploy."}))
			continue
		}
		name := roleName(x.role, s.ID)
		out, err := e.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(name)})
		switch missing := coded(err, "NoSuchEntity"); {
		case missing && len(grants) > 0:
			list = append(list, Finding{
				Part: "spoke", Name: called(s), State: Wrong, Says: fmt.Sprintf("a cluster of it has opted in at the hub (%s), and there is no role %s there: nothing of that is done", x.what, name),
				Do: "Deploy it again with what its clusters opted in to, with that account's credentials.", Command: h.deploySpoke(s, f.words(x.settings)),
			})
		case missing:
		case err != nil:
			list = append(list, unseen("spoke", called(s), "iam:GetRole in account "+s.Account, err))
		case len(grants) == 0:
			list = append(list, Finding{
				Part: "spoke", Name: called(s), State: Wrong, Says: fmt.Sprintf("it has a role %s that changes things, and no cluster of it has opted in at the hub (%s)", name, x.what),
				Do: "Deploy it again without that, with that account's credentials; or opt in at the hub.", Command: h.deploySpoke(s, ""),
			})
		default:
			list = append(list, h.trust(s, x.role, aws.ToString(out.Role.AssumeRolePolicyDocument))...)
		}
	}
	return list
}

// words are settings as make deploy takes them, those that say something.
func (f functionOf) words(names []spec.Variable) string {
	keys := map[spec.Variable]string{
		config.Cleanup: "cleanup", config.CleanupUntagged: "cleanupUntagged", config.Remedies: "remedies", config.RemedyVPCs: "remedyVpcs", config.RemedyRoles: "remedyRoles",
	}
	var list []string
	for _, name := range names {
		text, err := config.Unpack(f.setting(name))
		if err == nil && text != "" && text != "none" && text != "report" && text != "off" {
			list = append(list, keys[name]+"="+text)
		}
	}
	return strings.Join(list, " ")
}

// forwards looks at the rules of a spoke; false where the region is not enabled in its
// account, in which nothing else can be looked at.
func (e Elsewhere) forwards(ctx context.Context, h hub, s config.Spoke) (list []Finding, enabled bool) {
	var names []string
	in := &eventbridge.ListRuleNamesByTargetInput{TargetArn: aws.String(h.bus())}
	for {
		out, err := e.Rules.ListRuleNamesByTarget(ctx, in)
		// Credentials that IAM has just taken, and that the region does not know: the account
		// has not enabled it (EC2 API reference, "Common client errors"; EventBridge, "Common
		// errors": UnrecognizedClientException, OptInRequired).
		if coded(err, "UnrecognizedClientException", "InvalidClientTokenId", "AuthFailure", "OptInRequired") {
			return []Finding{{
				Part: "spoke", Name: called(s), State: Wrong, Says: "the region " + s.Region + " is not enabled in account " + s.Account + ": nothing of it can be watched",
				Do:      "Enable it with that account's credentials, or take the spoke out of the setting spokes and deploy the hub again.",
				Command: "aws account enable-region --region-name '" + s.Region + "'",
			}}, false
		}
		if err != nil {
			return []Finding{unseen("spoke", called(s), "events:ListRuleNamesByTarget in "+s.String(), err)}, true
		}
		names = append(names, out.RuleNames...)
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	wants := specs.Forwarded(h.Specs)
	if len(names) == 0 {
		return []Finding{{
			Part: "spoke", Name: called(s), State: Wrong, Says: fmt.Sprintf("none of its %d rules is there and forwards to this hub's bus: launches there are found by the next sweep at the earliest", len(wants)),
			Do: "Deploy it again for this hub, with that account's credentials and the words of before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
		}}, true
	}
	for _, r := range wants {
		list = append(list, e.forwardRule(ctx, h, s, r, names)...)
	}
	return list, true
}

// forwardRule looks at one rule.
func (e Elsewhere) forwardRule(ctx context.Context, h hub, s config.Spoke, r spec.Rule, names []string) []Finding {
	id := "Forward" + camel(r.Name) + "Rule"
	i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, id) })
	if i < 0 {
		return []Finding{{
			Part: "spoke", Name: called(s), State: Wrong, Says: "its rule " + id + " is not there, or does not forward to this hub's bus. " + r.Why,
			Do: "Deploy it again, with that account's credentials and the words of before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
		}}
	}
	out, err := e.Rules.DescribeRule(ctx, &eventbridge.DescribeRuleInput{Name: aws.String(names[i])})
	if err != nil {
		return []Finding{unseen("spoke", called(s), "events:DescribeRule in "+s.String(), err)}
	}
	if out.State == types.RuleStateDisabled {
		return []Finding{{
			Part: "spoke", Name: called(s), State: Wrong, Says: "its rule " + names[i] + " is disabled. " + r.Why,
			Do: "Enable it, with that account's credentials.", Command: "aws events enable-rule --region '" + s.Region + "' --name '" + names[i] + "'",
		}}
	}
	return nil
}
