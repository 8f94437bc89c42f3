package openendpointsecuritygroup

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
)

func TestWords(t *testing.T) {
	for _, test := range []struct {
		from, endpoints  []string
		names, opens, at string
	}{
		{[]string{"sg-0n"}, []string{"vpce-0a"}, "sg-0n", "--protocol tcp --port 443 --source-group sg-0n", "vpce-0a"},
		{[]string{"sg-0n", "sg-0m"}, []string{"vpce-0a", "vpce-0b"}, "sg-0n and sg-0m",
			"--ip-permissions 'IpProtocol=tcp,FromPort=443,ToPort=443,UserIdGroupPairs=[{GroupId=sg-0n},{GroupId=sg-0m}]'", "vpce-0a and vpce-0b"},
	} {
		want := action.Words{
			Title:    "Admit tcp 443 from " + test.names + " in sg-0a",
			Steps:    []string{"Add to sg-0a, which only interfaces of " + test.at + " have: inbound tcp 443 from " + test.names + "."},
			Commands: []string{"aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0a " + test.opens},
			Undo:     []string{"aws ec2 revoke-security-group-ingress --region us-west-2 --group-id sg-0a " + test.opens},
			Cost:     "Whatever has " + test.names + " reaches " + test.at + ", by tcp 443 alone.",
		}
		got := words(Plan{SecurityGroup: "sg-0a", Port: 443, From: test.from, Endpoints: test.endpoints}, action.Place{Region: "us-west-2", Cluster: "prod"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from %q (-want +got):\n%s", test.from, diff)
		}
	}
}
