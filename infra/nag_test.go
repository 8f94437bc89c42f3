package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
)

// meant is a finding of cdk-nag that is as it should be.
type meant struct {
	path      string
	rule      string
	appliesTo []string
	reason    string
}

// anyRelay is what a reader may invoke, as cdk-nag writes it.
const anyRelay = "Resource::arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:rollcall-relay-*"

func exceptions(inVPC bool) []meant {
	list := []meant{{
		path: "/Rollcall/SlackToken", rule: "AwsSolutions-SMG4",
		reason: "Slack's bot tokens have no interface for rotation: an operator makes a new one and puts it in; report reads it again when Slack refuses the old one.",
	}, {
		path: "/Rollcall/SlackSigningSecret", rule: "AwsSolutions-SMG4",
		reason: "Slack has no interface for making a signing secret anew: an operator does it on the app's page and puts the new one in; slack-actions reads it again when a signature does not fit.",
	}}
	list = append(list, meant{
		path: "/Rollcall/Reader/Role/Resource", rule: "AwsSolutions-IAM5", appliesTo: []string{anyRelay},
		reason: "Each cluster with a private endpoint only has a relay, a function of that name, which lists and changes nothing (TestRelayMayDoNothing).",
	}, meant{
		path: "/Rollcall/Evidence/Resource", rule: "AwsSolutions-S1",
		reason: "Access logs need a second bucket, and tell less than CloudTrail's data events, which an account records or does not. Only detectors write, by a grant that replaces nothing.",
	})
	for _, spec := range specs.All() {
		scope := "/Rollcall/" + camel(spec.Name)
		if slices.Contains(spec.Environment, config.EvidenceBucket) {
			list = append(list, meant{
				path: scope + "/Role/Resource", rule: "AwsSolutions-IAM5", appliesTo: []string{"Resource::<Evidence4CC26D68.Arn>/*"},
				reason: "It makes objects in one bucket, whose names are those of moments and causes, and replaces none (s3:if-none-match).",
			})
		}
		if wide := wideReads(spec); len(wide) > 0 {
			list = append(list, meant{
				path: scope + "/Role/Resource", rule: "AwsSolutions-IAM5", appliesTo: wide,
				reason: "Reads only (TestNoWildcardWrites): EC2 and Auto Scaling have no resources for Describe calls, and which clusters, nodegroups and groups there are is what is to be found out.",
			})
		}
		if inVPC && len(spec.Kube) > 0 {
			list = append(list, meant{
				path: scope + "/Role/Resource", rule: "AwsSolutions-IAM5",
				appliesTo: []string{
					"Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:network-interface/*",
					"Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:*/*",
				},
				reason: "Lambda makes and deletes the function's network interfaces, whose ids nobody knows before: in the given subnets, with the given security groups. The function's own code is denied these writes (TestInterfaceStatements).",
			})
		}
	}
	return list
}

// wideReads are the resources with a wildcard that a spec reads, as cdk-nag
// writes them.
func wideReads(spec spec.Spec) []string {
	written := strings.NewReplacer("${Partition}", "<AWS::Partition>", "${Region}", "<AWS::Region>", "${Account}", "<AWS::AccountId>")
	var list []string
	for _, r := range spec.Reads {
		for _, text := range r.Resources {
			if strings.Contains(text, "*") {
				list = append(list, "Resource::"+written.Replace(text))
			}
		}
	}
	return list
}

// The rules of "AWS Solutions" hold, but for the exceptions, each of which is
// needed.
func TestNag(t *testing.T) {
	t.Run("standard", func(t *testing.T) {
		nag(t, map[string]any{"slackChannel": channel}, exceptions(false))
	})
	t.Run("a spoke", func(t *testing.T) {
		wide := []string{anyRelay}
		for _, s := range specs.All() {
			if slices.Contains(s.Assumes, spec.SpokeReader) {
				wide = append(wide, wideReads(s)...)
			}
		}
		slices.Sort(wide)
		list := []meant{{
			path: "/RollcallSpoke/Reader/Role/Resource", rule: "AwsSolutions-IAM5", appliesTo: slices.Compact(wide),
			reason: "Reads only (TestSpokeReaderReads): EC2 and Auto Scaling have no resources for Describe calls, and which clusters, nodegroups and groups there are is what is to be found out.",
		}, {
			path: "/RollcallSpoke/Forward/Failed/Resource", rule: "AwsSolutions-SQS3", reason: "It is a dead-letter queue: of the rules, which cdk-nag does not look at.",
		}}
		for _, role := range []spec.SpokeRole{spec.SpokeCleaner, spec.SpokeRemediator} {
			var wide []string
			for _, s := range spokeStatements(roleIn(t, made(t, oneSpoke), role)) {
				for _, of := range flats(s["Resource"]) {
					if strings.Contains(of, "*") && s["Condition"] != nil {
						wide = append(wide, "Resource::"+strings.NewReplacer("${", "<", "}", ">").Replace(of))
					}
				}
			}
			slices.Sort(wide)
			list = append(list, meant{
				path: "/RollcallSpoke/" + camel(string(role)) + "/Role/Resource", rule: "AwsSolutions-IAM5", appliesTo: slices.Compact(wide),
				reason: "Narrowed by its conditions to what has opted in, as the hub's own function is (TestSpokeChangesAsTheHub).",
			})
		}
		nag(t, spokeWithRemedies(), list)
	})
	t.Run("in a VPC", func(t *testing.T) {
		nag(t, withVPC(), exceptions(true))
	})
}

func nag(t *testing.T, given map[string]any, exceptions []meant) {
	dir := t.TempDir()
	// Findings are read below, one by one; they need not end the synth.
	given["@aws-cdk/core:annotationsInValidationReport"] = false
	app, err := newApp(dir, given)
	if err != nil {
		t.Fatal(err)
	}
	name := "Rollcall"
	if given[settings.SpokeTemplate] != nil {
		name = SpokeStackName
	}
	stack := app.Node().FindChild(jsii.String(name)).(awscdk.Stack)
	for _, m := range exceptions {
		suppression := cdknag.NagPackSuppression{Id: jsii.String(m.rule), Reason: jsii.String(m.reason)}
		if len(m.appliesTo) > 0 {
			var list []any
			for _, text := range m.appliesTo {
				list = append(list, text)
			}
			suppression.AppliesTo = &list
		}
		for _, path := range both(stack, m.path) {
			cdknag.NagSuppressions_AddResourceSuppressionsByPath(stack, path, &[]*cdknag.NagPackSuppression{&suppression}, jsii.Bool(false))
		}
	}
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
		Reports:       jsii.Bool(true),
		ReportFormats: &[]cdknag.NagReportFormat{cdknag.NagReportFormat_JSON},
	}), nil)
	app.Synth(nil)

	data, err := os.ReadFile(filepath.Join(dir, "out", "AwsSolutions--"+name+"-NagReport.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Lines []struct{ RuleID, ResourceID, Compliance, ExceptionReason, RuleInfo string }
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Lines) < 20 {
		t.Fatalf("cdk-nag looked at %d things only", len(report.Lines))
	}
	// A suppressed line begins its reason with the finding, in brackets.
	used := map[string]bool{}
	for _, line := range report.Lines {
		switch line.Compliance {
		case "Compliant":
		case "Suppressed":
			used["/"+line.ResourceID+" "+line.RuleID+" "+line.ExceptionReason] = true
		default:
			t.Errorf("%s: %s: %s (%s)", line.ResourceID, line.RuleID, line.RuleInfo, line.Compliance)
		}
	}
	for _, m := range exceptions {
		reasons := []string{m.reason}
		if len(m.appliesTo) > 0 {
			reasons = nil
		}
		for _, text := range m.appliesTo {
			reasons = append(reasons, "["+text+"] "+m.reason)
		}
		for _, reason := range reasons {
			if !slices.ContainsFunc(both(stack, m.path), func(path string) bool { return used[path+" "+m.rule+" "+reason] }) {
				t.Errorf("%s: the exception for %s is not needed: %s", m.path, m.rule, reason)
			}
		}
	}
}

// both are the path of a role and, where its own policy has no room for all, that of the
// policy with the rest.
func both(stack awscdk.Stack, path string) []string {
	scope, ok := strings.CutSuffix(path, "/Role/Resource")
	if !ok {
		return []string{path}
	}
	of := stack.Node().TryFindChild(jsii.String(scope[strings.LastIndex(scope, "/")+1:]))
	if of == nil || of.Node().TryFindChild(jsii.String("More1")) == nil {
		return []string{path}
	}
	return []string{path, scope + "/More1/Resource"}
}
