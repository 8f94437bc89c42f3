package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/config"
	"rollcall/shared/spec"
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

// The reader is assumed by the functions that read in clusters, by nobody else, and
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
