package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/limits"
	keys "rollcall/infra/settings"
	"rollcall/infra/standard"
	"rollcall/infra/standard/parameters"
	"rollcall/shared/config"
	cloudformation "rollcall/stage/platform/template"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

const standardFile = "RollcallStandard.template.json"

// TestStandardTemplateIsTheApps: with the parameters of some settings, the standard template
// is what the app makes of these settings, resource by resource, and roles by what they allow.
func TestStandardTemplateIsTheApps(t *testing.T) {
	source := testfile.Read(t, standardFile)
	everything := everyChoice()
	maps.Copy(everything, map[string]any{
		"targets": everyTarget, "targetEmail": "a@example.com,b@example.com", "slackActions": "on", "spokes": "222233334444/eu-west-1=payments,333344445555/us-west-2", "externalId": "rollcall-7f3a",
		"relays": "prod,dev", "slackSigningSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:signing-AbCdEf", "weekly": "off", "logLevel": "debug",
		"permissionsBoundary": "arn:aws:iam::111122223333:policy/boundary", "rolePath": "/teams/platform/",
		"kmsKeyArn": "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000002",
	})
	for name, context := range map[string]map[string]any{
		"only a channel":   {"slackActions": "off", "targets": "none"},
		"as make synth":    {},
		"everything":       everything,
		"no Slack at all":  {"slackChannel": "none", "slackActions": "off", "targets": "webhook=rollcall/webhook"},
		"no instance data": {"instanceData": "off"},
	} {
		t.Run(name, func(t *testing.T) { compareWithTheApp(t, source, context) })
	}
	random := rand.New(rand.NewPCG(11, 2026))
	// A few still differ in every choice from all that the others have.
	for n := range testfull.Count(60, 4) {
		context := someSettings(random)
		t.Run(fmt.Sprint("generated ", n), func(t *testing.T) { compareWithTheApp(t, source, context) })
	}
}

func compareWithTheApp(t *testing.T, source []byte, given map[string]any) {
	t.Helper()
	context := map[string]any{"slackChannel": channel, "slackActions": "on", "targets": everyTarget}
	maps.Copy(context, given)
	chosen, err := keys.Parse(context)
	if err != nil {
		t.Fatalf("%v: %v", context, err)
	}
	values, err := parameters.Values(chosen)
	if err != nil {
		t.Fatalf("%v: %v", context, err)
	}
	values[parameters.CodeBucket], values[parameters.CodePrefix] = "packages", "rollcall/v0/"
	got, err := cloudformation.Resolve(source, cloudformation.Options{StackName: chosen.StackName, Parameters: values})
	if err != nil {
		t.Fatalf("%v: %v", context, err)
	}
	want, err := cloudformation.Resolve(synthesised(t, context).source, cloudformation.Options{StackName: chosen.StackName})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(comparable(t, chosen.StackName, want), comparable(t, chosen.StackName, got)); diff != "" {
		t.Errorf("settings %v (-app +standard):\n%.6000s", context, diff)
	}
}

// comparable is what of a template must be the same: all but where the packages are, how
// access entries and subscriptions are called, which policy a statement stands in, and whether
// one text is in a list.
func comparable(t *testing.T, stack string, of cloudformation.Resolved) map[string]any {
	t.Helper()
	out := map[string]any{}
	allowed := map[string][]string{}
	for id, r := range of.Resources {
		switch r.Type {
		case "AWS::IAM::ManagedPolicy":
			role := r.Properties["Roles"].([]any)[0].(string)
			allowed[role] = append(allowed[role], allowances(t, r.Properties["PolicyDocument"])...)
			continue
		case "AWS::IAM::Role":
			role := stack + "-" + id // as the stage calls it
			if name, ok := r.Properties["RoleName"].(string); ok {
				role = name
			}
			for _, policy := range r.Properties["Policies"].([]any) {
				allowed[role] = append(allowed[role], allowances(t, get(policy, "PolicyDocument"))...)
			}
			delete(r.Properties, "Policies")
			if r.Properties["Path"] == "/" {
				delete(r.Properties, "Path") // as without one
			}
		case "AWS::EKS::AccessEntry":
			id = fmt.Sprint("AccessEntry of ", r.Properties["ClusterName"])
		case "AWS::Lambda::Function":
			delete(r.Properties, "Code")
			variables := r.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
			for name, value := range variables {
				if text, ok := value.(string); ok {
					variables[name], _ = config.Unpack(text)
				}
			}
		case "AWS::CloudWatch::Dashboard":
			var body any
			testfile.Parse(t, []byte(r.Properties["DashboardBody"].(string)), &body)
			r.Properties["DashboardBody"] = body
		}
		out[strings.TrimSuffix(id, standard.Renamed)] = map[string]any{"Type": r.Type, "Properties": plain(r.Properties), "Deletion": r.DeletionPolicy + r.UpdateReplacePolicy}
	}
	for role, list := range allowed {
		slices.Sort(list)
		out["role "+role] = slices.Compact(list)
	}
	for name, value := range of.Outputs {
		out["output "+name] = value
	}
	return out
}

// plain writes numbers and switches as texts, a list of one text as that text, and sorts lists
// of texts.
func plain(v any) any {
	switch v := v.(type) {
	case []any:
		var all []any
		var texts []string
		for _, x := range v {
			all = append(all, plain(x))
			if text, ok := all[len(all)-1].(string); ok {
				texts = append(texts, text)
			}
		}
		if len(texts) == 1 && len(all) == 1 {
			return texts[0]
		}
		if len(texts) == len(all) {
			slices.Sort(texts)
			return texts
		}
		return all
	case map[string]any:
		out := map[string]any{}
		for key, x := range v {
			out[key] = plain(x)
		}
		return out
	case nil:
		return nil
	}
	return fmt.Sprint(v)
}

// allowances are a policy's statements, each action on each resource by itself.
func allowances(t *testing.T, document any) []string {
	t.Helper()
	if text, ok := document.(string); ok {
		testfile.Parse(t, []byte(text), &document)
	}
	var all []string
	for _, s := range several(get(document, "Statement")) {
		for _, action := range several(get(s, "Action")) {
			for _, resource := range several(get(s, "Resource")) {
				one, err := json.Marshal(plain(map[string]any{"Effect": get(s, "Effect"), "Action": action, "Resource": resource, "Condition": get(s, "Condition")}))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(one))
			}
		}
	}
	return all
}

// someSettings are settings by chance, each of which the app accepts.
func someSettings(r *rand.Rand) map[string]any {
	maybe := func() bool { return r.IntN(2) == 0 }
	some := func(form string, most int) []string {
		var all []string
		for n := range r.IntN(most + 1) {
			all = append(all, fmt.Sprintf(form, n+1))
		}
		return all
	}
	text := func(none string, parts ...string) string {
		if len(parts) == 0 {
			return none
		}
		return strings.Join(parts, ",")
	}
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	clusters := some("cluster-%d", 9)
	var cleanup, remedies, targets []string
	for _, c := range clusters {
		if maybe() {
			cleanup = append(cleanup, c+"="+pick("delete", "dry-run", "report"))
		}
		if maybe() {
			remedies = append(remedies, c+"="+pick("approve", "off"))
		}
		if maybe() {
			remedies = append(remedies, c+"/"+pick("add-nat-route", "replace-instance", "open-endpoint-security-group", "cover-zones", "delete-leaked-interfaces", "create-access-entry")+"="+pick("approve", "off"))
		}
	}
	var spokes []string
	for n := range r.IntN(4) {
		id := fmt.Sprintf("22223333444%d/eu-west-%d", n, n+1)
		spokes = append(spokes, id)
		if maybe() {
			cleanup = append(cleanup, id+"/far=delete")
		}
		if maybe() {
			remedies = append(remedies, id+"/far/"+pick("add-nat-route", "replace-instance", "create-access-entry", "delete-leaked-interfaces")+"=approve")
		}
	}
	own := maybe()
	if own {
		targets = append(targets, "sns")
	}
	targets = slices.Concat(targets, some("webhook=rollcall/webhook-%d", 4), some("sns=arn:aws:sns:us-west-2:111122223333:topic-%d", 3))
	given := map[string]any{
		"stackName": pick("Rollcall", "Watch-2"), "slackChannel": channel, "clusters": text("all", clusters...), "accessClusters": text("", some("entry-%d", 5)...),
		"configMapClusters": text("", some("entry-%d", 2)...), "kubernetesAccess": pick("group", "policy", "none"), "cleanup": text("report", cleanup...), "remedies": text("off", remedies...),
		"cleanupUntagged": text("none", some("vpc-0a1b2c3%d", 3)...), "remedyVpcs": text("none", some("vpc-0a1b2c4%d", 3)...), "remedyRoles": text("none", some("arn:aws:iam::111122223333:role/nodes-%d", 3)...),
		"spokes": text("none", spokes...), "externalId": pick("rollcall-7f3a"), "targets": text("none", targets...), "slackActions": pick("on", "off"), "dashboard": pick("on", "off"),
		"decodeDenied": pick("on", "off"), "instanceData": pick("on", "off"), "autoModeLogs": text("off", some("/aws/vendedlogs/%d*", 4)...), "evidence": pick("off", "7", "365"), "joinTime": pick("1m", "5m", "15m"),
		"sweepConcurrency": pick("2", "9", "50"), "logRetentionDays": pick("1", "3653"), "relays": text("none", some("cluster-%d", 4)...), "routes": pick("none", "all/critical=C0PAGES0001@S0ONCALL01"),
		"kmsKeyArn":             pick("none", "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000002"),
		"rolePath":              pick("/", "/teams/platform/"),
		"permissionsBoundary":   pick("", "arn:aws:iam::111122223333:policy/teams/boundary"),
		"targetSecretKmsKeyArn": pick("", "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000001"),
	}
	if own {
		given["targetEmail"] = text("", some("mail-%d@example.com", 3)...)
	}
	if maybe() {
		given["alarmTopicArn"] = "arn:aws:sns:us-west-2:111122223333:alarms"
	} else {
		given["alarmEmail"] = pick("", "on-call@example.com")
	}
	if maybe() {
		given["vpcSubnetIds"] = text("", "subnet-0a1b2c3d", "subnet-0a1b2c3e")
		given["vpcSecurityGroupIds"] = text("", "sg-0a1b2c3d")
	}
	slack, signing := maybe(), maybe()
	if slack {
		given["slackSecretArn"] = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:slack-AbCdEf"
	}
	if signing {
		given["slackSigningSecretArn"] = "arn:aws:secretsmanager:us-west-2:111122223333:secret:signing-AbCdEf"
	}
	if (slack || signing) && maybe() {
		given["slackSecretKmsKeyArn"] = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000000"
	}
	return given
}

// TestStandardTemplateIsFresh: the committed file is what the app makes.
func TestStandardTemplateIsFresh(t *testing.T) {
	if !testfull.Asked() {
		t.Skip("the app is synthesised once for each choice; TestStandardTemplateIsTheApps finds a template that is not the app's")
	}
	made, err := standardTemplate(t.TempDir(), "../cdk.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(made) != string(testfile.Read(t, standardFile)) {
		t.Error("run make standard-template")
	}
}

// TestStandardTemplateFits holds the template against CloudFormation's quotas, and its
// policies with the longest values that its parameters accept against IAM's.
func TestStandardTemplateFits(t *testing.T) {
	source := testfile.Read(t, standardFile)
	var doc struct {
		Parameters         map[string]struct{ Description string }
		Resources, Outputs map[string]any
		Transform          any
	}
	testfile.Parse(t, source, &doc)
	if len(source) > limits.TemplateBytes || len(doc.Resources) > limits.Resources || len(doc.Parameters) > 200 || len(doc.Outputs) > 200 || doc.Transform != nil {
		t.Errorf("%d bytes, %d resources, %d parameters, %d outputs, transform %v", len(source), len(doc.Resources), len(doc.Parameters), len(doc.Outputs), doc.Transform)
	}
	alphanumeric := regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)
	for _, names := range [][]string{slices.Collect(maps.Keys(doc.Resources)), slices.Collect(maps.Keys(doc.Parameters)), slices.Collect(maps.Keys(doc.Outputs))} {
		for _, name := range names {
			if !alphanumeric.MatchString(name) {
				t.Errorf("%s is no logical id", name)
			}
		}
	}
	var names []string
	for _, p := range parameters.All() {
		names = append(names, p.Name)
		if d := doc.Parameters[p.Name].Description; d != p.About || len(d) > 4000 {
			t.Errorf("the description of %s is %q", p.Name, d)
		}
	}
	if diff := cmp.Diff(sorted(names), slices.Sorted(maps.Keys(doc.Parameters))); diff != "" {
		t.Errorf("parameters (-listed +template):\n%s", diff)
	}
	longest(t, source)
}

// longest resolves the template with every list as long as its parameter can be.
func longest(t *testing.T, source []byte) {
	t.Helper()
	values := map[string]string{parameters.CodeBucket: "packages", parameters.SlackChannel: channel}
	fill := func(name, form string, most int) {
		var all []string
		for n := range most {
			item := fmt.Sprintf(form, n)
			room := parameters.ByName(name).Longest / most
			all = append(all, item+strings.Repeat("x", max(0, room-len(item)-1)))
		}
		values[name] = strings.Join(all, ",")
	}
	for _, name := range []string{parameters.InterfaceClusters, parameters.RouteClusters, parameters.EndpointClusters, parameters.ReplaceClusters, parameters.ZoneClusters, parameters.AccessEntryClusters} {
		fill(name, "cluster-%02d", parameters.MostClusters)
	}
	fill(parameters.AccessClusters, "cluster-%02d", parameters.MostAccessEntries)
	fill(parameters.TargetSecrets, "secret-%02d", parameters.MostTargetSecrets)
	fill(parameters.TargetTopics, "arn:aws:sns:ap-southeast-1:111122223333:topic-%02d", parameters.MostTargets)
	fill(parameters.RelayFunctions, "rollcall-relay-%02d", parameters.MostRelays)
	fill(parameters.AutoModeLogs, "/aws/vendedlogs/%02d", parameters.MostLogGroups)
	fill(parameters.RemedyRoles, "arn:aws:iam::111122223333:role/nodes-%02d", 14)
	for _, name := range []string{parameters.SpokeReaderRoles, parameters.SpokeCleanerRoles, parameters.SpokeRemediatorRoles} {
		fill(name, "arn:aws:iam::111122223333:role/rollcall-reader-ap-southeast-%02d", 50)
	}
	ids := func(name, form string, most int) {
		var all []string
		for n := range most {
			all = append(all, fmt.Sprintf(form, n))
		}
		values[name] = strings.Join(all, ",")
	}
	ids(parameters.VPCSubnetIDs, "subnet-0a1b2c3d4e5f6%04d", parameters.MostSubnets)
	ids(parameters.VPCSecurityGroupIDs, "sg-0a1b2c3d4e5f6%04d", parameters.MostGroups)
	ids(parameters.RemedyVPCs, "vpc-0a1b2c3d4e5f6%04d", parameters.MostVPCs)
	ids(parameters.CleanupUntagged, "vpc-0a1b2c3d4e5f6%04d", parameters.MostVPCs)
	ids(parameters.InterfaceVPCs, "vpc-0a1b2c3d4e5f6%04d", parameters.MostVPCs)
	maps.Copy(values, map[string]string{
		parameters.Cleanup: "x=delete", parameters.Remedies: "x=approve", parameters.Targets: "sns", parameters.MakeTargetTopic: "on", parameters.SlackActions: "on", parameters.DecodeDenied: "on",
		parameters.Spokes: "222233334444/eu-west-1", parameters.ExternalID: "rollcall-7f3a", parameters.SpokeAccounts: "222233334444",
		parameters.TargetSecretKMSKey: "arn:aws-us-gov:kms:ap-southeast-1:111122223333:key/0a1b2c3d-0000-4000-8000-000000000001",
	})
	got, err := cloudformation.Resolve(source, cloudformation.Options{StackName: "stack-name-of-thirty-character", Region: "ap-southeast-1", Parameters: values})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got.Resources {
		if r.Type == "AWS::IAM::ManagedPolicy" {
			role := strings.TrimPrefix(r.Properties["Roles"].([]any)[0].(string), "stack-name-of-thirty-character-")
			if text, ok := r.Properties["PolicyDocument"].(string); ok {
				var document any
				testfile.Parse(t, []byte(text), &document)
				r.Properties["PolicyDocument"] = document
			}
			r.Properties["Roles"] = []any{map[string]any{"Ref": role}}
		}
	}
	text, err := json.Marshal(map[string]any{"Resources": got.Resources})
	if err != nil {
		t.Fatal(err)
	}
	if err := limits.Check(text); err != nil {
		t.Error(err)
	}
}

// TestBoundary: every role has it; in a spoke it is that of the spoke's own account.
func TestBoundary(t *testing.T) {
	const policy = "arn:aws:iam::111122223333:policy/teams/boundary"
	for _, test := range []struct {
		given map[string]any
		roles int
		want  string
	}{
		{map[string]any{"permissionsBoundary": policy}, 14, policy},
		{map[string]any{"permissionsBoundary": policy, keys.SpokeTemplate: "any"}, 2, "arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/teams/boundary"},
		{map[string]any{"permissionsBoundary": "arn:aws:iam::aws:policy/PowerUserAccess", keys.SpokeTemplate: "any"}, 2, "arn:aws:iam::aws:policy/PowerUserAccess"},
	} {
		test.given["slackChannel"] = channel
		tpl := synthesised(t, test.given)
		roles := tpl.all("AWS::IAM::Role")
		for _, r := range roles {
			if got := flat(r.Properties["PermissionsBoundary"]); got != test.want {
				t.Errorf("%s: the boundary is %q, want %q", r.id, got, test.want)
			}
		}
		if len(roles) != test.roles {
			t.Errorf("%d roles, want %d", len(roles), test.roles)
		}
	}
}

// TestRelayRole: a relay's role has a boundary and a path only where its parameters say so.
func TestRelayRole(t *testing.T) {
	const policy = "arn:aws:iam::111122223333:policy/teams/boundary"
	values := map[string]string{
		"FunctionName": "rollcall-relay-prod", "ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/prod", "ClusterEndpoint": "https://A1.gr7.us-west-2.eks.amazonaws.com", "ClusterAuthority": "Q0E=",
		"VpcId": "vpc-0a1b2c3d", "SubnetA": "subnet-0a1b2c3d", "SubnetB": "subnet-0a1b2c3e", "ClusterSecurityGroup": "sg-0a1b2c3d", "CodeBucket": "packages", "CodeKey": "relay.zip",
	}
	for _, want := range []map[string]any{{}, {"PermissionsBoundary": policy, "Path": "/teams/platform/"}} {
		if len(want) > 0 {
			values[parameters.PermissionsBoundary], values[parameters.RolePath] = policy, "/teams/platform/"
		}
		got, err := cloudformation.Resolve(testfile.Read(t, "RollcallRelay.template.json"), cloudformation.Options{StackName: "rollcall-relay-prod", Parameters: values})
		if err != nil {
			t.Fatal(err)
		}
		for id, r := range got.Resources {
			if r.Type != "AWS::IAM::Role" {
				continue
			}
			for _, property := range []string{"PermissionsBoundary", "Path"} {
				if r.Properties[property] != want[property] {
					t.Errorf("%s: %s is %v, want %v", id, property, r.Properties[property], want[property])
				}
			}
		}
	}
}

// TestRolePath: every role is under it, whoever names a role by its ARN names it there, and
// aws-auth has the reader without it.
func TestRolePath(t *testing.T) {
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "rolePath": "/teams/platform/", "spokes": "222233334444/eu-west-1", "externalId": "rollcall-7f3a"})
	for _, r := range tpl.all("AWS::IAM::Role") {
		if r.Properties["Path"] != "/teams/platform/" {
			t.Errorf("%s is under %v", r.id, r.Properties["Path"])
		}
	}
	text := string(tpl.source)
	for _, want := range []string{":role/teams/platform/rollcall-reader-", "arn:aws:iam::222233334444:role/teams/platform/rollcall-reader-eu-west-1", `"ROLLCALL_ROLE_PREFIX": "/teams/platform/rollcall"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the template has no %s", want)
		}
	}
	if got := flat(tpl.Outputs["AwsAuthRoles"].Value); !strings.Contains(got, ":role/rollcall-reader-") {
		t.Errorf("aws-auth has %q", got)
	}
	spoke := synthesised(t, map[string]any{"slackChannel": channel, "rolePath": "/teams/platform/", keys.SpokeTemplate: "any"})
	for _, r := range spoke.all("AWS::IAM::Role") {
		if r.Properties["Path"] != "/teams/platform/" {
			t.Errorf("in a spoke %s is under %v", r.id, r.Properties["Path"])
		}
	}
	if !strings.Contains(string(spoke.source), ":role/teams/platform/Rollcall-SweepRole*") {
		t.Error("the spoke does not trust the hub's roles under the path")
	}
}

// TestCustomerKey: all that keeps something is encrypted with the key, and a function uses it
// through the services that it calls, and no other way.
func TestCustomerKey(t *testing.T) {
	const key = "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-0000-4000-8000-000000000002"
	tpl := synthesised(t, map[string]any{"slackChannel": channel, "kmsKeyArn": key})
	for kind, path := range map[string][]any{
		"AWS::DynamoDB::Table": {"SSESpecification", "KMSMasterKeyId"}, "AWS::SQS::Queue": {"KmsMasterKeyId"}, "AWS::SNS::Topic": {"KmsMasterKeyId"},
		"AWS::Logs::LogGroup": {"KmsKeyId"}, "AWS::Lambda::Function": {"KmsKeyArn"},
		"AWS::S3::Bucket": {"BucketEncryption", "ServerSideEncryptionConfiguration", 0, "ServerSideEncryptionByDefault", "KMSMasterKeyID"},
	} {
		list := tpl.all(kind)
		for _, r := range list {
			if got := get(r.Properties, path...); got != key {
				t.Errorf("%s is encrypted with %v", r.id, got)
			}
			if kind == "AWS::SQS::Queue" && r.Properties["SqsManagedSseEnabled"] != nil {
				t.Errorf("%s has two ways of encryption", r.id)
			}
		}
		if len(list) == 0 {
			t.Errorf("there is no %s", kind)
		}
	}
	got := map[string][]string{}
	for _, r := range slices.Concat(tpl.all("AWS::IAM::Role"), tpl.all("AWS::IAM::ManagedPolicy")) {
		for _, policy := range append(several(r.Properties["Policies"]), r.Properties) {
			for _, s := range several(get(policy, "PolicyDocument", "Statement")) {
				sid, _ := get(s, "Sid").(string)
				if !strings.HasPrefix(sid, "UseKey") {
					continue
				}
				service, _, _ := strings.Cut(flats(get(s, "Condition", "StringEquals", "kms:ViaService"))[0], ".")
				if get(s, "Resource") != key {
					t.Errorf("%s of %s is on %v", sid, r.id, get(s, "Resource"))
				}
				got[sid+" through "+service] = append(got[sid+" through "+service], r.id)
			}
		}
	}
	counts := map[string]int{}
	for use, roles := range got {
		counts[use] = len(roles)
	}
	want := map[string]int{"UseKeyForQueues through sqs": 13, "UseKeyForTable through dynamodb": 13, "UseKeyForEvidence through s3": 7, "UseKeyForTopic through sns": 1}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStandardRules: what settings.Parse refuses and a rule can say is refused before anything
// is created, and so are lists that do not fit.
func TestStandardRules(t *testing.T) {
	source := testfile.Read(t, standardFile)
	for _, test := range []struct {
		given  map[string]string
		reason string
	}{
		{map[string]string{parameters.SlackChannel: ""}, "Nobody gets a message"},
		{map[string]string{parameters.SlackChannel: "none", parameters.Targets: "sns", parameters.MakeTargetTopic: "on", parameters.SlackActions: "on"}, "SlackActions needs SlackChannel"},
		{map[string]string{parameters.SlackChannel: "none", parameters.Targets: "sns", parameters.MakeTargetTopic: "on", "Routes": "all/critical=C0PAGES0001"}, "Routes needs SlackChannel"},
		{map[string]string{parameters.VPCSubnetIDs: "subnet-0a1b2c3d"}, "set together, or neither"},
		{map[string]string{parameters.AlarmTopicARN: "arn:aws:sns:us-west-2:111122223333:alarms", parameters.AlarmEmail: "a@example.com"}, "AlarmEmail is for the stack's own topic"},
		{map[string]string{parameters.TargetEmail: "a@example.com"}, "TargetEmail is for the stack's own topic"},
		{map[string]string{parameters.SlackSecretKMSKey: "arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d"}, "needs SlackSecretArn or SlackSigningSecretArn"},
		{map[string]string{parameters.Spokes: "222233334444/eu-west-1"}, "SpokeAccounts and SpokeReaderRoles list what Spokes names"},
		{map[string]string{parameters.Spokes: "222233334444/eu-west-1", parameters.SpokeAccounts: "222233334444", parameters.SpokeReaderRoles: "arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1"}, "ExternalId is required"},
		{map[string]string{parameters.SpokeCleanerRoles: "arn:aws:iam::222233334444:role/rollcall-cleaner-eu-west-1"}, "without spokes no role of a spoke is listed"},
		{map[string]string{parameters.ReplaceClusters: "prod"}, "and it is off"},
		{map[string]string{parameters.InterfaceClusters: "prod"}, "and neither names one"},
		{map[string]string{parameters.InterfaceVPCs: "vpc-0a1b2c3d"}, "where a cluster has a mode in Cleanup"},
		{map[string]string{parameters.TargetSecrets: "rollcall/webhook"}, "and it is none"},
		{map[string]string{parameters.Targets: "webhook=rollcall/webhook"}, "must say what Targets names"},
	} {
		values := map[string]string{parameters.CodeBucket: "packages", parameters.SlackChannel: channel}
		maps.Copy(values, test.given)
		if _, err := cloudformation.Resolve(source, cloudformation.Options{Parameters: values}); err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%v: %v, want %q", test.given, err, test.reason)
		}
	}
	if _, err := cloudformation.Resolve(source, cloudformation.Options{Parameters: map[string]string{parameters.CodeBucket: "packages", parameters.SlackChannel: channel}}); err != nil {
		t.Errorf("only a channel: %v", err)
	}
}
