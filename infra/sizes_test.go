package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	remediate "rollcall/functions/remediate/spec"
	"rollcall/infra/limits"
	"rollcall/infra/specs"
	policies "rollcall/local/platform/template"
	"rollcall/shared/config"
	"rollcall/shared/remedy/optin"
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

// write is a file that takes the template of TestAHundredClusters (make hundred-clusters).
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
		bus, err := json.Marshal(r.Properties["EventBusName"])
		if err != nil {
			t.Fatal(err)
		}
		buses[string(bus)]++
		pattern, err := json.Marshal(r.Properties["EventPattern"])
		if err != nil {
			t.Fatal(err)
		}
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
	tpl, err := synthesise(everythingFor(clustersOf(100, 32)))
	if err != nil {
		t.Fatal(err)
	}
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
		if err := os.WriteFile(*write, tpl.source, 0o644); err != nil {
			t.Fatal(err)
		}
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
			t.Errorf("%s is told of %d clusters", spec.Name, len(c.Clusters))
		}
		if slices.Contains(spec.Environment, config.Remedies) && len(c.Remedied) != 100 {
			t.Errorf("%s is told of remedies in %d clusters", spec.Name, len(c.Remedied))
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
	tpl, err := synthesise(map[string]any{"slackChannel": channel, "remedies": strings.Join(setting, ","), "remedyRoles": nodeRole})
	if err != nil {
		t.Fatal(err)
	}
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
		t.Error("a role that nobody named may be admitted")
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
