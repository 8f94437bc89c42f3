package stage

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"
)

// A call through the simulated API comes to the default bus as CloudTrail
// brings it: with the one who made it, refused or not.
func TestCallsComeToTheBus(t *testing.T) { virtual(t, callsComeToTheBus) }

func callsComeToTheBus(t *testing.T) {
	r := start(t, "route", func(o *Options) { o.Quiet = true })
	r.scale(1, 1)
	_, err := eks.NewFromConfig(r.AsAdmin()).DeleteNodegroup(context.Background(), &eks.DeleteNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("x")})
	if err == nil {
		t.Fatal("deleting a nodegroup that is not there: got no error")
	}
	type record struct {
		Name, Code, Who string
		In              map[string]any
	}
	var got []record
	r.until("both calls are told", func() bool {
		got = nil
		for _, p := range r.Events() {
			var e struct {
				Type   string `json:"detail-type"`
				Detail struct {
					EventName, ErrorCode string
					UserIdentity         struct{ Arn string }
					RequestParameters    map[string]any
				}
			}
			if err := json.Unmarshal(p.Event, &e); err != nil {
				t.Fatal(err)
			}
			if p.Bus == "default" && e.Type == "AWS API Call via CloudTrail" {
				delete(e.Detail.RequestParameters, "scalingConfig")
				delete(e.Detail.RequestParameters, "clientRequestToken") // the SDK makes one for each call
				got = append(got, record{e.Detail.EventName, e.Detail.ErrorCode, e.Detail.UserIdentity.Arn, e.Detail.RequestParameters})
			}
		}
		return len(got) == 2
	})
	who := "arn:aws:iam::111122223333:user/" + Admin
	want := []record{
		{"UpdateNodegroupConfig", "", who, map[string]any{"name": "eks-workshop", "nodegroupName": "new_nodegroup_2"}},
		{"DeleteNodegroup", "ResourceNotFoundException", who, map[string]any{"name": "eks-workshop", "nodegroupName": "x"}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}
