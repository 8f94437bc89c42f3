package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	"rollcall/infra/authorization"
	"rollcall/infra/specs"
	"rollcall/shared/access/awsauth"
	"rollcall/shared/config"
	"rollcall/shared/lambda"
	"rollcall/shared/spec"
	"rollcall/tools/testfile"
)

func TestAccessEntries(t *testing.T) {
	policy := []any{
		map[string]any{
			"AccessScope": map[string]any{"Type": "cluster"},
			"PolicyArn":   "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonAIOpsAssistantPolicy",
		},
		map[string]any{
			"AccessScope": map[string]any{"Type": "namespace", "Namespaces": []any{"kube-system"}},
			"PolicyArn":   "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
		},
	}
	type entry struct {
		Role, Cluster    string
		Policies, Groups any
	}
	// One role is admitted, however many functions read in clusters.
	admitted := func(list ...entry) []entry {
		for i := range list {
			list[i].Role = "Rollcall's reader"
		}
		return list
	}
	tests := []struct {
		name    string
		context map[string]any
		want    []entry
		// role are the clusters in which an operator has to apply the ClusterRole.
		role string
	}{
		{"all clusters: the stack cannot know them", map[string]any{}, nil, ""},
		{"named clusters", map[string]any{"clusters": "b,a"},
			admitted(entry{"", "a", nil, []any{"rollcall"}}, entry{"", "b", nil, []any{"rollcall"}}), "a b"},
		{"all clusters, some named for access", map[string]any{"accessClusters": "prod"},
			admitted(entry{"", "prod", nil, []any{"rollcall"}}), "prod"},
		{"by policy", map[string]any{"clusters": "prod", "kubernetesAccess": "policy"},
			admitted(entry{"", "prod", policy, nil}), ""},
		{"names that differ in a hyphen", map[string]any{"clusters": "a-b,ab"},
			admitted(entry{"", "a-b", nil, []any{"rollcall"}}, entry{"", "ab", nil, []any{"rollcall"}}), "a-b ab"},
		{"none", map[string]any{"clusters": "prod", "kubernetesAccess": "none"}, nil, ""},
		// EKS would refuse an entry in old, and the stack would roll back.
		{"mode CONFIG_MAP, by policy", map[string]any{"clusters": "prod,old", "configMapClusters": "old", "kubernetesAccess": "policy"},
			admitted(entry{"", "prod", policy, nil}), "old"},
		{"mode CONFIG_MAP", map[string]any{"clusters": "prod,old", "configMapClusters": "old"},
			admitted(entry{"", "prod", nil, []any{"rollcall"}}), "old prod"},
		{"mode CONFIG_MAP everywhere", map[string]any{"clusters": "old", "configMapClusters": "old,older"}, nil, "old older"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.context["slackChannel"] = channel
			tpl := synthesised(t, test.context)
			var got []entry
			for _, r := range tpl.all("AWS::EKS::AccessEntry") {
				e := entry{Cluster: flat(r.Properties["ClusterName"]), Groups: r.Properties["KubernetesGroups"]}
				if role := tpl.Resources[to(r.Properties["PrincipalArn"])]; flat(role.Properties["RoleName"]) == "rollcall-reader-${AWS::Region}" {
					e.Role = "Rollcall's reader"
				}
				if list, ok := r.Properties["AccessPolicies"].([]any); ok {
					for _, p := range list {
						m := p.(map[string]any)
						m["PolicyArn"] = flat(m["PolicyArn"])
					}
					e.Policies = list
				}
				got = append(got, e)
			}
			for _, list := range [][]entry{test.want, got} {
				slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.Role+"/"+a.Cluster, b.Role+"/"+b.Cluster) })
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			command, told := tpl.Outputs["ClusterRoleCommand"]
			if want := "for cluster in " + test.role + "; do "; told != (test.role != "") || told && !strings.HasPrefix(flat(command.Value), want) {
				t.Errorf("ClusterRoleCommand: got %q, want %q", flat(command.Value), want)
			}
		})
	}
}

// everyChoice is every choice that puts something into a policy.
func everyChoice() map[string]any {
	return map[string]any{
		"slackChannel": channel, "clusters": "prod,dev", "accessClusters": "prod,dev",
		"cleanup": "prod=delete,dev=dry-run", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718",
		"remedies": "prod=auto,dev=approve", "remedyRoles": "arn:aws:iam::111122223333:role/nodes", "remedyVpcs": "vpc-0a1b2c3d4e5f60718,vpc-0a1b2c3d4e5f60719",
		"slackSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slack-AbCdEf", "slackSecretKmsKeyArn": "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000000",
		"vpcSubnetIds": "subnet-0a1b2c3d4e5f60718", "vpcSecurityGroupIds": "sg-0a1b2c3d4e5f60718", "alarmEmail": "on-call@example.com", "decodeDenied": "on",
		"targets": "pagerduty=rollcall/pagerduty", "targetSecretKmsKeyArn": "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000001",
		"autoModeLogs": "/aws/vendedlogs/eks/*,auto-mode",
	}
}

// variants are the committed template and what other choices make of it.
func variants(t *testing.T) map[string]template {
	t.Helper()
	data := testfile.Read(t, "Rollcall.template.json")
	var committed template
	testfile.Parse(t, data, &committed)
	out := map[string]template{"committed": committed}
	for name, more := range map[string]map[string]any{
		"everything":                       nil,
		"everything under a customer key":  {"kmsKeyArn": "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000002", "targets": everyTarget},
		"everything with access policies":  {"kubernetesAccess": "policy"},
		"everything, approved":             {"remedies": "prod=approve,dev=approve"},
		"everything, with another account": {"spokes": "222233334444/eu-west-1=payments", "externalId": "rollcall-7f3a"},
	} {
		given := everyChoice()
		maps.Copy(given, more)
		out[name] = synthesised(t, given)
	}
	return out
}

// TestPoliciesFitTheAuthorizationReference: each action exists, is granted on
// what it takes, and under keys that are in its requests. A key that is not
// there makes AWS refuse the call, or the condition hold for nothing.
func TestPoliciesFitTheAuthorizationReference(t *testing.T) {
	reference, err := authorization.Load()
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for name, tpl := range variants(t) {
		statements := statementsIn(t, tpl)
		if len(statements) < 100 {
			t.Fatalf("%s: only %d statements were found", name, len(statements))
		}
		for _, s := range statements {
			for _, a := range s.Actions {
				named[a] = true
			}
			for _, p := range reference.Check(s) {
				t.Errorf("%s: %s", name, p)
			}
		}
	}
	listed := testfile.Read(t, "authorization/actions.txt")
	var want []string
	for _, line := range strings.Split(strings.TrimSpace(string(listed)), "\n") {
		if line[0] != '#' {
			want = append(want, line)
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(named))); diff != "" {
		t.Errorf("authorization/actions.txt (-listed +in the templates); run .ci/run authorization after a change:\n%s", diff)
	}
}

// statementsIn are the statements of all policies of a template, wherever they
// stand, and the permissions of functions.
func statementsIn(t *testing.T, tpl template) []authorization.Statement {
	t.Helper()
	var out []authorization.Statement
	for _, id := range slices.Sorted(maps.Keys(tpl.Resources)) {
		r := tpl.Resources[id]
		if r.Type == "AWS::Lambda::Permission" {
			s := authorization.Statement{Where: id, OfResource: true, Actions: flats(r.Properties["Action"]), Conditions: map[string]map[string][]string{}}
			s.Resources = []string{arnOf(t, tpl, r.Properties["FunctionName"])}
			if kind, ok := r.Properties["FunctionUrlAuthType"].(string); ok {
				s.Conditions["StringEquals"] = map[string][]string{"lambda:FunctionUrlAuthType": {kind}}
			}
			out = append(out, s)
			continue
		}
		var walk func(node any, path string)
		walk = func(node any, path string) {
			switch v := node.(type) {
			case map[string]any:
				if effect, ok := v["Effect"]; ok && v["Action"] != nil {
					out = append(out, statementOf(t, tpl, v, fmt.Sprintf("%s%s %v %v", id, path, effect, v["Sid"]), r.Type != "AWS::IAM::Role"))
					return
				}
				for _, key := range []string{"NotAction", "NotResource", "NotPrincipal"} {
					if v[key] != nil {
						t.Errorf("%s%s: a statement with %s is not looked at here", id, path, key)
					}
				}
				for key, inner := range v {
					walk(inner, path+"/"+key)
				}
			case []any:
				for i, inner := range v {
					walk(inner, fmt.Sprintf("%s/%d", path, i))
				}
			}
		}
		walk(r.Properties, "")
	}
	return out
}

func statementOf(t *testing.T, tpl template, v map[string]any, where string, ofResource bool) authorization.Statement {
	t.Helper()
	s := authorization.Statement{Where: where, OfResource: ofResource, Deny: v["Effect"] == "Deny", Actions: flats(v["Action"]), Conditions: map[string]map[string][]string{}}
	for _, arn := range several(v["Resource"]) {
		s.Resources = append(s.Resources, arnOf(t, tpl, arn))
	}
	conditions, _ := v["Condition"].(map[string]any)
	for operator, keys := range conditions {
		s.Conditions[operator] = map[string][]string{}
		inner, _ := keys.(map[string]any)
		for key, values := range inner {
			s.Conditions[operator][key] = flats(values)
		}
	}
	return s
}

// arnOf is an ARN of a template as it will look, with the logical id for a name
// that CloudFormation makes up.
func arnOf(t *testing.T, tpl template, value any) string {
	t.Helper()
	arn := strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::Region}", "us-west-2", "${AWS::AccountId}", "111122223333").Replace(flat(value))
	for {
		before, rest, found := strings.Cut(arn, "${")
		if !found {
			return arn
		}
		name, after, _ := strings.Cut(rest, "}")
		id, _, _ := strings.Cut(name, ".")
		const of = "us-west-2:111122223333:"
		known, ok := map[string]string{
			"AWS::S3::Bucket": "arn:aws:s3:::" + strings.ToLower(id),
			"AWS::SQS::Queue": "arn:aws:sqs:" + of + id, "AWS::SNS::Topic": "arn:aws:sns:" + of + id,
			"AWS::Logs::LogGroup": "arn:aws:logs:" + of + "log-group:" + id + ":*", "AWS::DynamoDB::Table": "arn:aws:dynamodb:" + of + "table/" + id,
			"AWS::Events::EventBus": "arn:aws:events:" + of + "event-bus/" + id, "AWS::Lambda::Function": "arn:aws:lambda:" + of + "function:" + id,
			"AWS::SecretsManager::Secret": "arn:aws:secretsmanager:" + of + "secret:" + id, "AWS::KMS::Key": "arn:aws:kms:" + of + "key/" + id,
			"AWS::IAM::Role": "arn:aws:iam::111122223333:role/" + id,
		}[tpl.Resources[id].Type]
		if !ok {
			t.Fatalf("how the ARN of %s (%s) looks is not known here", name, tpl.Resources[id].Type)
		}
		arn = before + known + after
	}
}

// TestBusIsGuarded: only the functions that are granted it put events on Rollcall's bus; a
// test message is the one exception.
func TestBusIsGuarded(t *testing.T) {
	tpl := made(t, asSynth)
	policies := tpl.all("AWS::Events::EventBusPolicy")
	if len(policies) != 1 {
		t.Fatalf("%d policies of buses", len(policies))
	}
	st := policies[0].Properties["Statement"]
	var want []string
	for _, s := range specs.All() {
		for _, st := range statementsOf(t, tpl, s) {
			if slices.Contains(st.Actions, "events:PutEvents") {
				want = append(want, camel(s.Name)+"Role")
			}
		}
	}
	got := flats(get(st, "Condition", "ArnNotEquals", "aws:PrincipalArn"))
	for i, arn := range got {
		got[i] = strings.TrimPrefix(arn[:strings.Index(arn, "Role")+len("Role")], "${")
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || len(want) < 3 {
		t.Errorf("who may put events (-granted +not denied):\n%s", diff)
	}
	if get(st, "Effect") != "Deny" || get(st, "Principal") != "*" || get(st, "Action") != "events:PutEvents" ||
		get(st, "Condition", "ForAnyValue:StringNotEquals", "events:detail-type") != "Rollcall Test Message" {
		t.Errorf("the policy is %v", st)
	}
}

// shells are those that people paste commands into: bash on Linux, zsh on
// macOS.
func shells() []string { return []string{"bash", "zsh"} }

// recorder stands for a program: it writes down how it was called and what it
// was given, one line a call, and does nothing.
const recorder = `#!/bin/sh
{
  printf '%s' "${0##*/}"
  for word do printf ' [%s]' "$word"; done
  case "$*" in *put-secret-value*) printf ' <%s>' "$(cat)";; esac
  echo
} >> "$CALLS"
`

// paste runs a command as a shell does into which it is pasted, with something
// typed where it asks, and tells which calls of aws and kubectl came of it.
func paste(t *testing.T, shell, command, typed string) []string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range []string{"aws", "kubectl"} {
		if err := os.WriteFile(filepath.Join(dir, program), []byte(recorder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	calls := filepath.Join(dir, "calls")
	arguments := []string{"--norc", "--noprofile", "-c", command}
	if shell == "zsh" {
		arguments = []string{"-f", "-c", command} // -f: no settings of the user
	}
	run := exec.Command(shell, arguments...)
	run.Dir = ".."
	run.Env = []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "CALLS=" + calls, "TMPDIR=" + dir, "LC_ALL=C"}
	run.Stdin = strings.NewReader(typed)
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s\n%s", shell, err, command, out)
	}
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatalf("%s: nothing was called by %s", shell, command)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// token is what a reference of CloudFormation is until it is deployed.
var token = regexp.MustCompile(`\$\{([A-Za-z:]+)[A-Za-z0-9]*(\.[A-Za-z]+)?\}`)

// deployed is an output as CloudFormation would give it.
func deployed(tpl template, name string) string {
	return token.ReplaceAllStringFunc(flat(tpl.Outputs[name].Value), func(reference string) string {
		id := strings.Trim(reference, "${}")
		switch {
		case id == "AWS::Region":
			return "us-west-2"
		case id == "AWS::Partition":
			return "aws"
		case strings.HasSuffix(id, ".Arn"):
			return "arn:aws:iam::123456789012:role/" + strings.TrimSuffix(id, ".Arn")
		}
		return "arn:aws:secretsmanager:us-west-2:123456789012:secret:" + id + "-AbCdEf"
	})
}

// Every output that is a command does the same in bash and in zsh: what it
// must, to the cluster, region and secret that it names.
func TestCommands(t *testing.T) {
	byRole := synthesised(t, map[string]any{"slackChannel": channel, "clusters": "prod,dev,old", "configMapClusters": "old", "slackActions": "on"})
	byPolicy := synthesised(t, map[string]any{"slackChannel": channel, "kubernetesAccess": "policy"})
	tables := map[string]template{"standard": theTemplate(t), "by role": byRole, "by policy": byPolicy}
	for _, shell := range shells() {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s IS NOT INSTALLED: the printed commands were not tried in it (go test ./infra/... says so too; .ci/run installs it)", shell)
			}
			tried := map[string]bool{}
			for where, tpl := range tables {
				for _, name := range slices.Sorted(maps.Keys(tpl.Outputs)) {
					if !strings.HasSuffix(name, "Command") {
						continue
					}
					tried[name] = true
					command := deployed(tpl, name)
					want := wanted(t, name, command)
					if diff := cmp.Diff(want, withoutFiles(paste(t, shell, command, "xoxb-1 $x `y` \\n*\n"))); diff != "" {
						t.Errorf("%s, %s: %s\ncalls (-want +got):\n%s", where, name, command, diff)
					}
				}
			}
			if len(tried) != 5 {
				t.Errorf("not every command was tried: %v", tried)
			}
		})
	}
}

// kubeconfig is a temporary file's name.
var kubeconfig = regexp.MustCompile(`\[[^\]]*/tmp\.[^\]]*\]`)

func withoutFiles(calls []string) []string {
	for i := range calls {
		calls[i] = kubeconfig.ReplaceAllString(calls[i], "[FILE]")
	}
	return calls
}

// wanted are the calls that a command must come to.
func wanted(t *testing.T, name, command string) []string {
	t.Helper()
	role := regexp.MustCompile(`arn:aws:iam::123456789012:role/ReaderRole[0-9A-F]*`).FindString(command)
	if strings.HasPrefix(name, "Kubernetes") && role == "" {
		t.Errorf("%s does not name the reader", name)
	}
	var calls []string
	apply := func(clusters ...string) {
		for _, c := range clusters {
			calls = append(calls, "aws [eks] [update-kubeconfig] [--region] [us-west-2] [--name] ["+c+"] [--kubeconfig] [FILE]",
				"kubectl [--kubeconfig] [FILE] [apply] [-f] [deploy/clusterrole.yaml]")
		}
	}
	entry := func(verb, role string) string {
		return "aws [eks] [" + verb + "] [--region] [us-west-2] [--cluster-name] [CLUSTER] [--principal-arn] [" + role + "]"
	}
	switch name {
	case "SlackSecretCommand", "SlackSigningSecretCommand":
		secret := regexp.MustCompile(`--secret-id (\S+)`).FindStringSubmatch(command)[1]
		// What was typed arrives as it was, without the end of the line.
		return []string{"aws [secretsmanager] [put-secret-value] [--region] [us-west-2] [--secret-id] [" + secret + "] [--secret-string] [file:///dev/stdin] <xoxb-1 $x `y` \\n*>"}
	case "KubernetesAccessCommand":
		calls = append(calls, entry("delete-access-entry", role), entry("create-access-entry", role)+" [--kubernetes-groups] [rollcall]")
		apply("CLUSTER")
	case "ClusterRoleCommand":
		apply("dev", "old", "prod")
	case "KubernetesPolicyCommand":
		policy := "[--policy-arn] [arn:aws:eks::aws:cluster-access-policy/"
		calls = append(calls, entry("delete-access-entry", role), entry("create-access-entry", role),
			entry("associate-access-policy", role)+" "+policy+"AmazonAIOpsAssistantPolicy] [--access-scope] [type=cluster]",
			entry("associate-access-policy", role)+" "+policy+"AmazonEKSViewPolicy] [--access-scope] [type=namespace,namespaces=kube-system]")
	default:
		t.Errorf("%s: no rule for this command", name)
	}
	return calls
}

// What the stack prints for a cluster of mode CONFIG_MAP is what its authenticator
// reads: a mapping for the role that reads in clusters, into the group that the
// ClusterRole is bound to.
func TestAuthRoles(t *testing.T) {
	got, err := awsauth.Roles(deployed(theTemplate(t), "AwsAuthRoles"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 {
		t.Errorf("%d mappings: %+v", len(got), got)
	}
	for _, m := range got {
		if !slices.Equal(m.Groups, []string{"rollcall"}) || m.Fault != "" || m.Stray != "" || m.Username == "" {
			t.Errorf("mapping %+v", m)
		}
	}
}

// What the wide policy gives is said where it is offered.
func TestWidePolicyIsSaid(t *testing.T) {
	byPolicy := synthesised(t, map[string]any{"slackChannel": channel, "kubernetesAccess": "policy"})
	for _, place := range []struct{ name, text string }{
		{"output", byPolicy.Outputs["KubernetesPolicyCommand"].Description}, {"README", file(t, "../README.md")}, {"settings", file(t, "../docs/settings.md")}, {"deploy page", file(t, "../docs/deploy.md")},
	} {
		for _, line := range strings.Split(place.text, "\n") {
			if strings.Contains(line, "AmazonAIOpsAssistantPolicy") && !strings.Contains(line, "cluster-access-policy/") &&
				!(strings.Contains(line, "logs of all pods") && strings.Contains(line, "every ConfigMap")) {
				t.Errorf("%s offers AmazonAIOpsAssistantPolicy without saying what it gives: %s", place.name, line)
			}
		}
		if place.name != "README" && !strings.Contains(place.text, "AmazonAIOpsAssistantPolicy") {
			t.Errorf("%s does not name the policy: this test looks for the wrong thing", place.name)
		}
	}
}

// unreserved is what Lambda keeps of an account's concurrency for functions
// that reserve none (PutFunctionConcurrency: "leave at least 100 simultaneous
// executions unreserved").
const unreserved = 100

// The page says how much concurrency the account must have for what is reserved.
func TestConcurrencyIsSaid(t *testing.T) {
	reserved := 0
	for _, spec := range specs.All() {
		if spec.URL != nil {
			reserved += spec.URL.Concurrency
		}
	}
	page := file(t, "../docs/deploy.md")
	for _, want := range []string{fmt.Sprintf("Lambda keeps %d unreserved", unreserved), fmt.Sprintf("must be at least %d,", unreserved+reserved), "`UnreservedConcurrentExecutions` of " + fmt.Sprint(unreserved+reserved) + " or more"} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/deploy.md does not say %q", want)
		}
	}
	if reserved == 0 {
		t.Error("nothing is reserved: this test looks for the wrong thing")
	}
}

func file(t *testing.T, path string) string {
	t.Helper()
	return string(testfile.Read(t, path))
}

const dashboardType = "AWS::CloudWatch::Dashboard"

// TestDashboard: it asks only logs of functions that there are, shows each alarm, and no
// more metrics than are free.
func TestDashboard(t *testing.T) {
	tpl := theTemplate(t)
	list := tpl.all(dashboardType)
	if len(list) != 1 {
		t.Fatalf("%d dashboards, want one", len(list))
	}
	var body strings.Builder
	for _, part := range get(list[0].Properties, "DashboardBody", "Fn::Join", 1).([]any) {
		text, ok := part.(string)
		if !ok {
			text = to(part)
		}
		body.WriteString(text)
	}
	var dashboard struct {
		Widgets []struct {
			Type       string
			Properties struct {
				Query   string
				Alarms  []string
				Metrics [][]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body.String()), &dashboard); err != nil {
		t.Fatalf("%v\n%s", err, body.String())
	}
	metrics := 0
	var alarms []string
	for _, w := range dashboard.Widgets {
		metrics += len(w.Properties.Metrics)
		alarms = append(alarms, w.Properties.Alarms...)
		for _, m := range w.Properties.Metrics {
			if m[0] == lambda.StackNamespace("rollcall") && m[1] != lambda.Failures && !slices.ContainsFunc(specs.All(), func(f spec.Spec) bool { return hasAlarm(f, m[1]) }) {
				t.Errorf("a metric without a writer: %v", m)
			}
		}
		if w.Type != "log" {
			continue
		}
		for _, m := range regexp.MustCompile(`SOURCE '([^']+)' \| `).FindAllStringSubmatch(w.Properties.Query, -1) {
			if !slices.ContainsFunc(specs.All(), func(f spec.Spec) bool { return m[1] == "/aws/lambda/rollcall-"+f.Name }) {
				t.Errorf("it asks the log of no function: %s", w.Properties.Query)
			}
		}
	}
	// "First 3 dashboards (up to 50 metrics) per month" are free (CloudWatch pricing).
	if metrics == 0 || metrics > 50 {
		t.Errorf("%d metrics, want 1 to 50", metrics)
	}
	if got, want := len(alarms), len(tpl.all(alarmType)); got != want {
		t.Errorf("it shows %d alarms of %d", got, want)
	}
}

// TestNoDashboard: it can be left out.
func TestNoDashboard(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "dashboard": "off"})
	if n := len(tpl.all(dashboardType)); n > 0 {
		t.Errorf("%d dashboards", n)
	}
}

func hasAlarm(f spec.Spec, metric any) bool {
	return slices.ContainsFunc(f.Alarms, func(a spec.Alarm) bool { return a.Metric == metric })
}

// TestWhoMayDeleteInterfaces: no function, where no cluster has opted in; else
// eni-cleanup alone, and only what bears the VPC CNI's tag and is of the
// clusters, or in the VPCs, that have.
func TestWhoMayDeleteInterfaces(t *testing.T) {
	const (
		action   = "ec2:DeleteNetworkInterface"
		anything = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}:network-interface/*"
		instance = "aws:ResourceTag/node.k8s.amazonaws.com/instance_id"
		cluster  = "aws:ResourceTag/cluster.k8s.amazonaws.com/name"
	)
	of := func(clusters ...any) allowed {
		return allowed{Sid: "DeleteLeakedInterfaces", Actions: []string{action}, Resources: []string{anything}, Conditions: map[string]any{
			"StringLike": map[string]any{instance: []any{"i-*"}}, "StringEquals": map[string]any{cluster: clusters},
		}}
	}
	for _, test := range []struct {
		name  string
		given map[string]any
		want  []allowed
	}{
		{"the defaults", nil, nil},
		{"report", map[string]any{"cleanup": "report"}, nil},
		{"report, by name", map[string]any{"cleanup": "prod=report"}, nil},
		{"report, with untagged opted in", map[string]any{"cleanup": "prod=report", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718"}, nil},
		{"dry-run", map[string]any{"cleanup": "dev=dry-run,prod=report"}, []allowed{of("dev")}},
		{"delete", map[string]any{"cleanup": "prod=delete,dev=dry-run,test=report"}, []allowed{of("dev", "prod")}},
		{"untagged", map[string]any{"cleanup": "prod=delete", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718"}, []allowed{
			of("prod"),
			{Sid: "DeleteLeakedInterfacesWithoutCluster", Actions: []string{action}, Resources: []string{anything}, Conditions: map[string]any{
				"StringLike": map[string]any{instance: []any{"i-*"}}, "Null": map[string]any{cluster: []any{"true"}},
				"ArnLike": map[string]any{"ec2:Vpc": []any{"arn:${AWS::Partition}:ec2:${AWS::Region}:*:vpc/vpc-0a1b2c3d4e5f60718"}},
			}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			given := map[string]any{"slackChannel": channel}
			for k, v := range test.given {
				given[k] = v
			}
			tpl := synthesised(t, given)
			var got []allowed
			for _, spec := range specs.All() {
				for _, s := range statementsOf(t, tpl, spec) {
					if !slices.Contains(s.Actions, action) {
						continue
					}
					if spec.Name != enicleanup.Name {
						t.Errorf("%s may delete interfaces", spec.Name)
					}
					s.Conditions = flatValues(s.Conditions)
					got = append(got, s)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
		})
	}
}

// flatValues are conditions whose values are plain texts, lists of them always.
func flatValues(conditions any) any {
	out := map[string]any{}
	m, _ := conditions.(map[string]any)
	for operator, keys := range m {
		inner := map[string]any{}
		k, _ := keys.(map[string]any)
		for key, values := range k {
			var list []any
			for _, v := range several(values) {
				list = append(list, flat(v))
			}
			inner[key] = list
		}
		out[operator] = inner
	}
	return out
}

// TestEvidence: the bucket belongs to the account alone, what is in it is encrypted and
// goes, and only TLS reaches it. Detectors alone may write, and replace nothing.
func TestEvidence(t *testing.T) {
	tpl := theTemplate(t)
	buckets, policies := tpl.all("AWS::S3::Bucket"), tpl.all("AWS::S3::BucketPolicy")
	if len(buckets) != 1 || len(policies) != 1 {
		t.Fatalf("%d buckets, %d policies, want one of each", len(buckets), len(policies))
	}
	b := buckets[0]
	if b.DeletionPolicy != "Retain" {
		t.Errorf("deletion policy %q, want Retain", b.DeletionPolicy)
	}
	closed := map[string]any{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true}
	for what, test := range map[string]struct{ want, got any }{
		"public access": {closed, b.Properties["PublicAccessBlockConfiguration"]},
		"encryption":    {"AES256", get(b.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "SSEAlgorithm")},
		"owner":         {"BucketOwnerEnforced", get(b.Properties, "OwnershipControls", "Rules", 0, "ObjectOwnership")},
		"lifecycle":     {30.0, get(b.Properties, "LifecycleConfiguration", "Rules", 0, "ExpirationInDays")},
		"status":        {"Enabled", get(b.Properties, "LifecycleConfiguration", "Rules", 0, "Status")},
		"policy":        {"Deny", get(policies[0].Properties, "PolicyDocument", "Statement", 0, "Effect")},
		"without TLS":   {map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}, get(policies[0].Properties, "PolicyDocument", "Statement", 0, "Condition")},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	var writers []string
	for _, of := range specs.All() {
		for _, s := range statementsOf(t, tpl, of) {
			if slices.Contains(s.Actions, "s3:PutObject") {
				writers = append(writers, of.Name)
			}
		}
	}
	slices.Sort(writers)
	if diff := cmp.Diff([]string{"join-check", "launch-watch", "nodegroup-watch", "spot-report", "subnet-watch", "sweep", "zone-watch"}, writers); diff != "" {
		t.Errorf("who may write (-want +got):\n%s", diff)
	}
}

// TestNoEvidence: without it there is neither a bucket nor a permission.
func TestNoEvidence(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "evidence": "off"})
	if n := len(tpl.all("AWS::S3::Bucket")) + len(tpl.all("AWS::S3::BucketPolicy")); n > 0 {
		t.Errorf("%d resources of S3", n)
	}
	for _, of := range specs.All() {
		for _, s := range statementsOf(t, tpl, of) {
			if s.Sid == "KeepEvidence" {
				t.Errorf("%s may keep evidence", of.Name)
			}
		}
		if bucket := get(lambdaOf(t, tpl, of).Properties, "Environment", "Variables", string(config.EvidenceBucket)); bucket != nil && bucket != "" {
			t.Errorf("%s has the bucket %v", of.Name, bucket)
		}
	}
	if _, err := synthesise(map[string]any{"slackChannel": channel, "evidence": "0"}); err == nil {
		t.Error("0 days are no setting")
	}
}

// lambdaOf finds the function of a spec.
func lambdaOf(t *testing.T, tpl template, of spec.Spec) resource {
	t.Helper()
	for _, r := range tpl.all("AWS::Lambda::Function") {
		if r.Properties["FunctionName"] == "rollcall-"+of.Name {
			return r
		}
	}
	t.Fatalf("no function for %s", of.Name)
	return resource{}
}

func TestFunctionsAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	if got, want := len(tpl.all("AWS::Lambda::Function")), len(specs.All()); got != want {
		t.Errorf("got %d functions, want %d", got, want)
	}
	for _, of := range specs.All() {
		t.Run(of.Name, func(t *testing.T) {
			r := lambdaOf(t, tpl, of)
			got := map[string]any{}
			for _, key := range []string{"Runtime", "Handler", "Architectures", "MemorySize", "Timeout", "Description"} {
				got[key] = r.Properties[key]
			}
			want := map[string]any{
				"Runtime":       "provided.al2023",
				"Handler":       "bootstrap",
				"Architectures": []any{"arm64"},
				"MemorySize":    float64(of.Memory),
				"Timeout":       of.Timeout.Seconds(),
				"Description":   of.About,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
			if got, want := r.Metadata["Rollcall::Folder"], "functions/"+of.Name; got != want {
				t.Errorf("folder: got %q, want %q", got, want)
			}
			if got := get(r.Properties, "LoggingConfig", "LogFormat"); got != "Text" {
				t.Errorf("log format: got %q, want Text: with JSON, Lambda would wrap the metrics lines", got)
			}
			logs := tpl.Resources[to(get(r.Properties, "LoggingConfig", "LogGroup"))]
			if got := logs.Properties["RetentionInDays"]; got != 30.0 {
				t.Errorf("log retention: got %v, want 30", got)
			}
			loops := of.Name == "join-check" || of.Name == "nodegroup-watch" || of.Name == "change-check" || of.Name == "report" || of.Name == "remediate" || of.Name == "sweep" || of.Name == "notify-targets" // they write to their own queues
			if got, want := r.Properties["RecursiveLoop"], map[bool]string{true: "Allow", false: "Terminate"}[loops]; got != want {
				t.Errorf("recursive loop: got %q, want %q", got, want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		variables, _ := get(lambdaOf(t, tpl, of).Properties, "Environment", "Variables").(map[string]any)
		var want []string
		for _, v := range of.Environment {
			want = append(want, string(v))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(variables))); diff != "" {
			t.Errorf("%s: variables (-spec +template):\n%s", of.Name, diff)
		}
		for _, v := range []spec.Variable{config.StageClock, config.StageEndpoints} {
			if _, ok := variables[string(v)]; ok {
				t.Errorf("%s: %s is for the local stage only", of.Name, v)
			}
		}
		for name, value := range variables {
			text := flat(value)
			if strings.Contains(text, "{{resolve:") || strings.Contains(text, "xox") {
				t.Errorf("%s: %s holds a secret: %q", of.Name, name, text)
			}
			if text == "" {
				t.Errorf("%s: %s is empty", of.Name, name)
			}
		}
	}
}

// The functions' environment must be what they accept.
func TestEnvironmentLoads(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		variables, _ := get(lambdaOf(t, tpl, of).Properties, "Environment", "Variables").(map[string]any)
		getenv := func(name string) string {
			value, ok := variables[name]
			if !ok {
				return ""
			}
			if text, ok := value.(string); ok {
				return text
			}
			return "https://" + to(value) + ".example" // what a reference will be
		}
		if _, err := config.Load(getenv, of.Environment); err != nil {
			t.Errorf("%s: %v", of.Name, err)
		}
	}
}

func TestEventSources(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		if of.Queue == nil {
			continue
		}
		function := lambdaOf(t, tpl, of)
		var found int
		for _, m := range tpl.all("AWS::Lambda::EventSourceMapping") {
			if to(m.Properties["FunctionName"]) != function.id {
				continue
			}
			found++
			got := map[string]any{}
			for _, key := range []string{"BatchSize", "MaximumBatchingWindowInSeconds", "FunctionResponseTypes", "ScalingConfig"} {
				if value, ok := m.Properties[key]; ok {
					got[key] = value
				}
			}
			want := map[string]any{
				"BatchSize":             float64(of.Queue.Batch),
				"FunctionResponseTypes": []any{"ReportBatchItemFailures"},
				"ScalingConfig":         map[string]any{"MaximumConcurrency": float64(of.Queue.Concurrency)},
			}
			if of.Queue.Window > 0 {
				want["MaximumBatchingWindowInSeconds"] = of.Queue.Window.Seconds()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: event source (-want +got):\n%s", of.Name, diff)
			}
			if got, want := flat(tpl.Resources[to(m.Properties["EventSourceArn"])].Properties["QueueName"]), queueName(*of.Queue); got != want {
				t.Errorf("%s reads %q, want %q", of.Name, got, want)
			}
		}
		if found != 1 {
			t.Errorf("%s has %d event sources, want 1", of.Name, found)
		}
	}
}

func queueName(q spec.Queue) string {
	if q.FIFO {
		return "rollcall-" + string(q.Resource) + ".fifo"
	}
	return "rollcall-" + string(q.Resource)
}

func TestRulesAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	type waker struct{ Function, Target, Bus, Pattern, Schedule string }
	var want, got []waker
	for _, of := range specs.All() {
		for _, r := range of.Rules {
			target := "function"
			if of.Queue != nil && !r.Direct {
				target = queueName(*of.Queue)
			}
			bus := ""
			if r.Bus == spec.Bus {
				bus = "rollcall"
			}
			want = append(want, waker{Function: of.Name, Target: target, Bus: bus, Pattern: canonical(t, []byte(r.Pattern))})
		}
		for _, s := range of.Schedules {
			want = append(want, waker{Function: of.Name, Target: "function", Schedule: rate(s.Every)})
		}
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		if targets, _ := r.Properties["Targets"].([]any); len(targets) != 1 {
			t.Fatalf("%s has %d targets, want 1", r.id, len(targets))
		}
		w := waker{Function: flat(get(r.Properties, "Targets", 0, "Id")), Target: "function"}
		target := tpl.Resources[to(get(r.Properties, "Targets", 0, "Arn"))]
		if target.Type == "AWS::SQS::Queue" {
			w.Target = flat(target.Properties["QueueName"])
		} else if target.Properties["FunctionName"] != "rollcall-"+w.Function {
			t.Errorf("%s wakes %v", r.id, target.Properties["FunctionName"])
		}
		if on, ok := r.Properties["EventBusName"]; ok {
			w.Bus = flat(tpl.Resources[to(on)].Properties["Name"])
		}
		if pattern, ok := r.Properties["EventPattern"]; ok {
			data := testfile.JSON(t, pattern)
			w.Pattern = canonical(t, data)
		}
		w.Schedule, _ = r.Properties["ScheduleExpression"].(string)
		if got := r.Properties["State"]; got != "ENABLED" {
			t.Errorf("%s is %v", r.id, got)
		}
		got = append(got, w)
	}
	order := func(a, b waker) int {
		return strings.Compare(a.Function+a.Schedule+a.Pattern, b.Function+b.Schedule+b.Pattern)
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-spec +template):\n%s", diff)
	}
}

func canonical(t *testing.T, data []byte) string {
	t.Helper()
	var value any
	testfile.Parse(t, data, &value)
	return string(testfile.JSON(t, value))
}

// A rule may wake a function only through a permission for that rule.
func TestInvokePermissions(t *testing.T) {
	tpl := theTemplate(t)
	allowed := map[string]string{}
	for _, p := range tpl.all("AWS::Lambda::Permission") {
		if p.Properties["Principal"] == "*" {
			continue // of an address: TestAddressesAreThoseOfTheSpecs
		}
		rule := to(p.Properties["SourceArn"])
		if p.Properties["Principal"] != "events.amazonaws.com" || tpl.Resources[rule].Type != "AWS::Events::Rule" {
			t.Errorf("%s lets %v invoke from %q", p.id, p.Properties["Principal"], rule)
		}
		allowed[rule] = to(p.Properties["FunctionName"])
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		target := to(get(r.Properties, "Targets", 0, "Arn"))
		if tpl.Resources[target].Type == "AWS::Lambda::Function" && allowed[r.id] != target {
			t.Errorf("%s may not invoke %s", r.id, target)
		}
	}
}

func TestRate(t *testing.T) {
	tests := []struct {
		every time.Duration
		want  string
	}{
		{time.Minute, "rate(1 minute)"},
		{5 * time.Minute, "rate(5 minutes)"},
		{90 * time.Minute, "rate(90 minutes)"},
		{time.Hour, "rate(1 hour)"},
		{24 * time.Hour, "rate(24 hours)"},
	}
	for _, test := range tests {
		if got := rate(test.every); got != test.want {
			t.Errorf("rate(%s): got %q, want %q", test.every, got, test.want)
		}
	}
}

func TestSpan(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{10 * time.Minute, "10m"},
		{90 * time.Second, "1m30s"},
		{24 * time.Hour, "24h"},
		{90 * time.Minute, "1h30m"},
		{10 * time.Second, "10s"},
		{time.Hour + 20*time.Minute, "1h20m"},
	}
	for _, test := range tests {
		if got := span(test.d); got != test.want {
			t.Errorf("span(%v): got %q, want %q", test.d, got, test.want)
		}
	}
}

func TestLambdaHasLogsOfItsOwnName(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		logs := tpl.Resources[to(get(lambdaOf(t, tpl, of).Properties, "LoggingConfig", "LogGroup"))]
		if got, want := logs.Properties["LogGroupName"], "/aws/lambda/rollcall-"+of.Name; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
