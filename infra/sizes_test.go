package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/limits"
	keys "rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/spec"
	policies "rollcall/stage/platform/template"
	"rollcall/tools/testfile"
)

const nodeRole = "arn:aws:iam::123456789012:role/eks/nodes"

// clustersOf are the names of so many clusters, each of so many characters.
func clustersOf(n, length int) []string {
	var names []string
	for i := range n {
		tail := fmt.Sprintf("-%03d", i)
		names = append(names, strings.Repeat("platform-prod-eu-west-1-team-of-", 4)[:length-len(tail)]+tail)
	}
	return names
}

// everythingFor is the stack with every switch on for these clusters. Access
// entries are made by the stack's commands: six for each of a hundred clusters
// are more resources than a stack has (TestTooManyResourcesAreRefused).
func everythingFor(clusters []string) map[string]any {
	return map[string]any{
		"slackChannel": channel, "slackActions": "on", "kubernetesAccess": "none",
		"clusters":    strings.Join(clusters, ","),
		"remedies":    strings.Join(clusters, "=auto,") + "=auto",
		"cleanup":     strings.Join(clusters, "=delete,") + "=delete",
		"remedyRoles": nodeRole + "," + nodeRole + "-spot",
		"remedyVpcs":  "vpc-0a1b2c3d4e5f60718,vpc-0b1b2c3d4e5f60718", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718",
		"approvers": "U0ONCALL01,S0ONCALL01", "vpcSubnetIds": "subnet-0a1b2c3d4e5f60718,subnet-0b1b2c3d4e5f60718", "vpcSecurityGroupIds": "sg-0a1b2c3d4e5f60718",
	}
}

// write is a file that takes the template of TestAHundredClusters (go test ./infra -run
// TestAHundredClusters -v -args -write FILE).
var write = flag.String("write", "", "a file that takes the template of a hundred clusters")

// rulesWithinLimits holds what EventBridge takes: 300 rules on a bus, 5 targets of a rule, and
// patterns of 2,048 characters (EventBridge user guide, "Amazon EventBridge quotas": Rules,
// Targets, Event pattern size).
func rulesWithinLimits(t *testing.T, tpl template) {
	t.Helper()
	buses, longest := map[string]int{}, 0
	for id, r := range tpl.Resources {
		if r.Type != "AWS::Events::Rule" {
			continue
		}
		bus := testfile.JSON(t, r.Properties["EventBusName"])
		buses[string(bus)]++
		pattern := testfile.JSON(t, r.Properties["EventPattern"])
		longest = max(longest, len(pattern))
		targets, _ := r.Properties["Targets"].([]any)
		if len(pattern) > 2_048 || len(targets) > 5 {
			t.Errorf("%s: a pattern of %d characters, %d targets", id, len(pattern), len(targets))
		}
	}
	if len(buses) == 0 || longest == 0 {
		t.Error("no rule was measured")
	}
	for bus, n := range buses {
		t.Logf("bus %s: %d rules; the longest pattern has %d characters", bus, n, longest)
		if n > 300 {
			t.Errorf("bus %s has %d rules", bus, n)
		}
	}
}

// TestAHundredClusters holds that a hundred watched clusters with everything on
// can be deployed: every role, policy and environment, and the stack, are under
// the limits of AWS.
func TestAHundredClusters(t *testing.T) {
	tpl := synthesised(t, everythingFor(clustersOf(100, 32)))
	m, err := limits.Measure(tpl.source)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range m.Resources {
		total += n
	}
	t.Logf("%d resources, %d bytes", total, m.Bytes)
	if *write != "" {
		testfile.Write(t, *write, tpl.source)
		t.Logf("written to %s", *write)
	}
	rulesWithinLimits(t, tpl)
	if total > 500 || m.Bytes > 1_000_000 {
		t.Errorf("the stack has %d resources and %d bytes", total, m.Bytes)
	}
	if len(m.Roles) != len(specs.All())+1 || len(m.Environments) != len(specs.All()) {
		t.Errorf("%d roles and %d environments were measured, want %d, and the reader", len(m.Roles), len(m.Environments), len(specs.All()))
	}
	for _, id := range slices.Sorted(maps.Keys(m.Roles)) {
		r := m.Roles[id]
		t.Logf("%s: inline %d, managed %v, trust %d", id, r.Inline, r.Managed, r.Trust)
		least := 500
		if strings.HasPrefix(id, "Reader") {
			least = 0 // in AWS it may do nothing
		}
		if r.Inline > 10_240 || r.Inline < least || r.Trust > 2_048 || r.Trust < 100 || len(r.Managed) > 10 || slices.ContainsFunc(r.Managed, func(n int) bool { return n > 6_144 }) {
			t.Errorf("%s: inline %d, managed %v, trust %d", id, r.Inline, r.Managed, r.Trust)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.Environments)) {
		t.Logf("%s: %d bytes of environment", id, m.Environments[id])
		if m.Environments[id] > 4_096 {
			t.Errorf("%s: %d bytes of environment", id, m.Environments[id])
		}
	}
	// The functions read what they are given.
	for _, spec := range specs.All() {
		variables, _ := get(lambdaOf(t, tpl, spec).Properties, "Environment", "Variables").(map[string]any)
		c, err := config.Load(func(name string) string {
			value, ok := variables[name]
			if !ok {
				return ""
			}
			if text, ok := value.(string); ok {
				return text
			}
			return "https://" + to(value) + ".example" // what a reference will be
		}, spec.Environment)
		if err != nil {
			t.Fatalf("%s: %v", spec.Name, err)
		}
		if slices.Contains(spec.Environment, config.Clusters) && len(c.Clusters) != 100 {
			t.Errorf("%s has %d clusters", spec.Name, len(c.Clusters))
		}
		if slices.Contains(spec.Environment, config.Remedies) && len(c.Remedied) != 100 {
			t.Errorf("%s has remedies in %d clusters", spec.Name, len(c.Remedied))
		}
	}
}

func TestTooManyResourcesAreRefused(t *testing.T) {
	given := map[string]any{"slackChannel": channel, "accessClusters": strings.Join(clustersOf(600, 32), ",")}
	_, err := synthesise(given)
	var exceeded *limits.Exceeded
	if !errors.As(err, &exceeded) || exceeded.Most != 500 || exceeded.Has <= 600 {
		t.Fatalf("got %v, want that there are too many resources", err)
	}
	for _, want := range []string{"600 of them are access entries", "kubernetesAccess=none", "accessClusters"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

// A hundred names of EKS's greatest length, with everything on, do not fit
// although they are grouped: a statement for each cluster's tag and two ARNs are
// 72,000 characters, and ten managed policies take 61,440. The synth ends with
// the number.
func TestTooManyRemediesAreRefused(t *testing.T) {
	_, err := synthesise(everythingFor(clustersOf(100, 100)))
	var exceeded *limits.Exceeded
	if !errors.As(err, &exceeded) || exceeded.Most != 10 || exceeded.Unit != "managed policies" {
		t.Fatalf("got %v, want that there are too many managed policies", err)
	}
	if want := "role RemediateRole"; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Let fewer clusters opt in to remedies") {
		t.Errorf("%q does not say which role, and what to do", err)
	}
}

// TestARemedyIsOfItsClusterAlone: whatever is grouped, IAM allows a change in a
// cluster that has opted in to it, and in no other. The statements are those of
// the synthesised template, judged as the local stage judges them.
func TestARemedyIsOfItsClusterAlone(t *testing.T) {
	remedies := []optin.Remedy{optin.ReplaceInstance, optin.CoverZones, optin.CreateAccessEntry, optin.DeleteLeakedInterfaces}
	clusters := append(clustersOf(40, 100), "prod", "prod-eu", "pro", "prod1") // each begins another
	opted := map[string]map[optin.Remedy]bool{}
	var setting []string
	for i, c := range clusters {
		opted[c] = map[optin.Remedy]bool{}
		for j, r := range remedies {
			if c == "prod" || c == "prod-eu" && r == optin.CoverZones || i < 40 && (i+j)%3 == 0 {
				opted[c][r] = true
				setting = append(setting, fmt.Sprintf("%s/%s=approve", c, r))
			}
		}
	}
	strangers := []string{"nobody", "prod-", "*", clusters[0][:99], clusters[0] + "0"}
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "remedies": strings.Join(setting, ","), "remedyRoles": nodeRole})
	parsed, err := policies.Parse(tpl.source, policies.Options{Region: "us-west-2", AccountID: "123456789012"})
	if err != nil {
		t.Fatal(err)
	}
	const here = ":us-west-2:123456789012:"
	group := "arn:aws:autoscaling" + here + "autoScalingGroup:c0ffee:autoScalingGroupName/workers"
	owned := func(c string) map[string][]string {
		return map[string][]string{"aws:ResourceTag/kubernetes.io/cluster/" + c: {"owned"}}
	}
	type call struct {
		function, action string
		remedy           optin.Remedy
		resource         func(cluster string) string
		context          func(cluster string) map[string][]string
	}
	calls := []call{
		{remediate.Name, "autoscaling:TerminateInstanceInAutoScalingGroup", optin.ReplaceInstance, func(string) string { return group }, owned},
		{remediate.Name, "autoscaling:SetDesiredCapacity", optin.CoverZones, func(string) string { return group }, owned},
		{remediate.Name, "eks:UpdateNodegroupConfig", optin.CoverZones,
			func(c string) string { return "arn:aws:eks" + here + "nodegroup/" + c + "/workers/c0ffee" }, func(string) map[string][]string { return nil }},
		{remediate.Name, "eks:CreateAccessEntry", optin.CreateAccessEntry,
			func(c string) string { return "arn:aws:eks" + here + "cluster/" + c }, func(string) map[string][]string {
				return map[string][]string{"eks:accessEntryType": {"EC2_LINUX"}, "eks:principalArn": {nodeRole}}
			}},
		{enicleanup.Name, "ec2:DeleteNetworkInterface", optin.DeleteLeakedInterfaces,
			func(string) string { return "arn:aws:ec2" + here + "network-interface/eni-0a1b2c3d4e5f60718" },
			func(c string) map[string][]string {
				return map[string][]string{"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {c}, "aws:ResourceTag/node.k8s.amazonaws.com/instance_id": {"i-0a1b2c3d4e5f60718"}}
			}},
	}
	may := func(c call, resource string, context map[string][]string) bool {
		t.Helper()
		ok, err := policies.Allows(parsed.Policy("rollcall-"+c.function), c.action, resource, context)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for _, c := range calls {
		for _, cluster := range append(strangers, clusters...) {
			if got, want := may(c, c.resource(cluster), c.context(cluster)), opted[cluster][c.remedy]; got != want {
				t.Errorf("%s in %s: allowed %t, want %t", c.action, cluster, got, want)
			}
		}
		for name, resource := range map[string]string{
			"another account": strings.Replace(c.resource("prod"), "123456789012", "210987654321", 1),
			"another region":  strings.Replace(c.resource("prod"), "us-west-2", "eu-west-1", 1),
		} {
			if may(c, resource, c.context("prod")) {
				t.Errorf("%s is allowed in %s", c.action, name)
			}
		}
	}
	// A shared group, a person's entry, and an interface that no node made.
	terminate, entry, interfaces := calls[0], calls[3], calls[4]
	if may(terminate, group, map[string][]string{"aws:ResourceTag/kubernetes.io/cluster/prod": {"shared"}}) || may(terminate, group, nil) {
		t.Error("a group that is not the cluster's own may be changed")
	}
	if may(entry, entry.resource("prod"), map[string][]string{"eks:accessEntryType": {"STANDARD"}, "eks:principalArn": {nodeRole}}) {
		t.Error("a person may be admitted")
	}
	if may(entry, entry.resource("prod"), map[string][]string{"eks:accessEntryType": {"EC2_LINUX"}, "eks:principalArn": {nodeRole + "s"}}) {
		t.Error("an unnamed role may be admitted")
	}
	if may(interfaces, interfaces.resource(""), map[string][]string{"aws:ResourceTag/cluster.k8s.amazonaws.com/name": {"prod"}}) {
		t.Error("an interface that no node made may be deleted")
	}
}

func TestSpread(t *testing.T) {
	sized := func(n int) statement {
		s := statement{sid: "S", actions: []string{"a:B"}, resources: []string{""}}
		s.resources[0] = strings.Repeat("r", n-s.size())
		return s
	}
	sizes := func(list []statement) (all []int) {
		for _, s := range list {
			all = append(all, s.size())
		}
		return all
	}
	inline, managed := spread([]statement{sized(9_000), sized(162), sized(4_000), sized(3_000), sized(2_000), sized(100), sized(7_000)}, []statement{sized(1_000)})
	if got := fmt.Sprint(sizes(inline)); got != "[9000 162 1000]" {
		t.Errorf("inline: %s", got)
	}
	var got []string
	for _, list := range managed {
		got = append(got, fmt.Sprint(sizes(list)))
	}
	if diff := strings.Join(got, " "); diff != "[4000 2000 100] [3000] [7000]" {
		t.Errorf("managed: %s", diff)
	}
}

func TestASmallEnvironmentStaysReadable(t *testing.T) {
	for _, spec := range specs.All() {
		variables, _ := get(lambdaOf(t, theTemplate(t), spec).Properties, "Environment", "Variables").(map[string]any)
		for name, value := range variables {
			if text, _ := value.(string); strings.HasPrefix(text, "gzip:") {
				t.Errorf("%s: %s is packed", spec.Name, name)
			}
		}
	}
}

// The hub of the tests, with two spokes, one of which has opted in.
func hubWithSpokes() map[string]any {
	return map[string]any{
		"slackChannel": channel, "externalId": "rollcall-1", "spokes": "222233334444/us-west-2=payments,222233334444/eu-west-1,333344445555/us-west-2",
		"remedies": "prod=auto,222233334444/us-west-2/prod/add-nat-route=approve,222233334444/us-west-2/prod/create-access-entry=approve", "remedyVpcs": "vpc-0123456789abcdef0", "remedyRoles": "arn:aws:iam::111122223333:role/nodes",
		"cleanup": "prod=delete,222233334444/us-west-2/dev=delete",
	}
}

// spokeWithRemedies is the template of that spoke.
func spokeWithRemedies() map[string]any {
	given := hubWithSpokes()
	given["spoke"], given["organization"] = "222233334444/us-west-2", "o-a1b2c3d4e5"
	return given
}

var (
	anySpoke = sync.OnceValues(func() (template, error) { return synthesise(map[string]any{"slackChannel": channel, "spoke": "any"}) })
	oneSpoke = sync.OnceValues(func() (template, error) { return synthesise(spokeWithRemedies()) })
	bigHub   = sync.OnceValues(func() (template, error) { return synthesise(hubWithSpokes()) })
)

func made(t *testing.T, of func() (template, error)) template {
	t.Helper()
	tpl, err := of()
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// TestSpokeTemplateIsFresh: the committed template is the one that is synthesised, and needs
// no asset and no bootstrap.
func TestSpokeTemplateIsFresh(t *testing.T) {
	tpl := made(t, anySpoke)
	committed := testfile.Read(t, "RollcallSpoke.template.json")
	var want, got any
	if err := errors.Join(json.Unmarshal(committed, &want), json.Unmarshal(tpl.source, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run `make spoke-template` (-committed +synthesised):\n%s", diff)
	}
	// "51,200 bytes" is the most of a template's body in a request: what is larger must be
	// in a bucket (CloudFormation quotas).
	if len(committed) > 51_200 {
		t.Errorf("it has %d bytes: it can be deployed from a bucket alone", len(committed))
	}
	for _, word := range []string{"cdk-bootstrap", "BootstrapVersion", "S3Bucket", "AssetParameters"} {
		if strings.Contains(string(committed), word) {
			t.Errorf("it has %q: it must be deployed from the file alone", word)
		}
	}
	if len(tpl.all("AWS::IAM::Role")) != 2 || len(tpl.all("AWS::Lambda::Function")) != 0 {
		t.Errorf("%d roles, want the reader and the one that forwards", len(tpl.all("AWS::IAM::Role")))
	}
}

// roleIn is a role of a spoke by its name.
func roleIn(t *testing.T, tpl template, name spec.SpokeRole) resource {
	t.Helper()
	for _, r := range tpl.all("AWS::IAM::Role") {
		if flat(r.Properties["RoleName"]) == "rollcall-"+string(name)+"-${AWS::Region}" {
			return r
		}
	}
	t.Fatalf("there is no role %s", name)
	return resource{}
}

func spokeStatements(r resource) []map[string]any {
	var list []map[string]any
	for _, s := range several(get(r.Properties, "Policies", 0, "PolicyDocument", "Statement")) {
		list = append(list, s.(map[string]any))
	}
	return list
}

// TestSpokeTrust: a spoke's roles trust the roles of the hub's functions that need them, with
// the external id and, where one is set, of the organization; and no other principal.
func TestSpokeTrust(t *testing.T) {
	functions := func(role spec.SpokeRole) (names []string) {
		for _, s := range specs.All() {
			if slices.Contains(s.Assumes, role) {
				names = append(names, "arn:${AWS::Partition}:iam::${HubAccount}:role/Rollcall-"+camel(s.Name)+"Role*")
			}
		}
		return names
	}
	for _, x := range []struct {
		of   func() (template, error)
		role spec.SpokeRole
		org  bool
		most int
	}{{anySpoke, spec.SpokeReader, false, 10}, {oneSpoke, spec.SpokeReader, true, 10}, {oneSpoke, spec.SpokeCleaner, true, 1}, {oneSpoke, spec.SpokeRemediator, true, 1}} {
		role := roleIn(t, made(t, x.of), x.role)
		trust := several(get(role.Properties, "AssumeRolePolicyDocument", "Statement"))
		if len(trust) != 1 || get(trust[0], "Action") != "sts:AssumeRole" || flat(get(trust[0], "Principal", "AWS")) != "arn:${AWS::Partition}:iam::${HubAccount}:root" {
			t.Fatalf("%s trusts %v", x.role, trust)
		}
		conditions := get(trust[0], "Condition").(map[string]any)
		if diff := cmp.Diff(functions(x.role), flats(get(conditions, "ArnLike", "aws:PrincipalArn"))); diff != "" || len(functions(x.role)) > x.most {
			t.Errorf("%s trusts (-want +got):\n%s", x.role, diff)
		}
		equals := get(conditions, "StringEquals").(map[string]any)
		if flat(equals["sts:ExternalId"]) != "${ExternalId}" || (equals["aws:PrincipalOrgID"] == "o-a1b2c3d4e5") != x.org || len(conditions) != 2 {
			t.Errorf("%s trusts on the conditions %v", x.role, conditions)
		}
	}
}

// TestSpokeReaderReads: the reader may do all that the hub's functions read of an account,
// and nothing that changes anything.
func TestSpokeReaderReads(t *testing.T) {
	may := map[string]bool{}
	for _, s := range spokeStatements(roleIn(t, made(t, anySpoke), spec.SpokeReader)) {
		for _, action := range flats(s["Action"]) {
			may[action] = true
			if action == "lambda:InvokeFunction" {
				continue // which functions, and that they only list: TestWhoAsksRelays, TestRelayMayDoNothing
			}
			if !specs.IsRead(action) || strings.Contains(action, "*") || s["Effect"] != "Allow" {
				t.Errorf("%s is no read of one thing", action)
			}
		}
	}
	if !may["iam:ListAccountAliases"] {
		t.Error("it may not read the account's alias")
	}
	for _, s := range specs.All() {
		for _, r := range s.Reads {
			for _, action := range r.Actions {
				stacks := strings.HasPrefix(action, "dynamodb:")
				if want := slices.Contains(s.Assumes, spec.SpokeReader) && !stacks; want != may[action] && (want || stacks) {
					t.Errorf("%s of %s: granted %t", action, s.Name, may[action])
				}
			}
		}
	}
}

// TestWithoutInstanceData: no role of the hub or of a spoke may read user data or consoles
// where the setting forbids it.
func TestWithoutInstanceData(t *testing.T) {
	for _, given := range []map[string]any{{"slackChannel": channel}, {"slackChannel": channel, keys.SpokeTemplate: keys.AnySpoke}} {
		given["instanceData"] = "off"
		for _, action := range []string{"ec2:DescribeInstanceAttribute", "ec2:GetConsole"} {
			if strings.Contains(string(synthesised(t, given).source), action) {
				t.Errorf("%v: the template has %s", given, action)
			}
		}
	}
}

// TestSpokeChangesAsTheHub: what a spoke's roles may change is what the hub's own functions
// may, statement by statement with its conditions, of the clusters of this spoke alone.
func TestSpokeChangesAsTheHub(t *testing.T) {
	tpl := made(t, oneSpoke)
	own := synthesised(t, map[string]any{
		"slackChannel": channel, "remedies": "prod/add-nat-route=approve,prod/create-access-entry=approve", "remedyVpcs": "vpc-0123456789abcdef0",
		"remedyRoles": "arn:aws:iam::111122223333:role/nodes", "cleanup": "dev=delete",
	})
	for role, function := range map[spec.SpokeRole]string{spec.SpokeCleaner: "EniCleanup", spec.SpokeRemediator: "Remediate"} {
		statements := spokeStatements(roleIn(t, tpl, role))
		if len(statements) == 0 {
			t.Errorf("%s may do nothing", role)
		}
		var hubs []map[string]any
		for _, r := range own.all("AWS::IAM::Role") {
			if strings.HasPrefix(r.id, function+"Role") {
				hubs = spokeStatements(r)
			}
		}
		for _, s := range statements {
			i := slices.IndexFunc(hubs, func(h map[string]any) bool { return h["Sid"] == s["Sid"] })
			if i < 0 {
				t.Errorf("%s may %v, which the hub's own function may not", role, s["Sid"])
				continue
			}
			if diff := cmp.Diff(hubs[i], s); diff != "" {
				t.Errorf("%s, %v (-hub's own function +spoke):\n%s", role, s["Sid"], diff)
			}
		}
	}
	text := testfile.JSON(t, tpl.Resources)
	if strings.Contains(string(text), "replace-instance") || strings.Contains(string(text), "autoscaling:TerminateInstance") {
		t.Error("a remedy of the hub's own cluster of the same name is allowed in the spoke")
	}
}

// TestSpokeForwards: what wakes the hub's functions is forwarded by a spoke, each pattern
// once, to the hub's bus, by a role that may do that alone.
func TestSpokeForwards(t *testing.T) {
	tpl := made(t, anySpoke)
	patterns := map[string]bool{}
	for _, r := range tpl.all("AWS::Events::Rule") {
		text := testfile.JSON(t, r.Properties["EventPattern"])
		if patterns[string(text)] {
			t.Errorf("%s is forwarded twice", text)
		}
		patterns[string(text)] = true
		if got := flat(get(r.Properties, "Targets", 0, "Arn")); got != "arn:${AWS::Partition}:events:${HubRegion}:${HubAccount}:event-bus/rollcall-spokes" || r.Properties["EventBusName"] != nil {
			t.Errorf("%s goes to %s", r.id, got)
		}
		if to(get(r.Properties, "Targets", 0, "RoleArn")) == "" || to(get(r.Properties, "Targets", 0, "DeadLetterConfig", "Arn")) == "" {
			t.Errorf("%s has no role, or no queue for what is not taken", r.id)
		}
	}
	for _, s := range specs.All() {
		for _, r := range s.Rules {
			text := testfile.JSON(t, pattern(r.Pattern))
			if want := r.Bus == "" && !strings.Contains(r.Pattern, `"rollcall"`); want != patterns[string(text)] && r.Bus == "" {
				t.Errorf("%s of %s is forwarded: %t", r.Name, s.Name, !want)
			}
		}
	}
}

// TestHubsBusForSpokes: the bus takes in what the named accounts send, of the sources that
// Rollcall takes in; what is forwarded wakes what the hub's own events wake.
func TestHubsBusForSpokes(t *testing.T) {
	tpl := made(t, bigHub)
	policies := slices.DeleteFunc(tpl.all("AWS::Events::EventBusPolicy"), func(r resource) bool { return to(r.Properties["EventBusName"]) != "SpokesBus" })
	if len(policies) != 1 {
		t.Fatalf("%d policies of the bus for spokes", len(policies))
	}
	st := policies[0].Properties["Statement"]
	if diff := cmp.Diff([]string{"222233334444", "333344445555"}, flats(get(st, "Principal", "AWS"))); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"aws.autoscaling", "aws.cloudformation", "aws.ec2", "aws.eks", "aws.health"}, flats(get(st, "Condition", "ForAllValues:StringEquals", "events:source"))); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if get(st, "Condition", "Null", "events:source") != "false" || get(st, "Action") != "events:PutEvents" || get(st, "Effect") != "Allow" {
		t.Errorf("the policy is %v", st)
	}
	on := map[string][]string{}
	for _, r := range tpl.all("AWS::Events::Rule") {
		text := testfile.JSON(t, []any{r.Properties["EventPattern"], flat(get(r.Properties, "Targets", 0, "Arn"))})
		if r.Properties["ScheduleExpression"] == nil && !strings.Contains(string(text), `"rollcall"`) {
			bus := to(r.Properties["EventBusName"])
			on[bus] = append(on[bus], string(text))
		}
	}
	if diff := cmp.Diff(sorted(on[""]), sorted(on["SpokesBus"])); diff != "" || len(on) != 2 || len(on[""]) == 0 {
		t.Errorf("what the hub's own events wake, and forwarded ones (-own +forwarded):\n%s", diff)
	}
	// By these names rollcall doctor finds them.
	for _, s := range specs.All() {
		for _, r := range s.Rules {
			if id := camel(s.Name) + camel(r.Name) + "OfSpokesRule"; specs.OfAWS(r) && !slices.ContainsFunc(tpl.all("AWS::Events::Rule"), func(x resource) bool { return strings.HasPrefix(x.id, id) }) {
				t.Errorf("there is no rule %s", id)
			}
		}
	}
	for _, p := range made(t, asSynth).all("AWS::Events::EventBusPolicy") {
		if get(p.Properties["Statement"], "Effect") != "Deny" {
			t.Error("without spokes a bus takes in what others send")
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// TestHubAssumesSpokesRoles: each function the roles that it needs, in the spokes that have
// them, by their whole names.
func TestHubAssumesSpokesRoles(t *testing.T) {
	tpl := made(t, bigHub)
	readers := []string{
		"arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1", "arn:aws:iam::222233334444:role/rollcall-reader-us-west-2", "arn:aws:iam::333344445555:role/rollcall-reader-us-west-2",
	}
	for _, s := range specs.All() {
		got := map[string][]string{}
		for _, st := range statementsOf(t, tpl, s) {
			if strings.HasPrefix(st.Sid, "AssumeSpoke") {
				got[st.Sid] = st.Resources
			}
		}
		want := map[string][]string{}
		if slices.Contains(s.Assumes, spec.SpokeReader) {
			want["AssumeSpokeReader1"] = readers
		}
		switch s.Name {
		case "eni-cleanup":
			want["AssumeSpokeCleaner1"] = []string{"arn:aws:iam::222233334444:role/rollcall-cleaner-us-west-2"}
		case "remediate":
			want["AssumeSpokeRemediator1"] = []string{"arn:aws:iam::222233334444:role/rollcall-remediator-us-west-2"}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.Name, diff)
		}
	}
}

func TestTable(t *testing.T) {
	tables := theTemplate(t).all("AWS::DynamoDB::Table")
	if len(tables) != 1 {
		t.Fatalf("%d tables, want 1", len(tables))
	}
	if got := tables[0].DeletionPolicy; got != "Retain" {
		t.Errorf("deletion policy: got %q, want Retain", got)
	}
	key := func(name, kind string) any { return map[string]any{"AttributeName": name, "KeyType": kind} }
	want := map[string]any{
		"KeySchema":   []any{key("pk", "HASH"), key("sk", "RANGE")},
		"BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": []any{
			map[string]any{"AttributeName": "pk", "AttributeType": "S"},
			map[string]any{"AttributeName": "sk", "AttributeType": "S"},
			map[string]any{"AttributeName": "open", "AttributeType": "S"},
			map[string]any{"AttributeName": "started", "AttributeType": "S"},
			map[string]any{"AttributeName": "day", "AttributeType": "S"},
			map[string]any{"AttributeName": "began", "AttributeType": "S"},
		},
		"GlobalSecondaryIndexes": []any{map[string]any{
			"IndexName":  "open",
			"KeySchema":  []any{key("open", "HASH"), key("started", "RANGE")},
			"Projection": map[string]any{"ProjectionType": "ALL"},
		}, map[string]any{
			"IndexName":  "ended",
			"KeySchema":  []any{key("day", "HASH"), key("began", "RANGE")},
			"Projection": map[string]any{"ProjectionType": "INCLUDE", "NonKeyAttributes": []any{"past", "expires", "format"}},
		}},
		"TimeToLiveSpecification":          map[string]any{"AttributeName": "expires", "Enabled": true},
		"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": true},
		"SSESpecification":                 map[string]any{"SSEEnabled": true},
	}
	got := maps.Clone(tables[0].Properties)
	delete(got, "Tags")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// CloudWatch alone, for this account's alarms, may publish, and over TLS only.
// SNS encrypts on its disks by itself; a key of our own is paid for by the month.
func TestAlarmTopic(t *testing.T) {
	tpl := theTemplate(t)
	if keys := tpl.all("AWS::KMS::Key"); len(keys) > 0 {
		t.Errorf("the stack makes the key %s", keys[0].id)
	}
	policies := slices.DeleteFunc(tpl.all("AWS::SNS::TopicPolicy"), func(r resource) bool { return strings.HasPrefix(r.id, "TargetTopic") })
	if len(policies) != 1 || len(tpl.all("AWS::SNS::Topic")) != 2 {
		t.Fatalf("%d policies of topics, want 1 beside that of the targets", len(policies))
	}
	secure, published := false, false
	for _, s := range several(get(policies[0].Properties, "PolicyDocument", "Statement")) {
		if get(s, "Effect") == "Deny" {
			secure = secure || get(s, "Condition", "Bool", "aws:SecureTransport") == "false"
			continue
		}
		published = true
		if get(s, "Principal", "Service") != "cloudwatch.amazonaws.com" || get(s, "Action") != "sns:Publish" || to(get(s, "Condition", "StringEquals", "aws:SourceAccount")) != "AWS::AccountId" {
			t.Errorf("the topic's policy allows %v", s)
		}
	}
	if !secure || !published {
		t.Errorf("TLS only: %t; CloudWatch may publish: %t", secure, published)
	}
}

// The policy of the targets' topic names no principal: the function's role lets it publish, over TLS
// only, and its subscribers are those of the setting.
func TestTargetTopic(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "targetEmail": "oncall@example.com, sre@example.com"})
	for _, p := range tpl.all("AWS::SNS::TopicPolicy") {
		if !strings.HasPrefix(p.id, "TargetTopic") {
			continue
		}
		list := several(get(p.Properties, "PolicyDocument", "Statement"))
		if len(list) != 1 || get(list[0], "Effect") != "Deny" || get(list[0], "Condition", "Bool", "aws:SecureTransport") != "false" {
			t.Errorf("the topic's policy is %v", list)
		}
	}
	var subscribed []string
	for _, s := range tpl.all("AWS::SNS::Subscription") {
		if to(s.Properties["TopicArn"]) == "" || s.Properties["Protocol"] != "email" {
			t.Errorf("subscription %v", s.Properties)
		}
		subscribed = append(subscribed, s.Properties["Endpoint"].(string))
	}
	if diff := cmp.Diff([]string{"oncall@example.com", "sre@example.com"}, subscribed); diff != "" {
		t.Errorf("subscribed (-want +got):\n%s", diff)
	}
}

// TestNoTargets: without the setting there is nothing of them that costs.
func TestNoTargets(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "targets": "none"})
	for id, r := range tpl.Resources {
		if strings.Contains(id, "Target") || strings.Contains(fmt.Sprint(r.Properties), "notify-targets") {
			t.Errorf("%s (%s) is there", id, r.Type)
		}
	}
	if _, ok := tpl.Outputs["TargetTopicArn"]; ok {
		t.Error("a topic is among the outputs")
	}
}

func TestTheStackMakesEmptySecrets(t *testing.T) {
	secrets := theTemplate(t).all("AWS::SecretsManager::Secret")
	if len(secrets) != 2 {
		t.Fatalf("%d secrets, want the token and the signing secret", len(secrets))
	}
	for _, s := range secrets {
		for _, key := range []string{"SecretString", "GenerateSecretString"} {
			if s.Properties[key] != nil {
				t.Errorf("%s is made with %s", s.id, key)
			}
		}
		if s.DeletionPolicy != "RetainExceptOnCreate" {
			t.Errorf("%s is deleted with the stack", s.id)
		}
	}
}

func TestOperatorsOwnResources(t *testing.T) {
	const (
		secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:slack-AbCdEf"
		signs  = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:signing-AbCdEf"
		key    = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
		topic  = "arn:aws:sns:eu-west-1:123456789012:oncall"
	)
	tpl := synthesised(t, map[string]any{
		"slackChannel": channel, "slackSecretArn": secret, "slackSigningSecretArn": signs, "slackSecretKmsKeyArn": key, "alarmTopicArn": topic,
		"stackName": "Second", "logRetentionDays": "90", "targets": "sns=" + topic,
	})
	for _, kind := range []string{"AWS::SecretsManager::Secret", "AWS::SNS::Topic", "AWS::KMS::Key"} {
		if made := tpl.all(kind); len(made) > 0 {
			t.Errorf("%s is made beside the operator's", made[0].id)
		}
	}
	for _, a := range tpl.all("AWS::CloudWatch::Alarm") {
		if got := flats(append(several(a.Properties["AlarmActions"]), several(a.Properties["InsufficientDataActions"])...)); !slices.Equal(got, []string{topic}) {
			t.Errorf("%s goes to %q, want %q", a.id, got, topic)
		}
	}
	if got := tpl.all("AWS::Events::EventBus")[0].Properties["Name"]; got != "second" {
		t.Errorf("bus: got %q, want %q", got, "second")
	}
	if got := tpl.all("AWS::Logs::LogGroup")[0].Properties["RetentionInDays"]; got != 90.0 {
		t.Errorf("log retention: got %v, want 90", got)
	}
	var found []string
	for _, role := range tpl.all("AWS::IAM::Role") {
		for _, s := range several(get(role.Properties, "Policies", 0, "PolicyDocument", "Statement")) {
			switch get(s, "Sid") {
			case "ReadSlackToken", "ReadSigningSecret":
				found = append(found, flat(get(s, "Resource")))
			case sidDecrypt, sidSigning:
				found = append(found, flat(get(s, "Action")), flat(get(s, "Resource")), flats(get(s, "Condition", "StringEquals", "kms:ViaService"))[0],
					flats(get(s, "Condition", "StringEquals", "kms:EncryptionContext:SecretARN"))[0])
			}
		}
	}
	if diff := cmp.Diff([]string{
		secret, "kms:Decrypt", key, "secretsmanager.eu-west-1.${AWS::URLSuffix}", secret,
		signs, "kms:Decrypt", key, "secretsmanager.eu-west-1.${AWS::URLSuffix}", signs,
	}, found); diff != "" {
		t.Errorf("permissions on the secret (-want +got):\n%s", diff)
	}
}

// TestTargetSecretsUnderACustomerKey: notify-targets alone may decrypt the secrets of its
// targets and no others with the key, and only through Secrets Manager.
func TestTargetSecretsUnderACustomerKey(t *testing.T) {
	const key = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	for targets, want := range map[string][]string{
		"none": nil,
		"sns":  nil,
		"pagerduty=rollcall/pd,sns,webhook=hook": {
			"rollcall-notify-targets", "kms:Decrypt", key, "secretsmanager.${AWS::Region}.${AWS::URLSuffix}",
			"arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:rollcall/pd-?????? arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:hook-??????",
		},
	} {
		tpl := synthesised(t, map[string]any{"slackChannel": channel, "targets": targets, "targetSecretKmsKeyArn": key})
		var found []string
		for _, f := range tpl.all("AWS::Lambda::Function") {
			role := tpl.Resources[flat(get(f.Properties, "Role", "Fn::GetAtt", 0))]
			for _, s := range several(get(role.Properties, "Policies", 0, "PolicyDocument", "Statement")) {
				if !strings.HasPrefix(fmt.Sprint(flats(get(s, "Action"))), "[kms:") {
					continue
				}
				found = append(found, flat(f.Properties["FunctionName"]), flat(get(s, "Action")), flat(get(s, "Resource")),
					strings.Join(flats(get(s, "Condition", "StringEquals", "kms:ViaService")), " "),
					strings.Join(flats(get(s, "Condition", "StringLike", "kms:EncryptionContext:SecretARN")), " "))
			}
		}
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", targets, diff)
		}
	}
}

func TestAlarmEmail(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "alarmEmail": "oncall@example.com"})
	subscriptions := tpl.all("AWS::SNS::Subscription")
	if len(subscriptions) != 1 || subscriptions[0].Properties["Endpoint"] != "oncall@example.com" {
		t.Errorf("got %v, want one to the address", subscriptions)
	}
}

func TestWrongSettingsFail(t *testing.T) {
	_, err := synthesise(map[string]any{"slackChannel": channel, "joinTime": "1s"})
	if want := "joinTime: 1s is outside 1m0s to 15m0s. How long after its launch"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestMissingPackagesFail(t *testing.T) {
	dir := t.TempDir()
	err := built(specs.All(), dir)
	for _, spec := range specs.All() {
		if want := filepath.Join(dir, spec.Name, "bootstrap") + " is missing: run `make build`"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestNoAccountOrRegionInTheTemplate(t *testing.T) {
	data := testfile.JSON(t, theTemplate(t))
	if found := regexp.MustCompile(`\d{12}|[a-z]{2}-(north|south|east|west|central)[a-z]*-\d`).Find(data); found != nil && string(found) != channel {
		t.Errorf("the template holds %q", found)
	}
}

// The local stage reads the committed template: it must be this one.
func TestCommittedTemplate(t *testing.T) {
	data := testfile.Read(t, "Rollcall.template.json")
	var committed template
	testfile.Parse(t, data, &committed)
	tpl := theTemplate(t)
	for id, want := range tpl.Resources {
		if diff := cmp.Diff(unpacked(want), unpacked(committed.Resources[id])); diff != "" {
			t.Errorf("%s differs from what is synthesised; run `make synth` (-synthesised +committed):\n%s", id, diff)
		}
	}
	for id := range committed.Resources {
		if _, ok := tpl.Resources[id]; !ok {
			t.Errorf("%s is in the committed template only; run `make synth`", id)
		}
	}
	if diff := cmp.Diff(tpl.Outputs, committed.Outputs); diff != "" {
		t.Errorf("outputs; run `make synth` (-synthesised +committed):\n%s", diff)
	}
}

// unpacked is a resource without the hash of its package.
func unpacked(r resource) map[string]any {
	properties := map[string]any{}
	for key, value := range r.Properties {
		if key != "Code" {
			properties[key] = value
		}
	}
	return map[string]any{
		"Type": r.Type, "Properties": properties, "Metadata": fmt.Sprint(r.Metadata),
		"DependsOn": r.DependsOn, "DeletionPolicy": r.DeletionPolicy,
	}
}

// No test here runs beside another: jsii is not safe for concurrent use.
func TestMain(m *testing.M) {
	// The validator takes 4 of 5 seconds; `make synth` runs it.
	os.Setenv("CDK_VALIDATION", "false")
	code := m.Run()
	jsii.Close()
	os.Exit(code)
}

// channel is the one that `make synth` uses when none is given.
const channel = "C0123456789"

// everyTarget is a target of each kind, as `make synth` has them.
const everyTarget = "sns,pagerduty=rollcall/pagerduty,teams=rollcall/teams,webhook=rollcall/webhook"

type template struct {
	source    []byte
	Resources map[string]resource
	Outputs   map[string]struct {
		Description string
		Value       any
	}
}

type resource struct {
	id             string
	Type           string
	Properties     map[string]any
	Metadata       map[string]any
	DependsOn      any
	DeletionPolicy string
}

// asSynth is the stack as `make synth` makes it, synthesised once.
var asSynth = sync.OnceValues(func() (template, error) {
	return synthesise(map[string]any{"slackChannel": channel})
})

func theTemplate(t *testing.T) template {
	t.Helper()
	tpl, err := asSynth()
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// synthesise does what the CLI does: the context of cdk.json, then that of
// the command line.
func synthesise(given map[string]any) (template, error) {
	dir, err := os.MkdirTemp("", "rollcall-infra")
	if err != nil {
		return template{}, err
	}
	defer os.RemoveAll(dir)
	app, err := newApp(dir, given)
	if err != nil {
		return template{}, err
	}
	return read(app)
}

// synthesised is synthesise where an error ends the test.
func synthesised(t *testing.T, given map[string]any) template {
	t.Helper()
	tpl, err := synthesise(given)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func newApp(dir string, given map[string]any) (awscdk.App, error) {
	data, err := os.ReadFile("../cdk.json")
	if err != nil {
		return nil, err
	}
	var settings struct{ Context map[string]any }
	if err := json.Unmarshal(data, &settings); err != nil {
		return nil, err
	}
	// With every function that there is, as `make synth` does.
	settings.Context["slackActions"] = "on"
	settings.Context["targets"] = everyTarget
	maps.Copy(settings.Context, given)
	for _, spec := range specs.All() {
		folder := filepath.Join(dir, "packages", spec.Name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, "bootstrap"), []byte("#!stub"), 0o755); err != nil {
			return nil, err
		}
	}
	app := awscdk.NewApp(&awscdk.AppProps{
		AnalyticsReporting: jsii.Bool(false),
		Context:            &settings.Context,
		Outdir:             jsii.String(filepath.Join(dir, "out")),
	})
	if given[relayTemplate] != nil {
		NewRelayStack(app)
		return app, nil
	}
	if given[keys.SpokeTemplate] != nil {
		return app, NewSpokeStack(app, specs.All())
	}
	return app, NewStack(app, specs.All(), filepath.Join(dir, "packages"))
}

func read(app awscdk.App) (template, error) {
	files, err := assemble(app)
	if err != nil {
		return template{}, err
	}
	if len(files) != 1 {
		return template{}, fmt.Errorf("%d stacks", len(files))
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return template{}, err
	}
	tpl := template{source: data}
	if err := json.Unmarshal(data, &tpl); err != nil {
		return template{}, err
	}
	for id, r := range tpl.Resources {
		r.id = id
		tpl.Resources[id] = r
	}
	return tpl, nil
}

// all gives the resources of a type, by logical id.
func (t template) all(kind string) []resource {
	var found []resource
	for _, id := range slices.Sorted(maps.Keys(t.Resources)) {
		if r := t.Resources[id]; r.Type == kind {
			found = append(found, r)
		}
	}
	return found
}

// get walks into properties: maps by key, lists by index; nil where there is nothing.
func get(node any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := node.(map[string]any)
			node = m[s]
		case int:
			list, _ := node.([]any)
			if s >= len(list) {
				return nil
			}
			node = list[s]
		}
	}
	return node
}

// to is the logical id that a Ref or Fn::GetAtt names, "" for other values.
func to(value any) string {
	if id, ok := get(value, "Ref").(string); ok {
		return id
	}
	id, _ := get(value, "Fn::GetAtt", 0).(string)
	return id
}

// flat writes a value with its references as ${…}.
func flat(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		if id, ok := v["Ref"].(string); ok {
			return "${" + id + "}"
		}
		if id := to(value); id != "" {
			return fmt.Sprintf("${%s.%v}", id, get(value, "Fn::GetAtt", 1))
		}
		if parts, ok := get(v, "Fn::Join", 1).([]any); ok {
			var b strings.Builder
			for _, part := range parts {
				b.WriteString(flat(part))
			}
			return b.String()
		}
	}
	return fmt.Sprint(value)
}

// several makes a list of what CloudFormation lets be one or several.
func several(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	if value == nil {
		return nil
	}
	return []any{value}
}

func flats(value any) []string {
	var list []string
	for _, v := range several(value) {
		list = append(list, flat(v))
	}
	return list
}

// TestNoPartitionIsNamed: what is deployed in China or GovCloud is the same template.
func TestNoPartitionIsNamed(t *testing.T) {
	for _, file := range []string{"Rollcall.template.json", "RollcallSpoke.template.json", "RollcallRelay.template.json"} {
		text := testfile.Read(t, file)
		if found := regexp.MustCompile(`arn:aws[a-z-]*:[^"]*|[a-z0-9.-]+\.amazonaws\.com/[^"]*|"(us|eu|ap)-[a-z]+-[0-9]"`).FindAllString(string(text), -1); len(found) > 0 {
			t.Errorf("%s names %q", file, found)
		}
	}
}

// TestNoPublicAddressUnlessAskedFor: what hangs on a setting is not there where
// the setting is not "on".
func TestNoPublicAddressUnlessAskedFor(t *testing.T) {
	for _, given := range []map[string]any{{"slackChannel": channel, "slackActions": "", "targets": "none"}, {"slackChannel": channel, "slackActions": "off", "targets": "none"}} {
		tpl := synthesised(t, given)
		if urls := tpl.all("AWS::Lambda::Url"); len(urls) > 0 {
			t.Errorf("%v: %s is there", given, urls[0].id)
		}
		for _, p := range tpl.all("AWS::Lambda::Permission") {
			if p.Properties["Principal"] == "*" {
				t.Errorf("%v: %s lets everybody in", given, p.id)
			}
		}
		for _, f := range tpl.all("AWS::Lambda::Function") {
			name := strings.TrimPrefix(f.Properties["FunctionName"].(string), "rollcall-")
			if i := slices.IndexFunc(specs.All(), func(s spec.Spec) bool { return s.Name == name }); i < 0 || specs.All()[i].Only != "" {
				t.Errorf("%v: %s is deployed", given, name)
			}
			if name == "report" && get(f.Properties, "Environment", "Variables", "ROLLCALL_SLACK_ACTIONS") != "off" {
				t.Errorf("%v: messages have buttons that go nowhere", given)
			}
		}
		if got := len(tpl.all("AWS::SecretsManager::Secret")); got != 1 {
			t.Errorf("%v: %d secrets, want the token alone", given, got)
		}
		if _, ok := tpl.Outputs["SlackInteractivityUrl"]; ok {
			t.Errorf("%v: an address is among the outputs", given)
		}
	}
}

func TestAddressesAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	var want, got []string
	for _, function := range specs.All() {
		f := lambdaOf(t, tpl, function)
		if function.URL == nil {
			if most := f.Properties["ReservedConcurrentExecutions"]; most != nil {
				t.Errorf("%s: %v invocations are reserved", function.Name, most)
			}
			continue
		}
		want = append(want, f.id)
		if got := f.Properties["ReservedConcurrentExecutions"]; got != float64(function.URL.Concurrency) {
			t.Errorf("%s: %v invocations at once, want %d", function.Name, got, function.URL.Concurrency)
		}
		type let struct{ Action, Auth, Via any }
		var lets []let
		for _, p := range tpl.all("AWS::Lambda::Permission") {
			if to(p.Properties["FunctionName"]) == f.id {
				lets = append(lets, let{p.Properties["Action"], p.Properties["FunctionUrlAuthType"], p.Properties["InvokedViaFunctionUrl"]})
			}
		}
		slices.SortFunc(lets, func(a, b let) int { return strings.Compare(a.Action.(string), b.Action.(string)) })
		// The second one through the address alone: else any account could invoke it.
		if diff := cmp.Diff([]let{{"lambda:InvokeFunction", nil, true}, {"lambda:InvokeFunctionUrl", "NONE", nil}}, lets); diff != "" {
			t.Errorf("%s: who may call (-want +got):\n%s", function.Name, diff)
		}
	}
	for _, u := range tpl.all("AWS::Lambda::Url") {
		got = append(got, to(u.Properties["TargetFunctionArn"]))
		if u.Properties["AuthType"] != "NONE" || u.Properties["Cors"] != nil {
			t.Errorf("%s: %v", u.id, u.Properties)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions with an address (-specs +template):\n%s", diff)
	}
	if len(want) > 0 && flat(tpl.Outputs["SlackInteractivityUrl"].Value) == "" {
		t.Error("the address is not among the outputs")
	}
}

// TestSecretsHaveOneReaderEach: the token is report's, the signing secret
// slack-actions': whoever calls that from outside is nowhere near the token.
func TestSecretsHaveOneReaderEach(t *testing.T) {
	readers := map[spec.Resource][]string{}
	for _, function := range specs.All() {
		for _, g := range function.Grants {
			for _, r := range g.Resources {
				if r == spec.SlackSecret || r == spec.SigningSecret {
					readers[r] = append(readers[r], function.Name)
				}
			}
		}
	}
	want := map[spec.Resource][]string{spec.SlackSecret: {"report"}, spec.SigningSecret: {"slack-actions"}}
	if diff := cmp.Diff(want, readers); diff != "" {
		t.Errorf("readers of secrets (-want +got):\n%s", diff)
	}
}
