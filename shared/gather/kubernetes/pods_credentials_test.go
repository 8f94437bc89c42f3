package kubernetes

import (
	"encoding/json"
	"testing"

	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

func TestPodCredentials(t *testing.T) {
	for text, want := range map[string]snapshot.PodCredentials{
		`{"spec":{"nodeName":"n"}}`: {},
		`{"spec":{"containers":[{"name":"other","env":[{"name":"AWS_ROLE_ARN","value":"x"}]}]}}`:                                                             {},
		`{"spec":{"containers":[{"name":"aws-node","env":[{"name":"WARM_ENI_TARGET","value":"1"}]}],"volumes":[{"name":"run-dir"}]}}`:                        {Told: true},
		`{"spec":{"containers":[{"name":"aws-node","env":[{"name":"AWS_ROLE_ARN","value":"arn:x"}]}],"volumes":[{"name":"aws-iam-token"}]}}`:                 {Told: true, Role: "arn:x"},
		`{"spec":{"containers":[{"name":"aws-node","env":[{"name":"AWS_CONTAINER_CREDENTIALS_FULL_URI","value":"http://169.254.170.23/v1/credentials"}]}]}}`: {Told: true, ByAssociation: true},
		`{"spec":{"containers":[{"name":"aws-node"}],"volumes":[{"name":"eks-pod-identity-token"}]}}`:                                                        {Told: true, ByAssociation: true},
	} {
		var p kube.Pod
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if got := pod(p).Identity; got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}
