package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/settings"
	"rollcall/infra/standard/parameters"
	"rollcall/shared/relay"
	"rollcall/shared/settingsfile"
	"rollcall/tools/expect"
)

const modulesRoot = "../../deploy/terraform"

// TestGenerated: what follows from the template's parameters is written anew, and the same.
func TestGenerated(t *testing.T) {
	root := filepath.Join(t.TempDir(), "terraform")
	expect.OK(t, os.CopyFS(root, os.DirFS(modulesRoot)))
	expect.OK(t, write(root))
	for _, name := range append([]string{"settings.tf"}, readmes()...) {
		is, err := os.ReadFile(filepath.Join(modulesRoot, name))
		expect.OK(t, err)
		want, err := os.ReadFile(filepath.Join(root, name))
		expect.OK(t, err)
		if diff := cmp.Diff(string(want), string(is)); diff != "" {
			t.Errorf("%s is not current: make generate (-want +is):\n%s", name, diff)
		}
	}
}

func readmes() []string {
	var list []string
	for _, m := range modules() {
		list = append(list, filepath.Join(m, "README.md"))
	}
	return list
}

// TestVariablesAreTheTemplates: names, defaults and descriptions of the modules' variables are
// those of the templates' parameters, and every parameter gets a value.
func TestVariablesAreTheTemplates(t *testing.T) {
	for _, of := range []struct {
		module, template string
		// given are parameters that the module fills in, from where it says.
		given []string
	}{
		{".", "RollcallStandard", []string{parameters.CodeBucket, parameters.CodePrefix, parameters.NamePrefix}},
		{"modules/spoke", "RollcallSpoke", nil},
		{"modules/relay", "RollcallRelay", []string{"FunctionName", "ClusterArn", "ClusterEndpoint", "ClusterAuthority", "ClusterSecurityGroup", "VpcId", "SubnetA", "SubnetB", "CodeKey"}},
	} {
		m, err := read(filepath.Join(modulesRoot, of.module))
		expect.OK(t, err)
		variables := map[string]variable{}
		for _, v := range m.Variables {
			variables[v.Name] = v
			if v.Description == "" || v.Type == "" {
				t.Errorf("%s: the variable %s has no description or no type", of.module, v.Name)
			}
		}
		for _, o := range m.Outputs {
			if o.Description == "" {
				t.Errorf("%s: the output %s has no description", of.module, o.Name)
			}
		}
		for name, p := range templateParameters(t, of.template) {
			if slices.Contains(of.given, name) || of.module == "." && isComputed(name) {
				continue
			}
			v, ok := variables[snake(strings.ToLower(name[:1])+name[1:])]
			if !ok {
				t.Errorf("%s has no variable for the parameter %s", of.module, name)
				continue
			}
			want := ""
			if p.Default != nil {
				text, err := json.Marshal(*p.Default)
				expect.OK(t, err)
				want = string(text)
			}
			if v.Description != p.Description || v.Default != want {
				t.Errorf("%s, %s: the variable says %q and defaults to %s, the parameter %q and %s", of.module, name, v.Description, v.Default, p.Description, want)
			}
		}
	}
}

func isComputed(name string) bool {
	i := slices.IndexFunc(parameters.All(), func(p parameters.Parameter) bool { return p.Name == name })
	return i >= 0 && parameters.All()[i].Setting == ""
}

type templateParameter struct {
	Description string
	Default     *string
}

func templateParameters(t *testing.T, name string) map[string]templateParameter {
	t.Helper()
	text, err := os.ReadFile("../../infra/" + name + ".template.json")
	expect.OK(t, err)
	var template struct{ Parameters map[string]templateParameter }
	expect.OK(t, json.Unmarshal(text, &template))
	return template.Parameters
}

// TestTerraform runs what make test-terraform is for: format, validate, plan, apply and test of
// the modules and examples, over a provider that serves the schemas that they use. What the
// plan hands to CloudFormation is what rollcall deploy would.
func TestTerraform(t *testing.T) {
	tf := newTerraform(t)
	t.Run("format", func(t *testing.T) { tf.run(t, ".", "fmt", "-check", "-diff", "-recursive") })
	for _, dir := range []string{".", "modules/spoke", "modules/relay", "modules/cluster", "modules/code", "examples/one-account", "examples/organization"} {
		t.Run("validate "+dir, func(t *testing.T) {
			tf.run(t, dir, "init", "-backend=false")
			tf.run(t, dir, "validate")
		})
	}
	for _, dir := range []string{".", "modules/relay"} {
		t.Run("test "+dir, func(t *testing.T) { t.Log(tf.run(t, dir, "test")) })
	}
	for _, dir := range []string{"examples/one-account", "examples/organization"} {
		t.Run("apply "+dir, func(t *testing.T) {
			tf.run(t, dir, "apply", "-auto-approve", "-var", "release="+tf.release)
			if out := tf.run(t, dir, "plan", "-var", "release="+tf.release); !strings.Contains(out, "No changes") {
				t.Errorf("a second plan changes something:\n%s", out)
			}
			tf.run(t, dir, "destroy", "-auto-approve", "-var", "release="+tf.release)
		})
	}
	for name, given := range planned() {
		t.Run("parameters "+name, func(t *testing.T) {
			want := ofSettings(t, given)
			variables := map[string]string{"release": tf.release}
			for key, value := range given {
				variables[snake(key)] = value
			}
			if diff := cmp.Diff(want, tf.parameters(t, variables)); diff != "" {
				t.Errorf("parameters (-rollcall deploy +terraform):\n%s", diff)
			}
		})
	}
	t.Run("settings file", func(t *testing.T) {
		const text = `
clusters: [prod, dev, 222233334444/eu-west-1/prod]
slack:
  channel: C0123456789
  buttons: on
  approvers: [U0123ABCD, S0ONCALL01]
kubernetes:
  accessClusters: [prod, dev]
  relays: [dev]
launches: {joinTime: 4m, evidence: 7}
notifications:
  routes:
    - {cluster: prod, severity: critical, channel: C0PAGES0001, page: [S0ONCALL01], escalate: [S0LEADS001]}
    - {tags: {team: payments}, channel: C0PAY000001}
  targets: [{kind: pagerduty, severity: critical, secret: rollcall/pagerduty}, {kind: sns}]
  targetEmail: [oncall@example.com]
ownership:
  owners: {all: {team: platform one}, prod: {runbook: "https://wiki.example.com/prod"}}
  ownerTags: {team: [team, owner], runbook: [runbook]}
remediation:
  remedies: {prod: {add-nat-route: approve, replace-instance: auto}, dev: approve}
  remedyVpcs: [vpc-0123456789abcdef0]
subnets:
  cleanup: {prod: delete, dev: dry-run}
accounts:
  spokes: [{account: "222233334444", region: eu-west-1, name: payments}]
  externalId: rollcall-7f3a
stack:
  logRetentionDays: 90
`
		context, _, problems := settingsfile.Read([]byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		given := map[string]string{}
		for key, value := range context {
			given[key] = value.(string)
		}
		file := filepath.Join(t.TempDir(), "rollcall.yaml")
		expect.OK(t, os.WriteFile(file, []byte(text), 0o644))
		want, got := ofSettings(t, given), tf.parameters(t, map[string]string{"release": tf.release, "settings_file": file})
		for _, name := range []string{"Cleanup", "OwnerTags", "Owners", "Remedies"} { // HCL sorts a mapping's names
			want[name], got[name] = sorted(want[name]), sorted(got[name])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parameters (-rollcall deploy +terraform):\n%s", diff)
		}
	})
}

func sorted(list string) string {
	parts := strings.Split(list, ",")
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// planned are settings of which CloudFormation gets more than their texts.
func planned() map[string]map[string]string {
	const channel = "C0123456789"
	return map[string]map[string]string{
		"of a channel": {"slackChannel": channel},
		"of all clusters by name": {
			"slackChannel": channel, "clusters": "prod,dev", "accessClusters": "prod,dev", "relays": "prod,222233334444/eu-west-1/prod",
			"spokes": "222233334444/eu-west-1=payments,333344445555/us-gov-west-1,444455556666/cn-north-1", "externalId": "rollcall-7f3a",
		},
		"of remedies": {
			"slackChannel": channel, "remedyVpcs": "vpc-0a1b2c3d4e5f60718", "cleanup": "prod=delete,dev=dry-run,test=report,222233334444/eu-west-1/prod=delete", "cleanupUntagged": "vpc-0a1b2c3d4e5f60718",
			"remedies": "prod=approve,prod/replace-instance=off,dev/cover-zones=auto,test/delete-leaked-interfaces=approve,222233334444/eu-west-1/prod/add-nat-route=approve",
			"spokes":   "222233334444/eu-west-1", "externalId": "rollcall-7f3a",
		},
		"of targets": {
			"slackChannel": channel, "targets": "sns,pagerduty/critical=rollcall/pagerduty,teams=rollcall/teams,amazonq=arn:aws:sns:us-west-2:111122223333:chat,webhook=rollcall/pagerduty",
		},
		"of roles under a path": {
			"slackChannel": channel, "rolePath": "/platform/", "permissionsBoundary": "arn:aws:iam::111122223333:policy/boundary", "spokes": "222233334444/eu-west-1", "externalId": "rollcall-7f3a",
		},
		"of an access that is elsewhere": {"slackChannel": channel, "kubernetesAccess": "none", "clusters": "prod"},
		"of the longest relay":           {"slackChannel": channel, "relays": strings.Repeat("r", 100), "stackName": "Nightwatch"},
	}
}

// ofSettings are the parameters that rollcall deploy computes. Access entries are for Terraform
// itself, so that it has only those that a variable names.
func ofSettings(t *testing.T, given map[string]string) map[string]string {
	t.Helper()
	context := map[string]any{}
	for key, value := range given {
		context[key] = value
	}
	s, err := settings.Parse(context)
	expect.OK(t, err)
	if given["accessClusters"] == "" {
		s.AccessClusters = nil
	}
	values, err := parameters.Values(s)
	expect.OK(t, err)
	return values
}

// TestRelayNames: the function's name is made in HCL as package relay makes it.
func TestRelayNames(t *testing.T) {
	if got := relay.FunctionName("rollcall", strings.Repeat("r", 100)); len(got) != 64 {
		t.Errorf("%s has %d characters: deploy/terraform/modules/relay and parameters.tf count on 64", got, len(got))
	}
}

// terraform is OpenTofu or Terraform, with the stand-in provider.
type terraform struct {
	program, root, release string
	env                    []string
}

func newTerraform(t *testing.T) terraform {
	t.Helper()
	if os.Getenv("ROLLCALL_TERRAFORM") == "" {
		t.Skip("make test-terraform runs it")
	}
	program := os.Getenv("ROLLCALL_TERRAFORM")
	if _, err := exec.LookPath(program); err != nil {
		t.Fatalf("ROLLCALL_TERRAFORM names no program: %v", err)
	}
	dir := t.TempDir()
	tf := terraform{program: program, root: filepath.Join(dir, "deploy", "terraform"), release: filepath.Join(dir, "release")}
	// The modules read templates and the ClusterRole of the repository around them.
	expect.OK(t, os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS("../../deploy")))
	expect.OK(t, os.MkdirAll(filepath.Join(dir, "infra"), 0o755))
	for _, name := range []string{"Spoke", "Relay"} {
		text, err := os.ReadFile("../../infra/Rollcall" + name + ".template.json")
		expect.OK(t, err)
		expect.OK(t, os.WriteFile(filepath.Join(dir, "infra", "Rollcall"+name+".template.json"), text, 0o644))
	}
	for _, release := range []string{tf.release, filepath.Join(tf.root, "tests", "release")} {
		expect.OK(t, os.MkdirAll(filepath.Join(release, "functions"), 0o755))
		for _, name := range []string{"launch-watch", "report", "relay"} {
			expect.OK(t, os.WriteFile(filepath.Join(release, "functions", name+".zip"), []byte(name), 0o644))
		}
		expect.OK(t, os.WriteFile(filepath.Join(release, "RollcallStandard.template.json"), []byte("{}"), 0o644))
	}

	mirror := filepath.Join(dir, "mirror")
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "provider"), ".")
	build.Dir = "provider"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the provider: %v\n%s", err, out)
	}
	for name, version := range map[string]string{"aws": "6.99.0", "kubernetes": "3.99.0"} { // within what the modules ask for
		for _, registry := range []string{"registry.terraform.io", "registry.opentofu.org"} {
			at := filepath.Join(mirror, registry, "hashicorp", name, version, runtime.GOOS+"_"+runtime.GOARCH)
			expect.OK(t, os.MkdirAll(at, 0o755))
			expect.OK(t, os.Link(filepath.Join(dir, "provider"), filepath.Join(at, "terraform-provider-"+name+"_v"+version)))
		}
	}
	rc := filepath.Join(dir, "rc")
	expect.OK(t, os.WriteFile(rc, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+mirror+"\"\n  }\n}\n"), 0o644))
	tf.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0", "NO_COLOR=1", "TF_CLI_ARGS=-no-color")
	return tf
}

// run runs a command of the program in a folder of deploy/terraform, and returns what it says.
func (tf terraform) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command(tf.program, args...)
	c.Dir, c.Env = filepath.Join(tf.root, dir), tf.env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s in %s: %v\n%s", strings.Join(c.Args, " "), dir, err, out)
	}
	return string(out)
}

// parameters are those of the hub's stack in a plan, but for where the code is.
func (tf terraform) parameters(t *testing.T, variables map[string]string) map[string]string {
	t.Helper()
	text, err := json.Marshal(variables)
	expect.OK(t, err)
	expect.OK(t, os.WriteFile(filepath.Join(tf.root, "test.tfvars.json"), text, 0o644))
	tf.run(t, ".", "init", "-backend=false")
	tf.run(t, ".", "plan", "-var-file=test.tfvars.json", "-out=plan")
	c := exec.Command(tf.program, "show", "-json", "plan")
	c.Dir, c.Env = tf.root, tf.env
	out, err := c.Output()
	expect.OK(t, err)
	var plan struct {
		Changes []struct {
			Type   string
			Change struct {
				After struct {
					Parameters map[string]string
				}
			}
		} `json:"resource_changes"`
	}
	expect.OK(t, json.Unmarshal(out, &plan))
	for _, c := range plan.Changes {
		if c.Type == "aws_cloudformation_stack" {
			values := c.Change.After.Parameters
			delete(values, parameters.CodeBucket)
			delete(values, parameters.CodePrefix)
			return values
		}
	}
	t.Fatal("the plan has no stack")
	return nil
}
