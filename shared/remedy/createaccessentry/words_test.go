package createaccessentry

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
)

func TestWords(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/team/workers"
	want := action.Words{
		Title:    "Make an access entry EC2_LINUX for workers",
		Steps:    []string{"Make an access entry of type EC2_LINUX for " + role + " in prod: no groups, no policy."},
		Commands: []string{"aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn " + role + " --type EC2_LINUX"},
		Undo:     []string{"aws eks delete-access-entry --region us-west-2 --cluster-name prod --principal-arn " + role},
		Cost:     "Whatever may take the role workers can join prod as a node.",
	}
	plan := Plan{Principal: role, Type: "EC2_LINUX"}
	place := action.Place{Region: "us-west-2", Cluster: "prod"}
	if diff := cmp.Diff(want, words(plan, place)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plan.LaunchedBy = []string{"NodePool default", "nodegroup workers"}
	want.Steps[0] += " Its instances were launched by NodePool default and nodegroup workers."
	if diff := cmp.Diff(want, words(plan, place)); diff != "" {
		t.Errorf("with who launched them (-want +got):\n%s", diff)
	}
}
