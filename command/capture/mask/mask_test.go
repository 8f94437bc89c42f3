package mask

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/redact"
	"rollcall/tools/testfile"
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

// TestMaskSecrets: what is not a setting of a script is masked too.
func TestMaskSecrets(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, "#!/bin/sh\nAPI_TOKEN=hunter2\naws s3 cp s3://bucket-999988887777/x .\n"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := mask(map[string]string{
		"ec2-describe-launch-template-versions.json": `{"LaunchTemplateVersions": [{"LaunchTemplateData": {"UserData": "` + base64.StdEncoding.EncodeToString(packed.Bytes()) + `"}}]}`,
		"kubectl-get-pods.prod.json": `{"items": [{"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "hunter3"}},
			"spec": {"containers": [{"env": [{"name": "DB_PASSWORD", "value": "hunter4"}, {"name": "MODE", "value": "fast"}]}]}}]}`,
		"sts-get-caller-identity.json":              `{"UserId": "AIDA", "Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/alicia"}`,
		"cloudtrail-lookup-events.CreateFleet.json": `{"Events": [{"Username": "bob.b@corp.example.com", "CloudTrailEvent": "{\"userName\": \"alicia\"}"}]}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, text := range got {
		all += text
	}
	data := got["ec2-describe-launch-template-versions.json"]
	_, data, _ = strings.Cut(data, `"UserData": "`)
	data, _, _ = strings.Cut(data, `"`)
	plain, _, ok := redact.Script(data)
	if !ok || !strings.HasPrefix(plain, "#!/bin/sh\nAPI_TOKEN=MASKED\n") {
		t.Errorf("packed user data: %q, %t", plain, ok)
	}
	for _, gone := range []string{"hunter2", "999988887777", "hunter3", "hunter4", "alicia", "bob.b", "111122223333"} {
		if strings.Contains(all+plain, gone) {
			t.Errorf("%q is still there:\n%s\n%s", gone, all, plain)
		}
	}
	if !strings.Contains(all, "fast") {
		t.Errorf("a setting that is no secret is gone:\n%s", all)
	}
}

// TestFolder: the files of a masked capture are in another folder, and all of them are.
func TestFolder(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "masked")
	for name, text := range map[string]string{"eks-describe-cluster.prod-blue.json": `{"cluster": {"clusterName": "prod-blue"}}`, "time.txt": "2026-11-20T15:10:00Z\n"} {
		testfile.Write(t, filepath.Join(from, name), []byte(text))
	}
	if err := Folder(from, to); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data := testfile.Read(t, filepath.Join(to, e.Name()))
		got[e.Name()] = strings.Join(strings.Fields(string(data)), "")
	}
	want := map[string]string{"eks-describe-cluster.cluster-1.json": `{"cluster":{"clusterName":"cluster-1"}}`, "time.txt": "2026-11-20T15:10:00Z"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestMaskKeepsTheAPI: a name that is also a word of the API stays where the API says it.
func TestMaskKeepsTheAPI(t *testing.T) {
	got, err := mask(map[string]string{
		"ec2-describe-security-groups.json": `{"SecurityGroups": [{"GroupName": "vpc-endpoints"}, {"GroupName": "running"}, {"GroupName": "State"}]}`,
		"ec2-describe-vpc-endpoints.json":   `{"VpcEndpoints": [{"State": "running", "Groups": [{"GroupName": "vpc-endpoints"}]}]}`,
		"eks-describe-cluster.prod.json":    `{"cluster": {"clusterName": "prod", "tags": {"prod": "x", "kubernetes.io/cluster/prod": "owned"}}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]string{}
	for name, text := range got {
		plain[name] = strings.Join(strings.Fields(text), "")
	}
	want := map[string]string{
		"ec2-describe-security-groups.json":   `{"SecurityGroups":[{"GroupName":"sg-1"},{"GroupName":"running"},{"GroupName":"sg-2"}]}`,
		"ec2-describe-vpc-endpoints.json":     `{"VpcEndpoints":[{"Groups":[{"GroupName":"sg-1"}],"State":"running"}]}`,
		"eks-describe-cluster.cluster-3.json": `{"cluster":{"clusterName":"cluster-3","tags":{"cluster-3":"x","kubernetes.io/cluster/cluster-3":"owned"}}}`,
	}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
}

// TestMaskConsole: why a node could not get a token is no secret.
func TestMaskConsole(t *testing.T) {
	const why = "aws-iam-authenticator[2210]: could not get token: RegionDisabledException: STS is not activated"
	got, err := mask(map[string]string{"ec2-get-console-output.i-1.json": `{"Output": "` + why + `\npassword: hunter2\nTOKEN=hunter3 x\n"}`})
	if err != nil {
		t.Fatal(err)
	}
	text := got["ec2-get-console-output.i-1.json"]
	if !strings.Contains(text, why) || strings.Contains(text, "hunter") {
		t.Errorf("masked: %s", text)
	}
}

// TestMaskLists: files that are named in others are named as they are.
func TestMaskLists(t *testing.T) {
	got, err := mask(map[string]string{
		"eks-list-nodegroups.addon.json":        `{"nodegroups": ["describe"]}`,
		"eks-list-clusters.json":                `{"clusters": ["addon"]}`,
		"eks-describe-addon.addon.vpc-cni.json": `{"addon": {"clusterName": "addon"}}`,
		"errors.json":                           `{"eks-describe-nodegroup.addon.describe": {"code": "AccessDeniedException", "message": "no describe"}}`,
		"left-out.json":                         `[{"file": "eks-describe-update.addon.describe", "why": "3 of describe"}]`,
	})
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]string{}
	for name, text := range got {
		plain[name] = strings.Join(strings.Fields(text), "")
	}
	want := map[string]string{
		"eks-list-nodegroups.cluster-1.json":        `{"nodegroups":["nodegroup-2"]}`,
		"eks-list-clusters.json":                    `{"clusters":["cluster-1"]}`,
		"eks-describe-addon.cluster-1.vpc-cni.json": `{"addon":{"clusterName":"cluster-1"}}`,
		"errors.json":   `{"eks-describe-nodegroup.cluster-1.nodegroup-2":{"code":"AccessDeniedException","message":"nonodegroup-2"}}`,
		"left-out.json": `[{"file":"eks-describe-update.cluster-1.nodegroup-2","why":"3ofnodegroup-2"}]`,
	}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("masked (-want +got):\n%s", diff)
	}
}

// TestNamesOfPeopleAndHosts: principals of ARNs and aws-auth, and hosts that are the
// account's own. What is AWS's, Kubernetes' or a public registry's stays.
func TestNamesOfPeopleAndHosts(t *testing.T) {
	const script = "#!/bin/bash\nexport https_proxy=http://proxy.corp.acme.io:3128\n/etc/eks/bootstrap.sh prod\n"
	got, err := mask(map[string]string{
		"kubectl-get-configmap-aws-auth.prod.json":          `{"data": {"mapRoles": "- rolearn: arn:aws:iam::210987654321:role/teams/blue-nodes\n  username: system:node:{{EC2PrivateDNSName}}\n", "mapUsers": "- userarn: arn:aws:iam::210987654321:user/alicia\n  username: alicia-adm\n"}}`,
		"eks-list-access-entries.prod.json":                 `{"accessEntries": ["arn:aws:iam::210987654321:role/blue-nodes", "arn:aws:iam::210987654321:role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS"]}`,
		"ec2-describe-dhcp-options.json":                    `{"DhcpOptions": [{"DhcpConfigurations": [{"Key": "domain-name", "Values": [{"Value": "corp.acme.io us-west-2.compute.internal"}]}]}]}`,
		"kubectl-get-nodes.prod.json":                       `{"items": [{"metadata": {"name": "ip-10-0-0-1.corp.acme.io", "labels": {"kubernetes.io/hostname": "ip-10-0-0-1.corp.acme.io"}}}, {"metadata": {"labels": {"kubernetes.io/hostname": "db7.lab.acme.io"}}}]}`,
		"kubectl-get-pods.prod.json":                        `{"items": [{"spec": {"containers": [{"image": "registry.acme.io/team/x:1"}, {"image": "public.ecr.aws/x/y:1"}], "note": "https://docs.aws.amazon.com/x https://wiki.acme.io/y"}}]}`,
		"ec2-describe-instance-attribute.i-1.userData.json": `{"UserData": {"Value": "` + base64.StdEncoding.EncodeToString([]byte(script)) + `"}}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for name, text := range got {
		all += name + "\n" + text
	}
	_, data, _ := strings.Cut(got["ec2-describe-instance-attribute.i-1.userData.json"], `"Value": "`)
	data, _, _ = strings.Cut(data, `"`)
	plain, _, _ := redact.Script(data)
	all += plain
	for _, gone := range []string{"acme", "alicia", "blue-nodes", "210987654321", "db7", "wiki"} {
		if strings.Contains(all, gone) {
			t.Errorf("%q is still there:\n%s", gone, all)
		}
	}
	for _, stays := range []string{"system:node:{{EC2PrivateDNSName}}", "AWSServiceRoleForAmazonEKS", "us-west-2.compute.internal", "ip-10-0-0-1.", "public.ecr.aws/x/y:1", "docs.aws.amazon.com", "bootstrap.sh"} {
		if !strings.Contains(all, stays) {
			t.Errorf("%q is gone:\n%s", stays, all)
		}
	}
	if strings.Count(all, "role-") != 2 {
		t.Errorf("the role has not one name in both files:\n%s", all)
	}
}
