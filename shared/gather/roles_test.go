package gather

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/shared/gather/gathertest"
	"rollcall/shared/snapshot"
	"rollcall/stage/platform/wire"
	"rollcall/tools/expect"
)

// TestRolesThatCannotBeRead holds that a role is never said to be deleted
// because something of it is, and that one of another account is not asked
// for.
func TestRolesThatCannotBeRead(t *testing.T) {
	const account = "arn:aws:iam::111122223333:role/"
	missing := &wire.Error{Code: "NoSuchEntity", Status: 404, Message: "gone"}
	r, server := reader(t, func(s *wire.Server) {
		wire.Handle(s, "iam", "GetRole", answer(func(in *iam.GetRoleInput) (*iam.GetRoleOutput, error) {
			switch *in.RoleName {
			case "gone":
				return nil, missing
			case "bad":
				return &iam.GetRoleOutput{Role: &types.Role{RoleName: in.RoleName, AssumeRolePolicyDocument: aws.String("%zz")}}, nil
			}
			return &iam.GetRoleOutput{Role: &types.Role{RoleName: in.RoleName, AssumeRolePolicyDocument: aws.String("%7B%7D")}}, nil
		}))
		wire.Handle(s, "iam", "ListAttachedRolePolicies", answer(func(in *iam.ListAttachedRolePoliciesInput) (*iam.ListAttachedRolePoliciesOutput, error) {
			return &iam.ListAttachedRolePoliciesOutput{AttachedPolicies: []types.AttachedPolicy{{PolicyArn: aws.String("arn:aws:iam::111122223333:policy/" + *in.RoleName)}}}, nil
		}))
		wire.Handle(s, "iam", "ListRolePolicies", answer(func(*iam.ListRolePoliciesInput) (*iam.ListRolePoliciesOutput, error) {
			return &iam.ListRolePoliciesOutput{}, nil
		}))
		wire.Handle(s, "iam", "GetPolicy", answer(func(in *iam.GetPolicyInput) (*iam.GetPolicyOutput, error) {
			if strings.HasSuffix(*in.PolicyArn, "/changing") {
				return nil, missing
			}
			return &iam.GetPolicyOutput{Policy: &types.Policy{Arn: in.PolicyArn, DefaultVersionId: aws.String("v1")}}, nil
		}))
		wire.Handle(s, "iam", "GetPolicyVersion", answer(func(*iam.GetPolicyVersionInput) (*iam.GetPolicyVersionOutput, error) {
			return &iam.GetPolicyVersionOutput{PolicyVersion: &types.PolicyVersion{Document: aws.String("%7B%22a%22%3A1%7D")}}, nil
		}))
	})
	const foreign = "arn:aws:iam::999900001111:role/far"
	v := machineView()
	v.Account = "111122223333"
	v.Snapshot.Profiles = []snapshot.Profile{{Roles: []string{account + "gone", account + "bad", account + "changing", account + "path/good", foreign}}}
	store, err := oneOf(r.sources(nil), snapshot.Roles).ReadFrom(t.Context(), v)
	expect.OK(t, err)
	store(v.Snapshot)
	gathertest.Same(t, "roles", v.Snapshot.Roles, []snapshot.Role{{ARN: account + "path/good", Name: "good", Trust: "{}", Policies: []snapshot.Policy{{Name: "good", ARN: "arn:aws:iam::111122223333:policy/good", Document: `{"a":1}`}}}})
	for arn, want := range map[string]snapshot.Failure{
		account + "gone":     {Reason: snapshot.Broken, Code: "NoSuchEntity"},
		account + "bad":      {Reason: snapshot.Broken},
		account + "changing": {Reason: snapshot.Broken},
		foreign:              {Reason: snapshot.NotRead},
	} {
		f, lacks := v.Snapshot.Lacks(snapshot.Roles, arn)
		if !lacks || f.Reason != want.Reason || f.Code != want.Code || f.Call == "" || f.Message == "" {
			t.Errorf("%s: %+v, want %+v and a message", arn, f, want)
		}
	}
	asked := 0
	for _, c := range server.Calls() {
		if c.Operation == "GetRole" {
			asked++
		}
	}
	if asked != 4 {
		t.Errorf("asked for %d roles, want the 4 of this account", asked)
	}
}
