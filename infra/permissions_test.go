package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
	"github.com/google/go-cmp/cmp"

	relay "rollcall/functions/relay/spec"
	slackactions "rollcall/functions/slack-actions/spec"
	"rollcall/infra/settings"
	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/tools/testfile"
)

type allowed struct {
	Sid        string
	Actions    []string
	Resources  []string
	Conditions any
}

// statementsOf gives what the role of a function allows.
func statementsOf(t *testing.T, tpl template, of spec.Spec) []allowed {
	t.Helper()
	role := tpl.Resources[to(lambdaOf(t, tpl, of).Properties["Role"])]
	if policies, _ := role.Properties["Policies"].([]any); len(policies) != 1 || role.Properties["ManagedPolicyArns"] != nil {
		t.Fatalf("%s has other policies than its own", role.id)
	}
	var list []allowed
	for _, s := range several(get(role.Properties, "Policies", 0, "PolicyDocument", "Statement")) {
		if get(s, "Effect") != "Allow" {
			t.Errorf("%s: %v", role.id, s)
		}
		list = append(list, allowed{
			Sid: flat(get(s, "Sid")), Actions: flats(get(s, "Action")), Resources: flats(get(s, "Resource")), Conditions: get(s, "Condition"),
		})
	}
	return list
}

func TestNoOtherPolicies(t *testing.T) {
	tpl := theTemplate(t)
	for _, kind := range []string{"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::IAM::RolePolicy"} {
		if got := tpl.all(kind); len(got) > 0 {
			t.Errorf("%s is not in a function's role", got[0].id)
		}
	}
	if got, want := len(tpl.all("AWS::IAM::Role")), len(specs.All())+1; got != want {
		t.Errorf("got %d roles, want one for each of %d functions, and the reader", got, want-1)
	}
}

// Each statement is one that the stack adds to every function, one that
// reads, or a grant of the spec: as it stands there.
func TestPermissionsAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		t.Run(of.Name, func(t *testing.T) {
			got := map[string]allowed{}
			var reads []string
			for _, s := range statementsOf(t, tpl, of) {
				switch {
				case s.Sid == "":
					t.Errorf("%v has no Sid", s.Actions)
				case s.Sid == sidLogs || s.Sid == sidFailures || s.Sid == sidQueue:
				case strings.HasPrefix(s.Sid, "Read") && s.Sid != "ReadTargetSecrets" && !slices.ContainsFunc(of.Grants, func(g spec.Grant) bool { return g.Sid == s.Sid }):
					reads = append(reads, s.Actions...)
				default:
					got[s.Sid] = s
				}
			}
			var wantReads []string
			for _, r := range of.Reads {
				wantReads = append(wantReads, r.Actions...)
			}
			slices.Sort(reads)
			slices.Sort(wantReads)
			if diff := cmp.Diff(wantReads, reads); diff != "" {
				t.Errorf("reads (-spec +template):\n%s", diff)
			}
			want := map[string]allowed{}
			grants := of.Grants
			if of.Chosen != nil { // by the settings' defaults, and each kind of target
				chosen, err := of.Chosen(func(name string) string { return map[string]string{string(config.Targets): everyTarget}[name] })
				if err != nil {
					t.Fatal(err)
				}
				grants = slices.Concat(grants, chosen)
			}
			for _, g := range grants {
				a := allowed{Sid: g.Sid, Actions: g.Actions}
				if len(g.Conditions) > 0 {
					a.Conditions = anything(g.Conditions)
				}
				for _, name := range g.Resources {
					a.Resources = append(a.Resources, arnIn(t, tpl, name))
				}
				want[g.Sid] = a
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("grants (-spec +template):\n%s", diff)
			}
		})
	}
}

func anything(conditions map[string]map[string][]string) any {
	out := map[string]any{}
	for operator, keys := range conditions {
		inner := map[string]any{}
		for key, values := range keys {
			var list []any
			for _, v := range values {
				list = append(list, v)
			}
			inner[key] = list
		}
		out[operator] = inner
	}
	return out
}

// arnIn is how the template names a resource's ARN.
func arnIn(t *testing.T, tpl template, name spec.Resource) string {
	t.Helper()
	if id, ok := map[spec.Resource]string{spec.SlackSecret: "SlackToken", spec.SigningSecret: "SlackSigningSecret"}[name]; ok {
		if tpl.Resources[id].Type != "AWS::SecretsManager::Secret" {
			t.Fatalf("%s is no secret", id)
		}
		return "${" + id + "}"
	}
	if name == spec.TargetTopic {
		for _, topic := range tpl.all("AWS::SNS::Topic") {
			if strings.HasPrefix(topic.id, "TargetTopic") {
				return "${" + topic.id + "}"
			}
		}
	}
	if strings.HasPrefix(string(name), "arn:") {
		return strings.NewReplacer("${Partition}", "${AWS::Partition}", "${Region}", "${AWS::Region}", "${Account}", "${AWS::AccountId}").Replace(string(name))
	}
	if name == spec.ReaderRole {
		return "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/rollcall-reader-${AWS::Region}"
	}
	if buckets := tpl.all("AWS::S3::Bucket"); name == spec.EvidenceObjects && len(buckets) == 1 {
		return "${" + buckets[0].id + ".Arn}/*"
	}
	kinds := map[spec.Resource]string{spec.Table: "AWS::DynamoDB::Table", spec.Bus: "AWS::Events::EventBus"}
	if kind, ok := kinds[name]; ok {
		found := tpl.all(kind)
		if len(found) != 1 {
			t.Fatalf("%d resources of %s, want 1", len(found), kind)
		}
		return "${" + found[0].id + ".Arn}"
	}
	for _, of := range specs.All() {
		if of.Queue != nil && of.Queue.Resource+"-dead" == name {
			return "${" + to(get(mainQueue(t, tpl, *of.Queue).Properties, "RedrivePolicy", "deadLetterTargetArn")) + ".Arn}"
		}
		if of.Queue != nil && of.Queue.Resource == name {
			return "${" + mainQueue(t, tpl, *of.Queue).id + ".Arn}"
		}
	}
	t.Fatalf("no resource %s", name)
	return ""
}

func TestNoWildcardWrites(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		for _, s := range statementsOf(t, tpl, of) {
			for _, action := range s.Actions {
				if strings.Contains(action, "*") {
					t.Errorf("%s, %s: action %s is a wildcard", of.Name, s.Sid, action)
				}
				if specs.IsRead(action) && !strings.HasPrefix(action, "secretsmanager:") {
					continue
				}
				for _, r := range s.Resources {
					if action == "s3:PutObject" && r == arnIn(t, tpl, spec.EvidenceObjects) {
						continue // of one bucket, whose objects have no names yet: none is replaced (TestEvidence)
					}
					if strings.Contains(r, "*") && action != "sts:DecodeAuthorizationMessage" { // it takes no resource
						t.Errorf("%s, %s: %s on %s", of.Name, s.Sid, action, r)
					}
				}
			}
		}
	}
}

func TestOwnStatements(t *testing.T) {
	tpl := theTemplate(t)
	for _, of := range specs.All() {
		function := lambdaOf(t, tpl, of)
		logs := to(get(function.Properties, "LoggingConfig", "LogGroup"))
		var failed string
		for _, c := range tpl.all("AWS::Lambda::EventInvokeConfig") {
			if to(c.Properties["FunctionName"]) == function.id {
				failed = to(get(c.Properties, "DestinationConfig", "OnFailure", "Destination"))
			}
		}
		want := map[string]allowed{
			sidLogs:     {Sid: sidLogs, Actions: []string{"logs:CreateLogStream", "logs:PutLogEvents"}, Resources: []string{"${" + logs + ".Arn}"}},
			sidFailures: {Sid: sidFailures, Actions: []string{"sqs:SendMessage"}, Resources: []string{"${" + failed + ".Arn}"}},
		}
		if of.Queue != nil {
			want[sidQueue] = allowed{Sid: sidQueue, Actions: []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}, Resources: []string{arnIn(t, tpl, of.Queue.Resource)}}
		}
		got := map[string]allowed{}
		for _, s := range statementsOf(t, tpl, of) {
			if slices.Contains([]string{sidLogs, sidFailures, sidQueue}, s.Sid) {
				got[s.Sid] = s
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of.Name, diff)
		}
	}
}

// The index leads to launches: only who asks for it has it.
func TestTableReads(t *testing.T) {
	tpl := theTemplate(t)
	table := arnIn(t, tpl, spec.Table)
	got := map[string][]string{}
	for _, of := range specs.All() {
		for _, s := range statementsOf(t, tpl, of) {
			if slices.Contains(s.Actions, "dynamodb:Query") {
				got[of.Name] = slices.Compact(slices.Sorted(slices.Values(append(got[of.Name], s.Resources...))))
			}
		}
	}
	want := map[string][]string{
		"launch-watch":    {table}, // the learned join times
		"join-check":      {table, table + "/index/ended", table + "/index/open"},
		"nodegroup-watch": {table},
		"spot-report":     {table, table + "/index/ended", table + "/index/open"},
		"sweep":           {table, table + "/index/ended", table + "/index/open"}, // all that its looks remember
		"subnet-watch":    {table},                                                // the samples of subnets
		"eni-cleanup":     {table},                                                // the sightings, and what was deleted
		"remediate":       {table},                                                // the incidents, the runs, the sightings
		"zone-watch":      {table, table + "/index/ended", table + "/index/open"}, // what became of launches
		"notify-targets":  {table},                                                // what targets were told
		"report":          {table, table + "/index/ended", table + "/index/open"}, // the incidents, the silences; what became of launches
		"change-check":    {table, table + "/index/ended", table + "/index/open"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what may be queried (-want +got):\n%s", diff)
	}
}

// Only the functions that read in clusters may assume the reader, which
// may do nothing in AWS.
func TestReader(t *testing.T) {
	tpl := theTemplate(t)
	reader := readerRole(t, tpl)
	var want, got []string
	for _, of := range specs.All() {
		if len(of.Kube) > 0 {
			want = append(want, to(lambdaOf(t, tpl, of).Properties["Role"]))
		}
	}
	for _, s := range several(get(reader.Properties, "AssumeRolePolicyDocument", "Statement")) {
		if action, effect := get(s, "Action"), get(s, "Effect"); action != "sts:AssumeRole" || effect != "Allow" {
			t.Errorf("%v %v", effect, action)
		}
		principal, _ := get(s, "Principal").(map[string]any)
		for kind, list := range principal {
			for _, p := range several(list) {
				got = append(got, kind+" "+to(p))
			}
		}
	}
	for i := range want {
		want[i] = "AWS " + want[i]
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who may assume it (-want +got):\n%s", diff)
	}
	// Which functions it may invoke: TestWhoAsksRelays.
	if list := spokeStatements(reader); len(list) != 1 || list[0]["Sid"] != "AskRelays" {
		t.Errorf("it may: %v", list)
	}
	if p, ok := reader.Properties["ManagedPolicyArns"]; ok {
		t.Errorf("its managed policies: %v", p)
	}
}

// readerRole is the one role that is not a function's.
func readerRole(t *testing.T, tpl template) resource {
	t.Helper()
	for _, role := range tpl.all("AWS::IAM::Role") {
		if flat(role.Properties["RoleName"]) == "rollcall-reader-${AWS::Region}" {
			return role
		}
	}
	t.Fatal("there is no reader")
	return resource{}
}

func TestOnlyLambdaAssumesTheRoles(t *testing.T) {
	reader := readerRole(t, theTemplate(t))
	for _, role := range theTemplate(t).all("AWS::IAM::Role") {
		if role.id == reader.id {
			continue
		}
		for _, s := range several(get(role.Properties, "AssumeRolePolicyDocument", "Statement")) {
			principal, _ := get(s, "Principal").(map[string]any)
			if diff := cmp.Diff(map[string]any{"Service": "lambda.amazonaws.com"}, maps.Clone(principal)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", role.id, diff)
			}
		}
	}
}

func TestReadableRefuses(t *testing.T) {
	var none resources
	for _, text := range []string{"arn:${Partition}:eks:${Region}:${Acount}:cluster/*", "tabel"} {
		if got, err := none.readable(text); err == nil {
			t.Errorf("%q was resolved to %q", text, got)
		}
	}
}

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

	data := testfile.Read(t, filepath.Join(dir, "out", "AwsSolutions--"+name+"-NagReport.json"))
	var report struct {
		Lines []struct{ RuleID, ResourceID, Compliance, ExceptionReason, RuleInfo string }
	}
	testfile.Parse(t, data, &report)
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

const (
	subnetA = "subnet-0a0a0a0a0a0a0a0a0"
	subnetB = "subnet-0b0b0b0b0b0b0b0b0"
	group   = "sg-0c0c0c0c0c0c0c0c0"
)

// withVPC is what an operator gives whose clusters have private endpoints only.
func withVPC() map[string]any {
	return map[string]any{
		"slackChannel":               channel,
		settings.VPCSubnetIDs:        subnetA + "," + subnetB,
		settings.VPCSecurityGroupIDs: group,
	}
}

// private is the stack with the VPC, synthesised once.
var private = sync.OnceValues(func() (template, error) { return synthesise(withVPC()) })

func thePrivateTemplate(t *testing.T) template {
	t.Helper()
	tpl, err := private()
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func TestOnlyKubernetesReadersAreInTheVPC(t *testing.T) {
	tpl := thePrivateTemplate(t)
	readers := 0
	for _, function := range specs.All() {
		got := lambdaOf(t, tpl, function).Properties["VpcConfig"]
		var want any
		if len(function.Kube) > 0 {
			readers++
			want = map[string]any{"SubnetIds": []any{subnetA, subnetB}, "SecurityGroupIds": []any{group}}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: VPC (-want +got):\n%s", function.Name, diff)
		}
	}
	if readers == 0 {
		t.Error("no function talks to Kubernetes: nothing was tested")
	}
}

// The settings add the VPC to one function and these statements to its role;
// all else is the standard stack.
func TestInterfaceStatements(t *testing.T) {
	const (
		ec2     = "arn:${AWS::Partition}:ec2:${AWS::Region}:${AWS::AccountId}:"
		lambdas = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:"
	)
	type rule struct {
		Sid, Effect        string
		Actions, Resources []string
		// Key is the condition's key, below ArnEquals; Values are its values.
		Key    string
		Values []string
	}
	want := []rule{
		{Sid: "DescribeInterfacesForLambda", Effect: "Allow", Actions: []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"}, Resources: []string{"*"}},
		{
			Sid: "CreateInterfacesForLambda", Effect: "Allow", Actions: []string{"ec2:CreateNetworkInterface"},
			Resources: []string{ec2 + "network-interface/*", ec2 + "subnet/" + subnetA, ec2 + "subnet/" + subnetB, ec2 + "security-group/" + group},
		},
		{
			Sid: "AssignAddressesForLambda", Effect: "Allow", Actions: []string{"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses"},
			Resources: []string{ec2 + "network-interface/*"}, Key: "ec2:Subnet", Values: []string{ec2 + "subnet/" + subnetA, ec2 + "subnet/" + subnetB},
		},
		{Sid: "DeleteInterfacesForLambda", Effect: "Allow", Actions: []string{"ec2:DeleteNetworkInterface"}, Resources: []string{ec2 + "*/*"}},
		{
			Sid: "InterfacesAreNotForCode", Effect: "Deny",
			// And of DescribeSubnets and DescribeNetworkInterfaces what the
			// function does not read itself.
			Actions: []string{
				"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
				"ec2:UnassignPrivateIpAddresses",
			},
			Resources: []string{"*"}, Key: "lambda:SourceFunctionArn",
		},
	}
	tpl := thePrivateTemplate(t)
	for _, function := range specs.All() {
		before := rawStatements(t, theTemplate(t), function)
		// They stand in the role's own policy, and what of the spec it has no room for then
		// in a further one.
		ofVPC := func(s any) bool {
			return slices.ContainsFunc(want, func(r rule) bool { return r.Sid == flat(get(s, "Sid")) })
		}
		all := rawStatements(t, tpl, function)
		after := slices.DeleteFunc(slices.Clone(all), ofVPC)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: the statements of the spec (-standard +in a VPC):\n%s", function.Name, diff)
		}
		var got []rule
		for _, s := range slices.DeleteFunc(all, func(s any) bool { return !ofVPC(s) }) {
			r := rule{Sid: flat(get(s, "Sid")), Effect: flat(get(s, "Effect")), Actions: flats(get(s, "Action")), Resources: flats(get(s, "Resource"))}
			equals, _ := get(s, "Condition", "ArnEquals").(map[string]any)
			for key, values := range equals {
				r.Key, r.Values = key, flats(values)
			}
			got = append(got, r)
		}
		expected := slices.Clone(want)
		last := &expected[len(expected)-1]
		last.Values = []string{lambdas + "function:rollcall-" + function.Name}
		for _, action := range []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"} {
			reads := func(r spec.Read) bool { return slices.Contains(r.Actions, action) }
			if !slices.ContainsFunc(function.Reads, reads) {
				last.Actions = append(slices.Clone(last.Actions), action)
			}
		}
		slices.Sort(last.Actions)
		if len(function.Kube) == 0 {
			expected = nil
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Errorf("%s: statements for the VPC (-want +got):\n%s", function.Name, diff)
		}
	}
}

func rawStatements(t *testing.T, tpl template, function spec.Spec) []any {
	t.Helper()
	id := to(lambdaOf(t, tpl, function).Properties["Role"])
	list := several(get(tpl.Resources[id].Properties, "Policies", 0, "PolicyDocument", "Statement"))
	for _, name := range slices.Sorted(maps.Keys(tpl.Resources)) {
		if r := tpl.Resources[name]; r.Type == "AWS::IAM::ManagedPolicy" && to(get(r.Properties, "Roles", 0)) == id {
			list = append(list, several(get(r.Properties, "PolicyDocument", "Statement"))...)
		}
	}
	return list
}

// What Lambda was given and the code does not read itself, the code is denied.
func TestCodeIsDeniedWhatLambdaHas(t *testing.T) {
	tests := []struct {
		name  string
		reads []spec.Read
		kept  []string
	}{
		{"no reads", nil, nil},
		{"reads of its own", []spec.Read{{Actions: []string{"ec2:DescribeInstances", "ec2:DescribeSubnets"}}, {Actions: []string{"ec2:DescribeNetworkInterfaces"}}},
			[]string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list := interfaceStatements(spec.Spec{Name: "f", Reads: test.reads}, "rollcall-f", settings.VPC{SubnetIDs: []string{subnetA}, SecurityGroupIDs: []string{group}})
			var granted, denied []string
			for _, s := range list {
				if s.deny {
					denied = append(denied, s.actions...)
				} else {
					granted = append(granted, s.actions...)
				}
			}
			var kept []string
			for _, action := range granted {
				if !slices.Contains(denied, action) {
					kept = append(kept, action)
				}
			}
			slices.Sort(kept)
			if diff := cmp.Diff(test.kept, kept); diff != "" {
				t.Errorf("allowed to the code (-want +got):\n%s", diff)
			}
			for _, action := range kept {
				if !specs.IsRead(action) {
					t.Errorf("the code may %s", action)
				}
			}
		})
	}
}

func TestVPCSettingsFailTogether(t *testing.T) {
	_, err := synthesise(map[string]any{"slackChannel": channel, settings.VPCSubnetIDs: subnetA})
	if want := "vpcSecurityGroupIds: is not set, but vpcSubnetIds is"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestPackages: those of a release are deployed where the make line names them.
func TestPackages(t *testing.T) {
	for dir, want := range map[string]string{"": builtPackages, "/tmp/functions": "/tmp/functions"} {
		got := packages(func(name string) string {
			if name != prebuilt {
				t.Errorf("asked for %s", name)
			}
			return dir
		})
		if got != want {
			t.Errorf("%q: %s, want %s", dir, got, want)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "functions"), 0o755); err != nil {
		t.Fatal(err)
	}
	testfile.Write(t, filepath.Join(dir, "functions", "sweep.zip"), nil)
	for name, want := range map[string]string{"sweep": filepath.Join(dir, "functions", "sweep.zip"), "report": filepath.Join(dir, "report")} {
		if got := codeOf(dir, name); got != want {
			t.Errorf("the code of %s: %s, want %s", name, got, want)
		}
	}
}

// The settings file is below the line, a release's pages below both; the tags are the stack's.
func TestSettingsFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rollcall.yaml")
	for name, text := range map[string]string{file: "slackChannel: C1111111111\nclusters: [prod]\njoinTime: 4m\ntags: {cost-center: \"1234\"}\n", filepath.Join(dir, pagesFile): "https://pages.example/\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	environment := map[string]string{settingsFile: file, prebuilt: dir}
	getenv := func(name string) string { return environment[name] }
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(dir), Context: &map[string]any{"slackChannel": channel, "clusters": "dev"}})
	tags, err := fill(app, getenv)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, key := range []string{"slackChannel", "clusters", "joinTime", "docsUrl"} {
		got[key] = app.Node().TryGetContext(jsii.String(key))
	}
	if diff := cmp.Diff(map[string]any{"slackChannel": "C1111111111", "clusters": "dev", "joinTime": "4m", "docsUrl": "https://pages.example/"}, got); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	awscdk.NewStack(app, jsii.String("Any"), nil)
	tag(app, tags)
	if got := (*app.Synth(nil).Stacks())[0].Tags(); *(*got)["cost-center"] != "1234" {
		t.Errorf("the stack's tags: %v", got)
	}
	environment[settingsFile] = filepath.Join(dir, "nosuch.yaml")
	if _, err := fill(app, getenv); err == nil {
		t.Error("a file that is not there was read")
	}
}

// TestWhoMayWriteTheProofOfAPress: slack-actions alone. What a record of a press
// says, report takes for Slack's word.
func TestWhoMayWriteTheProofOfAPress(t *testing.T) {
	const pressed = "press#0123456789abcdef"
	reads := []string{"dynamodb:Query", "dynamodb:BatchGetItem"}
	tpl := theTemplate(t)
	got := map[string][]string{}
	for _, spec := range specs.All() {
		for _, s := range statementsOf(t, tpl, spec) {
			writes := slices.ContainsFunc(s.Actions, func(a string) bool {
				return !slices.Contains(reads, a) && (strings.HasPrefix(strings.ToLower(a), "dynamodb:") || strings.HasPrefix(a, "*"))
			})
			if !writes {
				continue
			}
			if diff := cmp.Diff([]string{"dynamodb:PutItem"}, s.Actions); diff != "" {
				t.Errorf("%s, %s writes in another way, whose keys IAM may not see (-want +got):\n%s", spec.Name, s.Sid, diff)
			}
			keys := flats(get(s.Conditions, "ForAllValues:StringLike", "dynamodb:LeadingKeys"))
			if len(keys) == 0 {
				t.Errorf("%s, %s may write records of any kind", spec.Name, s.Sid)
			}
			for _, pattern := range keys {
				prefix, isPrefix := strings.CutSuffix(pattern, "*")
				if !isPrefix || prefix == "" || strings.ContainsAny(prefix, "*?$") {
					t.Errorf("%s, %s: %q is not one kind of record", spec.Name, s.Sid, pattern)
				}
				if strings.HasPrefix(pressed, prefix) {
					got[spec.Name] = append(got[spec.Name], s.Sid)
				}
			}
		}
	}
	if diff := cmp.Diff(map[string][]string{slackactions.Name: {"RecordPresses"}}, got); diff != "" {
		t.Errorf("who may write %s (-want +got):\n%s", pressed, diff)
	}
}

const queueType = "AWS::SQS::Queue"

// lettersOf gives, for each dead-letter queue, what sends to it.
func lettersOf(tpl template) map[string][]string {
	dead := map[string][]string{}
	note := func(queue, from string) {
		if queue != "" {
			dead[queue] = append(dead[queue], from)
		}
	}
	for _, q := range tpl.all(queueType) {
		note(to(get(q.Properties, "RedrivePolicy", "deadLetterTargetArn")), q.id)
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		note(to(get(r.Properties, "Targets", 0, "DeadLetterConfig", "Arn")), r.id)
	}
	for _, c := range tpl.all("AWS::Lambda::EventInvokeConfig") {
		note(to(get(c.Properties, "DestinationConfig", "OnFailure", "Destination")), to(c.Properties["FunctionName"]))
	}
	return dead
}

func TestNothingIsLostInSilence(t *testing.T) {
	tpl := theTemplate(t)
	dead := lettersOf(tpl)
	var senders []string
	for queue, from := range dead {
		senders = append(senders, from...)
		if got, want := tpl.Resources[queue].Properties["MessageRetentionPeriod"], (14 * 24 * time.Hour).Seconds(); got != want {
			t.Errorf("%s keeps messages for %v s, want %v", queue, got, want)
		}
	}
	for _, kind := range []string{queueType, "AWS::Lambda::Function", "AWS::Events::Rule"} {
		for _, r := range tpl.all(kind) {
			if _, isDead := dead[r.id]; !isDead && !slices.Contains(senders, r.id) {
				t.Errorf("%s has no dead-letter queue", r.id)
			}
		}
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		if get(r.Properties, "Targets", 0, "RetryPolicy", "MaximumEventAgeInSeconds") == nil {
			t.Errorf("%s has no retry policy", r.id)
		}
	}
}

func mainQueue(t *testing.T, tpl template, q spec.Queue) resource {
	t.Helper()
	for _, r := range tpl.all(queueType) {
		if r.Properties["QueueName"] == queueName(q) {
			return r
		}
	}
	t.Fatalf("no queue %s", queueName(q))
	return resource{}
}

func TestQueuesAreThoseOfTheSpecs(t *testing.T) {
	tpl := theTemplate(t)
	for _, spec := range specs.All() {
		if spec.Queue == nil {
			continue
		}
		q := mainQueue(t, tpl, *spec.Queue)
		got := maps.Clone(q.Properties)
		delete(got, "Tags")
		dead := tpl.Resources[to(get(got, "RedrivePolicy", "deadLetterTargetArn"))]
		want := map[string]any{
			"QueueName":              queueName(*spec.Queue),
			"MessageRetentionPeriod": spec.Queue.Retention.Seconds(),
			"VisibilityTimeout":      6*spec.Timeout.Seconds() + spec.Queue.Window.Seconds(),
			"SqsManagedSseEnabled":   true,
			"RedrivePolicy": map[string]any{
				"deadLetterTargetArn": map[string]any{"Fn::GetAtt": []any{dead.id, "Arn"}},
				"maxReceiveCount":     float64(spec.Queue.Attempts),
			},
		}
		if spec.Queue.DelayFrom != "" {
			want["DelaySeconds"] = 300.0 // joinTime's default
		}
		if spec.Queue.FIFO {
			want["FifoQueue"] = true
			want["ContentBasedDeduplication"] = false
			want["DeduplicationScope"] = "messageGroup"
			want["FifoThroughputLimit"] = "perMessageGroupId"
			if dead.Properties["FifoQueue"] != true {
				t.Errorf("%s: the dead-letter queue of a FIFO queue must be one", q.id)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", q.id, diff)
		}
	}
}

func TestAllQueuesAreEncrypted(t *testing.T) {
	for _, q := range theTemplate(t).all(queueType) {
		if q.Properties["SqsManagedSseEnabled"] != true {
			t.Errorf("%s is not encrypted", q.id)
		}
	}
}

func TestJoinTimeDelaysTheQueue(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "joinTime": "7m30s"})
	for _, spec := range specs.All() {
		if spec.Queue == nil || spec.Queue.DelayFrom == "" {
			continue
		}
		if got := mainQueue(t, tpl, *spec.Queue).Properties["DelaySeconds"]; got != 450.0 {
			t.Errorf("%s: delay: got %v, want 450", spec.Queue.Resource, got)
		}
		if got := get(lambdaOf(t, tpl, spec).Properties, "Environment", "Variables", "ROLLCALL_JOIN_TIME"); got != "7m30s" {
			t.Errorf("%s: join time: got %v, want 7m30s", spec.Name, got)
		}
	}
}

// The setting decides how many clusters are looked at at once, and sweep takes its shares
// by it.
func TestSweepConcurrency(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "sweepConcurrency": "20"})
	for _, spec := range specs.All() {
		if spec.Queue == nil || spec.Queue.ConcurrencyFrom == "" {
			continue
		}
		f := lambdaOf(t, tpl, spec)
		for _, m := range tpl.all("AWS::Lambda::EventSourceMapping") {
			if got := get(m.Properties, "ScalingConfig", "MaximumConcurrency"); to(m.Properties["FunctionName"]) == f.id && got != 20.0 {
				t.Errorf("%s: %v at once, want 20", spec.Name, got)
			}
		}
		if got := get(f.Properties, "Environment", "Variables", "ROLLCALL_SWEEP_CONCURRENCY"); got != "20" {
			t.Errorf("%s: it takes shares of %v, want 20", spec.Name, got)
		}
	}
	if _, err := synthesise(map[string]any{"slackChannel": channel, "sweepConcurrency": "1"}); err == nil || !strings.Contains(err.Error(), "sweepConcurrency") {
		t.Errorf("error %v, want that one at once is refused", err)
	}
}

// A queue takes messages from the rules whose target or dead-letter queue it
// is, from no other, and only over TLS.
func TestQueuePolicies(t *testing.T) {
	tpl := theTemplate(t)
	want := map[string][]string{}
	for _, q := range tpl.all(queueType) {
		want[q.id] = nil
	}
	for _, r := range tpl.all("AWS::Events::Rule") {
		for _, q := range []string{to(get(r.Properties, "Targets", 0, "Arn")), to(get(r.Properties, "Targets", 0, "DeadLetterConfig", "Arn"))} {
			if tpl.Resources[q].Type == queueType {
				want[q] = append(want[q], r.id)
			}
		}
	}
	got := map[string][]string{}
	for _, p := range tpl.all("AWS::SQS::QueuePolicy") {
		queue := to(get(p.Properties, "Queues", 0))
		got[queue] = nil
		secure := false
		for _, s := range several(get(p.Properties, "PolicyDocument", "Statement")) {
			if got := to(get(s, "Resource")); got != queue {
				t.Errorf("%s speaks of %q", p.id, got)
			}
			if get(s, "Effect") == "Deny" {
				secure = secure || get(s, "Condition", "Bool", "aws:SecureTransport") == "false"
				continue
			}
			if get(s, "Principal", "Service") != "events.amazonaws.com" || get(s, "Action") != "sqs:SendMessage" {
				t.Errorf("%s allows %v to %v", p.id, get(s, "Action"), get(s, "Principal"))
			}
			for _, rule := range several(get(s, "Condition", "ArnEquals", "aws:SourceArn")) {
				got[queue] = append(got[queue], to(rule))
			}
		}
		if !secure {
			t.Errorf("%s lets messages in without TLS", queue)
		}
	}
	for _, rules := range got {
		slices.Sort(rules)
	}
	for _, rules := range want {
		slices.Sort(rules)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules that may send, by queue (-want +got):\n%s", diff)
	}
}

func TestVisibility(t *testing.T) {
	if got, want := visibility(time.Minute, 20*time.Second), 380*time.Second; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Who reads in Kubernetes needs an access entry, and a VPC where the endpoint is
// private. An operator learns of it from these sentences, and grants what they name.
func TestReadersOfKubernetesAreNamed(t *testing.T) {
	var raw []byte
	for _, page := range []string{"../README.md", "../docs/deploy.md"} {
		text := testfile.Read(t, page)
		raw = append(raw, text...)
	}
	texts := map[string]string{}
	for _, line := range strings.Split(string(raw), "\n") {
		for _, sentence := range []string{"read nodes, the network plugin's pods", "must then run inside a VPC"} {
			if strings.Contains(line, sentence) {
				texts["README, "+sentence], _, _ = strings.Cut(line, ";")
			}
		}
	}
	for _, k := range settings.Keys() {
		switch k.Name {
		case settings.KubernetesAccess, settings.VPCSubnetIDs, settings.VPCSecurityGroupIDs:
			texts["setting "+k.Name] = k.About
		}
	}
	if len(texts) != 5 {
		t.Fatalf("%d sentences: %v", len(texts), texts)
	}
	between := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }
	count := 0
	for _, spec := range specs.All() {
		reads := len(spec.Kube) > 0
		if reads {
			count++
		}
		for where, text := range texts {
			if slices.Contains(strings.FieldsFunc(text, between), spec.Name) != reads {
				t.Errorf("%s: reads in Kubernetes: %v; %s says otherwise", spec.Name, reads, where)
			}
		}
	}
	if command := "KubernetesAccessCommand"; !strings.Contains(string(raw), "`"+command+"`") {
		t.Errorf("README does not name the output %s", command)
	}
	if words := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight"}; !strings.Contains(string(raw), "or these "+words[count]+" functions in its VPC") {
		t.Errorf("README does not say that %d functions need a VPC", count)
	}
}

var oneRelay = sync.OnceValues(func() (template, error) { return synthesise(map[string]any{relayTemplate: "yes"}) })

// TestRelayTemplateIsFresh: the committed template is the one that is synthesised, small
// enough to be deployed from the file, and needs no asset and no bootstrap.
func TestRelayTemplateIsFresh(t *testing.T) {
	tpl := made(t, oneRelay)
	committed := testfile.Read(t, "RollcallRelay.template.json")
	var want, got any
	if err := errors.Join(json.Unmarshal(committed, &want), json.Unmarshal(tpl.source, &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run `make relay-template` (-committed +synthesised):\n%s", diff)
	}
	if len(committed) > 51_200 || strings.Contains(string(committed), "Bootstrap") {
		t.Errorf("%d bytes, or with a bootstrap", len(committed))
	}
}

// TestRelayMayDoNothing: its role has its log and what Lambda needs for its interfaces, which
// its code is denied; and nothing lets others invoke it.
func TestRelayMayDoNothing(t *testing.T) {
	tpl := made(t, oneRelay)
	for _, kind := range []string{"AWS::Lambda::Permission", "AWS::Lambda::Url", "AWS::Lambda::EventSourceMapping", "AWS::Events::Rule", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"} {
		if found := tpl.all(kind); len(found) > 0 {
			t.Errorf("there is a %s: %s", kind, found[0].id)
		}
	}
	roles := tpl.all("AWS::IAM::Role")
	if len(roles) != 1 || get(roles[0].Properties, "ManagedPolicyArns") != nil {
		t.Fatalf("%d roles, or one with managed policies", len(roles))
	}
	if trust := several(get(roles[0].Properties, "AssumeRolePolicyDocument", "Statement")); len(trust) != 1 || flat(get(trust[0], "Principal", "Service")) != "lambda.amazonaws.com" {
		t.Errorf("it trusts %v", trust)
	}
	allowed := map[string]bool{}
	var denied []string
	for _, s := range spokeStatements(roles[0]) {
		if s["Effect"] == "Deny" {
			denied = append(denied, flats(s["Action"])...)
			if got := strings.Join(flats(get(s, "Condition", "ArnEquals", "lambda:SourceFunctionArn")), ","); got != "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${FunctionName}" {
				t.Errorf("denied to %s", got)
			}
			continue
		}
		for _, action := range flats(s["Action"]) {
			allowed[action] = true
		}
	}
	for action := range allowed {
		log := action == "logs:CreateLogStream" || action == "logs:PutLogEvents"
		if log == slices.Contains(denied, action) {
			t.Errorf("%s: denied to its code: %t", action, !log)
		}
	}
	if len(allowed) != 2+6 {
		t.Errorf("allowed: %v", allowed)
	}
}

// TestRelayLeadsToItsClusterAlone: by its security group, and by its parameters.
func TestRelayLeadsToItsClusterAlone(t *testing.T) {
	tpl := made(t, oneRelay)
	groups, rules, functions := tpl.all("AWS::EC2::SecurityGroup"), tpl.all("AWS::EC2::SecurityGroupIngress"), tpl.all("AWS::Lambda::Function")
	if len(groups) != 1 || len(rules) != 1 || len(functions) != 1 {
		t.Fatalf("%d groups, %d rules, %d functions", len(groups), len(rules), len(functions))
	}
	out := several(groups[0].Properties["SecurityGroupEgress"])
	if len(out) != 1 || flat(get(out[0], "DestinationSecurityGroupId")) != "${ClusterSecurityGroup}" || get(out[0], "FromPort") != 443.0 || get(out[0], "ToPort") != 443.0 || groups[0].Properties["SecurityGroupIngress"] != nil {
		t.Errorf("its group: %v", groups[0].Properties)
	}
	in := rules[0].Properties
	if flat(in["GroupId"]) != "${ClusterSecurityGroup}" || to(in["SourceSecurityGroupId"]) != groups[0].id || in["FromPort"] != 443.0 || in["ToPort"] != 443.0 || in["CidrIp"] != nil {
		t.Errorf("the cluster's group lets in: %v", in)
	}
	f := functions[0].Properties
	if to(get(f, "VpcConfig", "SecurityGroupIds", 0)) != groups[0].id || cmp.Diff([]string{"${SubnetA}", "${SubnetB}"}, flats(get(f, "VpcConfig", "SubnetIds"))) != "" {
		t.Errorf("it is in %v", f["VpcConfig"])
	}
	variables, _ := get(f, "Environment", "Variables").(map[string]any)
	if len(variables) != len(relay.Environment()) {
		t.Errorf("its environment is %v", variables)
	}
	for _, v := range relay.Environment() {
		if variables[string(v)] == nil {
			t.Errorf("it is not told %s", v)
		}
	}
}

// TestWhoAsksRelays: the role that reads in the clusters, in the hub's account and in each
// spoke, and no other; and it may invoke nothing but relays.
func TestWhoAsksRelays(t *testing.T) {
	const relays = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:rollcall-relay-*"
	for name, of := range map[string]func() (template, error){"hub": asSynth, "spoke": anySpoke, "spoke with remedies": oneSpoke, "hub with spokes": bigHub} {
		tpl := made(t, of)
		found := 0
		for _, kind := range []string{"AWS::IAM::Role", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy"} {
			for _, r := range tpl.all(kind) {
				list := spokeStatements(r)
				for _, s := range several(get(r.Properties, "PolicyDocument", "Statement")) {
					list = append(list, s.(map[string]any))
				}
				for _, p := range several(r.Properties["Policies"]) {
					for _, s := range several(get(p, "PolicyDocument", "Statement")) {
						if !slices.ContainsFunc(list, func(x map[string]any) bool { return cmp.Equal(any(x), s) }) {
							list = append(list, s.(map[string]any))
						}
					}
				}
				for _, s := range list {
					if !slices.ContainsFunc(flats(s["Action"]), func(a string) bool { return strings.HasPrefix(a, "lambda:Invoke") || a == "lambda:*" }) {
						continue
					}
					found++
					role := flat(r.Properties["RoleName"])
					if s["Sid"] != "AskRelays" || cmp.Diff([]string{relays}, flats(s["Resource"])) != "" || kind == "AWS::IAM::Role" && role != "rollcall-"+string(spec.SpokeReader)+"-${AWS::Region}" {
						t.Errorf("%s: %s %s may: %v", name, r.id, role, s)
					}
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d statements let invoke, want one", name, found)
		}
	}
}
