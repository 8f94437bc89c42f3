package trail

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

// sample reads a record as CloudTrail has it.
func sample(t testing.TB, name string) Record {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDecode(t *testing.T) {
	got := sample(t, "delete-route")
	want := Record{
		ID: "5dcff7a9-e414-411a-a43e-88d122a0ad4a", At: at("14:41:07"), Source: ec2, Call: "DeleteRoute",
		Actor: Actor{
			Name: "ci-deploy/run-4711", Principal: "arn:aws:sts::111122223333:assumed-role/ci-deploy/run-4711", By: "cloudformation.amazonaws.com",
			Role: "ci-deploy", Session: "run-4711",
		},
		Asked: []Text{{"destinationCidrBlock", "0.0.0.0/0"}, {"routeTableId", "rtb-0cd2e3f4a5b6c7d8e"}}, Answered: []Text{{"requestId", "0c9f"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Newer calls nest their parameters, in capitals and with places in lists.
	got = sample(t, "delete-vpc-endpoints")
	if !has(got.Asked, "vpce-0a1b2c3d4e5f60718", "vpcEndpointId") || got.Error != "UnauthorizedOperation" {
		t.Errorf("got %+v", got)
	}
}

func TestActors(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want Actor
	}{
		"user": {
			`{"type":"IAMUser","arn":"arn:aws:iam::111122223333:user/ops/alice","userName":"alice","principalId":"AIDA"}`,
			Actor{Name: "alice", Principal: "arn:aws:iam::111122223333:user/ops/alice"},
		},
		"person by Identity Center": {
			`{"type":"AssumedRole","arn":"arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0f/alice@example.com"}`,
			Actor{Name: "alice@example.com", Principal: "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_0f/alice@example.com", Role: "AWSReservedSSO_Admin_0f", Session: "alice@example.com"},
		},
		"role without its session": {
			`{"type":"AssumedRole","sessionContext":{"sessionIssuer":{"userName":"ci"}}}`,
			Actor{Name: "ci", Role: "ci"},
		},
		"service": {
			`{"type":"AWSService","invokedBy":"autoscaling.amazonaws.com"}`,
			Actor{Name: "autoscaling.amazonaws.com"},
		},
		"service in a role's name": {
			`{"type":"AssumedRole","arn":"arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS","invokedBy":"eks-nodegroup.amazonaws.com"}`,
			Actor{Name: "AWSServiceRoleForAmazonEKSNodegroup/EKS", Principal: "arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAmazonEKSNodegroup/EKS", By: "eks-nodegroup.amazonaws.com", Role: "AWSServiceRoleForAmazonEKSNodegroup", Session: "EKS"},
		},
		"root":          {`{"type":"Root","arn":"arn:aws:iam::111122223333:root"}`, Actor{Name: "root", Principal: "arn:aws:iam::111122223333:root"}},
		"federated":     {`{"type":"FederatedUser","arn":"arn:aws:sts::111122223333:federated-user/bob"}`, Actor{Name: "bob", Principal: "arn:aws:sts::111122223333:federated-user/bob"}},
		"other account": {`{"type":"AWSAccount","accountId":"444455556666","principalId":"AIDAX"}`, Actor{Name: "account 444455556666"}},
		"web identity":  {`{"type":"WebIdentityUser","userName":"sub-1"}`, Actor{Name: "sub-1"}},
		"nothing known": {`{"type":"SomethingNew"}`, Actor{Name: "unknown"}},
	} {
		r, err := Decode([]byte(`{"eventID":"1","eventTime":"2026-11-20T14:41:07Z","eventSource":"ec2.amazonaws.com","eventName":"X","userIdentity":` + test.text + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, r.Actor); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := Decode([]byte(`{"eventID":"1"}`)); !errors.Is(err, errNoEvent) {
		t.Errorf("half a record: %v", err)
	}
	if _, err := Decode([]byte(`{"eventID":`)); err == nil {
		t.Error("no JSON was read")
	}
}

// What is long is no name, and may be a secret: it is not kept.
func TestSecretsAreNotKept(t *testing.T) {
	long := make([]byte, longest+1)
	for i := range long {
		long[i] = 'x'
	}
	r, err := Decode([]byte(`{"eventID":"1","eventTime":"2026-11-20T14:41:07Z","eventSource":"ec2.amazonaws.com","eventName":"X","requestParameters":{"userData":"` + string(long) + `","a":{"b":[{"items":[{"c":"d"}]}]},"n":5,"z":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Text{{"c", "d"}}, r.Asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"delete-route", "delete-vpc-endpoints", "replace-association", "revoke-egress", "update-nodegroup", "create-template-version", "detach-role-policy"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode(text)
		if err != nil {
			return
		}
		if r.ID == "" || r.Actor.Name == "" || len(r.Asked) > mostTexts {
			t.Errorf("read %+v", r)
		}
		for _, text := range r.Asked {
			if len(text.Value) > longest {
				t.Errorf("kept a text of %d", len(text.Value))
			}
		}
		w := Window{From: r.At, To: r.At, start: r.At, oldest: r.At}
		list, more := Changes([]Record{r, r}, []Target{{Kind: Subnet, Name: "subnet-0ab1c2d3e4f5a6b7c"}, {Kind: Other, Name: "i-1"}}, w, nil)
		if len(list) > 1 || more != 0 {
			t.Errorf("one record made %v", list)
		}
	})
}
