package event

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spoke"
)

// eksEvent is an event of EKS with the detail.
func eksEvent(kind, resources, detail string) []byte {
	return []byte(`{"id":"1","source":"aws.eks","detail-type":"` + kind + `","time":"2026-11-20T15:00:00Z","resources":[` + resources + `],"detail":` + detail + `}`)
}

// CloudTrail's records are not of one form: whatever names the nodegroup is
// taken.
func TestNodegroupCalls(t *testing.T) {
	const call = `{"eventSource":"eks.amazonaws.com","eventName":"UpdateNodegroupVersion",`
	for _, test := range []struct {
		name, detail string
		want         string // cluster/nodegroup/update
		foreign      string
		malformed    string
	}{
		{name: "by the wire's name", detail: call + `"requestParameters":{"name":"prod","nodegroupName":"w"},"responseElements":{"update":{"id":"u1"}}}`, want: "prod/w/u1"},
		{name: "by the API's name", detail: call + `"requestParameters":{"clusterName":"prod","nodegroupName":"w"}}`, want: "prod/w/"},
		{name: "the answer counts", detail: call + `"requestParameters":{"name":"other"},"responseElements":{"nodegroup":{"clusterName":"prod","nodegroupName":"w","status":"CREATING","createdAt":"Nov 20"}}}`, want: "prod/w/"},
		{name: "URL-encoded", detail: call + `"requestParameters":{"name":"a%2Db","nodegroupName":"w%20x"}}`, want: "a-b/w x/"},
		{name: "an escape that is none", detail: call + `"requestParameters":{"name":"a%zz","nodegroupName":"w"}}`, want: "a%zz/w/"},
		{name: "members of other forms", detail: call + `"requestParameters":{"name":"prod","nodegroupName":"w"},"responseElements":{"update":[1],"nodegroup":"x"}}`, want: "prod/w/"},
		{name: "no source", detail: `{"eventName":"DeleteNodegroup","requestParameters":{"name":"prod","nodegroupName":"w"}}`, want: "prod/w/"},
		{name: "refused", detail: call + `"errorCode":"AccessDenied","requestParameters":null,"responseElements":null}`, foreign: "EKS refused the call: AccessDenied"},
		{name: "another call", detail: `{"eventSource":"eks.amazonaws.com","eventName":"CreateCluster"}`, foreign: "a call that changes no nodegroup"},
		{name: "another service", detail: `{"eventSource":"ec2.amazonaws.com","eventName":"CreateNodegroup"}`, foreign: "a call of another service"},
		{name: "no cluster", detail: call + `"requestParameters":{"nodegroupName":"w"}}`, malformed: "is missing"},
		{name: "no nodegroup", detail: call + `"requestParameters":{"name":"prod"},"responseElements":null}`, malformed: "is missing"},
		{name: "no object", detail: `[]`, malformed: "AWS API Call via CloudTrail"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(eksEvent("AWS API Call via CloudTrail", "", test.detail))
			var malformed *Malformed
			switch {
			case test.malformed != "":
				if !errors.As(err, &malformed) || !strings.Contains(err.Error(), test.malformed) {
					t.Errorf("got %+v, error %v; want it malformed: %s", got, err, test.malformed)
				}
			case err != nil:
				t.Error(err)
			case test.foreign != "":
				if got.Kind != Foreign || got.Why != test.foreign {
					t.Errorf("got %s (%s), want foreign: %s", got.Kind, got.Why, test.foreign)
				}
			case got.Kind != NodegroupCalled || got.Cluster+"/"+got.Nodegroup+"/"+got.Update != test.want:
				t.Errorf("got %s %s/%s/%s, want %s", got.Kind, got.Cluster, got.Nodegroup, got.Update, test.want)
			}
		})
	}
}

func TestAddonHealth(t *testing.T) {
	const arn = `"arn:aws:eks:us-west-2:111122223333:addon/prod/vpc-cni/9c"`
	for _, test := range []struct{ name, resources, detail, cluster, addon string }{
		{"the ARN", arn, `{}`, "prod", "vpc-cni"},
		{"the detail", "", `{"clusterName":"prod","addonName":"coredns"}`, "prod", "coredns"},
		{"with hyphens", `"x"`, `{"cluster-name":"prod","addon-name":"coredns"}`, "prod", "coredns"},
		{"members of other forms", arn, `{"addon":{"name":"x"},"cluster":7}`, "prod", "vpc-cni"},
		{"nothing", "", `{"x":1}`, "", ""},
	} {
		got, err := Parse(eksEvent("EKS Addon Health Restored", test.resources, test.detail))
		if err != nil || got.Kind != AddonHealth || got.Cluster != test.cluster || got.Addon != test.addon {
			t.Errorf("%s: %+v, %v; want %s of %s", test.name, got, err, test.addon, test.cluster)
		}
	}
}

func TestNodegroupResource(t *testing.T) {
	event := func(detail string) []byte {
		return []byte(`{"id":"1","source":"aws.cloudformation","detail-type":"CloudFormation Resource Status Change","time":"2026-11-20T15:00:00Z","detail":` + detail + `}`)
	}
	for name, detail := range map[string]string{
		"a bucket":     `{"resource-type":"AWS::S3::Bucket","physical-resource-id":"b"}`,
		"not made yet": `{"resource-type":"AWS::EKS::Nodegroup","physical-resource-id":"","status-details":{"status":"CREATE_IN_PROGRESS"}}`,
	} {
		if got, err := Parse(event(detail)); err != nil || got.Kind != Foreign || got.Why == "" {
			t.Errorf("%s: %+v, %v; want it foreign", name, got, err)
		}
	}
	for _, id := range []string{"prod", "prod/", "/w"} {
		if got, err := Parse(event(`{"resource-type":"AWS::EKS::Nodegroup","physical-resource-id":"` + id + `"}`)); err == nil {
			t.Errorf("%q: got %+v, want it malformed", id, got)
		}
	}
}

func TestLookAtNodegroupIsRead(t *testing.T) {
	now := at("2026-11-20T15:00:00Z")
	body, err := LookAtNodegroup(spoke.ID{}, "prod", "workers", now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(body)
	want := Trigger{ID: "look/prod/workers/2026-11-20T15:00:00Z", Kind: Reminder, Source: "rollcall", Type: "Rollcall Look At Nodegroup", Time: now, Cluster: "prod", Nodegroup: "workers"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Parse(LookAtNodegroup) error %v (-want +got):\n%s", err, diff)
	}
	body, err = LookAtNodegroup(spoke.ID{}, "", "workers", time.Time{}.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parse(body); err == nil {
		t.Errorf("a reminder without a cluster is read as %+v", got)
	}
}
