package take

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/shared/awsjson"
	"rollcall/shared/capture"
	"rollcall/shared/gather/ec2api"
	client "rollcall/shared/route53"
)

// taker is one taking.
type taker struct {
	asked   Account
	options Options
	// dir is where the files go, and folder where they are written once it is open.
	dir    string
	folder *folder
	limits *limits

	autoscaling *autoscaling.Client
	ec2         *ec2.Client
	eks         *eks.Client
	iam         *iam.Client
	sts         *sts.Client
	// early is what was answered before there was a folder, by the files' names.
	early map[string]answer
	// stop ends all calls: what was taken cannot be written.
	stop context.CancelFunc

	mu      sync.Mutex
	state   Progress
	kept    int
	refused map[string]Refusal
	leftOut []LeftOut
	notes   []string
	fatal   error
}

// staleAfter is how far apart two parts of a capture may be without a word: the join
// time that captures are read with.
const staleAfter = 5 * time.Minute

// answer is what a call answered.
type answer struct {
	tree map[string]any
	err  error
}

func newTaker(account Account, o Options, dir string) (*taker, error) {
	if account.Config.HTTPClient == nil {
		account.Config.HTTPClient = awshttp.NewBuildableClient()
	}
	cfg := account.Config.Copy()
	cfg.APIOptions = append(cfg.APIOptions[:len(cfg.APIOptions):len(cfg.APIOptions)], bounded)
	t := &taker{
		asked: account, options: o, dir: dir, limits: newLimits(), refused: map[string]Refusal{}, early: map[string]answer{},
		autoscaling: autoscaling.NewFromConfig(cfg), ec2: ec2api.NewEC2(cfg), eks: eks.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg), sts: sts.NewFromConfig(cfg),
	}
	return t, nil
}

// open makes the folder ready.
func (t *taker) open() error {
	f, err := openFolder(t.dir, t.options.Resume)
	if err != nil {
		return err
	}
	t.folder = f
	began, err := f.began(t.options.Now)
	if err != nil {
		return err
	}
	if age := t.options.Now.Sub(began); age > staleAfter {
		t.note("the files are of two times, %s apart: what changed in between may look wrong", age.Round(time.Minute))
	}
	return nil
}

// ahead asks before there is a folder; take then has the answer.
func (t *taker) ahead(ctx context.Context, name string, ask func(context.Context) (map[string]any, error)) {
	tree, err := ask(ctx)
	t.early[name] = answer{tree, err}
}

func (t *taker) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// leave tells what was not asked for, or not kept.
func (t *taker) leave(file, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leftOut = append(t.leftOut, LeftOut{File: file, Why: fmt.Sprintf(format, args...)})
}

func compareLeftOut(a, b LeftOut) int {
	return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Why, b.Why))
}

func (t *taker) summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Summary{Progress: t.state, Kept: t.kept, Refused: t.refused, LeftOut: t.leftOut, Notes: t.notes}
}

// parallel does all of it at the same time, and waits.
func (t *taker) parallel(tasks ...func()) {
	var group sync.WaitGroup
	for _, task := range tasks {
		group.Go(task)
	}
	group.Wait()
}

// list does the same with each of a list, at the same time, and waits.
func list[T any](t *taker, items []T, task func(i int, item T)) {
	tasks := make([]func(), len(items))
	for i, item := range items {
		tasks[i] = func() { task(i, item) }
	}
	t.parallel(tasks...)
}

// take keeps what a call answers in a file, and gives it: nil if there is none. A file
// that is there from before is not asked for again.
func (t *taker) take(ctx context.Context, name string, ask func(context.Context) (map[string]any, error)) map[string]any {
	if tree := t.folder.kept(name); tree != nil {
		t.count(func() { t.kept++; t.state.Files++ })
		return tree
	}
	if ctx.Err() != nil {
		return nil
	}
	a, asked := t.early[name]
	if !asked {
		a.tree, a.err = ask(ctx)
	}
	tree, err := a.tree, a.err
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errTooLarge):
		t.leave(name, "%v", err)
		return nil
	case err != nil:
		r := capture.RefusalOf(err)
		t.count(func() { t.refused[name] = r; t.state.Refused++ })
		return nil
	}
	if err := t.folder.put(name, tree); err != nil {
		t.fail(err)
		return nil
	}
	t.count(func() { t.state.Files++ })
	return tree
}

func (t *taker) count(add func()) {
	t.mu.Lock()
	add()
	state := t.state
	t.mu.Unlock()
	if t.options.Progress != nil {
		t.options.Progress(state)
	}
}

// fail ends the taking.
func (t *taker) fail(err error) {
	t.mu.Lock()
	if t.fatal == nil {
		t.fatal = err
	}
	t.mu.Unlock()
	t.stop()
}

func (t *taker) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fatal
}

// None tells the codes that say that there is nothing of the kind, or that it does not
// apply (the contract of captures). Any other code leaves it unknown.
func None(code string) bool {
	switch code {
	case "ResourceNotFoundException", "NoSuchEntity", "InvalidRequestException", "NotFound":
		return true
	}
	return false
}

// resolverAsk asks for a page of what Route 53 Resolver has.
type resolverAsk struct {
	Group string `json:"FirewallRuleGroupId,omitempty"`
	List  string `json:"FirewallDomainListId,omitempty"`
	Next  string `json:"NextToken,omitempty"`
}

// domainPages bounds a domain list: the largest page is 5,000, and what is asked for
// without a size is 100.
const domainPages = 100

// resolver takes which rules and which DNS firewall are in force in the account's VPCs, those of
// Route 53 Profiles among them.
func (t *taker) resolver(ctx context.Context) {
	service := awsjson.Service{ID: "Route53Resolver", Name: "route53resolver", Target: "Route53Resolver.", MostBytes: maxBytes}
	take := func(file, operation string, ask resolverAsk, most int) map[string]any {
		return t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, more, err := t.json(ctx, service, operation, func(next string) any { ask.Next = next; return ask }, most)
			if more {
				t.leave(file, "domains beyond the first %d pages", most)
			}
			return tree, err
		})
	}
	var groups map[string]any
	var resources []string // of Profiles
	t.parallel(
		func() { resources = t.profiles(ctx) },
		func() {
			groups = take("route53resolver-list-firewall-rule-group-associations", "ListFirewallRuleGroupAssociations", resolverAsk{}, 0)
		},
		func() {
			take("route53resolver-list-resolver-rules", "ListResolverRules", resolverAsk{}, 0)
		},
		func() {
			take("route53resolver-list-resolver-rule-associations", "ListResolverRuleAssociations", resolverAsk{}, 0)
		},
	)
	ids := picksOf(groups, "FirewallRuleGroupAssociations[].FirewallRuleGroupId")
	for _, arn := range resources {
		if _, id, is := strings.Cut(arn, ":firewall-rule-group/"); is {
			ids = append(ids, id)
		}
	}
	ids = sorted(ids)
	t.records(ctx, zonesOf(resources))
	lists := make([][]string, len(ids))
	list(t, ids, func(i int, id string) {
		rules := take(capture.FileName("route53resolver-list-firewall-rules", id), "ListFirewallRules", resolverAsk{Group: id}, 0)
		lists[i] = picksOf(rules, "FirewallRules[].FirewallDomainListId")
	})
	var all []string
	for _, of := range lists {
		all = append(all, of...)
	}
	list(t, sorted(all), func(_ int, id string) {
		take(capture.FileName("route53resolver-list-firewall-domains", id), "ListFirewallDomains", resolverAsk{List: id}, domainPages)
	})
}

// maxProfileZones bounds the zones of Profiles: what domain each is for is not in their list.
const maxProfileZones = 10

// zonesOf are the first private hosted zones among the resources of Profiles.
func zonesOf(arns []string) []string {
	var ids []string
	for _, arn := range arns {
		if _, id, is := strings.Cut(arn, ":hostedzone/"); is && len(ids) < maxProfileZones {
			ids = append(ids, id)
		}
	}
	return sorted(ids)
}

// mostRoles is how many roles are taken with their policies: of nodes, of nodegroups and
// of add-ons.
const mostRoles = 200

// roles takes the roles of instances, nodegroups, classes and add-ons, with their policies.
func (t *taker) roles(ctx context.Context, found *region) {
	arns := slices.Clone(found.roles)
	profiles := slices.Clone(found.profiles)
	for _, arn := range picksOf(found.instances, "Reservations[].Instances[].IamInstanceProfile.Arn") {
		profiles = append(profiles, lastPart(arn))
	}
	profiles = present(profiles)
	of := make([][]string, len(profiles))
	list(t, profiles, func(i int, name string) {
		tree := t.take(ctx, capture.FileName("iam-get-instance-profile", name),
			asks(t, "iam", t.iam.GetInstanceProfile, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String(name)}))
		of[i] = picksOf(tree, "InstanceProfile.Roles[].RoleName")
	})
	var names []string
	for _, arn := range slices.Concat(arns, slices.Concat(of...)) {
		names = append(names, lastPart(arn))
	}
	names = present(names)
	if over := len(names) - mostRoles; over > 0 {
		for _, name := range names[mostRoles:] {
			t.leave(capture.FileName("iam-get-role", name), "only %d roles are taken", mostRoles)
		}
		names = names[:mostRoles]
	}
	var mu sync.Mutex
	var policies []string
	list(t, names, func(_ int, name string) {
		attached := t.role(ctx, name)
		mu.Lock()
		defer mu.Unlock()
		policies = append(policies, attached...)
	})
	t.policies(ctx, present(policies))
}

// role takes a role, and gives the managed policies that it has.
func (t *taker) role(ctx context.Context, name string) []string {
	var boundary, attached []string
	t.parallel(
		func() {
			tree := t.take(ctx, capture.FileName("iam-get-role", name), asks(t, "iam", t.iam.GetRole, &iam.GetRoleInput{RoleName: aws.String(name)}))
			boundary = picksOf(tree, "Role.PermissionsBoundary.PermissionsBoundaryArn")
		},
		func() {
			tree := t.take(ctx, capture.FileName("iam-list-attached-role-policies", name),
				asks(t, "iam", t.iam.ListAttachedRolePolicies, &iam.ListAttachedRolePoliciesInput{RoleName: aws.String(name)}))
			attached = picksOf(tree, "AttachedPolicies[].PolicyArn")
		},
		func() {
			tree := t.take(ctx, capture.FileName("iam-list-role-policies", name), asks(t, "iam", t.iam.ListRolePolicies, &iam.ListRolePoliciesInput{RoleName: aws.String(name)}))
			list(t, picksOf(tree, "PolicyNames[]"), func(_ int, policy string) {
				t.take(ctx, capture.FileName("iam-get-role-policy", name, policy),
					asks(t, "iam", t.iam.GetRolePolicy, &iam.GetRolePolicyInput{RoleName: aws.String(name), PolicyName: aws.String(policy)}))
			})
		},
	)
	return slices.Concat(boundary, attached)
}

// policies takes the default versions of managed policies. A file has the policy's name
// alone: of two with one name the first is kept.
func (t *taker) policies(ctx context.Context, arns []string) {
	seen := map[string]bool{}
	var chosen []string
	for _, arn := range arns {
		file := capture.FileName("iam-get-policy-version", lastPart(arn))
		if seen[file] {
			t.leave(file, "%s has the same name as another policy", arn)
			continue
		}
		seen[file] = true
		chosen = append(chosen, arn)
	}
	list(t, chosen, func(_ int, arn string) {
		t.take(ctx, capture.FileName("iam-get-policy-version", lastPart(arn)), func(ctx context.Context) (map[string]any, error) {
			policy, err := asks(t, "iam", t.iam.GetPolicy, &iam.GetPolicyInput{PolicyArn: aws.String(arn)})(ctx)
			if err != nil {
				return nil, err
			}
			return asks(t, "iam", t.iam.GetPolicyVersion, &iam.GetPolicyVersionInput{
				PolicyArn: aws.String(arn), VersionId: aws.String(text(policy, "Policy.DefaultVersionId")),
			})(ctx)
		})
	})
}

// recordPages bounds the records of a zone: a page has 300.
const recordPages = 10

// zones takes the private hosted zones of VPCs, and the records of those that cover names of
// AWS and are an account's.
func (t *taker) zones(ctx context.Context, vpcs []string) {
	api := client.New(t.asked.Config)
	found := make([][]string, len(vpcs))
	list(t, vpcs, func(i int, vpc string) {
		file := capture.FileName("route53-list-hosted-zones-by-vpc", vpc)
		query := url.Values{"vpcid": {vpc}, "vpcregion": {t.asked.Config.Region}, "maxitems": {"100"}}
		tree := t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			return t.xmlPages(ctx, func(page *element) (next url.Values, err error) {
				err = api.Get(ctx, "ListHostedZonesByVPC", "hostedzonesbyvpc", query, client.Ask{}, page)
				if token := page.text("NextToken"); token != "" {
					query.Set("nexttoken", token)
					return query, err
				}
				return nil, err
			})
		})
		for _, z := range nodesOf(tree, "HostedZoneSummaries[]") {
			if text(z, "Owner.OwningService") == "" && coversAWS(text(z, "Name")) {
				found[i] = append(found[i], text(z, "HostedZoneId"))
			}
		}
	})
	t.records(ctx, sorted(slices.Concat(found...)))
}

// records takes the records of zones.
func (t *taker) records(ctx context.Context, ids []string) {
	api := client.New(t.asked.Config)
	list(t, ids, func(_ int, id string) {
		t.take(ctx, capture.FileName("route53-list-resource-record-sets", id), func(ctx context.Context) (map[string]any, error) {
			query := url.Values{"maxitems": {"300"}}
			return t.xmlPages(ctx, func(page *element) (next url.Values, err error) {
				err = api.Get(ctx, "ListResourceRecordSets", "hostedzone/"+url.PathEscape(id)+"/rrset", query, client.Ask{}, page)
				if page.text("IsTruncated") != "true" {
					return nil, err
				}
				query.Set("name", page.text("NextRecordName"))
				query.Set("type", page.text("NextRecordType"))
				if identifier := page.text("NextRecordIdentifier"); identifier != "" {
					query.Set("identifier", identifier)
				}
				return query, err
			})
		})
	})
}

// xmlPages makes calls for pages; too many are none.
func (t *taker) xmlPages(ctx context.Context, call func(page *element) (next url.Values, err error)) (map[string]any, error) {
	var all map[string]any
	for range recordPages {
		leave, err := t.limits.enter(ctx, "route53", "")
		if err != nil {
			return nil, err
		}
		var page element
		next, err := call(&page)
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil {
			return nil, err
		}
		tree, _ := page.printed().(map[string]any)
		for name := range tree {
			if strings.HasPrefix(name, "Next") {
				delete(tree, name)
			}
		}
		all = joined(all, tree)
		if next == nil {
			return all, nil
		}
	}
	return nil, errHalf
}

// element is an element of an answer in XML.
type element struct {
	XMLName xml.Name
	Parts   []element `xml:",any"`
	Text    string    `xml:",chardata"`
}

// text is the text of a part, "" where there is none.
func (e element) text(name string) string {
	for _, p := range e.Parts {
		if p.XMLName.Local == name {
			return p.Text
		}
	}
	return ""
}

// printed is the element as the AWS CLI prints it. Lists of Route 53 are in elements of their
// own, whose names are plurals, and numbers are TTL and Weight (botocore, route53/2013-04-01).
func (e element) printed() any {
	name := e.XMLName.Local
	switch {
	case strings.HasSuffix(name, "Summaries"), strings.HasSuffix(name, "Sets"), strings.HasSuffix(name, "Records"):
		list := []any{}
		for _, p := range e.Parts {
			list = append(list, p.printed())
		}
		return list
	case len(e.Parts) > 0:
		tree := map[string]any{}
		for _, p := range e.Parts {
			tree[p.XMLName.Local] = p.printed()
		}
		return tree
	case name == "TTL", name == "Weight":
		return json.Number(e.Text)
	case e.Text == "true", e.Text == "false":
		return e.Text == "true"
	}
	return e.Text
}

// coversAWS reports whether a zone is above or below a domain in which AWS has its endpoints.
func coversAWS(zone string) bool {
	zone = "." + strings.TrimSuffix(strings.ToLower(zone), ".")
	return slices.ContainsFunc([]string{".amazonaws.com", ".amazonaws.com.cn", ".amazonwebservices.com.cn", ".api.aws"}, func(d string) bool {
		return zone == "." || strings.HasSuffix(zone, d) || strings.HasSuffix(d, zone)
	})
}

// mostVPCs bounds the VPCs that are taken beside the clusters' own: a transit gateway may
// join hundreds.
const mostVPCs = 20

// scope are the VPCs whose network is taken: those of the clusters and their nodes, and
// those that they are connected to.
func (t *taker) scope(found *region) []string {
	own := sorted(slices.Concat(found.vpcs, picksOf(found.nodes, "Reservations[].Instances[].VpcId")))
	if len(own) > ec2api.MaxFilterValues {
		t.note("the clusters have more than %d VPCs: what is in all VPCs of the region is taken", ec2api.MaxFilterValues)
		return nil
	}
	if len(own) == 0 {
		return nil
	}
	var others []string
	for _, vpc := range connected(own, found.peerings, found.attachments) {
		if !slices.Contains(own, vpc) {
			others = append(others, vpc)
		}
	}
	most := min(mostVPCs, ec2api.MaxFilterValues-len(own))
	for _, vpc := range others[min(most, len(others)):] {
		t.leave("ec2-describe-vpcs", "%s, which is connected to the clusters' VPCs, and what is in it: more than %d are", vpc, most)
	}
	return sorted(slices.Concat(own, others[:min(most, len(others))]))
}

// connected are the VPCs that a peering or a transit gateway joins to some of own.
func connected(own []string, peerings, attachments map[string]any) []string {
	var out []string
	for _, p := range nodesOf(peerings, "VpcPeeringConnections[]") {
		ends := []string{text(p, "RequesterVpcInfo.VpcId"), text(p, "AccepterVpcInfo.VpcId")}
		if slices.ContainsFunc(ends, func(end string) bool { return slices.Contains(own, end) }) {
			out = append(out, ends...)
		}
	}
	all := nodesOf(attachments, "TransitGatewayAttachments[]")
	var gateways []string
	for _, a := range all {
		if slices.Contains(own, text(a, "ResourceId")) {
			gateways = append(gateways, text(a, "TransitGatewayId"))
		}
	}
	for _, a := range all {
		if text(a, "ResourceType") == "vpc" && slices.Contains(gateways, text(a, "TransitGatewayId")) {
			out = append(out, text(a, "ResourceId"))
		}
	}
	return present(out)
}

// nodes asks for the instances that say by their tags that they are the clusters', in
// whichever VPC they are.
func (t *taker) nodes(ctx context.Context, clusters []string) map[string]any {
	if len(clusters) == 0 {
		return nil
	}
	var keys []string
	for _, name := range clusters {
		keys = append(keys, "kubernetes.io/cluster/"+name, "k8s.io/cluster/"+name)
	}
	var all map[string]any
	for part := range slices.Chunk(keys, ec2api.MaxFilterValues) {
		// What is refused is reported of the list of instances, which has the same permission.
		tree, err := asks(t, "ec2", t.ec2.DescribeInstances, &ec2.DescribeInstancesInput{Filters: ec2api.AnyOf("tag-key", part), MaxResults: pageSize()})(ctx)
		if err != nil {
			return nil
		}
		all = joined(all, tree)
	}
	return all
}

// allInstances takes the instances of VPCs, and those nodes that are elsewhere.
func (t *taker) allInstances(ctx context.Context, in []types.Filter, nodes map[string]any) map[string]any {
	return t.take(ctx, "ec2-describe-instances", func(ctx context.Context) (map[string]any, error) {
		tree, err := asks(t, "ec2", t.ec2.DescribeInstances, &ec2.DescribeInstancesInput{Filters: in, MaxResults: pageSize()})(ctx)
		if err != nil {
			return nil, err
		}
		seen := picks(tree, "Reservations[].Instances[].InstanceId")
		for _, r := range nodesOf(nodes, "Reservations[]") {
			if ids := picks(r, "Instances[].InstanceId"); !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(seen, id) }) {
				list, _ := tree["Reservations"].([]any)
				tree["Reservations"] = append(list, r)
			}
		}
		return tree, nil
	})
}

// zonalShifts takes what is shifted away from a zone, and what can be. Shifts that are over
// are taken too: they tell what happened an hour ago.
func (t *taker) zonalShifts(ctx context.Context) {
	client := awsjson.New(t.asked.Config, awsjson.Service{ID: "ARC Zonal Shift", Name: "arc-zonal-shift", MostBytes: maxBytes})
	take := func(file, operation, path string) func() {
		return func() {
			t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
				tree, _, err := t.jsonPages(ctx, "arc-zonal-shift", operation, 0, func(next string, raw *json.RawMessage) error {
					query := url.Values{"maxResults": {"100"}}
					if next != "" {
						query.Set("nextToken", next)
					}
					return client.Get(ctx, operation, path, query, nil, raw)
				})
				return tree, err
			})
		}
	}
	t.parallel(
		take("arc-zonal-shift-list-zonal-shifts", "ListZonalShifts", "zonalshifts"),
		take("arc-zonal-shift-list-autoshifts", "ListAutoshifts", "autoshifts"),
		take("arc-zonal-shift-list-managed-resources", "ListManagedResources", "managedresources"),
	)
}
