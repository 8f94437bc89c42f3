package authorization

import (
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/worldfile"
)

const (
	session = "arn:aws:sts::111122223333:assumed-role/launcher/one"
	edge    = "arn:aws:iam::111122223333:policy/edge"
	allows  = `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
)

// account is one with a role, its own policy, its boundary ("" for none) and service
// control policies.
func account(own, boundary string, control ...string) *state.State {
	f := &worldfile.File{Account: "111122223333", Region: "us-west-2", Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}
	for _, text := range control {
		f.Organizations.ServiceControlPolicies = append(f.Organizations.ServiceControlPolicies, worldfile.ControlPolicy{Name: "control", Document: text})
	}
	w := state.New(f, 1, slog.New(slog.DiscardHandler))
	role := &worldfile.RoleFile{Role: iamtypes.Role{RoleName: aws.String("launcher")}}
	if own != "" {
		role.RolePolicyList = []iamtypes.PolicyDetail{{PolicyName: aws.String("own"), PolicyDocument: aws.String(own)}}
	}
	if boundary != "" {
		role.PermissionsBoundary = &iamtypes.AttachedPermissionsBoundary{PermissionsBoundaryArn: aws.String(edge)}
		w.Policies.Put(edge, &iamtypes.ManagedPolicyDetail{Arn: aws.String(edge), PolicyVersionList: []iamtypes.PolicyVersion{{IsDefaultVersion: true,
			Document: aws.String(boundary)}}})
	}
	w.Roles.Put("launcher", role)
	w.Instances.Put("i-1", &ec2types.Instance{InstanceId: aws.String("i-1"), Tags: []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}})
	w.Subnets.Put("subnet-1", &ec2types.Subnet{SubnetId: aws.String("subnet-1"), Tags: []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}})
	w.SecurityGroups.Put("sg-1", &ec2types.SecurityGroup{GroupId: aws.String("sg-1"), Tags: []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}})
	w.AddTemplateVersion(&ec2types.LaunchTemplateVersion{LaunchTemplateId: aws.String("lt-1"), VersionNumber: aws.Int64(1), DefaultVersion: aws.Bool(true)})
	w.Templates.Get("lt-1").Tags = []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}
	profile := "arn:aws:iam::111122223333:instance-profile/nodes"
	w.Profiles.Put("nodes", &iamtypes.InstanceProfile{Arn: &profile, Roles: []iamtypes.Role{{Arn: aws.String("arn:aws:iam::111122223333:role/nodes")}}})
	return w
}

// why is what an error says after "not authorized to perform: ", without the encoded
// message.
func why(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != "UnauthorizedOperation" || e.Status != 403 {
		t.Fatalf("%v", err)
	}
	_, text, _ := strings.Cut(e.Message, "User: "+session+" is not authorized to perform: ")
	text, _, _ = strings.Cut(text, ". Encoded authorization failure message: ")
	return text
}

func TestLayers(t *testing.T) {
	deny := `{"Statement":[{"Sid":"NoEnd","Effect":"Deny","Action":"ec2:Terminate*","Resource":"*"}]}`
	for name, test := range map[string]struct {
		own, boundary, control string
		want                   string
	}{
		"all of it": {allows, allows, "", ""},
		"nothing of its own": {`{"Statement":[{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}]}`, "", "",
			"because no identity-based policy allows the ec2:TerminateInstances action"},
		"its own denies": {`{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"ec2:*","Resource":"*"}]}`, "", "", "with an explicit deny in an identity-based policy"},
		"the boundary is silent": {allows, `{"Statement":[{"Effect":"Allow","Action":"ec2:Describe*","Resource":"*"}]}`, "",
			"because no permissions boundary allows the ec2:TerminateInstances action"},
		"the boundary denies": {allows, deny, "", "with an explicit deny in a permissions boundary"},
		"the boundary grants nothing": {`{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`, allows, "",
			"because no identity-based policy allows the ec2:TerminateInstances action"},
		"the organization denies":         {allows, "", deny, "with an explicit deny in a service control policy"},
		"the organization, and its own":   {deny, "", deny, "with an explicit deny in a service control policy"},
		"the organization denies another": {allows, "", `{"Statement":[{"Effect":"Deny","Action":"s3:*","Resource":"*"}]}`, ""},
	} {
		var control []string
		if test.control != "" {
			control = []string{test.control}
		}
		want := test.want
		if want != "" {
			want = "ec2:TerminateInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/i-1 " + want
		}
		if got := why(t, On(account(test.own, test.boundary, control...), session, "ec2:TerminateInstances", []string{"i-1"}, nil)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Who is no role's session is not judged; a role that the world does not know, and one
// with a policy that it does not know, are bound by the organization alone.
func TestWhoIsJudged(t *testing.T) {
	deny := `{"Statement":[{"Effect":"Deny","Action":"ec2:*","Resource":"*"}]}`
	end := func(w *state.State, who string) error {
		return On(w, who, "ec2:TerminateInstances", []string{"i-1"}, nil)
	}
	for _, who := range []string{"", "arn:aws:iam::111122223333:user/admin", "arn:aws:sts::111122223333:assumed-role/"} {
		if err := end(account("", "", deny), who); err != nil {
			t.Errorf("%q: %v", who, err)
		}
	}
	const other = "arn:aws:sts::111122223333:assumed-role/other/one"
	if err := end(account("", ""), other); err != nil {
		t.Errorf("a role that is not known: %v", err)
	}
	if err := end(account("", "", deny), other); err == nil {
		t.Error("a role that is not known, and the organization denies it")
	}
	w := account("", "")
	if err := end(w, session); err == nil {
		t.Error("a role without a policy may")
	}
	w.Roles.Get("launcher").AttachedManagedPolicies = []iamtypes.AttachedPolicy{{PolicyArn: aws.String("arn:aws:iam::111122223333:policy/unknown")}}
	if err := end(w, session); err != nil {
		t.Errorf("a policy that is not known: %v", err)
	}
	w.Roles.Get("launcher").AttachedManagedPolicies = []iamtypes.AttachedPolicy{{PolicyArn: aws.String("arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")}}
	if err := end(w, session); err == nil {
		t.Error("AWS's policy for nodes lets them end instances")
	}
	if err := end(account("no policy", ""), session); err == nil || ofEC2(err) {
		t.Errorf("a document that cannot be read: %v", err)
	}
}

// ofEC2 tells an error of EC2's.
func ofEC2(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}

// Each resource and key of a launch is judged: a policy that leaves one out is the
// reason that is named.
func TestLaunchNeedsEach(t *testing.T) {
	tags := []ec2types.TagSpecification{
		{ResourceType: "instance", Tags: []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}},
		{ResourceType: "fleet", Tags: []ec2types.Tag{{Key: aws.String("team"), Value: aws.String("web")}}},
	}
	l := Launch{Type: "m5.large", Subnet: "subnet-1", Image: "ami-1", Groups: []string{"sg-1"}, Spot: true, Tags: tags, Template: "lt-1",
		ProfileARN: "arn:aws:iam::111122223333:instance-profile/nodes", TokensRequired: true}
	run := func(w *state.State) error { return Run(w, session, l) }
	fleet := func(w *state.State) error { return Fleet(w, session, l) }
	if err := run(account(allows, "")); err != nil {
		t.Fatal(err)
	}
	if err := fleet(account(allows, "")); err != nil {
		t.Fatal(err)
	}
	const of = "arn:aws:ec2:us-west-2:111122223333:"
	for _, test := range []struct {
		do       func(*state.State) error
		action   string
		resource string
		keys     map[string][]string
	}{
		{run, "ec2:RunInstances", of + "instance/*", map[string][]string{"ec2:InstanceType": {"m5.large"}, "ec2:MetadataHttpTokens": {"required"},
			"ec2:InstanceMarketType": {"spot"}, "aws:RequestTag/team": {"web"}, "aws:TagKeys": {"team"}, "aws:PrincipalArn": {"arn:aws:iam::111122223333:role/launcher"}, "aws:RequestedRegion": {"us-west-2"}, "aws:PrincipalAccount": {"111122223333"}, "ec2:Region": {"us-west-2"}}},
		{run, "ec2:RunInstances", of + "volume/*", nil}, {run, "ec2:RunInstances", of + "network-interface/*", nil}, {run, "ec2:RunInstances",
			of + "spot-instances-request/*", nil},
		{run, "ec2:RunInstances", of + "launch-template/lt-1", map[string][]string{"aws:ResourceTag/team": {"web"}}},
		{run, "ec2:RunInstances", of + "subnet/subnet-1", map[string][]string{"aws:ResourceTag/team": {"web"}}},
		{run, "ec2:RunInstances", of + "security-group/sg-1", map[string][]string{"aws:ResourceTag/team": {"web"}}},
		{run, "ec2:RunInstances", "arn:aws:ec2:us-west-2::image/ami-1", nil},
		{run, "ec2:CreateTags", of + "instance/*", map[string][]string{"ec2:CreateAction": {"RunInstances"}, "aws:RequestTag/team": {"web"}}},
		{run, "iam:PassRole", "arn:aws:iam::111122223333:role/nodes", map[string][]string{"iam:PassedToService": {"ec2.amazonaws.com"}}},
		{fleet, "ec2:CreateFleet", of + "fleet/*", map[string][]string{"aws:RequestTag/team": {"web"}}}, {fleet, "ec2:CreateFleet", of + "instance/*", nil},
		{fleet, "ec2:CreateFleet", of + "subnet/subnet-1", nil}, {fleet, "ec2:CreateFleet", of + "launch-template/lt-1", nil}, {fleet, "ec2:CreateFleet", of + "volume/*", nil},
		{fleet, "ec2:CreateTags", of + "fleet/*", map[string][]string{"ec2:CreateAction": {"CreateFleet"}}},
		{func(w *state.State) error {
			return Template(w, session, []ec2types.TagSpecification{{ResourceType: "launch-template", Tags: tags[0].Tags}})
		}, "ec2:CreateLaunchTemplate", of + "launch-template/*", map[string][]string{"aws:RequestTag/team": {"web"}}},
		{func(w *state.State) error { return On(w, session, "ec2:CreateTags", []string{"i-1"}, tags[0].Tags) }, "ec2:CreateTags", of + "instance/i-1",
			map[string][]string{"aws:ResourceTag/team": {"web"}, "aws:RequestTag/team": {"web"}, "aws:TagKeys": {"team"}}},
	} {
		keys := []map[string][]string{nil}
		for key, values := range test.keys {
			keys = append(keys, map[string][]string{key: values})
		}
		for _, k := range keys {
			text, err := json.Marshal(map[string]any{"Statement": []any{map[string]any{"Sid": "It", "Effect": "Deny", "Action": test.action,
				"Resource": test.resource, "Condition": map[string]any{"StringEquals": k}}}})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := why(t, test.do(account(allows, "", string(text)))), test.action+" on resource: "+test.resource+" with an explicit deny in a service control policy"; got != want {
				t.Errorf("%v: %q, want %q", k, got, want)
			}
		}
	}
	l.Spot, l.TokensRequired = false, false
	for key, value := range map[string]string{"ec2:InstanceMarketType": "on-demand", "ec2:MetadataHttpTokens": "optional"} {
		if err := run(account(allows, "", `{"Statement":{"Effect":"Deny","Action":"*","Resource":"*","Condition":{"StringEquals":{"`+key+`":"`+value+`"}}}}`)); err == nil {
			t.Errorf("%s is not %s", key, value)
		}
	}
	if err := run(account(allows, "", `{"Statement":{"Effect":"Deny","Action":"*","Resource":"*spot-instances-request*"}}`)); err != nil {
		t.Errorf("on demand: %v", err)
	}
}

// The encoded message can be decoded: which statement denied it, what it asks for, and
// what the request had.
func TestEncodedMessages(t *testing.T) {
	w := account(allows, "", `{"Statement":[{"Sid":"Other","Effect":"Deny","Action":"s3:*","Resource":"*"},{"Sid":"Tags","Effect":"Deny","Action":"ec2:RunInstances","Resource":"arn:aws:ec2:*:*:instance/*","Condition":{"Null":{"aws:RequestTag/cost-center":"true"}}}]}`)
	l := Launch{Type: "m5.large"}
	for range 3 {
		if err := Run(w, session, l); err == nil {
			t.Fatal("it may")
		}
	}
	l.Type = "m5.xlarge"
	err := Run(w, session, l)
	messages := w.File.STS.AuthorizationMessages
	if len(messages) != 2 || messages[0].Encoded == messages[1].Encoded || !strings.HasSuffix(err.Error(), messages[1].Encoded) || len(messages[0].Encoded) < 300 {
		t.Fatalf("%d messages: %v", len(messages), messages)
	}
	var m struct {
		Allowed, ExplicitDeny bool
		MatchedStatements     items[matchedStatement]
		Context               struct {
			Principal        struct{ ID, ARN string }
			Action, Resource string
			Conditions       items[conditionKey]
		}
	}
	if err := json.Unmarshal([]byte(messages[1].Decoded), &m); err != nil {
		t.Fatal(err)
	}
	s := m.MatchedStatements.Items
	if m.Allowed || !m.ExplicitDeny || len(s) != 1 || s[0].StatementID != "Tags" || s[0].Effect != "DENY" || m.Context.Action != "ec2:RunInstances" ||
		m.Context.Principal.ARN != session ||
		!strings.HasSuffix(m.Context.Principal.ID, ":one") || !strings.HasPrefix(m.Context.Principal.ID, "AROA") ||
		m.Context.Resource != "arn:aws:ec2:us-west-2:111122223333:instance/*" {
		t.Errorf("%+v", m)
	}
	if diff := cmp.Diff([]conditionKey{{"aws:RequestTag/cost-center", items[value]{[]value{{"true"}}}}}, s[0].Conditions.Items); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if !slices.ContainsFunc(m.Context.Conditions.Items, func(k conditionKey) bool {
		return k.Key == "ec2:InstanceType" && slices.Equal(k.Values.Items, []value{{"m5.xlarge"}})
	}) {
		t.Errorf("the request: %+v", m.Context.Conditions)
	}
	w = account(`{"Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}`, "")
	if err := Run(w, session, l); err == nil || !strings.Contains(w.File.STS.AuthorizationMessages[0].Decoded, `"explicitDeny":false`) ||
		!strings.Contains(w.File.STS.AuthorizationMessages[0].Decoded, `"matchedStatements":{"items":[]}`) {
		t.Errorf("not granted: %v", w.File.STS.AuthorizationMessages)
	}
}
