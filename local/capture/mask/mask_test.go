package main

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	script := "#!/bin/bash\nexport DB_PASSWORD=hunter2\n/etc/eks/bootstrap.sh prod-blue --b64-cluster-ca Zm9v\n"
	got, err := mask(map[string]string{
		"eks-list-clusters.json":                            `{"clusters": ["prod-blue"]}`,
		"eks-describe-cluster.prod-blue.json":               `{"cluster": {"name": "prod-blue", "arn": "arn:aws:eks:us-west-2:210987654321:cluster/prod-blue", "tags": {"kubernetes.io/cluster/prod-blue": "owned"}}}`,
		"iam-get-role.team%2Enode.json":                     `{"Role": {"RoleName": "team.node", "Arn": "arn:aws:iam::210987654321:role/team.node"}}`,
		"ec2-describe-instance-attribute.i-1.userData.json": `{"UserData": {"Value": "` + base64.StdEncoding.EncodeToString([]byte(script)) + `"}}`,
		"ec2-describe-images.json":                          `{"Images": [{"OwnerId": "602401143452", "Name": "prod-bluebird"}]}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for name, text := range got {
		all += name + "\n" + text
	}
	for _, gone := range []string{"210987654321", "team.node", "team%2Enode", `prod-blue"`, "prod-blue.", "/prod-blue"} {
		if strings.Contains(all, gone) {
			t.Errorf("%q is still there:\n%s", gone, all)
		}
	}
	for _, stays := range []string{"602401143452", "prod-bluebird", "eks-list-clusters.json"} {
		if !strings.Contains(all, stays) {
			t.Errorf("%q is gone:\n%s", stays, all)
		}
	}
	data := got["ec2-describe-instance-attribute.i-1.userData.json"]
	_, data, _ = strings.Cut(data, `"Value": "`)
	data, _, _ = strings.Cut(data, `"`)
	plain, err := base64.StdEncoding.DecodeString(data)
	if err != nil || strings.Contains(string(plain), "hunter2") || strings.Contains(string(plain), "prod-blue") || !strings.Contains(string(plain), "/etc/eks/bootstrap.sh cluster-") {
		t.Errorf("user data %q, %v", plain, err)
	}
	again := strings.Count(all, "cluster/cluster-")
	if again != 2 {
		t.Errorf("the cluster's name is replaced %d times where it follows cluster/, want 2:\n%s", again, all)
	}
}
