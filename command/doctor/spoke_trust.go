package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	slackgo "github.com/slack-go/slack"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/clusterrole"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/kube"
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
			Part: "spoke", Name: called(s), State: Wrong, Says: "its role " + name + " does not trust the hub: " + says,
			Do: "Deploy it again for this hub, with that account's credentials and the same arguments as before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
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

// fits reports whether an ARN is of a form with stars, which do not reach over colons; the
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
				Part: "spoke", Name: called(s), State: Wrong, Says: fmt.Sprintf("a cluster of it has opted in at the hub (%s), and there is no role %s there: none of it takes effect", x.what, name),
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
			Part: "spoke", Name: called(s), State: Wrong, Says: fmt.Sprintf("none of its %d rules exists and forwards to this hub's bus: launches there are found by the next sweep at the earliest", len(wants)),
			Do: "Deploy it again for this hub, with that account's credentials and the same arguments as before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
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
			Part: "spoke", Name: called(s), State: Wrong, Says: "its rule " + id + " does not exist, or does not forward to this hub's bus. " + r.Why,
			Do: "Deploy it again, with that account's credentials and the same arguments as before (SPOKE and SET too).", Command: h.deploySpoke(s, ""),
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

// reader is a role that clusters let in, and the functions that read as it.
type reader struct {
	name, role string
	functions  []functionOf
	// made is when the role was made; zero where it could not be read.
	made time.Time
}

// readersOf is the one role that reads in clusters, or each function's own where a deployment
// has none.
func readersOf(there []functionOf) []reader {
	var list []reader
	for _, f := range there {
		if len(f.spec.Kube) == 0 {
			continue
		}
		r := reader{name: Prefix + "-" + f.spec.Name, role: f.role}
		if role := f.setting(config.ReaderRole); role != "" {
			r.name, r.role = role[strings.LastIndex(role, "/")+1:], role
		}
		i := slices.IndexFunc(list, func(o reader) bool { return o.role == r.role })
		if i < 0 {
			i, list = len(list), append(list, r)
		}
		list[i].functions = append(list[i].functions, f)
	}
	return list
}

// assumed looks whether a role that functions assume is there, and lets them. It notes when
// the role was made.
func (c Clients) assumed(ctx context.Context, r *reader) []Finding {
	if r.role == r.functions[0].role {
		return nil // looked at with its function
	}
	out, err := c.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(r.name)})
	if err == nil {
		r.made = aws.ToTime(out.Role.CreateDate)
	}
	switch {
	case coded(err, "NoSuchEntity"):
		return []Finding{redeploy(Finding{Part: "role", Name: r.name, Says: "does not exist: clusters that grant it access cannot be read"})}
	case err != nil:
		return []Finding{unseen("role", r.name, "iam:GetRole", err)}
	}
	trusted, err := trustedBy(aws.ToString(out.Role.AssumeRolePolicyDocument))
	if err != nil {
		return []Finding{{Part: "role", Name: r.name, State: Unknown, Says: "its trust policy could not be read: " + err.Error()}}
	}
	var refused []string
	for _, f := range r.functions {
		if !slices.Contains(trusted, f.role) {
			refused = append(refused, Prefix+"-"+f.spec.Name)
		}
	}
	if len(refused) > 0 {
		return []Finding{redeploy(Finding{Part: "role", Name: r.name, Says: "does not let " + strings.Join(refused, ", ") + " assume it"})}
	}
	return []Finding{{Part: "role", Name: r.name, State: Well, Says: "can be assumed by the functions that read clusters"}}
}

// trustedBy are the roles that a trust policy names. IAM gives the document encoded for
// a URL (IAM API reference, GetRole).
func trustedBy(document string) ([]string, error) {
	text, err := url.QueryUnescape(document)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var policy struct {
		Statement []struct {
			Effect    string
			Principal struct{ AWS json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var list []string
	for _, s := range policy.Statement {
		var one string
		var several []string
		if json.Unmarshal(s.Principal.AWS, &one) == nil {
			several = []string{one}
		} else if err := json.Unmarshal(s.Principal.AWS, &several); err != nil {
			return nil, fmt.Errorf("decode the principals: %w", err)
		}
		if s.Effect == "Allow" {
			list = append(list, several...)
		}
	}
	return list, nil
}

// Kubernetes is what it takes of a cluster's API.
type Kubernetes interface {
	// Raw is the object at a path; a *kube.StatusError where the API answered otherwise.
	Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error)
}

// rbac is the group of the API (Kubernetes, "Using RBAC Authorization").
const rbac = "rbac.authorization.k8s.io"

// right is one thing that may be done with one kind of object: in a namespace, or in all
// where that is empty; with one of a name, or with all.
type right struct{ namespace, group, resource, verb, name string }

func (r right) String() string {
	text := r.verb + " " + strings.TrimSuffix(r.resource+"."+r.group, ".")
	if r.name != "" {
		text += "/" + r.name
	}
	if r.namespace != "" {
		text += " in " + r.namespace
	}
	return text
}

// grant is a rule of a role, in the namespace in which it is bound.
type grant struct {
	namespace                       string
	groups, resources, verbs, names []string
}

// allows reports whether a grant gives a right. An empty list of names is all (Kubernetes,
// PolicyRule).
func (g grant) allows(r right) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	named := len(g.names) == 0 || r.name != "" && slices.Contains(g.names, r.name)
	return (g.namespace == "" || g.namespace == r.namespace) && has(g.groups, r.group) && has(g.resources, r.resource) && has(g.verbs, r.verb) && named
}

// rightsOf are the rights that functions need in each cluster.
func rightsOf(list []functionOf) []right {
	var all []right
	for _, f := range list {
		for _, k := range f.spec.Kube {
			names := k.Names
			if len(names) == 0 {
				names = []string{""}
			}
			for _, resource := range k.Resources {
				for _, verb := range k.Verbs {
					for _, name := range names {
						all = append(all, right{k.Namespace, k.Group, resource, verb, name})
					}
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b right) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// missing are the rights that no grant gives.
func missing(wants []right, grants []grant) []string {
	var list []string
	for _, r := range wants {
		if !slices.ContainsFunc(grants, func(g grant) bool { return g.allows(r) }) {
			list = append(list, r.String())
		}
	}
	return list
}

// rights looks at what the cluster grants to the group in which the roles of some
// functions are, by whatever roles and bindings.
func (c Clients) rights(ctx context.Context, cluster Cluster, byGroup []functionOf) Finding {
	f := Finding{Part: "ClusterRole", Name: cluster.Name, State: Well, Says: "grants what this release reads"}
	api, err := c.Kubernetes(ctx, cluster)
	if err != nil {
		f.State, f.Says = Unknown, "the Kubernetes API could not be asked: "+err.Error()
		return f
	}
	grants, err := grantsOf(ctx, api, clusterrole.Group)
	if err != nil {
		return unreadable(f, err)
	}
	const apply = "kubectl apply -f deploy/clusterrole.yaml"
	lacking := missing(rightsOf(byGroup), grants)
	switch {
	case len(lacking) == 0:
		return f
	case len(grants) == 0:
		f.State, f.Says = Wrong, "nothing is granted to the group "+clusterrole.Group+": nodes, pods and volumes cannot be read"
		f.Do, f.Command = "Apply deploy/clusterrole.yaml in the cluster.", apply
	default:
		const most = 5
		more := ""
		if len(lacking) > most {
			lacking, more = lacking[:most], fmt.Sprintf(" and %d more", len(lacking)-most)
		}
		f.State, f.Says = Wrong, "is of another release: the group "+clusterrole.Group+" may not "+strings.Join(lacking, ", ")+more
		f.Do, f.Command = "Apply the deploy/clusterrole.yaml of this release in the cluster.", apply
	}
	return f
}

// refusal is a read of the API that came to nothing.
type refusal struct {
	verb, resource string
	err            error
}

func (r *refusal) Error() string {
	return r.verb + " " + r.resource + "." + rbac + ": " + r.err.Error()
}

// Unwrap is why.
func (r *refusal) Unwrap() error { return r.err }

// unreadable is what could not be looked at, with the permission that it takes.
func unreadable(f Finding, err error) Finding {
	f.State, f.Says = Unknown, "could not be read: "+err.Error()
	var r *refusal
	var status *kube.StatusError
	if errors.As(err, &r) && errors.As(err, &status) && (status.Code == http.StatusForbidden || status.Code == http.StatusUnauthorized) {
		what := r.verb + " " + r.resource + "." + rbac
		f.Says, f.Do = what+" was refused", "Run it with credentials that can "+what+" in the cluster."
		if status.Code == http.StatusUnauthorized { // neither an access entry nor aws-auth names the caller
			f.Says = what + " was refused: the cluster does not know these credentials"
		}
	}
	return f
}

// boundRole is what is read of a binding.
type boundRole struct {
	Metadata struct{ Namespace string }
	RoleRef  struct{ Kind, Name string }
	Subjects []struct{ Kind, Name string }
}

// grantsOf are the rules of all roles that are bound to a group.
// A binding to a role that is not there grants nothing.
func grantsOf(ctx context.Context, api Kubernetes, group string) ([]grant, error) {
	var all []grant
	for _, kind := range []string{"clusterrolebindings", "rolebindings"} {
		var list struct{ Items []boundRole }
		if err := read(ctx, api, "list", kind, kind, &list); err != nil {
			return nil, err
		}
		for _, b := range list.Items {
			if !slices.ContainsFunc(b.Subjects, func(s struct{ Kind, Name string }) bool { return s.Kind == "Group" && s.Name == group }) {
				continue
			}
			kind, path := "clusterroles", "clusterroles/"+b.RoleRef.Name
			if b.RoleRef.Kind == "Role" {
				kind, path = "roles", "namespaces/"+b.Metadata.Namespace+"/roles/"+b.RoleRef.Name
			}
			var role struct {
				Rules []struct{ APIGroups, Resources, Verbs, ResourceNames []string }
			}
			err := read(ctx, api, "get", kind, path, &role)
			var status *kube.StatusError
			if errors.As(err, &status) && status.Code == http.StatusNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, r := range role.Rules {
				all = append(all, grant{b.Metadata.Namespace, r.APIGroups, r.Resources, r.Verbs, r.ResourceNames})
			}
		}
	}
	return all, nil
}

func read(ctx context.Context, api Kubernetes, verb, resource, path string, out any) error {
	raw, err := api.Raw(ctx, "/apis/"+rbac+"/v1/"+path, nil)
	if err != nil {
		return &refusal{verb, resource, err}
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return &refusal{verb, resource, fmt.Errorf("decode: %w", err)}
	}
	return nil
}

// rules looks at the rules and schedules that wake the functions. CloudFormation makes
// their names of the stack's and the logical id, which begins as infra writes it; the
// stack's name is what stands before it.
func (c Clients) rules(ctx context.Context, d Deployment, there []functionOf) (list []Finding, stack string) {
	bus := busOf(there)
	stack = defaultStack
	for _, f := range there {
		if len(f.spec.Rules)+len(f.spec.Schedules) == 0 {
			continue
		}
		for _, on := range busesOf(f.spec, bus) {
			found, err := c.rulesOf(ctx, f, on)
			if coded(err, "ResourceNotFoundException") { // of the bus: a target without rules has none
				gone := redeploy(Finding{Part: "event bus", Name: on, Says: "does not exist: incidents are not published, and no approved remedy runs"})
				if !slices.Contains(list, gone) {
					list = append(list, gone)
				}
				continue
			}
			if err != nil {
				list = append(list, unseen("rule", Prefix+"-"+f.spec.Name, "events:ListRuleNamesByTarget", err))
				continue
			}
			for _, w := range wakers(f.spec) {
				if w.on(bus) == on {
					list = append(list, c.rule(ctx, f, w, on, found))
					for _, name := range found {
						if begin, _, ok := strings.Cut(name, "-"+w.id); ok {
							stack = begin
						}
					}
				}
			}
		}
	}
	return list, stack
}

// busOf is the name of Rollcall's own bus, a setting of several functions.
func busOf(there []functionOf) string {
	bus := ""
	for _, f := range there {
		if name := f.setting(config.BusName); name != "" {
			bus = name
		}
	}
	return bus
}

// defaultStack is the stack's name where no setting changes it (infra/settings).
const defaultStack = "Rollcall"

// waker is a rule or a schedule of a function.
type waker struct {
	id  string // how its logical id begins
	why string
	own bool // on the stack's bus
	// pattern is what the rule is to match; empty of a schedule.
	pattern string
}

func (w waker) on(bus string) string {
	if w.own {
		return bus
	}
	return ""
}

func wakers(s spec.Spec) []waker {
	var list []waker
	for _, r := range s.Rules {
		list = append(list, waker{id: camel(s.Name) + camel(r.Name) + "Rule", why: r.Why, own: r.Bus == spec.Bus, pattern: r.Pattern})
	}
	for _, x := range s.Schedules {
		list = append(list, waker{id: camel(s.Name) + camel(x.Name) + "Schedule", why: x.Why})
	}
	return list
}

// busesOf are the buses on which a function has rules; "" is the account's default.
func busesOf(s spec.Spec, bus string) []string {
	var list []string
	seen := map[string]bool{}
	for _, w := range wakers(s) {
		if on := w.on(bus); !seen[on] {
			seen[on] = true
			list = append(list, on)
		}
	}
	return list
}

// rulesOf are the names of the rules of a bus that wake a function, itself or through
// its queue.
func (c Clients) rulesOf(ctx context.Context, f functionOf, bus string) ([]string, error) {
	targets := []string{f.arn}
	if q := f.spec.Queue; q != nil {
		// arn:aws:lambda:us-west-2:111122223333:function:rollcall-report
		part := strings.SplitN(f.arn, ":", 6)
		name := Prefix + "-" + string(q.Resource)
		if q.FIFO {
			name += ".fifo"
		}
		if len(part) == 6 {
			targets = append(targets, strings.Join([]string{"arn", part[1], "sqs", part[3], part[4], name}, ":"))
		}
	}
	var names []string
	for _, arn := range targets {
		in := &eventbridge.ListRuleNamesByTargetInput{TargetArn: aws.String(arn)}
		if bus != "" {
			in.EventBusName = aws.String(bus)
		}
		for {
			out, err := c.Rules.ListRuleNamesByTarget(ctx, in)
			if err != nil {
				return nil, err
			}
			names = append(names, out.RuleNames...)
			if in.NextToken = out.NextToken; in.NextToken == nil {
				break
			}
		}
	}
	return names, nil
}

// rule looks at one of them.
func (c Clients) rule(ctx context.Context, f functionOf, w waker, bus string, names []string) Finding {
	name := ""
	for _, n := range names {
		if strings.Contains(n, w.id) {
			name = n
		}
	}
	if name == "" {
		return redeploy(Finding{Part: "rule", Name: w.id, Says: "does not exist, or does not target " + Prefix + "-" + f.spec.Name + ". " + w.why})
	}
	in := &eventbridge.DescribeRuleInput{Name: aws.String(name)}
	more := ""
	if bus != "" {
		in.EventBusName = aws.String(bus)
		more = " --event-bus-name '" + bus + "'"
	}
	out, err := c.Rules.DescribeRule(ctx, in)
	if err != nil {
		return unseen("rule", name, "events:DescribeRule", err)
	}
	if out.State == types.RuleStateDisabled {
		return Finding{
			Part: "rule", Name: name, State: Wrong, Says: "is disabled. " + w.why, Do: "Enable it.", Command: "aws events enable-rule --name '" + name + "'" + more,
		}
	}
	if w.pattern != "" && !samePattern(w.pattern, aws.ToString(out.EventPattern)) {
		// PutRule takes a rule's targets as they are (EventBridge API reference, PutRule).
		return redeploy(Finding{
			Part: "rule", Name: name, Says: "has another pattern than this release's. " + w.why,
			Do: "Deploy this release again. If CloudFormation finds nothing to change, it was changed by hand: aws events put-rule --name '" + name + "'" + more +
				" --event-pattern '" + w.pattern + "'",
		})
	}
	return Finding{Part: "rule", Name: name, State: Well, Says: "enabled"}
}

// samePattern compares two patterns as JSON: white space and the order of keys say nothing.
func samePattern(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// camel is a name as the logical ids of the stack have it.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// SlackError is an answer of Slack that is an error.
type SlackError struct{ Method, Code string }

func (e *SlackError) Error() string { return "Slack answers " + e.Method + " with " + e.Code }

// slackClient is Slack as it is.
type slackClient struct{ api *slackgo.Client }

// NewSlack makes a client of a token, at the address of Slack's API.
func NewSlack(api, token string, via *http.Client) Slack {
	return slackClient{slackgo.New(token, slackgo.OptionAPIURL(strings.TrimRight(api, "/")+"/"), slackgo.OptionHTTPClient(via))}
}

func (c slackClient) Scopes(ctx context.Context) (string, []string, error) {
	out, err := c.api.AuthTestContext(ctx)
	if err != nil {
		return "", nil, failed("auth.test", err)
	}
	var scopes []string
	// docs.slack.dev/authentication: the header of each answer lists the token's scopes.
	for s := range strings.SplitSeq(out.Header.Get("X-OAuth-Scopes"), ",") {
		if s = strings.TrimSpace(s); s != "" {
			scopes = append(scopes, s)
		}
	}
	return out.Team, scopes, nil
}

func (c slackClient) Reads(ctx context.Context, channel string) error {
	_, err := c.api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{ChannelID: channel, Limit: 1})
	return failed("conversations.history", err)
}

func (c slackClient) Post(ctx context.Context, channel, text string) error {
	_, _, err := c.api.PostMessageContext(ctx, channel, slackgo.MsgOptionText(text, true))
	return failed("chat.postMessage", err)
}

// failed tells an answer of Slack from a failure on the way to it.
func failed(method string, err error) error {
	var answer slackgo.SlackErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answer):
		return &SlackError{Method: method, Code: answer.Err}
	}
	return fmt.Errorf("ask Slack for %s: %w", method, err)
}
