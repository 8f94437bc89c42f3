package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/access/awsauth"
)

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
		arguments = []string{"-f", "-c", command} // -f: nobody's settings
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
	byRole, err := synthesise(map[string]any{"slackChannel": channel, "clusters": "prod,dev,old", "configMapClusters": "old", "kubernetesAccess": "group", "slackActions": "on"})
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]template{"standard": theTemplate(t), "by role": byRole}
	for _, shell := range shells() {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s IS NOT INSTALLED: the printed commands were not tried in it (make test-infra says so too; .ci/run installs it)", shell)
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
		t.Errorf("%s: nobody says what this command must do", name)
	}
	return calls
}

// What a cluster of mode CONFIG_MAP is told to add is what its authenticator
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
	for _, place := range []struct{ name, text string }{
		{"output", theTemplateText(t)}, {"README", file(t, "../README.md")}, {"settings", file(t, "../docs/settings.md")}, {"deploy page", file(t, "../docs/deploy.md")},
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
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// theTemplateText is the outputs' descriptions, a line each.
func theTemplateText(t *testing.T) string {
	t.Helper()
	var lines []string
	for _, o := range theTemplate(t).Outputs {
		lines = append(lines, o.Description)
	}
	return strings.Join(lines, "\n")
}
