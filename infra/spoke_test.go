package main

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

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
	committed, err := os.ReadFile("RollcallSpoke.template.json")
	if err != nil {
		t.Fatal(err)
	}
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
// the external id and, where one is set, of the organization; and nobody else.
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

// TestSpokeChangesAsTheHub: what a spoke's roles may change is what the hub's own functions
// may, statement by statement with its conditions, of the clusters of this spoke alone.
func TestSpokeChangesAsTheHub(t *testing.T) {
	tpl := made(t, oneSpoke)
	own, err := synthesise(map[string]any{
		"slackChannel": channel, "remedies": "prod/add-nat-route=approve,prod/create-access-entry=approve", "remedyVpcs": "vpc-0123456789abcdef0",
		"remedyRoles": "arn:aws:iam::111122223333:role/nodes", "cleanup": "dev=delete",
	})
	if err != nil {
		t.Fatal(err)
	}
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
	text, err := json.Marshal(tpl.Resources)
	if err != nil {
		t.Fatal(err)
	}
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
		text, err := json.Marshal(r.Properties["EventPattern"])
		if err != nil {
			t.Fatal(err)
		}
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
			text, err := json.Marshal(pattern(r.Pattern))
			if err != nil {
				t.Fatal(err)
			}
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
		text, err := json.Marshal([]any{r.Properties["EventPattern"], flat(get(r.Properties, "Targets", 0, "Arn"))})
		if err != nil {
			t.Fatal(err)
		}
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
	for _, p := range made(t, standard).all("AWS::Events::EventBusPolicy") {
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
